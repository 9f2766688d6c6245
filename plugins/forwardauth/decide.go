package forwardauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/internal/ascii"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// sites answers the requests for one Auth.
type sites struct {
	require  map[string][]core.Guard // the guards of each protected origin
	headers  []Header
	originOf func(*core.Request) (string, error)
}

// errNoSession means that no user is signed in.
var errNoSession = errors.New("forwardauth: no user is signed in")

// decide responds to a proxy that asks whether it may pass a request on. A proxy passes it on after any 2xx response.
// Therefore a refusal is never a response that core could turn into one: core answers a Response.Redirect with status
// 200 if the client sent X-Auth-Return-Redirect.
//
// signIn is the status that sends a browser to the sign-in page. Caddy and Traefik pass each response on, and nginx
// reads the address from Location itself.
func (s *sites) decide(ctx context.Context, c *core.ActionRequest, signIn int) (*core.Response, error) {
	origin, err := s.originOf(c.Request)
	if err != nil {
		return nil, &core.Problem{Status: http.StatusForbidden, Code: "forbidden", Cause: err}
	}
	session, err := s.allowed(ctx, c, origin)
	var again *core.StepUp
	code := "session_required"
	switch {
	case err == nil:
		return s.pass(ctx, session)
	case errors.As(err, &again):
		code = "reauth_required"
	case errors.Is(err, core.ErrForbidden):
		code = "forbidden"
	case !errors.Is(err, errNoSession):
		return nil, err
	}
	target := c.URL(name+"/"+returnVerb, "to", pageOf(origin, c.Request.Header))
	switch negotiate.ClientOf(method(c.Request.Header), c.Request.Header) {
	case negotiate.Browser:
		// The page of the action return is on the site of the sign-in page, so that its styles and forms work.
		response := refusal(ctx, c, signIn, code)
		response.Header.Set("Location", target)
		return response, nil
	case negotiate.HTMX:
		response := refusal(ctx, c, http.StatusUnauthorized, code)
		response.Header.Set("Hx-Redirect", target)
		return response, nil
	}
	if code == "forbidden" {
		return nil, &core.Problem{Status: http.StatusForbidden, Code: code, Cause: err}
	}
	return refusal(ctx, c, http.StatusUnauthorized, code), nil
}

// refusal returns a problem document (RFC 9457).
func refusal(ctx context.Context, c *core.ActionRequest, status int, code string) *core.Response {
	response := c.JSON(ctx, status, map[string]any{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "code": code,
	})
	response.Header.Set("Content-Type", "application/problem+json")
	if status == http.StatusUnauthorized {
		response.Header.Set("Www-Authenticate", `Bearer realm="`+c.Origin+`"`)
	}
	return response
}

// method returns the method of the request that the proxy asks about. A proxy that does not send it counts as GET.
func method(h http.Header) string {
	switch values := h["X-Forwarded-Method"]; len(values) {
	case 0:
		return http.MethodGet
	case 1:
		return values[0]
	}
	return "" // a program
}

// pageOf returns the address of the page that the proxy asks about: origin and X-Forwarded-Uri, or origin alone if that
// is not a path of this origin.
func pageOf(origin string, h http.Header) string {
	at, _, err := weburl.ParseOrigin(origin)
	if err == nil && len(h["X-Forwarded-Uri"]) == 1 {
		if page, err := weburl.Resolve(h["X-Forwarded-Uri"][0], at); err == nil {
			return page
		}
	}
	return origin + "/"
}

// allowed returns the session if its user may use the site at an origin.
func (s *sites) allowed(ctx context.Context, c *core.ActionRequest, origin string) (*core.Session, error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case session == nil || session.User == nil:
		return nil, errNoSession
	}
	for _, ask := range s.require[origin] {
		if err := ask(ctx, session); err != nil {
			return nil, err
		}
	}
	return session, nil
}

// maxValue is the maximum length of a header value, so that all of them fit into the buffers of proxies.
const maxValue = 1024

// pass returns the response that lets a request pass, with the header fields of the user.
func (s *sites) pass(ctx context.Context, session *core.Session) (*core.Response, error) {
	response := &core.Response{Status: http.StatusNoContent, Header: http.Header{}}
	for _, header := range s.headers {
		value, err := header.Value(ctx, session)
		if err != nil {
			return nil, fmt.Errorf("forwardauth: the value of %s: %w", header.Name, err)
		}
		if value = encode(value); len(value) > maxValue {
			return nil, &core.Problem{
				Status: http.StatusForbidden, Code: "forbidden",
				Cause: fmt.Errorf("forwardauth: the value of %s has %d bytes, the limit is %d", header.Name, len(value), maxValue),
			}
		}
		response.Header.Set(header.Name, value)
	}
	return response, nil
}

// encode percent-encodes everything that a header value cannot contain, or that a server could change: percent signs,
// control characters, non-ASCII bytes, and spaces at the ends.
func encode(value string) string {
	out := make([]byte, 0, len(value))
	for i := range len(value) {
		b := value[i]
		outer := i == 0 || i == len(value)-1
		if b < ' ' || b > '~' || b == '%' || b == ' ' && outer {
			out = ascii.AppendPercent(out, b)
		} else {
			out = append(out, b)
		}
	}
	return string(out)
}

// returnVerb is the verb of the action that returns to a page.
const returnVerb = "return"

// back sends the browser back to a page of a protected site, after the user has signed in there. It accepts no other
// address, so that it redirects to no foreign site.
func (s *sites) back(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	at, page, err := weburl.NormalisePage(c.Field("to"))
	if err != nil {
		return nil, &core.Problem{Code: "bad_request", Cause: err}
	}
	origin := at.String()
	if _, protected := s.require[origin]; !protected {
		return nil, &core.Problem{Code: "bad_request", Cause: errors.New("forwardauth: the page is on no protected site")}
	}
	_, err = s.allowed(ctx, c, origin)
	switch {
	case err == nil:
		return c.Redirect(page), nil
	case errors.Is(err, errNoSession):
		return c.Redirect(c.URL("signin", "callbackUrl", c.URL(name+"/"+returnVerb, "to", page))), nil
	}
	return nil, err
}
