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
	ErrInsecure = errors.New("plain http is for providers on this machine only")
	ErrAddress  = errors.New("the name leads to an address that no provider has")
	ErrRedirect = errors.New("the redirect is not followed")
)

// maxText bounds the text of an Error, in bytes: a peer has its say in it.
const maxText = 1 << 10

// Error says which request failed and why. Its text is one line of printable ASCII that a log may have: no query, no
// Authorization, nothing of a body.
type Error struct {
	// Method, Host and Path are the request's. After a redirect they are those of the first request.
	Method, Host, Path string
	// Err is why. Its own text is not bounded and may hold what Error leaves out.
	Err error

	hidden []string
}

// Error returns method, host, path and reason.
func (e *Error) Error() string {
	reason := e.Err.Error()
	for _, secret := range e.hidden { // the text of an operator's transport is anybody's guess
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

func describe(r *http.Request, err error) error {
	for {
		u, ok := errors.AsType[*url.Error](err) // its text has the whole URL
		if !ok {
			break
		}
		err = u.Err
	}
	e := &Error{Method: r.Method, Host: r.URL.Host, Path: r.URL.EscapedPath(), Err: err}
	for _, secret := range []string{r.URL.RawQuery, r.Header.Get("Authorization")} {
		if secret != "" {
			e.hidden = append(e.hidden, secret)
		}
	}
	return e
}
