package password

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// SignUp configures who can create an account.
type SignUp int

// The values of SignUp.
const (
	// Open lets everyone sign up who verifies an address.
	Open SignUp = iota
	// ByInvitation requires an invitation for the address. Others get the same response, but no email.
	ByInvitation
	// Closed disables sign-up. There is no sign-up page, and only the application creates accounts.
	Closed
)

// Options configures [New]. Only Mail is required.
type Options struct {
	// Mail sends emails, for example providers.Resend().Mailer(). It is required.
	Mail core.Mailer
	// SignUp configures who can create an account. The default is Open.
	SignUp SignUp
	// SignUpFields are fields of the application in the sign-up form. The zero value adds none.
	SignUpFields SignUpFields
	// MinLength is the minimum length of a new password, in characters. The default is 15. Values below 8 are a
	// configuration error. Use 8 only if every user needs a second factor (NIST SP 800-63B-4 section 3.1.1.2).
	MinLength int
	// Blocklist are words that a password must not mainly consist of, such as the name of the site or the company. Case
	// does not matter. The site's host and the user's email address are always included.
	Blocklist []string
	// Breached reports whether a new password is known from a data breach: [HIBP], the method of a [Range], or a function
	// of the application. If it returns an error, the error is logged and the password is accepted, so the error must not
	// contain the password. If Breached is nil, only the built-in list of [Common] is used, which is always checked.
	Breached func(ctx context.Context, password core.Secret) (bool, error)
	// BreachedAtSignIn also checks passwords at sign-ins with Breached, which must be set. Each password is checked at
	// most every 30 days. If it is known from a breach, the sign-in is pending until the user has opened a link or
	// entered a code that was sent to their address, and has chosen a new password. A user without an address cannot
	// sign in with such a password. If Breached takes longer than 300 ms or fails, the sign-in continues. The default
	// is false.
	BreachedAtSignIn bool
	// Hash configures the costs of password hashes. The default is argon2id with 19 MiB, 2 passes and 1 lane. A password
	// whose hash has other costs is hashed again at the next sign-in.
	Hash Params
	// MaxConcurrent is the maximum number of concurrent hash computations in this process, for all Auths that share the
	// provider. The default is GOMAXPROCS, at least 2. For each of these, up to 32 unidentified clients, 32 identified
	// clients and 64 known browsers may wait, for up to 3 seconds. Other requests get 503. Each network may take only a
	// part of the waiting places of identified clients. Known browsers are served first.
	//
	// Concurrent hash computations take MaxConcurrent × Hash.Memory, and the same again as garbage until the next garbage
	// collection. Set GOMEMLIMIT in a small container. Hashes of Import take the memory that their format requires.
	MaxConcurrent int
	// Peppers are secrets that are mixed into all hashes. The first one is used for new hashes. A password whose hash has
	// another one, or none, is hashed again at the next sign-in. Keep the older ones in the list until
	// [Provider.PepperUse] reports that no password needs them: without its pepper, a hash cannot be compared. The default
	// is none.
	Peppers []Pepper
	// LegacyHashes lists the hash formats of other systems, such as [Bcrypt]. At the user's first sign-in such a hash is
	// replaced by an argon2id hash.
	LegacyHashes []Verifier
	// ResetTTL is the lifetime of a password reset link. The default is 30 minutes, the maximum a day.
	ResetTTL time.Duration
	// Usernames lets users choose a username and sign in with it instead of their email address. The default is off.
	Usernames Usernames
	// Code adds a six-digit code to the emails that complete a sign-up or reset a password, for users who read them on
	// another device. The page "check your inbox" has an input for it. A code works once, for ten minutes, and only in the
	// browser that requested the email. Links work as without codes. Each request then sends another email, because each
	// browser needs another code. The default is false.
	Code bool
}

// Provider signs users in with an email address and a password. Create it with [New] and add it to Config.Providers. It
// is safe for concurrent use.
type Provider struct {
	*core.CredentialsProvider
	options Options
	hashing *queue
	pace    *pace

	mu   sync.Mutex
	used []weak.Pointer[management] // one for each Auth; weak, so that an unused Auth can be collected
}

// liveManagement returns the management of each Auth that is still in use and drops the others. The caller holds p.mu.
func (p *Provider) liveManagement() (all []*management) {
	p.used = slices.DeleteFunc(p.used, func(w weak.Pointer[management]) bool {
		m := w.Value()
		if m != nil {
			all = append(all, m)
		}
		return m == nil
	})
	return all
}

// New returns the provider, for Config.Providers or Config.Plugins. [core.New] reports configuration errors in the
// options. At shutdown, call [Provider.Flush], which sends the emails that are still waiting.
func New(o Options) *Provider {
	o.Hash = o.Hash.withDefaults()
	if o.MinLength == 0 {
		o.MinLength = defaultMinLength
	}
	if o.ResetTTL == 0 {
		o.ResetTTL = 30 * time.Minute
	}
	if o.MaxConcurrent == 0 {
		o.MaxConcurrent = max(2, runtime.GOMAXPROCS(0))
	}
	if o.Usernames.Cooldown == 0 {
		o.Usernames.Cooldown = defaultCooldown
	}
	return &Provider{
		CredentialsProvider: &core.CredentialsProvider{ID: ID, Name: "password"},
		options:             o, hashing: &queue{slots: max(1, o.MaxConcurrent), wait: maxWait},
		pace: &pace{on: len(o.LegacyHashes) > 0},
	}
}

// Mailer returns Options.Mail. Package doctor uses it to check the mail configuration.
func (p *Provider) Mailer() core.Mailer { return p.options.Mail }

// Stats returns the load of the hash queue, for all Auths that share the provider. It is safe for concurrent use.
func (p *Provider) Stats() observe.HashStats { return p.hashing.stats() }

// Attach implements [core.Plugin].
func (p *Provider) Attach(h *core.PluginHost) error {
	p.check(h)
	h.VerifiesEmail()
	h.RememberBrowsers()
	h.EmailsLinks()
	h.EndsSessions()
	h.TrackAuthentication() // a change ends all sessions but the current one, which needs an ID for that
	if h.Store == nil {
		_ = h.Records() // reports that Config.Store is missing
		return nil
	}
	s := p.newHandlers(h)
	if s.usernames != nil {
		read := func(ctx context.Context, userID string) (any, error) { return s.usernames.names.data(ctx, userID) }
		h.AddUserData(core.UserData{Name: "username", Heading: textUsernameLabel, Read: read})
	}
	h.NotifyMethodChanges(ID+"/forgot", p.options.Mail)
	if p.options.Mail != nil {
		h.AddEmailSender(s.resetRequests.sender())
		h.AddEmailSender(s.signUps.sender())
		h.AddEmailSender(core.EmailSender{Name: senderNotice, Mailer: p.options.Mail})
	}
	h.AddNoticeReversal(s.resets.revoker.disavow(s.resets.passwords))
	h.AddPasswordReset(s.resets.start, s.resets.link)
	h.AddProvider(&core.CredentialsProvider{
		ID: p.ID, Name: p.Name, Fields: p.signInFields(), Admit: s.signIns.admit, Style: p.Style, Links: s.links(),
		InARow: true,
	})
	if s.exposed != nil {
		h.AddSignInGate(s.exposed.gate)
	}
	if s.recoveries != nil {
		h.AddNoticeReversal(s.recoveries.disavow)
	}
	for _, a := range s.actions() {
		h.AddAction(a)
	}
	h.AddWellKnown("change-password", changePasswordPage)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.liveManagement()
	p.used = append(p.used, weak.Make(s.management))
	return nil
}

// signInFields returns the fields of the form on the sign-in page.
func (p *Provider) signInFields() []core.Field {
	name := core.Field{Name: "email", Label: "Email", Type: "email", Autocomplete: "username", Required: true}
	if p.options.Usernames.On {
		name = usernameField()
	}
	return []core.Field{
		name,
		{Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password", Required: true},
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// changePasswordPage redirects password managers from /.well-known/change-password to the page that changes the
// password (W3C, A Well-Known URL for Changing Passwords).
func changePasswordPage(_ context.Context, base string) (*core.Response, error) {
	return &core.Response{Redirect: base + "/" + ID + "/change"}, nil
}

// check reports configuration errors.
func (p *Provider) check(h *core.PluginHost) {
	o := &p.options
	if o.Mail == nil {
		h.AddConfigError(
			"no Mail: set password.Options.Mail, for example to providers.Resend().Mailer()",
		)
	}
	if m, ok := o.Mail.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			h.AddConfigError("Mail: " + err.Error())
		}
	}
	if o.MinLength < smallestMinLength || o.MinLength > maxPasswordBytes {
		h.AddConfigError(fmt.Sprintf("MinLength is %d: set it to %d or more, or leave it at zero for %d",
			o.MinLength, smallestMinLength, defaultMinLength))
	}
	if err := o.Hash.check(); err != nil {
		h.AddConfigError(err.Error())
	}
	peppers(o.Peppers).check(h)
	if o.Usernames.Cooldown < 0 {
		h.AddConfigError(fmt.Sprintf("Usernames.Cooldown is %v: set it to a positive duration, or leave it at zero for %v",
			o.Usernames.Cooldown, defaultCooldown))
	}
	if o.BreachedAtSignIn && o.Breached == nil {
		h.AddConfigError("BreachedAtSignIn is set and Breached is not: set Breached, for example to password.HIBP")
	}
	if o.MaxConcurrent < 0 || o.ResetTTL < 0 || o.ResetTTL > 24*time.Hour {
		h.AddConfigError(
			fmt.Sprintf("MaxConcurrent is %d and ResetTTL is %v: neither may be negative, nor ResetTTL more than a day",
				o.MaxConcurrent, o.ResetTTL),
		)
	}
	for i, v := range o.LegacyHashes {
		if v == nil {
			h.AddConfigError(fmt.Sprintf("LegacyHashes[%d] is nil: remove it", i))
		}
	}
	if o.SignUp < Open || o.SignUp > Closed {
		h.AddConfigError(fmt.Sprintf("SignUp is %d: set it to Open, ByInvitation or Closed", o.SignUp))
	}
	o.SignUpFields.validate(h)
	if o.Usernames.Alone {
		if h.RequiresEmail {
			h.AddConfigError("Usernames.Alone creates users without an email address, and the column of the email address is " +
				"NOT NULL: make the column nullable and remove EmailRequired from the layout of the store")
		}
		if !o.Usernames.On {
			h.AddConfigError("Usernames.Alone is set and Usernames.On is not: set both")
		}
		if o.SignUp == ByInvitation {
			h.AddConfigError("Usernames.Alone is set and SignUp is ByInvitation: an invitation belongs to an email address; " +
				"set SignUp to Open or Closed")
		}
	}
	isUsername := func(f ui.Field) bool { return f.Name == "username" }
	if o.Usernames.On && slices.ContainsFunc(o.SignUpFields.Fields, isUsername) {
		h.AddConfigError("SignUpFields: the name \"username\" of a field is reserved by Usernames: use another one")
	}
}

// Flush calls [core.Auth.FlushMail] of all Auths that use the provider. Call it at shutdown, after the HTTP server's
// Shutdown.
func (p *Provider) Flush(ctx context.Context) error {
	p.mu.Lock()
	used := p.liveManagement()
	p.mu.Unlock()
	var err error
	for _, m := range used {
		err = errors.Join(err, m.host.Auth.FlushMail(ctx))
	}
	return err
}

// handlers are the handlers of the provider in one Auth, one for each user action.
type handlers struct {
	signIns       *signIns
	signUps       *signUps
	confirmations *confirmations
	resetRequests *resetRequests
	resets        *resets
	changes       *changes
	exposed       *exposed       // nil without Options.BreachedAtSignIn
	usernames     *usernamePages // nil without Options.Usernames
	recoveries    *recoveries    // nil without Usernames.Alone
	management    *management
	closed        bool
}

// management lets programs manage the passwords of one Auth.
type management struct {
	host      *core.PluginHost
	users     core.Store
	records   store.RecordStore
	passwords *passwords
	hashes    *hasher
	links     *resetLinks
	names     *usernames // nil without Options.Usernames
}

// newHandlers returns the handlers for an Auth with a store.
func (p *Provider) newHandlers(h *core.PluginHost) *handlers {
	o, users, records := &p.options, h.Store, h.Records()
	hashes := &hasher{o.Hash, o.Peppers, o.LegacyHashes, h.Rand, p.hashing, p.pace, h.Now, sleep}
	rules := &policy{o.MinLength, o.Blocklist, o.Breached, h.Logger}
	chosen := &newPasswords{rules, hashes}
	post := &emails{o.Mail, h.Theme, h.Now, &sentLinks{now: h.Now}}
	shown := &pages{o.MinLength}
	kept := &passwords{records, h.Now}
	tokens := &links{h, records}
	pending := &signUpStore{tokens, o.SignUp == ByInvitation}
	links := &resetLinks{tokens, kept, users, o.ResetTTL}
	revoker := &revoker{h.Auth, records, h.Logger}
	fields := &o.SignUpFields
	alone := o.Usernames.On && o.Usernames.Alone
	var names *usernames
	var codes *recoveryCodes
	if alone {
		codes = &recoveryCodes{h, records}
	}
	if o.Usernames.On {
		names = &usernames{o.Usernames, records, users, codes, h.Now}
	}
	created := &userCreator{
		p.ID, pending, kept, users, fields, names, h.Transactor, h.UserDeleter, h.Now, h.Logger,
	}
	managed := &management{h, users, records, kept, hashes, links, names}
	requests := &resetRequests{shown, links, post, users, o.Code, alone}
	resets := &resets{h, p.ID, shown, links, chosen, kept, revoker, post, names, codes, o.Code, h.Logger}
	s := &handlers{
		signIns: &signIns{users, kept, hashes, names, nil, h.Logger, managed},
		signUps: &signUps{
			p.ID, shown, chosen, pending, post, users, fields, names, created, alone, o.Code, h.Logger,
		},
		confirmations: &confirmations{p.ID, shown, pending, hashes, created, names, o.Code, h.Logger},
		resetRequests: requests,
		resets:        resets,
		changes:       &changes{p.ID, shown, chosen, kept, hashes, revoker, post, users, h.Logger},
		management:    managed,
		closed:        o.SignUp == Closed,
	}
	if o.Usernames.On {
		s.usernames = &usernamePages{p.ID, shown, names}
	}
	if alone {
		s.recoveries = &recoveries{resets, names}
	}
	if o.BreachedAtSignIn {
		s.signIns.breaches = &breaches{rules, make(chan struct{}, maxBreachChecks), h.Now, h.Logger}
		s.exposed = &exposed{h, kept, requests, resets, alone}
	}
	return s
}

// actions returns the provider's actions. Each type of handlers lists its own. A GET only shows a form and changes
// nothing.
func (s *handlers) actions() []core.Action {
	groups := []interface{ actions() []core.Action }{s.resetRequests, s.resets, s.changes}
	if s.closed {
		groups = append(groups, closedSignUp{})
	} else {
		groups = append(groups, s.signUps, s.confirmations)
	}
	if s.usernames != nil {
		groups = append(groups, s.usernames)
	}
	if s.recoveries != nil {
		groups = append(groups, s.recoveries)
	}
	if s.exposed != nil {
		groups = append(groups, s.exposed)
	}
	var all []core.Action
	for _, g := range groups {
		all = append(all, g.actions()...)
	}
	describe := descriptions
	if s.recoveries != nil {
		describe = maps.Clone(descriptions)
		describe["POST sign-up"] = aloneDescription
	}
	for i := range all {
		all[i].Name = ID
		all[i].Describe(describe)
	}
	return all
}

// links returns the links below the form of the sign-in page.
func (s *handlers) links() []ui.Link {
	links := []ui.Link{{Label: "Forgot your password?", Action: ID + "/forgot", Place: "password"}}
	if s.closed {
		return links
	}
	return append(links, ui.Link{
		Label: "Create an account", Action: ID + "/sign-up", Place: "foot", Lead: "New here?",
	})
}

// onlyManagement returns the management of the provider's only Auth.
func (p *Provider) onlyManagement() (*management, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch all := p.liveManagement(); len(all) {
	case 0:
		return nil, errors.New("password: the provider has no Auth yet: call core.New first")
	case 1:
		return all[0], nil
	}
	return nil, errors.New("password: the provider belongs to several Auths: call New for each of them")
}

// usernameField is the field of the sign-in form. Its name is that of the field for the address.
func usernameField() core.Field {
	return core.Field{
		Name: "email", Label: "Email or username", Type: "text", Autocomplete: "username", Required: true,
		Attributes: usernameAttributes,
	}
}
