package core

import (
	"context"
	"encoding/json"
	"fmt"

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
