package core

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Call is one request to an [Action]. It serves one goroutine, until Handle returns. Its fields are for
// reading: to set one changes no answer.
type Call struct {
	// Request is the request as it came in. Its body has been read.
	Request *Request
	// Origin is the public origin of the request: "https://app.example". Home is the address of the application: Origin,
	// with Config.PublicPath where there is one.
	Origin, Home string
	// CallbackURL is where the visitor goes when all is done: the field callbackUrl of the body or of the query, else its
	// cookie, else the site. It has passed Callbacks.Redirect, and is absolute.
	CallbackURL string
	// CSRFToken goes into the forms of a page, as the field csrfToken. Empty where Config.CSRF asks for none.
	CSRFToken string
	// Locale is the language in which the request is answered: of pages, letters and problems. Zero: English.
	Locale ui.Locale
	// WantsJSON: the client asks for data rather than for pages. It does not prefer HTML in Accept, or sends
	// X-Auth-Return-Redirect, as the clients of Auth.js do.
	WantsJSON bool

	in    *call
	parts *parts
	part  string

	moved   movedAddress // of UpdatedUser
	read    bool         // the session was read
	session *Session
	failed  error

	proved   string         // the user whose address this call has proved
	unlinked []SignInMethod // what ProveEmail removed

	kept    []Cookie // of Keep and Drop, and of a session that has begun
	cookies []Cookie // of the session
}

// newCall is a request to an action of the part that faults call by its name.
func newCall(in *call, ps *parts, part string) *Call {
	return &Call{
		Request: in.r, Origin: in.origin, Home: in.home, CallbackURL: in.callbackURL.now,
		CSRFToken: in.csrf.token, Locale: in.language(), WantsJSON: in.wantsData(),
		in: in, parts: ps, part: part,
	}
}

// Host is the host of Origin, with a port where it has one: "app.example".
func (c *Call) Host() string { return hostOf(c.Origin) }

// Field is a field: of a POST one of the body, a form field (the last of several) or a member of a JSON object that is
// text, of a GET a parameter of the query (the first of several). Empty: there is none, or the member is no text.
func (c *Call) Field(name string) string {
	if c.in.r.Method == "POST" {
		text, _ := c.in.fields.Text(name)
		return text
	}
	return c.in.query.Get(name)
}

// Member reads a member of a JSON body, which may be nested, into v, a pointer. false: it is absent, null, of another
// shape than v, or the body is a form.
func (c *Call) Member(name string, v any) bool {
	raw := c.in.fields.Raw(name)
	return c.in.r.Method == "POST" && raw != nil && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// URL is the absolute address of an action, with parameters as names and values: URL("password/reset", "token", t). It
// goes into letters and forms.
func (c *Call) URL(action string, query ...string) string {
	address, err := weburl.AddQuery(c.in.base+"/"+action, query...)
	if err != nil { // an odd number of texts, or an action that is no path
		panic(fmt.Sprintf("core: Call.URL(%q): %v", action, err))
	}
	return address
}

// Session is the visitor's session, nil for nobody, with the facts that [Host.Facts] asks for. It is read once. An
// error means that it is not known whether there is one.
func (c *Call) Session(ctx context.Context) (*Session, error) {
	if !c.read {
		c.session, c.cookies, c.failed = c.parts.auth.sessions.read(ctx, &c.in.session, sessionRead{})
		c.read = true
	}
	return c.session, c.failed
}

// Page is the frame of a page: its nonce, base path, look and title. It goes to [ui.Shell] and to Render.
func (c *Call) Page(title string) ui.Page {
	page := c.parts.auth.pages.shell(&c.in.arrival)
	page.Title = title
	return page
}

// Allow counts an attempt of the visitor, and where identifier is not empty for that too: an address, a name, the ID of
// a user. An error means that it has to wait: return it, the answer is 429 with Retry-After.
func (c *Call) Allow(ctx context.Context, a Attempt, identifier string) error {
	return c.parts.limits.ask(ctx, c.in, LimitParams{Attempt: a, Identifier: identifier})
}

// Forgive takes back what Allow has counted: the attempt was right. Of [AttemptInARow] it takes back all that came
// before, by whomever: the visitor has shown in a better way that the name is theirs.
func (c *Call) Forgive(ctx context.Context, a Attempt, identifier string) {
	p := LimitParams{Attempt: a, Identifier: identifier}
	if a == AttemptInARow {
		c.parts.limits.clear(ctx, c.in, p)
		return
	}
	c.parts.limits.right(ctx, c.in, p)
}

// Audit tells Config.Audit of a decision of the part's, after what it tells of was committed. Name, Outcome and Reason
// are of the closed lists; Time, Tenant, Peer, Agent, Reference and an empty Provider are filled in. Subject is the
// identifier as the visitor typed it, for one that belongs to nobody: its keyed hash takes its place. Refusals of one
// subject are folded to one a minute. Where Config.Audit is nil nothing happens.
func (c *Call) Audit(ctx context.Context, e AuditEvent) { c.in.audit.note(ctx, &c.in.arrival, e) }

// movedAddress is the address that a user had and the one that they have now.
type movedAddress struct {
	moved    bool
	from, to string
	proved   bool
}

// write writes the new address over the old one, and leaves a claim that the application set otherwise. The session
// that proved an address does not end with the proof.
func (m movedAddress) write(t *Token) {
	if !m.moved {
		return
	}
	if t.Email == m.from {
		t.Email, t.Null = m.to, t.Null&^store.NullEmail
	}
	if m.proved {
		delete(t.Extra, emailUnproved)
	}
}

// UpdatedUser tells the application that a user was changed in the store, by Events.UpdateUser. before is the user as
// they were: if they are the current user and their address was changed or verified, [Call.Reissue] updates the session
// token.
func (c *Call) UpdatedUser(ctx context.Context, before, after *User) {
	verified := before.EmailVerified.IsZero() && !after.EmailVerified.IsZero()
	if before.Email != after.Email || verified {
		c.moved = movedAddress{true, before.Email, after.Email, !after.EmailVerified.IsZero()}
	}
	c.parts.entry.linker.events.updatedUser(ctx, &c.in.arrival, after)
}

// Render answers with a page, which has the headers and the policy of our own: no source but this site's, style and
// scripts with the nonce of page. A view that fails is answered 500, and logged.
func (c *Call) Render(ctx context.Context, status int, page ui.Page, view templ.Component) *Response {
	return c.parts.auth.pages.render(ctx, &c.in.arrival, &Response{Status: status}, page.Nonce, view)
}

// Answer answers with v as JSON. A v that cannot be encoded is answered 500, and logged.
func (c *Call) Answer(ctx context.Context, status int, v any) *Response {
	body, err := json.Marshal(v)
	if err != nil {
		e := errorf(ErrAuth, "answer of %s: %w", c.part, err)
		c.in.log.failure(ctx, e, c.in.attrs()...)
		return serverErrorJSON(&c.in.arrival, &Response{Err: e})
	}
	return &Response{Status: status, Body: body, Header: newHeader(contentJSON)}
}

// Redirect sends a browser to an address with 303, and tells a client that asks for JSON {"url": …} with 200. The
// address is one of this site's making, such as CallbackURL or URL: nothing checks it. A path belongs to the origin.
func (c *Call) Redirect(address string) *Response {
	address = absolute(c.in.origin, address)
	if c.WantsJSON && !wantsURL(c.in.r) {
		body := append(exactjson.AppendText([]byte(`{"url":`), address), '}')
		return &Response{Status: http.StatusOK, Body: body, Header: newHeader(contentJSON)}
	}
	return &Response{Status: http.StatusSeeOther, Redirect: address}
}

// Cookies of this package that are named as those of parts are, behind the prefix.
const (
	// pendingCookie is that of a held sign-in.
	pendingCookie = "pending"
	// localeCookie is the one with the language that a parameter has asked for. The parameter is gone with the next
	// redirect of a sign-in, and the pages after it are to be in the same language.
	localeCookie = "locale"
)

// ownCookies are all of them: no plugin keeps a cookie with such a name.
var ownCookies = [...]string{pendingCookie, localeCookie, knownCookie, stepUpCookie}

// partCookie is the cookie of that name which parts keep: "__Host-latchkey.<name>".
func (v *arrival) partCookie(name string) cookieSpec {
	spec := cookieSpec{attributes: v.cookies.parts.attributes}
	spec.attributes.Name += name
	return spec
}

// Keep has the browser keep v, encrypted, for ttl, in a cookie that scripts cannot read and that is this host's alone.
// Kept reads it in later requests. name is lower-case letters, digits and hyphens, and the part's own among all parts:
// begin it with the part's Name. A browser keeps about 3,000 bytes of JSON. The visitor can keep a copy and present it
// again until ttl is over: what must happen once needs a record.
func (c *Call) Keep(name string, v any, ttl time.Duration) error {
	if !isActionName(name) || slices.Contains(ownCookies[:], name) {
		return fmt.Errorf("core: Keep: the name %q is none: lower-case letters, digits and hyphens, 32 at most, and "+
			"none of %q", name, ownCookies)
	}
	cookie, err := c.parts.cookie(&c.in.arrival, name, v, c.parts.now().Add(ttl))
	if err == nil {
		c.keep(cookie)
	}
	return err
}

// cookie seals v into the cookie that parts keep under a name.
func (ps *parts) cookie(at *arrival, name string, v any, expires time.Time) (Cookie, error) {
	sealed, err := ps.seals.seal("cookie "+name, v, expires)
	if err != nil {
		return Cookie{}, err
	}
	if len(sealed) > maxKeptCookie {
		return Cookie{}, fmt.Errorf("core: Keep: %q has %d bytes sealed, and browsers keep %d", name, len(sealed),
			maxKeptCookie)
	}
	spec := at.partCookie(name)
	cookie := spec.setUntil(sealed, expires)
	cookie.HasMaxAge, cookie.MaxAge = true, int(expires.Sub(ps.now()).Seconds())
	return cookie, nil
}

// kept reads into v what is kept under a name.
func (ps *parts) kept(at *arrival, name string, v any) bool {
	spec := at.partCookie(name)
	value, ok := at.jar.Get(spec.name())
	return ok && ps.seals.open("cookie "+name, value, v) == nil
}

// maxKeptCookie leaves room for name and attributes: a browser keeps 4,096 bytes (RFC 6265 section 6.1).
const maxKeptCookie = 3900

// Kept reads into v, a pointer, what Keep had the browser keep. false: the browser has nothing, or what it has is too
// old, altered, or of another shape.
func (c *Call) Kept(name string, v any) bool {
	return name != pendingCookie && name != stepUpCookie && c.parts.kept(&c.in.arrival, name, v)
}

// Drop has the browser forget what Keep kept.
func (c *Call) Drop(name string) {
	spec := c.in.partCookie(name)
	c.keep(spec.clear(spec.name()))
}

// keep sets a cookie in place of one of that name which this answer would set.
func (c *Call) keep(cookie Cookie) {
	for i := range c.kept {
		if c.kept[i].Name == cookie.Name {
			c.kept[i] = cookie
			return
		}
	}
	c.kept = append(c.kept, cookie)
}

// KnowBrowser makes this browser a known browser of a user (Config.Limits.KnownBrowsers). Call it after the user has
// authenticated without being signed in. [Call.SignIn] does the same. The browser is known for the user's ID, and for
// their address if it is verified.
func (c *Call) KnowBrowser(ctx context.Context, user *User) {
	for _, cookie := range c.parts.limits.known.remember(ctx, c.in, verifiedNames(user)...) {
		c.keep(cookie)
	}
}
