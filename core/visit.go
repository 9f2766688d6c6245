package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/pageheaders"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/ui"
)

// Visit is a request to a page of the application, as the request hook sees it. It is a context: pass it on as the
// context of the request, and [SessionFrom] and the ui components find the session in it. It reads the session at most
// once, on first use. It belongs to the Auth that was chosen for the request. One request can have nested visits of
// several Auths.
//
// A Visit does not write to the response. It collects the cookies to set, and the adapter's hook writes them with
// [Visit.Commit] on the goroutine of the request. It is safe for concurrent use. The session can still be read after
// the request, for example by a goroutine that the handler started; then its cookies are dropped.
type Visit struct {
	context.Context
	entry   *Auth // the Auth whose method Visit was called
	auth    *Auth // the chosen Auth; nil: none could be chosen
	pages   *pages
	at      arrival
	refused error // why the request cannot be read; nil: no error
	again   bool  // a stream checks its session again: nothing is renewed or counted

	state     *ui.State
	spoken    *arrival // at, with the language of the response
	stateMade sync.Once

	session   once.Value[*Session]
	principal once.Value[*Principal]
	formToken once.Value[string]
	memory    once.Results // what plugins have read for the request
	collected pageheaders.Headers
}

// Visit starts the visit of a request to a page of the application. A request hook calls it before the next handler,
// passes the Visit on as the context of the request, and calls [Visit.Commit].
func (a *Auth) Visit(ctx context.Context, r *Request) *Visit {
	v := &Visit{Context: ctx, entry: a}
	chosen, err := a.resolve(ctx, r)
	if err != nil {
		v.refused = errormarks.As(err, ErrInvalidConfig)
		c, pages, faults := withoutAuth(r, err)
		v.pages, v.at = pages, c.arrival
		logAll(ctx, &v.at, faults)
		return v
	}
	v.auth, v.pages = chosen, chosen.pages
	chosen.mail.Perhaps()
	chosen.sessions.cleaning.Visited()
	v.at = chosen.site.unsettled(r)
	if v.refused = v.at.settle(); v.refused != nil {
		chosen.log.failure(ctx, errormarks.As(v.refused, ErrAuth), v.at.attrs()...)
	}
	return v
}

// VisitCall starts the visit of a request that a program sends, such as an RPC call. Package access uses it. Refusals
// are for programs: a problem document, and never a page or a redirect.
//
// Scripts of other sites can make a browser send cookies with a call. So the cookies count only if the header Origin or
// Sec-Fetch-Site says that a page of this site, or of Config.TrustedOrigins, made the call. Programs use Authorization
// instead.
//
// If again is true, a stream checks its credentials again: the session is not extended, and an API key is not counted
// as used.
func (a *Auth) VisitCall(ctx context.Context, r *Request, again bool) *Visit {
	v := a.Visit(ctx, r)
	v.at.program, v.again = true, again
	trusted := v.at.cors.Origin(r.Header) != ""
	if v.refused == nil && !csrf.FromOwnPage(r.Header, v.at.origin, trusted) {
		v.at.foreign = v.at.presentsSession() && !v.at.byBearer()
		v.at.jar = cookie.Jar{}
	}
	return v
}

// Value returns the Visit and the state of the ui components for their keys, and the value of the request's context for
// all other keys.
func (v *Visit) Value(key any) any {
	switch key := key.(type) {
	case visitKey:
		return v
	case visitOf:
		if v.entry == key.auth || v.auth == key.auth {
			return v
		}
	case auditor.CredentialKey:
		if v.auth != nil && v.auth.site.audit == key.Of {
			return v.at.verified
		}
	default:
		if key == ui.StateKey() {
			return v.stateOf(key)
		}
	}
	return v.Context.Value(key)
}

// stateOf returns the state of the ui components. If this hook refused the request, that of an outer hook is preferred.
func (v *Visit) stateOf(key any) any {
	if v.refused != nil {
		if outer := v.Context.Value(key); outer != nil {
			return outer
		}
	}
	v.stateMade.Do(v.makeState)
	return v.state
}

func (v *Visit) makeState() {
	if v.refused != nil {
		v.state = &ui.State{Err: v.refused, BasePath: cmp.Or(v.at.publicBase, "/"), Theme: v.pages.theme}
		return
	}
	own := &v.pages.config
	v.spoken = &v.at
	if v.at.locales != nil {
		at := v.at
		at.settleLocale(v, "")
		v.spoken = &at
		v.collected.Note(pageheaders.Locale)
	}
	v.state = &ui.State{
		BasePath: cmp.Or(v.at.publicBase, "/"), InsecureNoCSRF: v.at.csrf.Skip,
		SignInPath: own.SignIn, SignOutPath: own.SignOut, CallbackURL: v.at.currentPage(), Theme: v.pages.theme,
		Locale:              v.spoken.language(),
		EndImpersonationURL: v.endImpersonationURL(), OneTap: v.auth.plugins.oneTap.shown(),
		Providers: v.pages.providers, Visitor: v.visitor, FormToken: v.token, Report: v.report,
	}
}

// endImpersonationURL returns the URL of the action that ends an impersonation, or "" if none is allowed.
func (v *Visit) endImpersonationURL() string {
	if v.auth.sessions.impersonation == nil {
		return ""
	}
	return v.at.publicBase + "/" + v.auth.sessions.impersonation.end
}

// answering returns the request with the language of its response.
func (v *Visit) answering() *arrival {
	if v.refused != nil || v.at.locales == nil {
		return &v.at
	}
	v.stateMade.Do(v.makeState)
	return v.spoken
}

// report logs the error of a component that could not be rendered.
func (v *Visit) report(component string, err error) {
	v.at.log.failure(v.Context, errorf(ErrAuth, "component %s: %w", component, err), v.at.attrs()...)
}

var errHeaderSent = errors.New("the browser has no CSRF cookie yet, and the response header was already sent: " +
	"render the page into a buffer before you write it, as templ.Handler does, " +
	"or render a form before the first bytes are sent")

// token returns a CSRF token for the forms of the page. It matches the browser's cookie: the cookie of the request if
// it is valid, or a new one that the response sets.
func (v *Visit) token() (string, error) {
	token, err := v.formToken.Do(v.makeToken)
	if err == nil {
		v.collected.Note(pageheaders.Token)
	}
	return token, err
}

func (v *Visit) makeToken() (string, error) {
	verdict, err := v.at.checkCSRF(form.Fields{})
	if err != nil {
		v.at.log.failure(v.Context, errormarks.As(err, ErrAuth), v.at.attrs()...)
		return "", err
	}
	if verdict.Fresh != "" && !v.keep([]Cookie{Cookie(v.at.cookies.CSRF.Set(verdict.Fresh))}) {
		return "", errHeaderSent
	}
	return verdict.Token, nil
}

// Commit writes the collected cookies and caching headers to the header of a response, and ends the collection. The
// hook calls it on the goroutine of the request before the header is sent. If the router delays the header, the hook
// calls it after the next handler has returned. Later calls do nothing.
//
// Shared caches must not store a response if the session was read for it, or if it has a cookie or a CSRF token of this
// browser. It gets "Vary: Cookie", with Session.Bearer also "Vary: Authorization", and "Cache-Control: private" unless
// the handler has set it to public or has already excluded caches. The same applies to every page for a browser with a
// session cookie, because a streamed page may read the session after its header was sent. If the handler declares a
// response public, no session cookie is set. With Config.Locales, a page whose components follow the user's language
// gets "Vary: Accept-Language".
func (v *Visit) Commit(h http.Header) {
	if v.refused != nil || v.collected.Written() {
		return
	}
	caching := negotiate.CachingOf(h)
	page := wantsPage(v.at.r) && h.Get("Location") == "" && negotiate.IsPage(h.Get("Content-Type"))
	if page && v.at.presentsSession() {
		v.collected.Note(pageheaders.Session)
	}
	if page && !caching.Public && !caching.Lasting() && !v.at.jar.Has(v.at.cookies.CSRF.Name()) {
		// A streamed page may render its forms after this, when the cookie cannot be set any more.
		_, _ = v.formToken.Do(v.makeToken)
	}
	v.write(h, caching)
	if v.at.locales != nil {
		v.collected.VaryLocale(h, page && !caching.Public && !caching.Lasting())
	}
}

// Session returns the user's session, or nil if no user is signed in. An error means that the session is unknown,
// because the store failed or the request is for an unknown host. Do not treat an error as "not signed in".
func (v *Visit) Session() (*Session, error) { return v.session.Do(v.readSession) }

func (v *Visit) readSession() (*Session, error) {
	v.dependsOnSession()
	if v.refused != nil {
		return nil, v.refused
	}
	var session *Session
	var cookies []Cookie
	request, err := v.auth.sessions.of(v.Context, &v.at)
	if err == nil {
		session, cookies, err = v.auth.sessions.read(v.Context, request, sessionRead{again: v.again})
	}
	if err != nil {
		v.at.log.failure(v.Context, errormarks.As(err, ErrSessionToken), v.at.attrs()...)
		return nil, err
	}
	v.collected.RenewedBy(request.carrier())
	if !v.keep(cookies) {
		v.at.log.debug(v.Context, "a session cookie is not set: the session was read after the response header was sent",
			slog.String("reference", v.at.ref()))
	}
	return session, nil
}

// dependsOnSession records that the response depends on the session, so that Commit excludes shared caches.
func (v *Visit) dependsOnSession() {
	if !v.collected.Note(pageheaders.Session) {
		v.at.log.debug(v.Context, "the session was read after the response header was sent, so shared caches "+
			"may store the response", slog.String("reference", v.at.ref()))
	}
}

func (v *Visit) visitor(context.Context) (*ui.Visitor, error) {
	s, err := v.Session()
	if err != nil || s == nil {
		return nil, err
	}
	visitor := visitorOf(s)
	return &visitor, nil
}

// Session returns the session of a request, or nil if no user is signed in. It is for handlers without a request hook.
// It writes cookies (if the session was extended or has ended) and caching headers to the header of the handler's
// response, so call it before the header is sent. If the handler has a hook of the same Auth, it returns the session of
// the hook, and the hook sets the cookies. It returns the same errors as [SessionFrom].
func (a *Auth) Session(ctx context.Context, r *Request, answer http.Header) (*Session, error) {
	if v := VisitOf(ctx, a); v != nil {
		return v.Session()
	}
	v := a.Visit(ctx, r)
	session, err := v.Session()
	v.write(answer, negotiate.CachingOf(answer))
	return session, err
}

// visitFrom returns the innermost visit in a request's context. It is nil without the request hook.
func visitFrom(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// VisitOf returns the visit in a request's context that belongs to a. It belongs to a if a started it, or if a is the
// Auth that [PerRequest] chose. It is nil if there is none. A guard calls it for its own Auth: the session of another
// Auth is not valid there.
func VisitOf(ctx context.Context, a *Auth) *Visit {
	v, _ := ctx.Value(visitOf{a}).(*Visit)
	return v
}

// ErrNoHook is the cause of the error that [SessionFrom] returns without the request hook. It was not logged.
var ErrNoHook = errors.New("the context has no visit: register the adapter's Hook before this handler")

// SessionFrom returns the user's session, or nil if no user is signed in. It reads the session at most once per
// request, on first use. It returns an error if the request hook is missing or if the store fails. Do not treat an
// error as "not signed in".
func SessionFrom(ctx context.Context) (*Session, error) {
	v := visitFrom(ctx)
	if v == nil {
		return nil, &Error{Type: ErrInvalidConfig, Cause: ErrNoHook}
	}
	return v.Session()
}

// ReferenceFrom returns the reference code of the browser's last failed request, for the application's own error and
// sign-in pages. The log line of the failure and the built-in pages have the same code. After a minute, or in another
// process, it returns the browser's own code, which is the attribute "browser" of the log line. It is empty without the
// request hook.
func ReferenceFrom(ctx context.Context) string {
	v := visitFrom(ctx)
	if v == nil {
		return ""
	}
	return v.at.lastRef()
}

// keep collects cookies for Commit. It returns false if it is too late to set them.
func (v *Visit) keep(cookies []Cookie) bool {
	stores, kept := len(cookies) > 0 && !v.at.byBearer(), true
	for _, c := range cookies {
		kept = v.collected.Keep(c.Name, c.String(), stores)
	}
	return kept
}

// write writes the collected cookies and caching headers.
func (v *Visit) write(h http.Header, caching negotiate.Caching) {
	session := ""
	if v.at.cookies != nil {
		session = v.at.cookies.Session.Name()
	}
	v.collected.Write(h, caching, session, v.at.readsAuthorization())
}
