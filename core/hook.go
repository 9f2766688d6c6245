package core

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/ui"
)

// Visit is a request to a page of the application, seen by the request hook. It reads the session on first use, once, and is
// itself the context of the request: [SessionFrom] and the ui components find it there. It is safe for concurrent use.
type Visit struct {
	context.Context
	x       exchange
	state   ui.State
	token   sync.Once // settles the CSRF token of state
	setter  func(Cookie)
	opened  error
	once    sync.Once
	session *Session
	failed  error
}

// visitKey finds the Visit in a context.
type visitKey struct{}

// Begin starts the visit of a request: what a request hook does before the next handler. setCookie is called for each cookie to
// set; for the CSRF cookie of a page at once where there is none, for a renewed session when it is first read, which must be before
// the body is begun. The context of the request's further way is the Visit itself.
func Begin(ctx context.Context, s Selector, r *Request, setCookie func(Cookie)) *Visit {
	v := &Visit{Context: ctx, setter: setCookie}
	a, err := guarded("configuration function", func() (*Auth, error) { return s.Select(ctx, r) })
	if err != nil || a == nil {
		v.opened = asError(err, InvalidConfig)
		return v
	}
	v.x = exchange{Auth: a, r: r}
	if v.opened = v.x.open(); v.opened != nil {
		a.logError(ctx, asError(v.opened, AuthError), v.x.logAttrs()...)
		return v
	}
	if wantsPage(r) {
		v.state = ui.State{
			BasePath: or(a.basePath, "/"), InsecureNoCSRF: a.skipCSRF, SignInPath: a.pages.SignIn,
			SignOutPath: a.pages.SignOut, Theme: a.theme, Providers: a.uiProviders, Visitor: v.visitor,
		}
		if !v.x.jar.Has(v.x.cookies.csrf.name()) {
			v.token.Do(v.settleToken)
		}
	}
	return v
}

// settleToken verifies the CSRF token of the request, or makes one and sets its cookie. Most pages have no form: where a cookie came
// along, only the first component that asks for the state has it verified.
func (v *Visit) settleToken() {
	if err := v.x.checkCSRF(); err != nil {
		v.x.logError(v.Context, asError(err, AuthError), v.x.logAttrs()...)
	}
	for _, c := range v.x.opening {
		v.setter(c)
	}
	v.state.CSRFToken = v.x.csrfToken
}

// wantsPage tells whether a browser asks for a document, whose forms will need a CSRF token.
func wantsPage(r *Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodHead {
		return false
	}
	accept := r.Header["Accept"]
	return len(accept) > 0 && strings.Contains(accept[0], "text/html")
}

// Value answers for the Visit and for the ui's state, and asks the request's context for everything else.
func (v *Visit) Value(key any) any {
	switch key {
	case visitKey{}:
		return v
	case ui.StateKey():
		if v.state.BasePath != "" {
			v.token.Do(v.settleToken)
			return &v.state
		}
	}
	return v.Context.Value(key)
}

// Session returns who is signed in, nil for nobody. An error means that it is not known, because the store failed or the request
// is not for a host of ours; it is never to be taken for "not signed in".
func (v *Visit) Session() (*Session, error) {
	v.once.Do(func() {
		if v.opened != nil {
			v.failed = v.opened
			return
		}
		session, cookies, err := v.x.readSession(v.Context, sessionRead{})
		if err != nil {
			v.x.logError(v.Context, asError(err, SessionTokenError), v.x.logAttrs()...)
			v.failed = err
			return
		}
		v.session = session
		for _, c := range cookies {
			v.setter(c)
		}
	})
	return v.session, v.failed
}

func (v *Visit) visitor(context.Context) (*ui.Visitor, error) {
	s, err := v.Session()
	if err != nil || s == nil {
		return nil, err
	}
	visitor := &ui.Visitor{ID: s.UserID}
	if s.User != nil {
		visitor.Name, visitor.Email, visitor.Image = s.User.Name, s.User.Email, s.User.Image
	}
	return visitor, nil
}

// VisitFrom returns the visit of a request's context, nil without the request hook.
func VisitFrom(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// SessionFrom returns who is signed in, nil for nobody. It reads the session on first use in a request, once. Without the
// request hook it is an error, as is a store that fails: neither means "not signed in".
func SessionFrom(ctx context.Context) (*Session, error) {
	v := VisitFrom(ctx)
	if v == nil {
		return nil, errorf(InvalidConfig, "the context has no visit: put the adapter's Hook in front of this handler")
	}
	return v.Session()
}

// Require returns the session, or the answer to give in its place: 303 to the sign-in page for a browser, 401 for an API client,
// 500 when nobody knows. A guard that fails, fails closed.
func (v *Visit) Require() (*Session, *Response) {
	session, err := v.Session()
	if err == nil && session != nil && session.User != nil {
		return session, nil
	}
	response := &Response{Err: err}
	switch {
	case err != nil:
		response.Status = http.StatusInternalServerError
		response.Body = []byte(`{"message":"` + configMessage + `"}`)
	case wantsPage(v.x.r) && v.x.r.Method == http.MethodGet:
		target, pageErr := v.x.page(v.x.pages.SignIn, "signin", "callbackUrl", pathOf(v.x.r.Target))
		if pageErr == nil {
			response.Status, response.Redirect = http.StatusSeeOther, target
			response.Header = http.Header{"Location": {target}, "Cache-Control": noStore}
			return nil, response
		}
		fallthrough
	default:
		response.Status = http.StatusUnauthorized
		response.Body = []byte(`{"message":"Sign in first."}`)
	}
	response.Header = http.Header{"Content-Type": contentJSON, "Cache-Control": noStore, "X-Content-Type-Options": noSniff}
	return nil, response
}

// pathOf is the target as a path of our own, for a browser to come back to.
func pathOf(target string) string {
	if strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") {
		return target
	}
	return "/"
}
