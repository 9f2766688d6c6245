package upstream

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Errors that a caller can tell from others with [errors.Is].
var (
	ErrTooLarge = errors.New("the answer is too large")
	ErrInsecure = errors.New("plain http is for providers on this machine only: use https, or AllowInsecureHTTP")
	ErrAddress  = errors.New("the name resolves to an address that no provider has: for a provider on this machine use " +
		"localhost, or AllowInsecureHTTP")
	ErrRedirect = errors.New("the redirect is not followed")
)

// maxText bounds the text of an Error, in bytes: a peer has its say in it.
const maxText = 1 << 10

// Error says which request failed and why. Its text is one line of printable ASCII that a log may have: no query, no
// Authorization, nothing of a body, and no path of a request that carries secrets, as some providers want the token
// there.
type Error struct {
	// Method, Host and Path are the request's. After a redirect they are those of the first request. Path is empty where
	// it may hold a secret: under NoRedirects.
	Method, Host, Path string
	// Err is why. Its own text is not bounded and may hold what Error leaves out.
	Err error

	hidden []string
}

// Error returns method, host, path and reason.
func (e *Error) Error() string {
	reason := e.Err.Error()
	for _, secret := range e.hidden { // an operator's transport may put anything into its text
		reason = strings.ReplaceAll(reason, secret, "[hidden]")
	}
	quoted := strconv.QuoteToASCII(e.Method + " " + e.Host + e.Path + ": " + reason)
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// leastHidden is how long a part of an address is that is hidden wherever it appears: shorter ones are words.
const leastHidden = 8

func describe(r *http.Request, policy Policy, err error) error {
	e := &Error{Method: r.Method, Host: r.URL.Host, Err: withoutURL(err)}
	if policy == SameHost { // such a document is public: its address helps
		e.Path = r.URL.EscapedPath()
	} else {
		e.hide(r.URL.EscapedPath(), r.URL.Path)
		e.hide(strings.Split(r.URL.EscapedPath(), "/")...)
	}
	e.hide(r.URL.RawQuery, r.Header.Get("Authorization"))
	if _, credentials, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		e.hide(credentials)
	}
	for _, values := range r.URL.Query() {
		e.hide(values...)
	}
	return e
}

func (e *Error) hide(texts ...string) {
	for _, text := range texts {
		if len(text) >= leastHidden {
			e.hidden = append(e.hidden, text)
		}
	}
}

// withoutURL returns the cause of a [url.Error], whose text has the whole address.
func withoutURL(err error) error {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = u.Err
	}
}
