package secondfactor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/ui"
)

// Status is the state of a user's second factors.
type Status struct {
	// Enrolled reports whether the user has a second factor.
	Enrolled bool `json:"enrolled"`
	// Apps are the user's authenticator apps. It is never nil.
	Apps []App `json:"apps"`
	// Passkeys reports whether the user's passkeys are a second factor.
	Passkeys bool `json:"passkeys"`
	// RecoveryCodes is the number of unused recovery codes. Saved reports whether the user has confirmed that they are
	// saved.
	RecoveryCodes int  `json:"recoveryCodes"`
	Saved         bool `json:"saved"`
	// Browsers is the number of browsers that the user trusts.
	Browsers int `json:"browsers"`
}

// App is an authenticator app of a user.
type App struct {
	// ID identifies the app in requests.
	ID string `json:"id"`
	// Name is the name that the user gave it, or "".
	Name string `json:"name"`
	// Made is when it was enrolled, and Used when a code of it was last accepted.
	Made time.Time `json:"made"`
	Used time.Time `json:"used"`
}

// Status returns the state of a user's second factors. It is for the application, for example to suggest enrollment.
// It reads the store two times.
func (f *Factors) Status(ctx context.Context, userID string) (*Status, error) {
	return f.handlers.status(ctx, userID)
}

func (s *handlers) status(ctx context.Context, userID string) (*Status, error) {
	st, err := s.states.load(ctx, userID)
	if err != nil {
		return nil, err
	}
	left, err := s.recovery.left(ctx, userID, st)
	if err != nil {
		return nil, err
	}
	trusted, err := s.browsers.count(ctx, userID, st)
	if err != nil {
		return nil, err
	}
	v := &Status{
		Enrolled: st.enrolled(), Apps: []App{}, Passkeys: st.Passkeys, RecoveryCodes: left, Saved: st.Saved,
		Browsers: trusted,
	}
	for _, a := range st.Apps {
		v.Apps = append(v.Apps, App{
			ID: a.ID, Name: a.Name, Made: time.Unix(a.Made, 0).UTC(), Used: time.Unix(a.Used, 0).UTC(),
		})
	}
	return v, nil
}

// settingsView is the data of the settings page and of the section on the account page.
type settingsView struct {
	*Status
	csrf, base string
	locale     ui.Locale
	hasPasskey bool // the user has a passkey
}

func (v *settingsView) url(verb string) string { return v.base + "/" + verb }

// low reports whether the user should create new recovery codes.
func (v *settingsView) low() bool { return v.Enrolled && v.RecoveryCodes <= recoverycode.Low }

func (v *settingsView) title(a App) string {
	if a.Name == "" {
		return v.locale.Say(textApp)
	}
	return a.Name
}

func (v *settingsView) about(a App) string {
	return v.locale.Say(textAdded.With(v.locale.Date(a.Made))) + " · " +
		v.locale.Say(textLastUsed.With(v.locale.Date(a.Used)))
}

func (s *handlers) view(ctx context.Context, c *core.ActionRequest, userID string) (*settingsView, error) {
	status, err := s.status(ctx, userID)
	if err != nil {
		return nil, err
	}
	has, err := s.host.HasPasskeys(ctx, userID)
	return &settingsView{Status: status, csrf: c.CSRFToken, base: c.URL(name), locale: c.Locale, hasPasskey: has}, err
}

// AccountSection returns the section of the account page.
func (f *Factors) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	v, err := f.handlers.view(ctx, c, session.UserID)
	if err != nil {
		return nil, err
	}
	return &ui.PageSection{ID: name, Heading: c.Locale.Say(textHeading), Content: settingsSection(v)}, nil
}

// settings handles GET second-factor/settings.
func (s *handlers) settings(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.view(ctx, c, session.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, v.Status), nil
	}
	var said flash
	if c.EncryptedCookie(flashCookie, &said) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	page := c.Page("")
	home := c.Home
	if said.Next != "" {
		home = said.Next
	}
	return c.Render(ctx, http.StatusOK, page, settingsPage(page, v, doneText(said.Done), home, c.Host())), nil
}

// changing returns the session and the factors of a request that changes the factors.
func (s *handlers) changing(
	ctx context.Context, c *core.ActionRequest,
) (session *core.Session, st *state, refused *core.Response, err error) {
	if session, err = c.Session(ctx); err != nil {
		return nil, nil, nil, err
	}
	if st, err = s.states.load(ctx, session.UserID); err != nil {
		return nil, nil, nil, err
	}
	refused, err = authorize(ctx, c, session, st)
	return session, st, refused, err
}

// change makes a change of the factors of n.UserID, and emails the user. The email is stored before the change, and the
// change is not made if the email cannot be stored. before is the state that the request has read: a change that it
// refuses stores no email. Without a change, for example in the second of two requests, no email is sent.
func (s *handlers) change(
	ctx context.Context, c *core.ActionRequest, n core.SecurityNotice, before *state, change func(*state) error,
) (st *state, err error) {
	if err = change(before); err == nil {
		err = c.NotifyChange(ctx, n, func(ctx context.Context) (err error) {
			unchanged := false
			st, err = s.states.update(ctx, n.UserID, func(st *state) error {
				err := change(st)
				unchanged = errors.Is(err, errUnchanged)
				return err
			})
			if unchanged {
				return errUnchanged
			}
			return err
		})
	}
	if errors.Is(err, errUnchanged) {
		if st == nil {
			st = before
		}
		err = nil
	}
	return st, err
}

// replaceCodes handles POST second-factor/codes: new recovery codes.
func (s *handlers) replaceCodes(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, _, refused, err := s.changing(ctx, c)
	if err != nil || refused != nil {
		return refused, err
	}
	var codes []string
	err = c.NotifyChange(ctx, core.SecurityNotice{
		Kind: mailkind.RecoveryRenewed, UserID: session.UserID, Audit: audit.Event{Name: audit.RecoveryRenewed},
	}, func(ctx context.Context) (err error) {
		codes, err = s.recovery.replace(ctx, session.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.codesPage(ctx, c, codes, false), nil
}

// remove handles POST second-factor/remove (id).
func (s *handlers) remove(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, st, refused, err := s.changing(ctx, c)
	if err != nil || refused != nil {
		return refused, err
	}
	response, err := s.removeFactor(ctx, c, session, st, s.states.removing(c.Field("id")), "removed")
	if errors.Is(err, core.ErrNotFound) {
		if c.WantsJSON {
			return nil, &core.Problem{Status: http.StatusNotFound, Code: codeNotFound}
		}
		return c.Redirect(c.URL(name + "/settings")), nil
	}
	return response, err
}

// removeFactor makes a change that removes a factor. With the last factor, the recovery codes are deleted too.
func (s *handlers) removeFactor(
	ctx context.Context, c *core.ActionRequest, session *core.Session, before *state, remove func(*state) error,
	what string,
) (*core.Response, error) {
	st, err := s.change(ctx, c, core.SecurityNotice{
		Kind: mailkind.FactorRemoved, UserID: session.UserID, Audit: audit.Event{Name: audit.FactorRemoved},
	}, before, remove)
	if err == nil && !st.enrolled() {
		err = s.recovery.use(ctx, session.UserID, "")
	}
	if err != nil {
		return nil, err
	}
	return done(ctx, c, what)
}

// switchPasskeys handles POST second-factor/passkeys (on): it makes the user's passkeys a second factor, or no longer.
func (s *handlers) switchPasskeys(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, st, refused, err := s.changing(ctx, c)
	if err != nil || refused != nil {
		return refused, err
	}
	on := isSet(c, "on")
	has, err := s.host.HasPasskeys(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	if on && !has {
		return nil, &core.Problem{Status: http.StatusNotFound, Code: codeNotFound, Text: textNoPasskey}
	}
	if !on {
		return s.removeFactor(ctx, c, session, st, s.states.switching(false), "passkeys-off")
	}
	st, err = s.change(ctx, c, core.SecurityNotice{
		Kind: mailkind.FactorAdded, UserID: session.UserID, Method: passkeysMethod,
		Audit: audit.Event{Name: audit.FactorAdded},
	}, st, s.states.switching(true))
	if err != nil {
		return nil, err
	}
	return s.enrolled(ctx, c, owner{id: session.UserID, session: session, state: st}, st, "passkeys-on", nil)
}

// forget handles POST second-factor/forget: it ends the trust in all browsers of the user.
func (s *handlers) forget(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err == nil {
		err = s.browsers.forget(ctx, session.UserID)
	}
	if err != nil {
		return nil, err
	}
	return done(ctx, c, "forgotten")
}
