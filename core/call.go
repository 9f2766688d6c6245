package core

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// call is a request to one of the auth routes. It is read once, and read-only afterwards.
type call struct {
	arrival
	// flow is the flow of the provider in the path, or nil if the path names none. kind is the provider's type.
	flow   flow
	kind   ProviderType
	query  weburl.Params
	fields form.Fields // of a POST
	csrf   csrf.Verdict
	// part reports whether the path belongs to a [Plugin].
	plugin bool
	// callbackURL is where the browser continues after the action, as an absolute URL.
	callbackURL callbackurl.Choice
	// session is the session of the request's cookie or bearer token. It is nil if the rule of the action does not need
	// it.
	session requestSession
	// admitted reports that this request has started a session.
	admitted bool
	// reauth is set if the flow authenticates the user of the session again.
	reauth *reauthRequest
}

// callOf returns a call that contains only the request.
func (s *site) callOf(r *Request) *call {
	return &call{arrival: s.unsettled(r)}
}

// route finds the action, the provider and the query by parsing the raw request target (docs/protocol.md §1.1).
// badQuery is the error of a malformed query.
func (c *call) route() (to actions.Route, badQuery, err error) {
	if c.r.Method != "GET" && c.r.Method != "POST" {
		cause := errorf(ErrUnknownAction, "method %.16q: actions support only GET and POST", c.r.Method)
		return to, nil, &problems.BadRequest{Cause: cause}
	}
	to, ok := c.plugins.Find(c.r.Target, c.basePath, c.returns)
	if !ok {
		path, _, _ := strings.Cut(c.r.Target, "?")
		cause := errorf(ErrUnknownAction, "no auth route at %.200q: the base path is %q. Set BasePath to the path of the "+
			"mounted routes, including the prefix of a group, and PublicPath to the prefix that a proxy removes",
			path, c.basePath)
		return to, nil, &problems.BadRequest{Unknown: true, Cause: cause}
	}
	c.action, c.plugin = to.Action, to.Plugin
	if c.query, err = weburl.Query(c.r.Target); err != nil {
		badQuery = &problems.BadRequest{Cause: errorf(ErrUnknownAction, "query: %w", err)}
	}
	return to, badQuery, nil
}

// text returns a field of the body or, if it has none, of the query.
func (c *call) text(name string) string {
	if s, ok := c.fields.Text(name); ok {
		return s
	}
	return c.query.Get(name)
}

// initialCookies returns the initial cookies that the browser does not have yet. All responses except errors and those
// of bare rules set them.
func (c *call) initialCookies() []Cookie {
	if c.csrf.Fresh == "" && c.callbackURL.Cookie == "" {
		return nil
	}
	out := make([]Cookie, 0, 2)
	if c.csrf.Fresh != "" {
		out = append(out, Cookie(c.cookies.CSRF.Set(c.csrf.Fresh)))
	}
	if c.callbackURL.Cookie != "" {
		out = append(out, Cookie(c.cookies.CallbackURL.Set(c.callbackURL.Cookie)))
	}
	return out
}

// shownCallbackURL returns the callback URL for forms, as a path if it was requested as a valid path.
func (c *call) shownCallbackURL() string {
	asked := c.query.Get("callbackUrl")
	if strings.HasPrefix(asked, "/") && c.origin+asked == c.callbackURL.Target {
		return asked
	}
	return c.callbackURL.Target
}

// readBody reads the fields of a POST request.
func readBody(ctx context.Context, r *Request) (form.Fields, error) {
	if r.Method != "POST" {
		return form.Fields{}, nil
	}
	fields, err := form.ReadBody(ctx, r.Header["Content-Type"], r.Body, r.ContentLength)
	switch {
	case errors.Is(err, form.ErrConsumed):
		err = errorf(ErrInvalidConfig, "%w", err)
	case err != nil:
		err = errormarks.ByClient(err)
	}
	return fields, err
}

// wantsData reports whether the client requests JSON rather than pages.
func (c *call) wantsData() bool { return wantsURL(c.r) || !wantsPage(c.r) }

// route is a method and an action.
type route struct{ method, action string }

// rule contains the function of an action and its requirements.
type rule struct {
	act func(context.Context, *call) (*Response, error)
	// csrf reports whether the request must contain the CSRF token. If it is nil, no request must.
	csrf func(*call) bool
	// bare means that requests have no CSRF token.
	bare bool
	// opens means that the response sets the initial cookies; see [call.initialCookies].
	opens bool
	// browsing means that the action continues a sign-in with the cookies of a browser, so requests with a bearer token
	// are rejected.
	browsing bool
	// session means that the action reads the user's session.
	session bool
	// impersonated means that the action is allowed while the user is impersonated.
	impersonated bool
	// ends means that the action ends something: neither a malformed query nor an unusable callback URL stops it.
	ends bool
}

// router finds the action of a request and runs it.
type router struct {
	site     *site
	pages    *pages
	sessions *sessions
	byID     map[string]*provider
	// passkeys is the provider of a webauthn-options request without a provider in its path. It is empty if there is none.
	passkeys string
	rules    map[route]rule
}
