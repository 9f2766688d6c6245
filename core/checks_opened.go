package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// openedClaims are what a check cookie held. Its texts are parts of one text: two cookies are opened at every callback,
// and a [Token] with its map is made of one only where it is written anew.
type openedClaims struct {
	// text is all of it, as JSON; empty: nothing was opened.
	text string
	// value is what the check sent, provider whom the flow is with: empty, where the cookie describes none.
	value, provider string
	// own is the JSON of the flow that the cookie describes, earlier that of those of other tabs: empty for none.
	own, earlier string
	expires      time.Time
}

// openClaims opens a check cookie, by the rules for every sealed value, and checks its times.
func (s *sealer) openClaims(keys *jwe.Keyring, sealed string) (c openedClaims, err error) {
	if c.text, err = keys.Open(sealed); err != nil {
		return c, err
	}
	notBefore := ""
	err = exactjson.ObjectText(c.text, func(name, raw string) error {
		switch name {
		case "value":
			c.value, _ = exactjson.TextOf(raw)
		case "provider":
			c.provider, _ = exactjson.TextOf(raw)
		case "flow":
			c.own = raw
		case "earlier":
			c.earlier = raw
		case "nbf":
			notBefore = raw
		case "jti":
			if _, ok := exactjson.TextOf(raw); !ok {
				return errors.New("jti is no text")
			}
		case "iat":
			var issued time.Time
			return readTime(raw, &issued)
		case "exp":
			return readTime(raw, &c.expires)
		}
		return nil
	})
	if err != nil {
		return openedClaims{}, fmt.Errorf("core: claims of a check: %w", err)
	}
	return c, s.checkTimes(c.expires, notBefore)
}

// token is all claims, to be written anew.
func (c *openedClaims) token() *Token {
	t := &Token{}
	_ = t.readClaims(c.text, false) // openClaims has read them
	return t
}

// newestFlow is the flow that the cookie describes; nil: none, Auth.js made it.
func (c *openedClaims) newestFlow() *underway {
	if c.own == "" {
		return nil
	}
	var u underway
	if !u.readJSON(c.own) {
		return nil
	}
	u.Provider, u.Expires = c.provider, c.expires.Unix()
	return &u
}

// listed are the flows of other tabs, those that have ended among them.
func (c *openedClaims) listed() []underway {
	if c.earlier == "" {
		return nil
	}
	var list []underway
	if json.Unmarshal([]byte(c.earlier), &list) != nil {
		return nil
	}
	return list
}
