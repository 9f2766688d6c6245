package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/gates"
	"github.com/latchkey-go/latchkey/core/internal/notices"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/pending"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/ui"
)

// Plugin is a plugin: it adds a feature to an [Auth] that core does not have, such as password sign-in, account pages
// or a second factor. New attaches each plugin in Config.Plugins once, in order, and reports its configuration errors
// together with all others.
//
// A Plugin that is also a [Provider] may be in Config.Providers, which decides its place on the sign-in page, or in
// Config.Plugins. Providers that it adds are listed after it. If one of them has the same ID, it replaces the plugin in
// the list.
//
// One Plugin may be attached to several Auths. Attach must therefore not write to the Plugin; closures can hold what
// belongs to one Auth.
type Plugin interface {
	// Attach registers actions, providers and sign-in gates with h. An error is reported as a configuration error.
	Attach(h *PluginHost) error
}

// Action is one route of a plugin, at <base path>/<Name> or <base path>/<Name>/<Verb>. It is protected by default: a
// POST must contain the CSRF token as the form field or JSON member csrfToken, and a GET cannot start or change a
// session. Responses are never cached. A request body is a form or a JSON object of at most 1 MiB.
type Action struct {
	// Method is GET or POST. Any other method is a configuration error.
	Method string
	// Name and Verb consist of lower-case letters, digits and hyphens. They start with a letter and have at most 32
	// characters, for example "password" and "sign-up". Verb may be empty. All actions with the same Name must belong to
	// one plugin, and Name must not be the name of an action in core.
	Name, Verb string
	// Require lists guards that run in order before Handle. If it is not empty and the request has no session, the browser
	// is redirected to the sign-in page and an API client gets a 401 response. If it is empty, no session is required.
	Require []Guard
	// Attempt, if not empty, is counted against the client's rate limit before Handle runs, without an identifier. If the
	// limit is exceeded, the response has status 429. [ActionRequest.Allow] also counts by identifier.
	Attempt limit.Attempt
	// Programs means that programs call the action too. A POST then needs no CSRF token if the request has a bearer token
	// that counts (see [ActionRequest.ByBearer]) or no cookies: no other site can send such a request in the name of a
	// user. The response sets no CSRF cookie. Use [ActionRequest.Principal] to accept the credentials of plugins, and do
	// not set Require, which accepts sessions only.
	Programs bool
	// Impersonated means that the action is allowed while an administrator impersonates the user of the session. Without
	// it, a POST then has status 403. A GET is always allowed, because it changes nothing.
	Impersonated bool
	// NoCookies means that only programs call the action, as a token endpoint (RFC 6749 section 3.2). It ignores cookies,
	// so that a POST needs no CSRF token and [ActionRequest.Session] is nil, and core sets no cookies. A form that
	// contains a field twice is rejected with status 400. Require must be empty.
	NoCookies bool
	// Summary describes the action in an OpenAPI document, for example "List the API keys of the user".
	Summary string
	// Input is the zero value of a struct with the fields of the request: those of the query for a GET, those of the body
	// for a POST, named by their json tags, without csrfToken and callbackUrl. A member of type map[string]string with the
	// json name "*" means that there may be further fields. If Input is set, [ActionRequest.Field] and
	// [ActionRequest.JSONMember] do not find fields that are not in it. If it is nil, they find all fields.
	Input any
	// Output is the zero value of the type that Handle passes to [ActionRequest.JSON] with a status below 300. If it is
	// set, a value of another type is an error. If it is nil, any type is allowed, and an OpenAPI document describes a
	// response of [ActionRequest.Redirect].
	Output any
	// Handle returns the response. It is called concurrently, with a separate ActionRequest for each request. A
	// returned [*Problem] is sent to the client. A *[StepUp] or [ErrForbidden] is handled as if a guard had returned
	// it. Any other error, or a panic, is logged and answered with a general error response without details. The
	// cookies of the ActionRequest are set in every case.
	Handle func(ctx context.Context, c *ActionRequest) (*Response, error)
}

// Describe sets Summary, Input and Output to those of the action in a table by method and verb, such as "POST rotate".
func (a *Action) Describe(table map[string][3]any) {
	row := table[a.Method+" "+a.Verb]
	a.Summary, _ = row[0].(string)
	a.Input, a.Output = row[1], row[2]
}

// path returns the action's path, relative to the base path.
func (a *Action) path() string { return actions.Path(a.Name, a.Verb) }

// plugins has what the configured plugins have registered.
type plugins struct {
	actions       []*pluginAction // those of plugins, and of core for re-authentication
	reauthMethods []ReauthMethod
	idTokens      []idTokenProvider // PluginHost.AcceptIDTokens
	oneTap        *oneTapPrompt     // PluginHost.OfferOneTap, or nil
	gates         gates.Gates[*PendingSignIn]
	// documents are the well-known documents by name, with those of core.
	documents map[string]wellKnown
	facts     bool // PluginHost.TrackAuthentication was called
	proves    bool // PluginHost.VerifiesEmail was called
	knows     bool // PluginHost.RememberBrowsers was called
	// ends is the first plugin that called PluginHost.EndsSessions, by its name in configuration errors, or empty.
	ends  string
	tasks []cleanup.Task
	// notifier sends the security notices. It is nil if no plugin called PluginHost.NotifyMethodChanges. noticeLinks are
	// the links of the notices.
	notifier    Mailer
	noticeLinks notices.Links
	reversals   []func(ctx context.Context, c *ActionRequest, n SecurityNotice) error
	// passkeys was passed to PluginHost.TrackPasskeys, or nil.
	passkeys *PasskeyTracker
	enders   []func(ctx context.Context, userID string) error // PluginHost.OnEndSessions
	checks   []func(ctx context.Context, userID string) error // PluginHost.AddUserCheck
	userData []UserData                                       // PluginHost.AddUserData
	// impersonation was passed to PluginHost.AllowImpersonation, or nil.
	impersonation *impersonation
	// reset was passed to PluginHost.AddPasswordReset. It is nil if no plugin stores passwords.
	reset func(ctx context.Context, c *ActionRequest, userID string) (url string, err error)
	// freshLinks is the shortest time that was passed to PluginHost.RequireRecentSignInToLink. It is zero if no plugin
	// called it.
	freshLinks time.Duration
	hosts      []*PluginHost
	attached   []Plugin        // in the order of hosts
	seals      purposekey.Keys // encrypts data for plugins
	now        func() time.Time
	entry      *signIns
	limits     *limits
	challenges *challengeGuard
	auth       *Auth
	// provisional was passed to PluginHost.AddProvisionalUsers, or nil.
	provisional *provisional
	kept        *keptSessions // nil if no plugin called PluginHost.KeepSessions
}

// pluginAction is an action and the name of its plugin in configuration errors.
type pluginAction struct {
	*Action
	plugin string
	inputs actions.Fields // those of Input
}

// attach attaches all plugins, and inserts the providers that they add into c.Providers.
func (ps *plugins) attach(a *Auth, c *Config, faults *ConfigError) {
	ps.now, ps.documents = c.Now, map[string]wellKnown{}
	ps.seals.Secrets, ps.seals.Rand, ps.seals.Now = a.site.secrets, c.Rand, c.Now
	var providers []Provider
	for i, declared := range c.Providers {
		plugin, ok := declared.(Plugin)
		if !ok || nilPointer(declared) {
			providers = append(providers, declared)
			continue
		}
		providers = append(providers, ps.attachOne(a, c, faults, plugin, fmt.Sprintf("Providers[%d] (%T)", i, plugin))...)
	}
	for i, plugin := range c.Plugins {
		if plugin == nil || nilPointer(plugin) {
			faults.add(ErrInvalidConfig, "Plugins[%d] is nil: leave it out", i)
			continue
		}
		providers = append(providers, ps.attachOne(a, c, faults, plugin, fmt.Sprintf("Plugins[%d] (%T)", i, plugin))...)
	}
	c.Providers = providers
}

func sameID(declared Provider) func(Provider) bool {
	id, _, _ := declared.Describe()
	return func(p Provider) bool {
		if p == nil || nilPointer(p) {
			return false
		}
		other, _, _ := p.Describe()
		return other == id
	}
}

func nilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// attachOne attaches a plugin. It returns the providers that the plugin adds. If the plugin itself is a provider, it is
// the first one, unless an added provider has its ID.
func (ps *plugins) attachOne(a *Auth, c *Config, faults *ConfigError, plugin Plugin, name string) []Provider {
	before := len(faults.Problems)
	h := newHost(a, c, faults, name)
	ps.hosts, ps.attached = append(ps.hosts, h), append(ps.attached, plugin)
	if err := guard("Attach of "+name, func() error { return plugin.Attach(h) }); err != nil {
		h.fault("%w", err)
	}
	h.attached = true
	self, ok := plugin.(Provider)
	// A provider that could not attach is incomplete. Its further problems have the same cause.
	if ok && len(faults.Problems) == before && !slices.ContainsFunc(h.provided, sameID(self)) {
		return append([]Provider{self}, h.provided...)
	}
	return h.provided
}

// newHost returns the PluginHost for one plugin. name identifies the plugin in configuration errors.
func newHost(a *Auth, c *Config, faults *ConfigError, name string) *PluginHost {
	h := &PluginHost{
		Auth: a, BasePath: a.site.basePath, Strategy: c.Session.Strategy, Theme: c.Theme,
		Now: c.Now, Rand: c.Rand, Getenv: c.Getenv, Logger: c.Logger, HTTPClient: c.HTTPClient,
		Store: a.store.Store, Accounts: a.store.Accounts, Authenticators: a.store.Passkeys,
		AuthenticatorDeleter: a.store.PasskeyDeleter, Transactor: a.store.Transactor, UserDeleter: a.store.UserDeleter,
		SessionLister: a.store.SessionLister, RecordLister: a.store.RecordLister, RecordPairs: a.store.RecordPairs,
		UserFinder: a.store.UserFinder,
		faults:     faults, plugins: &a.plugins, plugin: name, cookieDomain: c.Cookies.SessionToken.Domain,
		Merge: c.Callbacks.Merge,
	}
	if s, ok := a.store.given.(interface{ RequiresEmail() bool }); ok {
		h.RequiresEmail = s.RequiresEmail()
	}
	if len(c.Locales) > 0 {
		h.Locale, h.Locales = c.Locales[0], slices.Clone(c.Locales)
	}
	return h
}

// csrf reports whether a request to an action for programs must contain the CSRF token.
func (a *pluginAction) csrf(c *call) bool {
	return a.Method != http.MethodGet && len(c.r.Header["Cookie"]) > 0 && unlessBearer(c)
}

// act returns the handler for requests to an action.
func (ps *plugins) act(a *pluginAction) func(context.Context, *call) (*Response, error) {
	return func(ctx context.Context, in *call) (*Response, error) {
		c := newCall(in, ps, a.plugin)
		c.action = a
		response, err := a.answer(ctx, c)
		if err != nil {
			response = &Response{}
		}
		response.Cookies = append(append(c.kept, c.cookies...), response.Cookies...)
		return response, err
	}
}

// answer runs the guards, counts the attempt, and calls Handle.
func (a *pluginAction) answer(ctx context.Context, c *ActionRequest) (*Response, error) {
	if a.NoCookies {
		c.read, c.in.jar = true, cookie.Jar{}
		for _, name := range c.in.fields.Names() {
			if c.in.fields.Count(name) > 1 {
				return nil, &Problem{Status: http.StatusBadRequest, Code: "invalid_request", Detail: "A field occurs twice."}
			}
		}
	}
	if err := c.plugins.provisional.refuse(ctx, c, a); err != nil {
		return guardError(ctx, c, err)
	}
	if len(a.Require) > 0 {
		if refused, err := runGuards(ctx, c, a.Require); err != nil || refused != nil {
			return refused, err
		}
	}
	if a.Attempt != "" {
		if err := c.Allow(ctx, a.Attempt, ""); err != nil {
			return nil, err
		}
	}
	response, err := guarded("action "+a.path(), func() (*Response, error) { return a.Handle(ctx, c) })
	switch {
	case err != nil:
		c.restoreCode(ctx, err)
		return guardError(ctx, c, err)
	case response == nil:
		return nil, errors.New("the action returned neither a Response nor an error")
	case response.Status != 0 && (response.Status < 200 || response.Status > 599):
		return nil, fmt.Errorf("the action returned the status %d: use one from 200 to 599, or 0 for 200", response.Status)
	}
	return response, nil
}

// runGuards runs the guards. Without a session, refused redirects a browser to the sign-in page, and the error is for
// API clients.
func runGuards(ctx context.Context, c *ActionRequest, guards []Guard) (refused *Response, err error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case session == nil || session.User == nil:
		if c.WantsJSON {
			return nil, &Problem{Status: http.StatusUnauthorized, Code: "session_required", unlogged: true}
		}
		return redirectToSignIn(c)
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(ctx, session) }); err != nil {
			return guardError(ctx, c, err)
		}
	}
	return nil, nil
}

// guardError turns an error of a guard or of Handle into a response, or into an error that core turns into one. A
// *StepUp redirects a browser to the action reauth; API clients get a Problem.
func guardError(ctx context.Context, c *ActionRequest, err error) (*Response, error) {
	var again *StepUp
	var problem *Problem
	switch {
	case errors.As(err, &problem) && problem.SignIn && !c.WantsJSON:
		return redirectToSignIn(c)
	case problem != nil:
		return nil, err
	case errors.Is(err, ErrForbidden):
		return nil, &Problem{Status: http.StatusForbidden, Code: "forbidden", Cause: err}
	case !errors.As(err, &again):
		return nil, err
	case c.session != nil && c.session.Actor != "": // no sign-in is allowed
		return nil, &Problem{Status: http.StatusForbidden, Code: "impersonated", Text: textImpersonated, Cause: err}
	}
	facts := c.plugins.auth.sessions.facts
	if !facts {
		c.in.logWithoutFacts(ctx)
	}
	switch {
	case c.WantsJSON:
		return nil, again.problem()
	case !facts:
		return redirectToSignIn(c)
	}
	return c.Redirect(c.in.reauthURL(again, c.returnPage())), nil
}

// returnPage returns the page to open after a sign-in: the requested page. A form post cannot be repeated, so it is the
// page of the same plugin instead.
func (c *ActionRequest) returnPage() string {
	if c.in.r.Method == http.MethodGet {
		return c.in.currentPage()
	}
	name, _, _ := strings.Cut(c.in.action, "/")
	if c.plugins.auth.site.plugins.HasPage(name) {
		return c.in.publicBase + "/" + name
	}
	return c.CallbackURL
}

// redirectToSignIn redirects to the sign-in page. After the sign-in the browser opens returnPage.
func redirectToSignIn(c *ActionRequest) (*Response, error) {
	in, back := c.in, c.returnPage()
	page := c.plugins.auth.pages.config.SignIn
	target, err := in.page(page, "signin", "error", sessionRequired, "callbackUrl", back)
	if err != nil {
		return nil, errorf(ErrAuth, "Pages.SignIn: %w", err)
	}
	return c.Redirect(target), nil
}

// ReauthMethod is a page of a plugin that authenticates a signed-in user again, for example with a one-time password.
type ReauthMethod struct {
	// Action is the path of a GET action of the plugin, such as "second-factor". It receives callbackUrl. After the user
	// has authenticated, the plugin calls [ActionRequest.RenewSession] and redirects to [ActionRequest.CallbackURL].
	Action string
	// Label is the text of the link.
	Label ui.Text
	// Adds lists the methods that the plugin passes to RenewSession. They decide whether a guard such as [Strong] can be
	// satisfied.
	Adds []amr.Method
	// Available reports whether the user has this method. If it is nil, all users have it. It is called concurrently.
	Available func(ctx context.Context, userID string) (bool, error)
}

// wellKnown is a document and its plugin, as in configuration errors. plugin is empty for a document of core.
type wellKnown struct {
	plugin string
	get    func(ctx context.Context, base string) (*Response, error)
}

// PendingSignIn is a sign-in that has no session yet. Its pointers refer to copies: changing them has no effect.
type PendingSignIn struct {
	// User is the user who signs in: the stored user, or the one that a CredentialsProvider returned.
	User *User
	// Account is the account that they sign in with.
	Account *Account
	// Methods lists how they have authenticated so far.
	Methods []amr.Method
	// CallbackURL is the absolute URL that the browser opens after the sign-in.
	CallbackURL string
	// Created reports that this sign-in created the user.
	Created bool
	// Claims are the claims of the verified ID token of an OpenID Connect sign-in, for example amr and acr, which say how
	// the provider authenticated the user. They are nil for other sign-ins, and after the sign-in was stored.
	Claims Profile
	// Linking reports that this is not a sign-in: a signed-in user is about to link Account, or to add a passkey. Methods
	// are those of their session. If the gate returns an action, nothing is linked and nothing is stored. The browser is
	// redirected to the action, which can authenticate the user again (RenewSession); then the user repeats the request.
	Linking bool
	// Request is the current request.
	Request *Request

	in      *call
	plugins *plugins
	name    pending.Name // of its records, zero before it is stored
	data    pendingData
}

// idTokenProvider is the ID of a provider whose ID tokens a plugin accepts from apps.
type idTokenProvider struct{ provider, plugin string }

// UserData is what a plugin has stored about users, for administrators and for the users themselves.
type UserData struct {
	// Name is the name of the data in JSON, such as "apiKeys".
	Name string
	// Heading is the heading of the data on a page.
	Heading ui.Text
	// Read returns the data of a user. Its JSON form is an object or a list of objects without secrets, tokens, codes or
	// hashes. It is called concurrently.
	Read func(ctx context.Context, userID string) (any, error)
}

// NewPasskey is a passkey that was just stored.
type NewPasskey struct {
	// UserID is the ID of the owner. CredentialID is the credential ID in standard base64.
	UserID, CredentialID string
	// AAGUID is [VerifiedPasskey].AAGUID, or "". The user's device states it: it describes the passkey and proves
	// nothing.
	AAGUID string
	// UserHandle is the user handle of the registration (WebAuthn section 5.4.3).
	UserHandle []byte
}

// PasskeyTracker stores facts about passkeys that stores of passkeys do not keep. Its functions are called
// concurrently.
type PasskeyTracker struct {
	// UserHandle returns the user handle of the user's earlier passkeys, or nil if there are none. A new passkey then gets
	// the same one, so that a password manager can list the passkeys of one user. An error stops the registration.
	UserHandle func(ctx context.Context, userID string) ([]byte, error)
	// Added is called after a passkey was stored. It must handle its errors, because the passkey is valid.
	Added func(ctx context.Context, made NewPasskey)
}

// oneTapPrompt is the prompt of [PluginHost.OfferOneTap].
type oneTapPrompt struct {
	ui.OneTapPrompt
	provider string
}

// shown returns the prompt for a page. It is nil if there is none.
func (p *oneTapPrompt) shown() *ui.OneTapPrompt {
	if p == nil {
		return nil
	}
	shown := p.OneTapPrompt
	return &shown
}

// refuse calls Guard before an action of another plugin that requires a session or is for programs.
func (p *provisional) refuse(ctx context.Context, c *ActionRequest, a *pluginAction) error {
	if p == nil || a.plugin == "" || a.plugin == p.plugin || len(a.Require) == 0 && !a.Programs || a.NoCookies {
		return nil
	}
	session, err := c.Session(ctx)
	if err != nil || session == nil || !p.has(session.Methods) {
		return err
	}
	return guard("guard", func() error { return p.Guard(ctx, session, a.Name) })
}
