package core

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/form"
	"github.com/latchkey-go/latchkey/ui"
)

// Visit is a request to a page of the application, seen by the request hook. It reads the session on first use, once,
// and is itself the context of the request: [SessionFrom] and the ui components find it there. It belongs to the Auth
// that was chosen for the request; several visits of one request, each of another Auth, are nested.
//
// A Visit never writes to an answer. It collects the cookies to set, and the adapter's hook writes them with
// [Visit.Commit] on the goroutine of the request. It is safe for concurrent use, and a session can still be read when
// the request is over: by a goroutine that the handler started, for instance. Cookies of such a read are dropped.
type Visit struct {
	context.Context
	entry   *Auth // what Visit was called on
	auth    *Auth // that answers; nil: none could be chosen
	pages   *pages
	at      arrival
	refused error // why nothing is known about this request, nil when all is well

	state     *ui.State
	spoken    *arrival // at, with the language of the answer
	stateMade sync.Once

	session     *Session
	failed      error
	sessionRead sync.Once

	formToken   string
	tokenFailed error
	tokenMade   sync.Once

	collected collected
}

// visitKey finds the innermost Visit in a context, visitOf that of an Auth.
type (
	visitKey struct{}
	visitOf  struct{ auth *Auth }
)

// Visit starts the visit of a request to a page of the application: what a request hook does before the next handler.
// The Visit is itself the context of the request's further way, and the hook calls [Visit.Commit].
func (a *Auth) Visit(ctx context.Context, r *Request) *Visit {
	v := &Visit{Context: ctx, entry: a}
	chosen, err := a.resolve(ctx, r)
	if err != nil {
		v.refused = asError(err, ErrInvalidConfig)
		c, pages, faults := withoutAuth(r, err)
		v.pages, v.at = pages, c.arrival
		logAll(ctx, &v.at, faults)
		return v
	}
	v.auth, v.pages = chosen, chosen.pages
	v.at = chosen.site.unsettled(r)
	if v.refused = v.at.settle(); v.refused != nil {
		chosen.log.failure(ctx, asError(v.refused, ErrAuth), v.at.attrs()...)
	}
	return v
}

// Value answers for the Visit and for the state of ui components, and asks the request's context for everything else.
// It changes nothing but what it remembers.
func (v *Visit) Value(key any) any {
	switch key := key.(type) {
	case visitKey:
		return v
	case visitOf:
		if v.entry == key.auth || v.auth == key.auth {
			return v
		}
	default:
		if key == ui.StateKey() {
			if outer := v.outerState(key); outer != nil {
				return outer
			}
			v.stateMade.Do(v.makeState)
			return v.state
		}
	}
	return v.Context.Value(key)
}

// outerState returns the state of a hook in front if this one refused the request, and nil otherwise.
func (v *Visit) outerState(key any) any {
	if v.refused == nil {
		return nil
	}
	return v.Context.Value(key)
}

func (v *Visit) makeState() {
	if v.refused != nil {
		v.state = &ui.State{Err: v.refused, BasePath: or(v.at.publicBase, "/"), Theme: v.pages.theme}
		return
	}
	own := &v.pages.config
	v.spoken = &v.at
	if v.at.locales != nil {
		at := v.at
		at.locales.settle(v, &at, "")
		v.spoken = &at
		v.collected.note(&v.collected.localeOut)
	}
	v.state = &ui.State{
		BasePath: or(v.at.publicBase, "/"), InsecureNoCSRF: v.at.csrf.policy.skip,
		SignInPath: own.SignIn, SignOutPath: own.SignOut, CallbackURL: v.at.here(), Theme: v.pages.theme,
		Locale:    v.spoken.language(),
		Providers: v.pages.providers, Visitor: v.visitor, FormToken: v.token, Report: v.report,
	}
}

// answering is the request with the language of its answer.
func (v *Visit) answering() *arrival {
	if v.refused != nil || v.at.locales == nil {
		return &v.at
	}
	v.stateMade.Do(v.makeState)
	return v.spoken
}

// report logs that a component of a page could not be drawn.
func (v *Visit) report(component string, err error) {
	v.at.log.failure(v.Context, errorf(ErrAuth, "component %s: %w", component, err), v.at.attrs()...)
}

var errHeaderOut = errors.New("the visitor has no CSRF cookie yet, and the answer's header is out: " +
	"render the page into a buffer before you write it, as templ.Handler does, " +
	"or draw a form before the first bytes are sent")

// token returns the CSRF token for the forms of the page, one that fits the browser's cookie: one that is there and
// verifies, or one that is set with this answer.
func (v *Visit) token() (string, error) {
	v.tokenMade.Do(func() { v.formToken, v.tokenFailed = v.makeToken() })
	if v.tokenFailed == nil {
		v.collected.note(&v.collected.tokenOut)
	}
	return v.formToken, v.tokenFailed
}

func (v *Visit) makeToken() (string, error) {
	csrf, err := v.at.csrf.check(v.at.csrfRequest(form.Fields{}))
	if err != nil {
		v.at.log.failure(v.Context, asError(err, ErrAuth), v.at.attrs()...)
		return "", err
	}
	if csrf.fresh != "" && !v.collected.keep(&v.at, []Cookie{v.at.cookies.csrf.set(csrf.fresh)}) {
		return "", errHeaderOut
	}
	return csrf.token, nil
}

// Commit adds to the header of an answer what the visit has collected, and ends the collecting. The hook calls it on
// the goroutine of the request: before the header goes out, or where routers keep the header back, when the next
// handler has returned. Calls after the first do nothing.
//
// Shared caches must not store a response if the session was read for it, or if it has a cookie or a CSRF token of this
// browser. It gets "Vary: Cookie", with Session.Bearer also "Vary: Authorization", and "Cache-Control: private" unless
// the handler has declared it public or kept caches off. So does every page for a browser that has a session cookie: a
// page that is streamed may read the session after its header was sent. On a response that the handler declares public
// no session cookie is set. With Config.Locales a page whose components follow the user's language gets
// "Vary: Accept-Language".
func (v *Visit) Commit(h HeaderWriter) {
	if v.refused != nil || v.collected.written() {
		return
	}
	caching := cachingOf(h)
	page := wantsPage(v.at.r) && h.Get("Location") == "" && isPage(h.Get("Content-Type"))
	if page && v.at.presentsSession() {
		v.collected.note(&v.collected.sessionRead)
	}
	if page && !caching.public && !caching.lasting() && !v.at.jar.Has(v.at.cookies.csrf.name()) {
		// A page that is streamed may draw its forms after this, when a browser without the cookie could not get it any more.
		v.tokenMade.Do(func() { v.formToken, v.tokenFailed = v.makeToken() })
	}
	v.collected.write(&v.at, h, caching)
	if v.at.locales != nil {
		v.collected.vary(h, page && !caching.public && !caching.lasting())
	}
}

// Session returns the visitor's session, nil without one. An error means that it is not known, because the store failed
// or the request is not for a host of ours; it is never to be taken for "not signed in".
func (v *Visit) Session() (*Session, error) {
	v.sessionRead.Do(func() {
		v.dependsOnSession()
		if v.refused != nil {
			v.failed = v.refused
			return
		}
		presented := v.auth.sessions.present(&v.at)
		session, cookies, err := v.auth.sessions.read(v.Context, &presented, sessionRead{})
		if err != nil {
			v.at.log.failure(v.Context, asError(err, ErrSessionToken), v.at.attrs()...)
			v.failed = err
			return
		}
		v.session = session
		v.collected.renewedBy(&presented)
		if !v.collected.keep(&v.at, cookies) {
			v.at.log.debug(v.Context, "a session cookie is not set: the session was read when the answer's header was out",
				slog.String("reference", v.at.ref()))
		}
	})
	return v.session, v.failed
}

// dependsOnSession notes that the response depends on the session, so that Commit keeps shared caches off.
func (v *Visit) dependsOnSession() {
	if !v.collected.note(&v.collected.sessionRead) {
		v.at.log.debug(v.Context, "the session was read after the header of the response was sent, which may not say "+
			"that the response depends on it", slog.String("reference", v.at.ref()))
	}
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

// Session returns the session of a request in one call, nil without one: for a handler that has no request hook in
// front. It adds to the header of the handler's answer what reading the session sets (the cookies of one that was
// extended or has ended, and what keeps shared caches off), so call it before the header goes out. Where a hook of the
// same Auth is in front it is the hook's session, read once, and the hook sets the cookies. Errors are those of
// [SessionFrom].
func (a *Auth) Session(ctx context.Context, r *Request, answer HeaderWriter) (*Session, error) {
	if v := VisitOf(ctx, a); v != nil {
		return v.Session()
	}
	v := a.Visit(ctx, r)
	session, err := v.Session()
	v.collected.write(&v.at, answer, cachingOf(answer))
	return session, err
}

// visitFrom returns the visit of a request's context, the innermost of several; nil without the request hook.
func visitFrom(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// VisitOf returns the visit of a request's context that belongs to a: started by it, or by the Auth of [PerRequest]
// that chose it. It is nil when there is none. A guard asks for its own: the session of another Auth is not good there.
func VisitOf(ctx context.Context, a *Auth) *Visit {
	v, _ := ctx.Value(visitOf{a}).(*Visit)
	return v
}

// ErrNoHook is the cause of the error of [SessionFrom] without the request hook. Nothing has logged it.
var ErrNoHook = errors.New("the context has no visit: put the adapter's Hook in front of this handler")

// SessionFrom returns the visitor's session, nil without one. It reads the session on first use in a request, once.
// Without the request hook it is an error, as is a store that fails: neither means "not signed in".
func SessionFrom(ctx context.Context) (*Session, error) {
	v := visitFrom(ctx)
	if v == nil {
		return nil, &Error{Type: ErrInvalidConfig, Cause: ErrNoHook}
	}
	return v.Session()
}

// ReferenceFrom returns the code of the last failed request of this browser, for the application's own error and
// sign-in pages: the one that its log line has. A minute later, or in another process, it is the browser's own code,
// the attribute "browser" of the line. It is empty without the request hook. The built-in pages show the same code.
func ReferenceFrom(ctx context.Context) string {
	v := visitFrom(ctx)
	if v == nil {
		return ""
	}
	return v.at.lastRef()
}

// collected is what a visit adds to the response. It is safe for concurrent use.
type collected struct {
	mu          sync.Mutex
	cookies     []Cookie   // to be set
	tokenOut    bool       // a form of the page carries the CSRF token
	sessionRead bool       // the response depends on the session
	localeOut   bool       // the page may be in the user's language
	committed   bool       // nothing is collected any more
	renewal     *presented // the session that cookies renew; nil: none
}

// keep keeps cookies for Commit; false: it is too late to set them.
func (o *collected) keep(at *arrival, cookies []Cookie) bool {
	if len(cookies) == 0 {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return false
	}
	if at.byBearer() { // it keeps no cookies
		return true
	}
	o.cookies = append(o.cookies, cookies...)
	return true
}

// renewedBy notes the session that later cookies renew or clear.
func (o *collected) renewedBy(p *presented) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewal = p
}

// note sets one of the flags; false: the header of the response has been written.
func (o *collected) note(flag *bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	*flag = true
	return !o.committed
}

// written reports whether the collecting has ended.
func (o *collected) written() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.committed
}

// vary says that a page follows the language of its visitor: one on which a component was drawn, and one that is
// streamed and may draw it yet, where perhaps is true.
func (o *collected) vary(h HeaderWriter, perhaps bool) {
	const field = "Accept-Language"
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.localeOut && !perhaps {
		return
	}
	if !follows(varyOf(h), field) {
		h.Add("Vary", field)
	}
}

// caching is what the Cache-Control of a handler says (RFC 9111 section 5.2.2).
type caching struct {
	public bool // shared caches may keep the response
	closed bool // no shared cache may, or none without asking again
	timed  bool // max-age lets any cache keep it for a time
}

func cachingOf(h HeaderWriter) (c caching) {
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "public", "s-maxage":
			c.public = true
		case "private", "no-cache", "no-store":
			c.closed = c.closed || !valued // with field names it is about those fields alone
		case "max-age":
			c.timed = value != "0"
		}
	}
	return c
}

// lasting reports whether any cache may keep a response for a time.
func (c caching) lasting() bool { return c.timed && !c.closed }

// write adds the cookies that were collected to the header of an answer, and ends the collecting.
func (o *collected) write(at *arrival, h HeaderWriter, caching caching) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.committed {
		return
	}
	o.committed = true
	personal := o.tokenOut || o.sessionRead
	late := len(o.cookies) > 0 && o.renewal != nil && !o.renewal.mayRenew(false)
	for _, c := range o.cookies {
		if (caching.public || late) && strings.HasPrefix(c.Name, at.cookies.session.name()) {
			continue
		}
		h.Add("Set-Cookie", c.String())
		personal = true
	}
	o.cookies = nil
	if !personal {
		return
	}
	if !caching.public && !caching.closed {
		h.Add("Cache-Control", "private")
	}
	vary := varyOf(h)
	if !follows(vary, "Cookie") {
		h.Add("Vary", "Cookie")
	}
	if at.bearers && !follows(vary, "Authorization") {
		h.Add("Vary", "Authorization")
	}
}

// varyOf returns all values of the Vary field, or the first one if the header cannot list them.
func varyOf(h HeaderWriter) string {
	if all, ok := h.(interface{ Values(name string) []string }); ok {
		return strings.Join(all.Values("Vary"), ",")
	}
	return h.Get("Vary")
}

// leave ends the collecting without an answer: the auth routes answer in place of a page, and set their own cookies.
func (o *collected) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.committed = true
}

// isPage reports whether a Content-Type is that of a page; empty: net/http looks at the body.
func isPage(contentType string) bool {
	const page = "text/html"
	return contentType == "" || len(contentType) >= len(page) && strings.EqualFold(contentType[:len(page)], page)
}
