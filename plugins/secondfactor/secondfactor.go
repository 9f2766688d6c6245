package secondfactor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// Options configures [New]. The zero value asks the users who have enrolled a second factor, and no others.
type Options struct {
	// Required decides whether a sign-in of a user who has no second factor must enroll one before it gets a session:
	// [Always], or a function of the application, for example by role. Users who have a second factor are always
	// asked. If Required is nil, no user must enroll.
	Required func(ctx context.Context, p *core.PendingSignIn) (bool, error)
	// Grace is the time in which users who must enroll can postpone it. It starts with the first sign-in that requires
	// enrollment. The default is none.
	Grace time.Duration
	// Trusts reports whether the sign-in's provider has verified two factors, by the claims amr and acr of the ID
	// token (PendingSignIn.Claims). Such a sign-in is not asked. Check PendingSignIn.Account.Provider too: each
	// provider defines its own values. If Trusts is nil, no provider is trusted (OWASP ASVS 5.0, 6.8.4).
	Trusts func(p *core.PendingSignIn) bool
	// Remember is the lifetime of the trust in a browser. Sign-ins in a trusted browser need no second factor. The
	// trust ends when the password or a factor changes. The default is 30 days. A negative value disables trusted
	// browsers.
	Remember time.Duration
	// Issuer is the name of the site in authenticator apps. The default is the host of the request.
	Issuer string
	// Support is the URL of a page for users who have lost all their factors, or a mailto URL. If it is empty, the page
	// has no link.
	Support string
}

// Always requires a second factor of all users. It is a value of [Options].Required.
func Always(context.Context, *core.PendingSignIn) (bool, error) { return true, nil }

// Factors is the plugin. [New] creates one, and it belongs to one Auth. It is safe for concurrent use.
type Factors struct {
	options  Options
	handlers *handlers // nil before Attach
}

// New returns a Factors for Config.Plugins.
func New(o Options) *Factors {
	if o.Remember == 0 {
		o.Remember = defaultRemember
	}
	return &Factors{options: o}
}

const (
	// name is the Name of the actions.
	name = "second-factor"
	// fresh is the maximum time since the last authentication for a change of the factors.
	fresh           = 15 * time.Minute
	defaultRemember = 30 * 24 * time.Hour
)

// Attach implements [core.Plugin].
func (f *Factors) Attach(h *core.PluginHost) error {
	if f.handlers != nil {
		return errors.New("already attached to an Auth: call secondfactor.New for each Auth")
	}
	records := h.Records()
	s := &handlers{host: h, options: &f.options, states: &states{h, records}}
	s.recovery = &recoveryCodes{h, records, s.states}
	s.browsers = &browsers{h, records, f.options.Remember}
	f.handlers = s
	h.TrackAuthentication()
	h.AddSignInGate(s.gate)
	h.AddNoticeReversal(s.disavow)
	h.AddUserData(core.UserData{
		Name: "secondFactors", Heading: textHeading,
		Read: func(ctx context.Context, userID string) (any, error) { return s.status(ctx, userID) },
	})
	h.AddReauthMethod(core.ReauthMethod{
		Action: name + "/verify", Label: textHeading, Adds: []amr.Method{amr.OTP, amr.Multiple},
		Available: func(ctx context.Context, userID string) (bool, error) {
			st, err := s.states.load(ctx, userID)
			return err == nil && st.enrolled(), err
		},
	})
	signedIn := []core.Guard{func(context.Context, *core.Session) error { return nil }}
	for _, a := range []core.Action{
		{Method: http.MethodGet, Handle: s.show},
		{Method: http.MethodPost, Attempt: limit.AttemptCode, Handle: s.check},
		{Method: http.MethodGet, Verb: "passkey", Handle: s.passkeyOptions},
		{Method: http.MethodGet, Verb: "enroll", Handle: s.showEnroll},
		{Method: http.MethodPost, Verb: "enroll", Attempt: limit.AttemptCode, Handle: s.enroll},
		{Method: http.MethodPost, Verb: "later", Handle: s.later},
		{Method: http.MethodPost, Verb: "saved", Handle: s.saved},
		{Method: http.MethodGet, Verb: "settings", Require: signedIn, Handle: s.settings},
		{Method: http.MethodPost, Verb: "codes", Require: signedIn, Handle: s.replaceCodes},
		{Method: http.MethodPost, Verb: "passkeys", Require: signedIn, Handle: s.switchPasskeys},
		{Method: http.MethodPost, Verb: "remove", Require: signedIn, Handle: s.remove},
		{Method: http.MethodPost, Verb: "forget", Require: signedIn, Handle: s.forget},
		{Method: http.MethodGet, Verb: "verify", Require: signedIn, Handle: s.showVerify},
		{Method: http.MethodPost, Verb: "verify", Require: signedIn, Attempt: limit.AttemptCode, Handle: s.verify},
	} {
		a.Name = name
		a.Describe(descriptions)
		h.AddAction(a)
	}
	return nil
}

// longTrust is the longest lifetime of the trust in a browser that Advise accepts.
const longTrust = 90 * 24 * time.Hour

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New.
func (f *Factors) Advise(report func(what, fix string)) {
	h, o := f.handlers.host, f.options
	account := slices.ContainsFunc(h.Auth.Routes(), func(r core.Route) bool {
		return r.Path == h.Auth.BasePath()+"/account"
	})
	for _, each := range []struct {
		found     bool
		what, fix string
	}{
		{o.Required != nil && !account, "users must have a second factor, and there is no account page to manage it",
			"add account.New(account.Options{}) to Plugins, or link to " + h.Auth.BasePath() + "/" + name + "/settings"},
		{!h.CanNotify(), "users get no email when their second factor is changed, reset or guessed",
			"set Mail of account.Options or password.Options"},
		{o.Required != nil && o.Support == "", "users who have lost all second factors learn no way to your support",
			"set secondfactor.Options.Support to a page or a mailto URL"},
		{o.Remember > longTrust, "users can trust a browser for more than 90 days",
			"set secondfactor.Options.Remember to 30 days, or leave it at zero"},
	} {
		if each.found {
			report(each.what, each.fix)
		}
	}
}

// Reset removes all second factors of a user who has lost them: authenticator apps, recovery codes and trusted
// browsers. Passkeys stay, because they are sign-in methods; they are no longer a second factor. It ends the user's
// sessions, if the configuration can, and emails the user. The email is stored first: if that fails, nothing is reset.
// Reset is for the application's support: no page of this plugin calls it, and an attacker must not be able to.
// Identify the user first.
func (f *Factors) Reset(ctx context.Context, userID string) error {
	s := f.handlers
	err := s.host.NotifyChange(ctx, core.SecurityNotice{
		Kind: mailkind.FactorsReset, UserID: userID, Audit: audit.Event{Name: audit.FactorsReset},
	}, func(ctx context.Context) error { return s.reset(ctx, userID) })
	if err != nil {
		return err
	}
	_, err = s.host.Auth.EndSessions(ctx, userID, core.EndOptions{})
	if errors.Is(err, core.ErrInvalidConfig) || errors.Is(err, core.ErrMissingStoreMethods) {
		s.host.Logger.WarnContext(
			ctx,
			"secondfactor: sessions from before a reset stay valid until they expire",
			"error",
			err,
		)
		err = nil
	}
	return err
}

// reset deletes the recovery codes, the trusted browsers and then the factors of a user.
func (s *handlers) reset(ctx context.Context, userID string) error {
	if err := s.recovery.use(ctx, userID, ""); err != nil {
		return err
	}
	if err := s.browsers.forget(ctx, userID); err != nil {
		return err
	}
	_, err := s.states.records.DeleteRecord(ctx, kindFactors, userID)
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// handlers are the gate and the actions of the plugin.
type handlers struct {
	host     *core.PluginHost
	options  *Options
	states   *states
	recovery *recoveryCodes
	browsers *browsers
}

// gate holds a sign-in until its second factor was checked, or until its user has enrolled one.
func (s *handlers) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Linking {
		return s.gateLink(ctx, p)
	}
	if slices.Contains(p.Methods, amr.Guest) { // the sign-in that upgrades the guest is checked
		return "", nil
	}
	if verifiedKey(p.Methods) || s.options.Trusts != nil && s.options.Trusts(p) {
		return "", nil
	}
	st, err := s.states.load(ctx, p.User.ID)
	if err != nil {
		return "", err
	}
	if st.enrolled() {
		trusted, err := s.browsers.trusted(ctx, p, st)
		if err != nil || trusted {
			return "", err
		}
		return name, nil
	}
	if s.options.Required == nil {
		return "", nil
	}
	required, err := s.options.Required(ctx, p)
	if err != nil || !required {
		return "", err
	}
	if s.options.Grace > 0 && st.Due == 0 {
		_, err = s.states.update(ctx, p.User.ID, func(st *state) error {
			if st.Due != 0 {
				return errUnchanged
			}
			st.Due = s.host.Now().Add(s.options.Grace).Unix()
			return nil
		})
	}
	return name, err
}

// gateLink requires a session with the second factor before an account or a passkey is linked.
func (s *handlers) gateLink(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	st, err := s.states.load(ctx, p.User.ID)
	if err == nil && st.enrolled() && core.Strong()(ctx, &core.Session{Methods: p.Methods}) != nil {
		next = name + "/verify"
	}
	return next, err
}

// verifiedKey reports whether a user has signed in with a passkey that has verified the user by a fingerprint, a face
// or a PIN. These are two factors.
func verifiedKey(methods []amr.Method) bool {
	has := func(m amr.Method) bool { return slices.Contains(methods, m) }
	return has(amr.User) && (has(amr.HardwareKey) || has(amr.SoftwareKey))
}

// postponable reports whether a user who must enroll can do it later, and until when.
func (s *handlers) postponable(st *state) (until time.Time, ok bool) {
	until = time.Unix(st.Due, 0)
	return until, s.options.Grace > 0 && st.Due != 0 && !st.enrolled() && s.host.Now().Before(until)
}

// later handles POST second-factor/later: it completes a sign-in without enrollment, within the grace period.
func (s *handlers) later(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	p, err := c.PendingSignIn(ctx)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, expired()
	}
	st, err := s.states.load(ctx, p.User.ID)
	if err != nil {
		return nil, err
	}
	if _, ok := s.postponable(st); !ok {
		return nil, enrollRequired()
	}
	return c.CompleteSignIn(ctx, p)
}

// passkeyOptions handles GET second-factor/passkey: the options to authenticate with a passkey of the user whose
// sign-in is pending or who is signed in.
func (s *handlers) passkeyOptions(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	p, err := c.PendingSignIn(ctx)
	if err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case p != nil && c.Field("session") == "":
		return c.PasskeyOptions(ctx, p.User.ID)
	case session != nil:
		return c.PasskeyOptions(ctx, session.UserID)
	}
	return nil, expired()
}

// support returns the text for users who have lost everything.
func (s *handlers) support() ui.Text {
	if s.options.Support != "" {
		return textLostSupport
	}
	return textLostNone
}
