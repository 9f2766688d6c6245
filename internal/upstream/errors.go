package upstream

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// The causes of an [Error], for [errors.Is].
var (
	ErrTooLarge = errors.New("the response is too large")
	ErrInsecure = errors.New("plain http is for providers on this machine only: use https, or AllowInsecureHTTP")
	ErrAddress  = errors.New("the name resolves to an address that no provider has: for a provider on this machine use " +
		"localhost, or AllowInsecureHTTP")
	ErrRedirect = errors.New("the redirect is not followed")
)

// maxText is the maximum length of the text of an Error in bytes, because the text may contain data from the peer.
const maxText = 1 << 10

// Error is the error of a request. Its text is one line of printable ASCII that is safe to log. It contains no query,
// no Authorization header and no body. It omits the path of a request with secrets, because some providers require the
// token there.
type Error struct {
	// Method, Host and Path are those of the first request, even after a redirect. Path is empty under NoRedirects,
	// because it may contain a secret.
	Method, Host, Path string
	// Err is the cause. Its text is not truncated and may contain parts that Error omits.
	Err error

	hidden []string
}

// Error returns the method, host, path and cause.
func (e *Error) Error() string {
	reason := e.Err.Error()
	for _, secret := range e.hidden { // the error of an operator's transport may contain anything
		reason = strings.ReplaceAll(reason, secret, "[hidden]")
	}
	quoted := strconv.QuoteToASCII(e.Method + " " + e.Host + e.Path + ": " + reason)
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// leastHidden is the minimum length of a part of a URL that is removed from texts. Shorter ones may be common words.
const leastHidden = 8

func describe(r *http.Request, policy Policy, err error) error {
	e := &Error{Method: r.Method, Host: r.URL.Host, Err: withoutURL(err)}
	if policy == SameHost { // such a document is public, and its path helps to find errors
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

// withoutURL returns the cause of a [url.Error], whose own text contains the full URL.
func withoutURL(err error) error {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = u.Err
	}
}
