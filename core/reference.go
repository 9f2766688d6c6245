package core

import (
	"context"
	"log/slog"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/internal/reference"
)

// A reference is a short code that is in a log line and in the response that the user sees: on the page, in the header
// [ReferenceHeader], or in the JSON body. Each request has a different one. After most failures the browser is
// redirected to a page, which is another request, and the page's URL must be the same as in Auth.js. Therefore the site
// remembers the last reference of each browser for a minute. After that, or in another process, the page shows the
// browser's own code, which is also in the log line.

// ReferenceHeader is the header of the response to a failed request. Its value is the code in the log line.
const ReferenceHeader = "X-Auth-Reference"

// ref returns the code of the request. It is an HMAC (RFC 2104) of the request's number, so that it does not reveal the
// number of requests.
func (v *arrival) ref() string {
	if len(v.secrets) == 0 { // no Auth was selected
		return v.misconfigured
	}
	return v.failures.Code(v.secrets[0], v.number)
}

// browserRef returns the code of the request's browser: an HMAC of its CSRF cookie or, if it has none yet, of its
// headers and its network.
func (v *arrival) browserRef() string {
	if len(v.secrets) == 0 {
		return v.misconfigured
	}
	if v.cookies != nil {
		if value, ok := v.jar.Get(v.cookies.CSRF.Name()); ok {
			return reference.Browser(v.secrets[0], value)
		}
	}
	network, _ := v.client()
	agent, language := strings.Join(v.r.Header["User-Agent"], ","), strings.Join(v.r.Header["Accept-Language"], ",")
	return reference.Browser(v.secrets[0], agent+"\x00"+language+"\x00"+network.String())
}

// lastRef returns the code to show on the page that the browser was redirected to after a failure.
func (v *arrival) lastRef() string {
	browser := v.browserRef()
	if code := v.failures.Last(browser); code != "" {
		return code
	}
	return browser
}

// attrs returns the log attributes of a failed request, and remembers the failure for the page that the browser
// requests next. They contain nothing that the client sent, except the ID of a configured provider, and the public ID
// of a credential that was verified.
func (v *arrival) attrs() []slog.Attr {
	request, browser := v.ref(), v.browserRef()
	v.failures.Note(browser, request)
	attrs := []slog.Attr{slog.String("reference", request)}
	if browser != request {
		attrs = append(attrs, slog.String("browser", browser))
	}
	if v.action != "" {
		attrs = append(attrs, slog.String("action", v.action))
	}
	if v.providerID != "" {
		attrs = append(attrs, slog.String("provider", v.providerID))
	}
	if id := v.verified.Get(); id != "" {
		attrs = append(attrs, slog.String("credential", id))
	}
	return attrs
}

// storeFailed returns a function that logs a failure of the store without effect on the request.
func (v *arrival) storeFailed(ctx context.Context) func(error) {
	return func(err error) { v.log.failure(ctx, errormarks.As(err, ErrStore), v.attrs()...) }
}

// debug writes a line of [Config.Debug] about a request.
func (v *arrival) debug(ctx context.Context, message string, attrs ...slog.Attr) {
	if v.log.debugging {
		v.log.debug(ctx, message, append(v.attrs(), attrs...)...)
	}
}
