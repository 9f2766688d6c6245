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

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Part adds to an [Auth] what core does not do itself: sign-in with passwords, an account page, a second factor. New
// attaches each part of Config.Parts once, in order, and reports its faults with all others.
//
// A [Provider] that is a Part too stands in Config.Providers, and is attached there: what it adds follows it, and a
// provider that it adds under its own ID takes its place. One Part may be attached to several Auths, so what Attach
// finds out belongs into closures and not into the Part.
type Part interface {
	// Attach registers actions, providers and gates at the Host. An error is a fault of the configuration.
	Attach(h *Host) error
}

// Action is one action of a part, at <base path>/<Name> or <base path>/<Name>/<Verb>. Its zero value is guarded: a POST
// needs the CSRF token, as field or JSON member csrfToken, and a GET cannot begin or change a session. Answers are kept
// in no cache. A body has 1 MiB at most and is a form or a JSON object.
type Action struct {
	// Method is GET or POST. Others are not routed.
	Method string
	// Name and Verb are lower-case letters, digits and hyphens, beginning with a letter, 32 at most: "password" and
	// "sign-up". Verb may be empty. All actions of one Name are of one part, and no Name is that of an action of core.
	Name, Verb string
	// Require are asked one after the other before Handle runs; a visitor without a session is sent to the sign-in page
	// then, or answered 401. Empty: anybody.
	Require []Guard
	// Attempt is counted for the visitor before Handle runs, without an identifier; one that has to wait is answered 429.
	// Empty: not counted. [Call.Allow] counts with an identifier.
	Attempt Attempt
	// Handle answers. It is called concurrently, each time with a Call of its own. A [*Problem] is answered as it says, a
	// *[StepUp] and [ErrForbidden] as a guard's; any other error, a panic included, as a failure without details, and is
	// logged. The cookies of the Call are set in each case.
	Handle func(ctx context.Context, c *Call) (*Response, error)
}

// path is the path of the action behind the base path.
func (a *Action) path() string {
	if a.Verb == "" {
		return a.Name
	}
	return a.Name + "/" + a.Verb
}

// parts are what the parts of a configuration have added.
type parts struct {
	actions []*partAction
	gates   []partGate
	facts   bool // Host.Facts was called
	proves  bool // Host.ProvesEmail was called
	knows   bool // Host.KnownBrowsers was called
	// ends is the plugin that called Host.EndsSessions first, as configuration errors name it; empty if none did.
	ends    string
	notices notices
	// reset is that of Host.ResetStarter; nil: no plugin keeps passwords.
	reset func(ctx context.Context, c *Call, userID string) (url string, err error)
	// freshLinks is that of Host.FreshLinks; zero: nobody asked.
	freshLinks time.Duration
	hosts      []*Host
	seals      partSeals
	now        func() time.Time
	entry      *signIns
	limits     *limits
	auth       *Auth
}

// partAction is an action and the part that it is of.
type partAction struct {
	*Action
	part string
}

// attach attaches the parts of a configuration, and puts the providers that they add among its own.
func (ps *parts) attach(a *Auth, c *Config, faults *ConfigError) {
	ps.now = c.Now
	ps.seals.secrets, ps.seals.rand, ps.seals.now = a.site.secrets, c.Rand, c.Now
	var providers []Provider
	for i, declared := range c.Providers {
		part, ok := declared.(Part)
		if !ok || nilPointer(declared) {
			providers = append(providers, declared)
			continue
		}
		before := len(faults.Problems)
		provided := ps.attachOne(a, c, faults, part, fmt.Sprintf("Providers[%d] (%T)", i, part))
		// A provider that could not attach is incomplete. Its further problems have the same cause.
		if len(faults.Problems) == before && !slices.ContainsFunc(provided, sameID(declared)) {
			provided = append([]Provider{declared}, provided...)
		}
		providers = append(providers, provided...)
	}
	for i, part := range c.Parts {
		if part == nil || nilPointer(part) {
			faults.add(ErrInvalidConfig, "Parts[%d] is nil: leave it out", i)
			continue
		}
		if _, ok := part.(Provider); ok {
			faults.add(ErrInvalidConfig, "Parts[%d] is a provider (%T): put it into Providers, where its button stands", i, part)
			continue
		}
		providers = append(providers, ps.attachOne(a, c, faults, part, fmt.Sprintf("Parts[%d] (%T)", i, part))...)
	}
	if len(ps.hosts) == 0 {
		return
	}
	c.Providers = providers
	if len(ps.actions) > 0 {
		a.site.parts = ps.paths()
	}
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

func (ps *parts) attachOne(a *Auth, c *Config, faults *ConfigError, part Part, name string) []Provider {
	h := newHost(a, c, faults, name)
	ps.hosts = append(ps.hosts, h)
	if err := guard("Attach of "+name, func() error { return part.Attach(h) }); err != nil {
		h.fault("%w", err)
	}
	h.attached = true
	return h.provided
}

// newHost is the Auth as the part that faults call name sees it.
func newHost(a *Auth, c *Config, faults *ConfigError, name string) *Host {
	h := &Host{
		Auth: a, BasePath: a.site.basePath, Strategy: c.Session.Strategy, Theme: c.Theme,
		Now: c.Now, Rand: c.Rand, Getenv: c.Getenv, Logger: c.Logger, HTTPClient: c.HTTPClient,
		Store: a.store.Store, Accounts: a.store.accounts, Authenticators: a.store.passkeys,
		AuthenticatorDeleter: a.store.unkey, Transactor: a.store.tx, UserDeleter: a.store.deleter,
		SessionLister: a.store.lister,
		faults:        faults, parts: &a.parts, part: name,
	}
	if len(c.Locales) > 0 {
		h.Locale = c.Locales[0]
	}
	return h
}

// isActionName reports whether a text can be the name or verb of an action, or the name of a part's cookie.
func isActionName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 32 && strings.IndexByte(letters, name[0]) >= 0 &&
		strings.Trim(name, letters+"0123456789-") == ""
}

// add adds an action that nothing is wrong with.
func (ps *parts) add(h *Host, a *Action) {
	says := func(format string, args ...any) {
		h.fault("action %q: %w", a.Method+" "+a.path(), fmt.Errorf(format, args...))
	}
	fine := true
	for _, c := range []struct {
		wrong  bool
		reason string
	}{
		{!isActionName(a.Name), "its Name is none: lower-case letters, digits and hyphens, 32 at most"},
		{a.Verb != "" && !isActionName(a.Verb), "its Verb is none: lower-case letters, digits and hyphens, 32 at " +
			"most, or empty"},
		{weburl.Reserved(a.Name), "core has actions of this Name: give it another"},
		{a.Method != http.MethodGet && a.Method != http.MethodPost, "its Method has to be GET or POST"},
		{a.Handle == nil, "it has no Handle"},
		{slices.ContainsFunc(a.Require, func(g Guard) bool { return g == nil }), "one of its Require is nil: leave it out"},
	} {
		if c.wrong {
			fine = false
			says("%s", c.reason)
		}
	}
	for _, other := range ps.actions {
		switch {
		case other.Name == a.Name && other.part != h.part:
			says("%s has actions of this Name: a Name is of one part", other.part)
			return
		case other.path() == a.path() && other.Method == a.Method:
			says("it is added twice")
			return
		}
	}
	if fine {
		own := *a
		own.Require = slices.Clone(a.Require)
		ps.actions = append(ps.actions, &partAction{&own, h.part})
	}
}

// paths are those of all actions.
func (ps *parts) paths() *partPaths {
	all := &partPaths{names: map[string]bool{}, methods: map[string][]string{}}
	for _, a := range ps.actions {
		all.names[a.Name] = true
		all.methods[a.path()] = append(all.methods[a.path()], a.Method)
	}
	return all
}

// partPaths are the paths of parts, as requests are routed to them.
type partPaths struct {
	names map[string]bool
	// methods are those of each path.
	methods map[string][]string
}

// route finds the path behind the base path that a request asks for: the one of an action, or one below the name of a
// part that is none. action is what the log may say of it, which holds nothing that a visitor typed.
func (p *partPaths) route(target, basePath string) (action, path string, ok bool) {
	name, verb, ok := weburl.Segments(target, basePath)
	if !ok || !p.names[name] {
		return "", "", false
	}
	path = name
	if verb != "" {
		path += "/" + verb
	}
	if p.methods[path] != nil {
		name = path
	}
	return name, path, true
}

// noAction is the error of a request to a path of parts that nothing answers.
func (p *partPaths) noAction(path string) error {
	if methods := p.methods[path]; methods != nil {
		return &Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", allow: methods}
	}
	return &Problem{Status: http.StatusNotFound, Code: "not_found"}
}

// addRules adds the plugins' actions to those of core. An action that would replace one of core is a configuration
// error.
func (ps *parts) addRules(rules map[route]rule, faults *ConfigError) {
	for _, a := range ps.actions {
		if _, taken := rules[route{a.Method, a.path()}]; taken {
			faults.add(ErrInvalidConfig, "%s: action %q: core has this action: give it another Name", a.part,
				a.Method+" "+a.path())
			continue
		}
		r := rule{act: ps.act(a), opens: true, session: true}
		if a.Method != http.MethodGet {
			r.csrf = always
		}
		rules[route{a.Method, a.path()}] = r
	}
}

// assemble takes what calls need of the finished Auth.
func (ps *parts) assemble(a *Auth, entry *signIns, limits *limits) {
	ps.auth, ps.entry, ps.limits = a, entry, limits
}

// act answers requests to an action.
func (ps *parts) act(a *partAction) func(context.Context, *call) (*Response, error) {
	return func(ctx context.Context, in *call) (*Response, error) {
		c := newCall(in, ps, a.part)
		response, err := a.answer(ctx, c)
		if err != nil {
			response = &Response{}
		}
		response.Cookies = append(append(c.kept, c.cookies...), response.Cookies...)
		return response, err
	}
}

// answer meets the demands of the action and lets it answer a call.
func (a *partAction) answer(ctx context.Context, c *Call) (*Response, error) {
	if len(a.Require) > 0 {
		if refused, err := require(ctx, c, a.Require); err != nil || refused != nil {
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
		return objection(c, err)
	case response == nil:
		return nil, errors.New("the action returned neither a Response nor an error")
	}
	return response, nil
}

// require asks the guards. refused is the answer to a visitor who has to sign in first.
func require(ctx context.Context, c *Call, guards []Guard) (refused *Response, err error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case session == nil || session.User == nil:
		return signInFirst(c)
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(ctx, session) }); err != nil {
			return objection(c, err)
		}
	}
	return nil, nil
}

// objection is the answer to what a guard returned, or the action itself.
func objection(c *Call, err error) (*Response, error) {
	var again *StepUp
	switch {
	case errors.As(err, new(*Problem)):
		return nil, err
	case errors.Is(err, ErrForbidden):
		return nil, &Problem{Status: http.StatusForbidden, Code: "forbidden", Cause: err}
	case !errors.As(err, &again):
		return nil, err
	case c.WantsJSON:
		return nil, again.problem()
	}
	cookie, err := c.parts.requestStepUp(&c.in.arrival, again)
	if err != nil {
		return nil, err
	}
	c.keep(cookie)
	return toSignIn(c)
}

// signInFirst sends a visitor without a session to the sign-in page, from where they come back.
func signInFirst(c *Call) (*Response, error) {
	if c.WantsJSON {
		return nil, &Problem{Status: http.StatusUnauthorized, Code: "session_required", unlogged: true}
	}
	return toSignIn(c)
}

// toSignIn sends a browser to the sign-in page and back: to the page that it asked for, or from a form, which nobody
// can ask for, to the page of the same part.
func toSignIn(c *Call) (*Response, error) {
	in := c.in
	back := in.here()
	if in.r.Method != http.MethodGet {
		back = c.CallbackURL
		name, _, _ := strings.Cut(in.action, "/")
		if slices.Contains(c.parts.auth.site.parts.methods[name], http.MethodGet) {
			back = in.publicBase + "/" + name
		}
	}
	page := c.parts.auth.pages.config.SignIn
	target, err := in.page(page, "signin", "error", sessionRequired, "callbackUrl", back)
	if err != nil {
		return nil, errorf(ErrAuth, "Pages.SignIn: %w", err)
	}
	return c.Redirect(target), nil
}
