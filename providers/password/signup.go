package password

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// signUpTTL is the lifetime of a sign-up link.
const signUpTTL = 24 * time.Hour

// signUps handles sign-up requests and the email to the owner of the address. The account is created by confirmations.
type signUps struct {
	pages   *pages
	chosen  *newPasswords
	pending *signUpStore
	emails  *emails
	users   core.Store
	fields  *SignUpFields
	names   *usernames    // nil without Options.Usernames
	alone   *aloneSignUps // nil without Usernames.Alone
	code    bool          // Options.Code
	log     *slog.Logger
}

func (s *signUps) actions() []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "sign-up", Handle: s.show},
		{Method: http.MethodPost, Verb: "sign-up", Attempt: limit.AttemptSignUp, Handle: s.signUp},
		{Method: http.MethodPost, Verb: "resend", Attempt: limit.AttemptSignUp, Handle: s.resend},
	}
}

// closedSignUp refuses every sign-up.
type closedSignUp struct{}

func (closedSignUp) actions() []core.Action {
	refuse := func(context.Context, *core.ActionRequest) (*core.Response, error) {
		return nil, problem(http.StatusForbidden, codeClosed, textClosed)
	}
	return []core.Action{{Method: http.MethodPost, Verb: "sign-up", Handle: refuse}}
}

const (
	maxNameLength     = 256
	maxCallbackLength = 2048
)

func (s *signUps) form(c *core.ActionRequest) form {
	all := s.pending.links.host.Providers()
	providers := make([]ui.Provider, len(all))
	for i, p := range all {
		providers[i] = ui.Provider{ID: p.ID, Name: p.Name, Type: string(p.Type), Style: p.Style, SignUp: p.SignUp}
	}
	return form{textSignUp, func(page ui.Page, v filled) templ.Component {
		view := ui.SignUpView{
			Page: page, CSRFToken: c.CSRFToken, CallbackURL: v.callback, Heading: page.Locale.Say(textSignUp),
			Form: "sign-up", Providers: providers,
			Foot: ui.Link{Label: page.Locale.Say(textHaveAccount), Action: "signin"},
		}
		return signUpPage(view, c.URL(ID+"/sign-up"), v)
	}, filled{
		email: c.Field("email"), name: c.Field("name"), callback: c.Field("callbackUrl"),
		fields: s.fields.Fields, values: s.fields.read(c), challenge: challenge.SignUp,
		usernames: s.names != nil, alone: s.alone != nil, username: c.Field("username"),
	}}
}

func (s *signUps) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c)
	f.email, f.name, f.username, f.values = "", "", "", nil // a link must not prefill the form
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// signUp handles POST password/sign-up (email, password, name, callbackUrl, username with Options.Usernames, and the
// fields of Options.SignUpFields). With Usernames.Alone, a sign-up without an address creates the user. Otherwise the
// handler does not look the username up, so that it does not reveal who has one. The
// response is the same whether or not the address belongs to a user. Everything that depends on it happens after the
// response.
func (s *signUps) signUp(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c)
	address, ok := isMail(c.Field("email"))
	alone := s.alone.isAlone(c)
	if !ok && !alone {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	name := strings.TrimSpace(c.Field("name"))
	if !isName(name) {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeName, textBadName))
	}
	if alone {
		return s.alone.signUp(ctx, c, f, name)
	}
	username, err := s.names.wanted(f.username)
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	if err := s.fields.check(ctx, f.values); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	if err := c.CheckChallenge(ctx, challenge.SignUp); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	hash, err := s.chosen.take(ctx, c, c.Field("password"), address)
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	p := pendingSignUp{Email: address, Name: name, Username: username, Hash: hash, Values: f.values}
	if typed := strings.Trim(c.Field("email"), " \t"); typed != address {
		p.Typed = typed
	}
	if back := c.CallbackURL; len(back) <= maxCallbackLength {
		p.Callback = back
	}
	if err := s.send(ctx, c, p); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	c.Audit(ctx, audit.Event{Name: audit.SignUp, Outcome: audit.OK, Subject: address})
	return toSent(ctx, c, s.sent(address))
}

// sent returns the cookie of the page after an email was requested.
func (s *signUps) sent(address string) sentMail {
	if s.code {
		return sentMail{address, codeSignUp}
	}
	return sentMail{Email: address}
}

// resend handles POST password/resend: it sends the link of the sign-up that this browser started last again, with a
// new token. The response is the same if there is none, because a sign-up with the address of a user is deleted.
func (s *signUps) resend(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var known startedSignUps
	var sent sentMail
	if !c.EncryptedCookie(signUpCookie, &known) || !c.EncryptedCookie(sentCookie, &sent) || len(known.Digests) == 0 {
		return next(ctx, c, http.StatusAccepted, "mail", ID+"/sent")
	}
	if err := c.CheckChallenge(ctx, challenge.SignUp); err != nil {
		return nil, err
	}
	if err := c.Allow(ctx, limit.AttemptMail, sent.Email); err != nil {
		return nil, err
	}
	record, err := s.pending.links.first(ctx, kindSignUp, known.Digests[:1])
	if err != nil {
		return nil, err
	}
	var p pendingSignUp
	if record != nil {
		if err := json.Unmarshal(record.Value, &p); err != nil {
			return nil, fmt.Errorf("password: decode a sign-up: %w", err)
		}
	}
	if p.Email != sent.Email {
		p = pendingSignUp{Email: sent.Email} // the same work, so that its time does not reveal a sign-up
	}
	if err := s.send(ctx, c, p); err != nil {
		return nil, err
	}
	return toSent(ctx, c, s.sent(sent.Email))
}

// send stores a sign-up and sends the email to the owner of its address after the response.
func (s *signUps) send(ctx context.Context, c *core.ActionRequest, p pendingSignUp) error {
	address := p.Email
	token, record, err := s.pending.enter(ctx, p)
	if err != nil {
		return err
	}
	if err := rememberSignUp(c, record.Key); err != nil {
		s.log.WarnContext(ctx, "password: could not store the sign-up in the browser's cookie", "error", err)
	}
	verify := s.emails.write(c, mailkind.Verify, address)
	verify.URL, verify.Expires = core.Secret(c.URL(ID+"/confirm", "token", token)), record.Expires
	if s.code {
		code := core.EmailCode{Purpose: codeSignUp, Address: address, Data: record.Key}
		if verify.Code, err = c.IssueCode(ctx, code); err != nil {
			return err
		}
	}
	return s.emails.later(ctx, c, core.BackgroundEmail{
		Sender: senderSignUp, Email: verify, Subject: address,
		Data: signUpEmail{Key: record.Key, Typed: p.typed(), SignIn: c.URL("signin"), Empty: p.Hash == ""},
	})
}

// isName reports whether a text can be a user's name: valid UTF-8, short and without control characters.
func isName(name string) bool {
	return len(name) <= maxNameLength && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// signUpEmail is the data of the email to the owner of an address.
type signUpEmail struct {
	// Key is the key of the pending sign-up.
	Key string `json:"key"`
	// Typed is the address as the browser sent it.
	Typed string `json:"typed"`
	// SignIn is the URL of the sign-in page.
	SignIn string `json:"signin"`
	// Empty reports that there is no sign-up that could be sent again. Only the owner of an account gets an email.
	Empty bool `json:"empty,omitempty"`
}

// sender writes the emails that signUp has queued.
func (s *signUps) sender() core.EmailSender {
	return core.EmailSender{
		Name: senderSignUp, Mailer: s.emails.mail,
		Write: func(ctx context.Context, verify core.Email, data json.RawMessage) (core.Email, error) {
			var asked signUpEmail
			if err := json.Unmarshal(data, &asked); err != nil {
				return core.Email{}, err
			}
			return s.answer(ctx, &asked, verify)
		},
		Undo: func(ctx context.Context, l core.Email, data json.RawMessage) {
			var asked signUpEmail
			if l.Kind == mailkind.Verify && json.Unmarshal(data, &asked) == nil {
				s.pending.drop(ctx, asked.Key)
			}
		},
	}
}

// answer returns the email to the owner of the address. It runs after the response. If the email has no recipient, none
// is sent.
func (s *signUps) answer(ctx context.Context, asked *signUpEmail, verify core.Email) (core.Email, error) {
	user, err := userByEmail(ctx, s.users, asked.Typed)
	if err != nil {
		return core.Email{}, err
	}
	if user != nil {
		s.pending.drop(ctx, asked.Key)
		exists := verify
		exists.Kind, exists.URL, exists.Expires = mailkind.Exists, core.Secret(asked.SignIn), time.Time{}
		exists.Code = "" // of a sign-up that was dropped
		return exists, nil
	}
	if asked.Empty {
		s.pending.drop(ctx, asked.Key)
		return core.Email{}, nil
	}
	switch admitted, err := s.pending.admits(ctx, verify.To); {
	case err != nil:
		return core.Email{}, err
	case !admitted:
		s.pending.drop(ctx, asked.Key)
		return core.Email{}, nil
	}
	return verify, nil
}

// pendingSignUp is the record of an unverified sign-up. Its key is the digest of the token in the email. The user is
// created only after the verification, because the address may belong to another person.
type pendingSignUp struct {
	Email    string `json:"email"`
	Typed    string `json:"typed,omitempty"` // as the browser sent it, if it differs from Email
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"` // normalized; another user may have it
	Hash     hashed `json:"hash"`
	Callback string `json:"callback,omitempty"`
	// Values are those of Options.SignUpFields.
	Values map[string]string `json:"values,omitempty"`
}

// typed returns the address as the browser sent it, for lookups of users.
func (p *pendingSignUp) typed() string { return cmp.Or(p.Typed, p.Email) }

// storedSignUp is a pending sign-up with its record.
type storedSignUp struct {
	pendingSignUp
	record *store.Record
}

// signUpStore stores pending sign-ups.
type signUpStore struct {
	links *links
	// invited reports whether sign-up requires an invitation.
	invited bool
}

// enter stores a sign-up and returns the token for its email.
func (r *signUpStore) enter(ctx context.Context, p pendingSignUp) (token string, record *store.Record, err error) {
	if token, err = r.links.host.NewToken(); err != nil {
		return "", nil, err
	}
	if record, err = r.links.keep(ctx, kindSignUp, token, "", p, signUpTTL); err != nil {
		return "", nil, fmt.Errorf("password: store the sign-up: %w", err)
	}
	return token, record, nil
}

// find returns the sign-up of a token. It is nil if there is none or it has expired.
func (r *signUpStore) find(ctx context.Context, token string) (*storedSignUp, error) {
	return r.first(ctx, r.links.keys(kindSignUp, token))
}

// first returns the first sign-up with one of these keys.
func (r *signUpStore) first(ctx context.Context, keys []string) (*storedSignUp, error) {
	record, err := r.links.first(ctx, kindSignUp, keys)
	if err != nil || record == nil {
		return nil, err
	}
	out := &storedSignUp{record: record}
	if err := json.Unmarshal(record.Value, &out.pendingSignUp); err != nil {
		return nil, fmt.Errorf("password: decode a sign-up: %w", err)
	}
	return out, nil
}

// admits reports whether an address can sign up.
func (r *signUpStore) admits(ctx context.Context, address string) (bool, error) {
	if !r.invited {
		return true, nil
	}
	record, err := r.links.first(ctx, kindInvitation, r.links.host.Digests(kindInvitation, address))
	return record != nil, err
}

// use uses up a sign-up. It returns core.ErrNotFound if it was used or is no longer invited.
func (r *signUpStore) use(ctx context.Context, w *storedSignUp) error {
	ok, err := r.admits(ctx, w.Email)
	if err != nil {
		return err
	}
	if !ok {
		return core.ErrNotFound
	}
	if err := r.links.use(ctx, w.record); err != nil {
		return fmt.Errorf("password: use the sign-up: %w", err)
	}
	return nil
}

// drop deletes a sign-up if its link is not sent, so that it cannot be confirmed. If that fails, the record expires.
func (r *signUpStore) drop(ctx context.Context, key string) {
	_, err := r.links.records.DeleteRecord(ctx, kindSignUp, key)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		r.links.host.Logger.WarnContext(ctx, "password: could not delete a sign-up whose link was not sent", "error", err)
	}
}

// startedSignUps is the cookie of the browser that signed up. It contains the digests of the tokens, newest first. In
// this browser the link needs one click. In any other it asks for the password, because an attacker may have signed up
// with the victim's address and hopes that the victim opens the link.
type startedSignUps struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// maxSignUps is the number of sign-ups that a browser remembers, for example two tabs and a mistyped address.
	maxSignUps = 5
)

// rememberSignUp adds a sign-up to the browser's cookie. Browsers without cookies have to type the password.
func rememberSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	c.EncryptedCookie(signUpCookie, &known)
	known.Digests = append([]string{key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), maxSignUps)]
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
}

// isAlone reports whether a sign-up has no email address.
func (s *aloneSignUps) isAlone(c *core.ActionRequest) bool {
	return s != nil && strings.TrimSpace(c.Field("email")) == ""
}

// in returns links that use the records of a transaction.
func (l *links) in(records store.RecordStore) *links { return &links{l.host, records} }

// read returns the values of the fields in a request, and nothing else of it. It is nil if there are no fields.
func (s *SignUpFields) read(c *core.ActionRequest) map[string]string {
	if len(s.Fields) == 0 {
		return nil
	}
	values := make(map[string]string, len(s.Fields))
	for _, f := range s.Fields {
		values[f.Name] = strings.TrimSpace(c.Field(f.Name))
	}
	return values
}
