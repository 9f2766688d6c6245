package core

import (
	"errors"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// underway is a sign-in under way, as the browser's cookies remember it until the provider answers. The newest one has
// its checks in the cookies of Auth.js, a value in each. Of earlier ones, begun in other tabs, the state cookie keeps
// no more than this: their code verifier and nonce are derived from the state, which comes back with the answer, and
// from a key of the server.
type underway struct {
	// Tag is a keyed hash of the state, of OAuth 1.0a of the request token; empty where no state was sent.
	Tag      string `json:"s,omitempty"`
	Provider string `json:"p,omitempty"`
	// Expires is in Unix seconds.
	Expires int64 `json:"e,omitempty"`
	// Who names the session that began the flow and the browser it was begun in, each a keyed hash or empty, with a dot
	// between. In a list an empty Who repeats the one before.
	Who string `json:"w,omitempty"`
	// FormPost says that the answer is a cross-site POST; ReturnTo is where the visitor goes then, as such a POST comes
	// without the callback URL cookie. Empty: the origin; [askAgain]: the cookie says it.
	FormPost bool   `json:"f,omitempty"`
	ReturnTo string `json:"u,omitempty"`
	// Kept is the secret of a request token, or what verifier and nonce are derived from where no state was sent.
	Kept string `json:"v,omitempty"`
}

func (u *underway) by() string { by, _, _ := strings.Cut(u.Who, "."); return by }

func (u *underway) browser() string { _, browser, _ := strings.Cut(u.Who, "."); return browser }

// checkClaims are what a check cookie holds. They are written here and read as [openedClaims].
type checkClaims struct {
	// value is base64url, or a token.
	value    string
	provider string
	flow     *underway  // that the check belongs to; nil: another cookie describes it
	earlier  []underway // begun in other tabs
}

// appendClaims implements [claims].
func (c *checkClaims) appendClaims(dst []byte) []byte {
	if len(c.earlier) > 0 {
		dst = append(exactjson.AppendName(dst, "earlier"), '[')
		for i := range c.earlier {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.earlier[i].appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	if c.flow != nil {
		dst = c.flow.appendJSON(exactjson.AppendName(dst, "flow"))
	}
	dst = exactjson.AppendField(dst, "provider", c.provider, false)
	if c.value == "" {
		return dst
	}
	return exactjson.AppendPlain(dst, "value", c.value)
}

// appendJSON writes what json.Marshal would.
func (u *underway) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = exactjson.AppendField(dst, "s", u.Tag, false)
	dst = exactjson.AppendField(dst, "p", u.Provider, false)
	if u.Expires != 0 {
		dst = strconv.AppendInt(exactjson.AppendName(dst, "e"), u.Expires, 10)
	}
	dst = exactjson.AppendField(dst, "w", u.Who, false)
	if u.FormPost {
		dst = append(exactjson.AppendName(dst, "f"), "true"...)
	}
	dst = exactjson.AppendField(dst, "u", u.ReturnTo, false)
	dst = exactjson.AppendField(dst, "v", u.Kept, false)
	return append(dst, '}')
}

// readJSON reads what appendJSON wrote; false: it is none of that.
func (u *underway) readJSON(raw string) bool {
	*u = underway{}
	err := exactjson.ObjectText(raw, func(name, value string) error {
		into, known := u.text(name)
		switch {
		case known:
			text, ok := exactjson.TextOf(value)
			if !ok {
				return errNoFlow
			}
			*into = text
		case name == "e":
			n, ok := exactjson.Int64(value)
			if !ok {
				return errNoFlow
			}
			u.Expires = n
		case name == "f":
			u.FormPost = value == "true"
		}
		return nil
	})
	return err == nil
}

var errNoFlow = errors.New("no sign-in under way")

// text is the field of a member that is text.
func (u *underway) text(name string) (into *string, known bool) {
	switch name {
	case "s":
		return &u.Tag, true
	case "p":
		return &u.Provider, true
	case "w":
		return &u.Who, true
	case "u":
		return &u.ReturnTo, true
	case "v":
		return &u.Kept, true
	}
	return nil, false
}

// stateClaims are what a state parameter holds: enough at random to be of this flow alone and, for the redirect proxy,
// the address to return to.
type stateClaims struct{ random, origin string }

// appendClaims implements [claims].
func (c *stateClaims) appendClaims(dst []byte) []byte {
	dst = exactjson.AppendField(dst, "origin", c.origin, false)
	return exactjson.AppendField(dst, "random", c.random, false)
}
