package webauthn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// SignUpOptions configures [WithSignUp]. Only Mail is required.
type SignUpOptions struct {
	// Mail sends emails, for example providers.Resend().Mailer(). It is required.
	Mail core.Mailer
	// Code adds a six-digit code to the emails, for users who read them on another device. It works once, for ten minutes,
	// and only in the browser that requested the email. The default is false.
	Code bool
}

// SignUp is a passkey provider for sign-in and sign-up. Create it with [WithSignUp]. It is safe for concurrent use.
type SignUp struct {
	*core.WebAuthnProvider
	options SignUpOptions
}

// WithSignUp returns p with a sign-up, for Config.Providers: a new user verifies an email address with a link or a
// code, then creates a passkey, and is signed in. No password and no other provider is needed. If p is nil, it is
// [Passkey]. Without a session, the routes of p then only authenticate: see [core.WebAuthnProvider].SignUp.
//
// The Store must implement store.RecordStore, store.AuthenticatorStore, and store.Transactor or store.UserDeleter.
func WithSignUp(p *core.WebAuthnProvider, o SignUpOptions) *SignUp {
	if p == nil {
		p = Passkey()
	}
	return &SignUp{p, o}
}

// Mailer returns SignUpOptions.Mail. Package doctor uses it to check the mail configuration.
func (s *SignUp) Mailer() core.Mailer { return s.options.Mail }

const (
	// action is the Name of the actions, and the start of the names of cookies.
	action = "passkey"
	// kindSignUp is the kind of the record of a sign-up. Its key is the digest of the token in the email.
	kindSignUp = "passkey-sign-up"
	// codeSignUp is the purpose of codes, and sender the name of the email sender.
	codeSignUp, sender = "passkey-sign-up", "passkey sign-up"
	// startCookie and verifiedCookie are the names of cookies.
	startCookie, verifiedCookie = "passkey-sign-up", "passkey-verified"
	// signUpTTL is the lifetime of a link. verifiedTTL is the time to create the passkey after the link was opened.
	signUpTTL, verifiedTTL = 24 * time.Hour, 15 * time.Minute
	// maxStarted is the number of sign-ups that a browser remembers.
	maxStarted        = 5
	maxTokenLength    = 128
	maxCallbackLength = 1024
	handleLength      = 48
)

// Attach implements [core.Plugin].
func (s *SignUp) Attach(h *core.PluginHost) error {
	p := *s.WebAuthnProvider
	p.ID, p.Name, _ = s.Describe()
	p.SignUp = action + "/sign-up"
	h.AddProvider(&p)
	h.VerifiesEmail()
	h.EmailsLinks()
	if s.options.Mail == nil {
		h.AddConfigError("no Mail: set webauthn.SignUpOptions.Mail, for example to providers.Resend().Mailer()")
	} else {
		if m, ok := s.options.Mail.(core.ConfiguredMailer); ok {
			if err := m.Configure(h.Getenv); err != nil {
				h.AddConfigError("Mail: " + err.Error())
			}
		}
	}
	records := h.Records()
	if records == nil {
		return nil
	}
	if h.Authenticators == nil || h.Transactor == nil && h.UserDeleter == nil {
		h.AddConfigError("a sign-up with a passkey needs a Store that implements store.AuthenticatorStore, and " +
			"store.Transactor or store.UserDeleter: use one of the stores of Latchkey")
	}
	f := &signUps{host: h, provider: p.ID, records: records, mail: s.options.Mail, code: s.options.Code}
	if s.options.Mail != nil {
		h.AddEmailSender(f.sender())
	}
	for _, a := range f.actions() {
		a.Name = action
		a.Describe(descriptions)
		h.AddAction(a)
	}
	return nil
}

// signUps handles the sign-ups of one Auth.
type signUps struct {
	host     *core.PluginHost
	provider string
	records  store.RecordStore
	mail     core.Mailer
	code     bool
}

func (s *signUps) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Verb: "sign-up", Handle: s.showStart},
		{Method: http.MethodPost, Verb: "sign-up", Attempt: limit.AttemptSignUp, Handle: s.start},
		{Method: http.MethodGet, Verb: "sent", Handle: s.showSent},
		{Method: http.MethodGet, Verb: "confirm", Handle: s.confirm},
		{Method: http.MethodGet, Verb: "create", Handle: s.showCreate},
		{Method: http.MethodGet, Verb: "options", Handle: s.creationOptions},
		{Method: http.MethodPost, Verb: "create", Handle: s.create},
	}
	if s.code {
		all = append(all, core.Action{Method: http.MethodPost, Verb: "code", Handle: s.confirmCode})
	}
	return all
}

// pendingSignUp is the record of a sign-up whose user does not exist yet.
type pendingSignUp struct {
	Email string `json:"email"`
	Typed string `json:"typed,omitempty"` // as the browser sent it, if it differs from Email
}

// startedSignUps is the cookie of the browser that started sign-ups: the keys of their records, newest first, and data
// of the newest one. Another browser that opens the link does not get them, because an attacker may have chosen them.
type startedSignUps struct {
	Keys     []string `json:"k"`
	Email    string   `json:"e"`
	Callback string   `json:"c,omitempty"`
	Code     bool     `json:"n,omitempty"` // the email contained a code
}

// verifiedSignUp is the cookie of a browser that has shown that the user receives the emails of the address.
type verifiedSignUp struct {
	Key    string `json:"k"`
	Email  string `json:"e"`
	Handle []byte `json:"h"` // the user handle
	// Other means that another browser started the sign-up.
	Other bool `json:"o,omitempty"`
}

// link identifies the sign-up on a page, so that an older tab cannot continue a newer sign-up.
func (v *verifiedSignUp) link() string { return v.Key[:min(len(v.Key), 16)] }

// showStart handles GET passkey/sign-up, the form.
func (s *signUps) showStart(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	return s.startPage(ctx, c, http.StatusOK, "", ui.Text{}), nil
}

// start handles POST passkey/sign-up (email, callbackUrl). The response is the same whether or not the address belongs
// to a user: the email is written after it.
func (s *signUps) start(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	typed := strings.Trim(c.Field("email"), " \t")
	address, err := core.NormalizeEmail(typed)
	if err != nil || strings.ContainsRune(address, 0) {
		return s.startAgain(ctx, c, errAddress)
	}
	if err := c.CheckChallenge(ctx, challenge.SignUp); err != nil {
		return s.startAgain(ctx, c, err)
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	p := pendingSignUp{Email: address}
	if typed != address {
		p.Typed = typed
	}
	token, err := s.host.NewToken()
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	record := &store.Record{
		Kind: kindSignUp, Key: s.host.Digest(kindSignUp, token), Value: value, Expires: s.host.Now().Add(signUpTTL),
	}
	if err := s.records.CreateRecord(ctx, record); err != nil {
		return nil, fmt.Errorf("webauthn: store a sign-up: %w", err)
	}
	if err := s.rememberStart(c, address, record.Key); err != nil {
		return nil, err
	}
	email := core.Email{
		To: address, Kind: mailkind.VerifyPasskey, Host: c.Host(), Theme: s.host.Theme, Locale: c.Locale,
		Request: c.Request, URL: core.Secret(c.URL(action+"/confirm", "token", token)), Expires: record.Expires,
	}
	if s.code {
		code := core.EmailCode{Purpose: codeSignUp, Address: address, Data: record.Key}
		if email.Code, err = c.IssueCode(ctx, code); err != nil {
			return nil, err
		}
	}
	err = c.SendLater(ctx, core.BackgroundEmail{
		Sender: sender, Email: email, Subject: address,
		Data: emailData{Key: record.Key, Typed: typed, SignIn: c.URL("signin")},
	})
	if err != nil {
		return s.startAgain(ctx, c, err)
	}
	c.Audit(ctx, audit.Event{Name: audit.SignUp, Outcome: audit.OK, Subject: address, Provider: s.provider})
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusAccepted, nextStep{"mail"}), nil
	}
	return c.Redirect(c.URL(action + "/sent")), nil
}

// rememberStart adds a sign-up to the browser's cookie. The form "Resend email" has no callback URL: the one of the
// same address stays.
func (s *signUps) rememberStart(c *core.ActionRequest, address, key string) error {
	var known startedSignUps
	c.EncryptedCookie(startCookie, &known)
	if c.Field("callbackUrl") != "" || known.Email != address {
		known.Callback = ""
		if len(c.CallbackURL) <= maxCallbackLength {
			known.Callback = c.CallbackURL
		}
	}
	known.Keys = append([]string{key}, known.Keys...)
	known.Keys, known.Email, known.Code = known.Keys[:min(len(known.Keys), maxStarted)], address, s.code
	return c.SetEncryptedCookie(startCookie, known, signUpTTL)
}

// emailData is the data of the email to the owner of an address.
type emailData struct {
	Key    string `json:"key"`    // of the record
	Typed  string `json:"typed"`  // the address as the browser sent it
	SignIn string `json:"signin"` // the URL of the sign-in page
}

// sender writes the emails. It runs after the response, so that the response time does not reveal whether the address
// belongs to a user.
func (s *signUps) sender() core.EmailSender {
	return core.EmailSender{
		Name: sender, Mailer: s.mail,
		Write: func(ctx context.Context, email core.Email, data json.RawMessage) (core.Email, error) {
			var asked emailData
			if err := json.Unmarshal(data, &asked); err != nil {
				return core.Email{}, err
			}
			taken, err := s.taken(ctx, s.host.Store, asked.Typed)
			if err != nil || !taken {
				return email, err
			}
			s.drop(ctx, asked.Key)
			email.Kind, email.URL = mailkind.ExistsPasskey, core.Secret(asked.SignIn)
			email.Code, email.Expires = "", time.Time{}
			return email, nil
		},
		Undo: func(ctx context.Context, _ core.Email, data json.RawMessage) {
			var asked emailData
			if json.Unmarshal(data, &asked) == nil {
				s.drop(ctx, asked.Key)
			}
		},
	}
}

// taken reports whether an address belongs to a user.
func (s *signUps) taken(ctx context.Context, users core.Store, typed string) (bool, error) {
	_, err := core.UserByMailbox(ctx, users, typed)
	if errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("webauthn: find the user of an address: %w", err)
	}
	return true, nil
}

// drop deletes a sign-up without an email. If that fails, the record expires.
func (s *signUps) drop(ctx context.Context, key string) {
	_, err := s.records.DeleteRecord(ctx, kindSignUp, key)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.host.Logger.WarnContext(ctx, "webauthn: could not delete a sign-up whose link was not sent", "error", err)
	}
}

// find returns the sign-up with one of these keys. It returns errLink if there is none or it has expired.
func (s *signUps) find(ctx context.Context, keys ...string) (record *store.Record, p pendingSignUp, err error) {
	for _, key := range keys {
		record, err = s.records.Record(ctx, kindSignUp, key)
		switch {
		case errors.Is(err, core.ErrNotFound):
			continue
		case err != nil:
			return nil, p, fmt.Errorf("webauthn: find a sign-up: %w", err)
		case !record.Expires.After(s.host.Now()):
			continue
		}
		if err := json.Unmarshal(record.Value, &p); err != nil {
			return nil, p, fmt.Errorf("webauthn: decode a sign-up: %w", err)
		}
		if p.Typed == "" {
			p.Typed = p.Email
		}
		return record, p, nil
	}
	return nil, p, errLink
}

// confirm handles GET passkey/confirm, the link in the email. It uses nothing up, because mail scanners open links too:
// it notes in this browser that its user receives the emails of the address.
func (s *signUps) confirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	token := c.Field("token")
	if token == "" || len(token) > maxTokenLength {
		return s.startAgain(ctx, c, errLink)
	}
	record, p, err := s.find(ctx, s.host.Digests(kindSignUp, token)...)
	if err != nil {
		return s.startAgain(ctx, c, err)
	}
	var started startedSignUps
	own := c.EncryptedCookie(startCookie, &started) && slices.Contains(started.Keys, record.Key)
	return s.verified(c, record, p, !own)
}

// confirmCode handles POST passkey/code (code).
func (s *signUps) confirmCode(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeSignUp, c.Field("code"))
	if err == nil {
		record, p, missing := s.find(ctx, found.Data)
		if missing == nil {
			return s.verified(c, record, p, false)
		}
		if err = missing; errors.Is(missing, errLink) { // the link was used
			err = c.CodeExpired()
		}
	}
	var denial *audit.Denial
	if errors.As(err, &denial) {
		c.Audit(ctx, audit.Event{
			Name: audit.SignUp, Outcome: audit.Refused, Reason: denial.Reason, Provider: s.provider,
		})
	}
	query, ok := c.CodeError(err)
	if !ok || c.WantsJSON {
		return nil, err
	}
	response := c.Redirect(c.URL(action+"/sent", query...))
	response.Err = err
	return response, nil
}

// verified notes in this browser that its user receives the emails of the address, and continues on the page that
// creates the passkey.
func (s *signUps) verified(
	c *core.ActionRequest, record *store.Record, p pendingSignUp, other bool,
) (*core.Response, error) {
	v := verifiedSignUp{Key: record.Key, Email: p.Email, Other: other}
	var before verifiedSignUp
	if c.EncryptedCookie(verifiedCookie, &before) && before.Key == v.Key {
		v.Handle = before.Handle // the link was opened twice
	} else {
		v.Handle = make([]byte, handleLength)
		if _, err := io.ReadFull(s.host.Rand, v.Handle); err != nil {
			return nil, err
		}
	}
	ttl := min(verifiedTTL, record.Expires.Sub(s.host.Now()))
	if err := c.SetEncryptedCookie(verifiedCookie, v, ttl); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(action + "/create")), nil
}

// current returns the sign-up that this browser has verified, and its record. It returns errLink if there is none any
// more, and errExists if the address belongs to a user by now.
func (s *signUps) current(ctx context.Context, c *core.ActionRequest) (v verifiedSignUp, r *store.Record, err error) {
	if !c.EncryptedCookie(verifiedCookie, &v) || v.Key == "" {
		return v, nil, errLink
	}
	r, p, err := s.find(ctx, v.Key)
	if err != nil {
		return v, nil, err
	}
	taken, err := s.taken(ctx, s.host.Store, p.Typed)
	if err == nil && taken {
		err = errExists
	}
	return v, r, err
}

// currentLink is current for a page with this sign-up. It returns errOther if a newer link was opened since.
func (s *signUps) currentLink(
	ctx context.Context, c *core.ActionRequest,
) (v verifiedSignUp, r *store.Record, err error) {
	if v, r, err = s.current(ctx, c); err == nil && c.Field("link") != v.link() {
		err = errOther
	}
	return v, r, err
}

// showCreate handles GET passkey/create, the page that creates the passkey.
func (s *signUps) showCreate(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	v, _, err := s.current(ctx, c)
	if err != nil {
		return s.over(ctx, c, &v, err)
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, signUpState{v.Email, v.link(), v.Other}), nil
	}
	return s.createPage(ctx, c, http.StatusOK, &v, ui.Text{}), nil
}

// creationOptions handles GET passkey/options (link): the options to create the passkey.
func (s *signUps) creationOptions(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	v, _, err := s.currentLink(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := c.Allow(ctx, limit.AttemptWebAuthn, v.Email); err != nil {
		return nil, err
	}
	return c.NewPasskeyOptions(ctx, s.registration(&v))
}

func (s *signUps) registration(v *verifiedSignUp) core.PasskeyRegistration {
	return core.PasskeyRegistration{
		Provider: s.provider, Address: v.Email, Handle: v.Handle, Purpose: kindSignUp + " " + v.Key,
	}
}

// create handles POST passkey/create (link, action, data): it creates the user with the passkey and signs them in.
func (s *signUps) create(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	v, record, err := s.currentLink(ctx, c)
	if errors.Is(err, errOther) && !c.WantsJSON {
		return s.createPage(ctx, c, http.StatusConflict, &v, textOther), nil
	}
	if err != nil {
		return s.over(ctx, c, &v, err)
	}
	made, err := c.VerifyNewPasskey(ctx, s.registration(&v))
	if err != nil {
		return s.refusePasskey(ctx, c, &v, err)
	}
	user := &core.User{ID: core.NewID(), Email: v.Email, EmailVerified: s.host.Now()}
	signIn := core.SignIn{
		User: user, Passkey: made, CallbackURL: c.CallbackURL,
		Create: func(ctx context.Context) (*core.User, error) { return s.createUser(ctx, c, record, user, made, "") },
		Upgrade: func(ctx context.Context, guest *core.User) (*core.User, error) {
			upgraded, err := s.createUser(ctx, c, record, user, made, guest.ID)
			if errors.Is(err, errNotGuest) {
				return s.createUser(ctx, c, record, user, made, "")
			}
			return upgraded, err
		},
	}
	var started startedSignUps
	if !v.Other && c.EncryptedCookie(startCookie, &started) && started.Email == v.Email && started.Callback != "" {
		signIn.CallbackURL = started.Callback
	}
	response, err := c.SignIn(ctx, signIn)
	if errors.Is(err, errLink) { // another request has used the link, or created a user with the address
		return s.over(ctx, c, &v, err)
	}
	return response, err
}

// refusePasskey responds to a passkey that could not be verified.
func (s *signUps) refusePasskey(
	ctx context.Context, c *core.ActionRequest, v *verifiedSignUp, cause error,
) (*core.Response, error) {
	if errors.Is(cause, core.ErrStoreUnavailable) {
		return nil, cause
	}
	reason := audit.ReasonPasskey
	var denial *audit.Denial
	if errors.As(cause, &denial) && denial.Reason != "" {
		reason = denial.Reason
	}
	c.Audit(ctx, audit.Event{
		Name: audit.SignUp, Outcome: audit.Refused, Reason: reason, Subject: v.Email, Provider: s.provider,
	})
	problem := *errPasskey
	problem.Cause = cause
	if c.WantsJSON {
		return nil, &problem
	}
	response := s.createPage(ctx, c, problem.Status, v, problem.Text)
	response.Err = &problem
	return response, nil
}

// errNotGuest means that the user is no guest any more: another request has upgraded or merged the guest.
var errNotGuest = errors.New("webauthn: the user is no guest any more")

// createUser uses up the sign-up, and writes the user, the account and the passkey: in one transaction if the store
// supports them. If guestID is not empty, the guest becomes the user; guests exist on stores with transactions only. It
// returns errLink if the sign-up was used or the address belongs to a user, and errNotGuest.
func (s *signUps) createUser(
	ctx context.Context, c *core.ActionRequest, record *store.Record, fresh *core.User, made *core.NewUserPasskey,
	guestID string,
) (user *core.User, err error) {
	if s.host.Transactor == nil {
		user, err = s.createInSequence(ctx, record, fresh, made)
	} else {
		err = s.host.Transactor.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
			records, ok := tx.(store.RecordStore)
			if !ok {
				return errors.New("webauthn: the store's transactions do not support records")
			}
			if _, err := records.DeleteRecord(ctx, record.Kind, record.Key); err != nil {
				return err
			}
			if guestID == "" {
				user, err = tx.CreateUser(ctx, fresh.Clone())
			} else if user, err = s.host.UpgradeUser(ctx, tx, guestID, fresh); errors.Is(err, core.ErrNotFound) {
				err = errNotGuest
			}
			if err != nil {
				return err
			}
			return made.Store(ctx, tx, user.ID)
		})
	}
	switch {
	case errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict):
		return nil, errLink
	case err != nil:
		return nil, fmt.Errorf("webauthn: create the user: %w", err)
	}
	c.DeleteEncryptedCookie(verifiedCookie)
	c.DeleteEncryptedCookie(startCookie)
	return user, nil
}

// createInSequence is createUser for stores without transactions. If a step fails or the store panics, it deletes the
// user, whose address could not be used otherwise, and restores the link, unless the address belongs to another user.
// If the store does not respond to the creation of the user, the user is found by the requested ID, unless the store
// creates its own IDs.
func (s *signUps) createInSequence(
	ctx context.Context, record *store.Record, fresh *core.User, made *core.NewUserPasskey,
) (user *core.User, err error) {
	if _, err := s.records.DeleteRecord(ctx, record.Kind, record.Key); err != nil {
		return nil, err
	}
	over, id := false, fresh.ID
	defer func() {
		if !over {
			s.undo(context.WithoutCancel(ctx), record, id)
		}
	}()
	if user, err = s.host.Store.CreateUser(ctx, fresh.Clone()); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = made.Store(ctx, nil, id); err != nil {
		return nil, err
	}
	over = true
	return user, nil
}

// undo deletes a user without a passkey, if there is one, and restores the link.
func (s *signUps) undo(ctx context.Context, record *store.Record, userID string) {
	if err := s.host.UserDeleter.DeleteUser(ctx, userID); err != nil && !errors.Is(err, core.ErrNotFound) {
		s.host.Logger.ErrorContext(ctx, "webauthn: could not delete a user without a passkey", "user", userID, "error", err)
	}
	again := *record
	again.Version = 0
	if err := s.records.CreateRecord(ctx, &again); err != nil {
		s.host.Logger.WarnContext(ctx, "webauthn: could not restore a link after a failure", "error", err)
	}
}

// over responds to a sign-up that cannot continue. A browser that was signed in by it, such as after a double click,
// continues there.
func (s *signUps) over(
	ctx context.Context, c *core.ActionRequest, v *verifiedSignUp, cause error,
) (*core.Response, error) {
	if !errors.Is(cause, errLink) && !errors.Is(cause, errExists) {
		return nil, cause
	}
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	if session != nil && session.User != nil && v.Email != "" && core.SameMailbox(session.User.Email, v.Email) {
		return c.Redirect(c.CallbackURL), nil
	}
	return s.startAgain(ctx, c, cause)
}
