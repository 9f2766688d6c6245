package core

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// ActionRequest is one request to an [Action]. It must be used by one goroutine only, and not after Handle has
// returned. Its fields are read-only: changing one does not change the response.
type ActionRequest struct {
	// Request is the HTTP request. Its body has already been read.
	Request *Request
	// Origin is the public origin of the request, for example "https://app.example". Home is the URL of the application:
	// Origin followed by Config.PublicPath, if it is set.
	Origin, Home string
	// CallbackURL is where the browser goes when everything is done. It is the field callbackUrl of the body or the query,
	// else the callback URL cookie, else the site itself. It has passed Callbacks.Redirect and is absolute.
	CallbackURL string
	// CSRFToken belongs in the forms of a page, as the field csrfToken. It is empty if Config.CSRF does not require a
	// token.
	CSRFToken string
	// Locale is the language of the response: of pages, emails and problems. The zero value is English.
	Locale ui.Locale
	// WantsJSON reports whether the client expects JSON instead of a page: its Accept header does not prefer HTML, or it
	// sends X-Auth-Return-Redirect as the Auth.js client does.
	WantsJSON bool

	in      *call
	plugins *plugins
	plugin  string
	action  *pluginAction // nil for the actions of core

	moved   sessionstate.Moved // set by UpdatedUser
	read    bool               // the session has been read
	session *Session
	failed  error

	verified string         // ID of the user whose address MarkEmailVerified verified
	unlinked []SignInMethod // sign-in methods that MarkEmailVerified removed

	code *emailcode.Code // that CheckCode has consumed

	kept    []Cookie // set by SetEncryptedCookie, DeleteEncryptedCookie and a new session
	cookies []Cookie // set by reading the session
}

// newCall returns the request to an action. plugin is the name of its plugin, as in configuration errors.
func newCall(in *call, ps *plugins, plugin string) *ActionRequest {
	return &ActionRequest{
		Request: in.r, Origin: in.origin, Home: in.home, CallbackURL: in.callbackURL.Target,
		CSRFToken: in.csrf.Token, Locale: in.language(), WantsJSON: in.wantsData(),
		in: in, plugins: ps, plugin: plugin,
	}
}

// Host returns the host of Origin, with the port if there is one: "app.example".
func (c *ActionRequest) Host() string { return c.in.at.Host }

// Field returns a request field. For a POST it is the last form field with that name, or a text member of the JSON
// object. For a GET it is the first query parameter with that name. Field returns "" if there is none, or if the JSON
// member is not text.
func (c *ActionRequest) Field(name string) string {
	if !c.declared(name) {
		return ""
	}
	if c.in.r.Method == "POST" {
		text, _ := c.in.fields.Text(name)
		return text
	}
	return c.in.query.Get(name)
}

// JSONMember decodes a member of the JSON body, which may be nested, into v, a pointer. It returns false if the member
// is missing or null, does not fit v, or the body is a form.
func (c *ActionRequest) JSONMember(name string, v any) bool {
	if !c.declared(name) {
		return false
	}
	raw := c.in.fields.Raw(name)
	return c.in.r.Method == "POST" && raw != nil && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// declared reports whether the action may read a field.
func (c *ActionRequest) declared(name string) bool {
	if c.action == nil || c.action.inputs.Has(name) {
		return true
	}
	c.in.log.logger.ErrorContext(context.Background(), "auth: an action reads a field that is not in Action.Input",
		slog.String("action", c.action.path()), slog.String("field", name))
	return false
}

// URL returns the absolute URL of an action, for emails and forms. query lists the names and values of parameters:
// URL("password/reset", "token", t). It panics if query has an odd length or action is not a valid path.
func (c *ActionRequest) URL(action string, query ...string) string {
	address, err := weburl.AddQuery(c.in.base+"/"+action, query...)
	if err != nil { // an odd number of texts, or an action that is no path
		panic(fmt.Sprintf("core: ActionRequest.URL(%q): %v", action, err))
	}
	return address
}

// Session returns the session of the request, with the facts of [PluginHost.TrackAuthentication] if a plugin requested
// them. It is nil if no user is signed in. The session is read once and then cached. An error means that it is unknown
// whether there is a session.
func (c *ActionRequest) Session(ctx context.Context) (*Session, error) {
	if !c.read {
		c.session, c.cookies, c.failed = c.plugins.auth.sessions.read(ctx, c.in.session, sessionRead{})
		c.read = true
	}
	return c.session, c.failed
}

// ByBearer reports whether the request has a bearer token that counts instead of its cookies: a session token, if
// Session.Bearer is on, or the credential of a plugin. A bearer token for a proxy in front does not count.
func (c *ActionRequest) ByBearer() bool { return c.in.byBearer() }

// Page returns the common data of a page: nonce, base path, theme and title. Pass it to [ui.Shell] and to Render.
func (c *ActionRequest) Page(title string) ui.Page {
	page := c.plugins.auth.pages.shell(&c.in.arrival)
	page.Title = title
	if s := c.session; s != nil && s.Actor != "" {
		c.plugins.auth.pages.showImpersonation(c.in, &page, visitorOf(s))
	}
	return page
}

// Audit reports a decision of the plugin to Config.Audit. Call it after the change is committed. It does nothing if
// Config.Audit is nil.
//
// Name, Outcome and Reason must be declared constants. Audit sets Time, Tenant, Peer, Agent, Reference and, if it is
// empty, Provider. Set Subject to the identifier that was typed if it belongs to no user: Audit replaces it with a
// keyed hash. Refusals with the same subject are combined into one event a minute.
func (c *ActionRequest) Audit(ctx context.Context, e audit.Event) {
	c.in.note(ctx, e)
}

// UpdatedUser calls Events.UpdateUser after the plugin has changed a user in the store. before is the user before the
// change. If before is the current user and the name or the picture was changed, or the address was changed or
// verified, call [ActionRequest.RenewSession] afterwards: it updates the session token.
func (c *ActionRequest) UpdatedUser(ctx context.Context, before, after *User) {
	if moved := sessionstate.Between(before, after); moved != (sessionstate.Moved{}) {
		c.moved = moved
	}
	c.plugins.entry.linker.events.updatedUser(ctx, &c.in.arrival, after)
}

// Render returns a response with a page. It has the headers of the built-in pages, including their content security
// policy: resources load only from this site, page.Picture and page.Challenge, and styles and scripts need the nonce
// of page. If view fails, the error is logged and the response has status 500.
func (c *ActionRequest) Render(ctx context.Context, status int, page ui.Page, view templ.Component) *Response {
	response := c.plugins.auth.pages.render(ctx, &c.in.arrival, &Response{Status: status}, page.Nonce, view)
	return response.permit(page.Picture, page.Challenge, nil)
}

// JSON returns a response with v as JSON. If v cannot be encoded, or does not have the type of [Action].Output, the
// error is logged and the response has status 500.
func (c *ActionRequest) JSON(ctx context.Context, status int, v any) *Response {
	body, err := json.Marshal(v)
	if c.action != nil && status < http.StatusMultipleChoices && !actions.SameType(v, c.action.Output) {
		err = fmt.Errorf("the type of the response is %T, and Action.Output is %T", v, c.action.Output)
	}
	if err != nil {
		e := errorf(ErrAuth, "encode the response of %s: %w", c.plugin, err)
		c.in.log.failure(ctx, e, c.in.attrs()...)
		return serverErrorJSON(&c.in.arrival, &Response{Err: e})
	}
	return &Response{Status: status, Body: body, Header: headers.New("Content-Type", typeJSON)}
}

// Redirect redirects a browser with status 303. A client that asks for JSON gets status 200 and {"url": …} instead. A
// path is resolved against Origin. The address is not validated: it must be built by this site, such as CallbackURL or
// URL, and never from the client.
func (c *ActionRequest) Redirect(address string) *Response {
	address = absolute(c.in.origin, address)
	if c.WantsJSON && !wantsURL(c.in.r) {
		body := append(exactjson.AppendText([]byte(`{"url":`), address), '}')
		return &Response{Status: http.StatusOK, Body: body, Header: headers.New("Content-Type", typeJSON)}
	}
	return &Response{Status: http.StatusSeeOther, Redirect: address}
}

// SetEncryptedCookie stores v in an encrypted cookie that expires after ttl. Scripts cannot read the cookie, and the
// browser sends it to this host only. EncryptedCookie reads it in later requests.
//
// name consists of lower-case letters, digits and hyphens and must be unique among all plugins: begin it with the
// plugin's Name. v may have about 3,000 bytes of JSON. A user can copy the cookie and send it again until ttl is over:
// use a record for anything that may happen only once.
func (c *ActionRequest) SetEncryptedCookie(name string, v any, ttl time.Duration) error {
	if err := plugincookies.CheckName(name); err != nil {
		return err
	}
	cookie, err := c.plugins.cookie(&c.in.arrival, name, v, c.plugins.now().Add(ttl))
	if err == nil {
		c.keep(cookie)
	}
	return err
}

// cookie encrypts v into the plugin cookie with this name.
func (ps *plugins) cookie(at *arrival, name string, v any, expires time.Time) (Cookie, error) {
	made, err := plugincookies.Cookies{Set: at.cookies, Keys: &ps.seals}.New(name, v, expires)
	return Cookie(made), err
}

// readCookie decrypts the plugin cookie with this name into v.
func (ps *plugins) readCookie(at *arrival, name string, v any) bool {
	return plugincookies.Cookies{Set: at.cookies, Keys: &ps.seals}.Read(at.jar, name, v)
}

// EncryptedCookie decrypts the cookie that SetEncryptedCookie stored into v, a pointer. It returns false if there is no
// such cookie, if it has expired or was modified, or if the value does not fit v.
func (c *ActionRequest) EncryptedCookie(name string, v any) bool {
	return plugincookies.CheckName(name) == nil && c.plugins.readCookie(&c.in.arrival, name, v)
}

// DeleteEncryptedCookie deletes a cookie that SetEncryptedCookie stored.
func (c *ActionRequest) DeleteEncryptedCookie(name string) {
	spec := c.in.cookies.Plugin(name)
	c.keep(Cookie(spec.Clear()))
}

// keep sets cookies. Each replaces one with the same name that this response would set.
func (c *ActionRequest) keep(cookies ...Cookie) {
	for _, cookie := range cookies {
		i := slices.IndexFunc(c.kept, func(kept Cookie) bool { return kept.Name == cookie.Name })
		if i < 0 {
			c.kept = append(c.kept, cookie)
		} else {
			c.kept[i] = cookie
		}
	}
}

// replaceSession sets the cookies of a new session. They replace those that reading the session set.
func (c *ActionRequest) replaceSession(cookies []Cookie) {
	c.read, c.session, c.failed, c.cookies = true, nil, errSessionChanged, nil
	c.keep(cookies...)
}

// RememberBrowser makes this browser a known browser of a user (Config.Limits.KnownBrowsers). Call it after the user
// has authenticated without being signed in. [ActionRequest.SignIn] does the same. The browser is known for the user's
// ID, and for their address if it is verified.
func (c *ActionRequest) RememberBrowser(ctx context.Context, user *User) {
	c.keep(c.plugins.limits.known.remember(ctx, c.in, verifiedNames(user)...)...)
}

// WithClient adds the client of the request to ctx; [ClientFromContext] returns it. identifier is the address, name or
// user ID that the request is about; it may be empty.
func (c *ActionRequest) WithClient(ctx context.Context, identifier string) context.Context {
	return c.plugins.limits.withClient(ctx, c.in, identifier)
}

// SignInMethod is an account at a provider or a passkey that signs a user in.
type SignInMethod struct {
	// ID identifies the method in requests. It is a hash.
	ID string
	// Provider is the ID of the provider, and Name is its name. Name is the ID if the provider is no longer configured.
	Provider, Name string
	// Passkey reports whether the method is a passkey.
	Passkey bool
	// Added is when the method was added, to the second. It is zero if that was more than a month ago or is unknown.
	Added time.Time

	method signinmethods.Method
}
