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

// signUps handles sign-up requests and the email to the owner of the address. The account is created by confirmations,
// or immediately if the user has a username and no address.
type signUps struct {
	provider string
	pages    *pages
	chosen   *newPasswords
	pending  *signUpStore
	emails   *emails
	users    core.Store
	fields   *SignUpFields
	names    *usernames   // nil without Options.Usernames
	created  *userCreator // creates users without an address
	alone    bool         // Usernames.Alone
	code     bool         // Options.Code
	log      *slog.Logger
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
		usernames: s.names != nil, alone: s.alone, username: c.Field("username"),
	}}
}

func (s *signUps) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c)
	f.email, f.name, f.username, f.values = "", "", "", nil // a link must not prefill the form
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// signUp handles POST password/sign-up (email, password, name, callbackUrl, username with Options.Usernames, and the
// fields of Options.SignUpFields). With Usernames.Alone, a sign-up without an address creates the user. Otherwise the
// handler does not look the username up, so that it does not reveal who has one. The response is the same whether or
// not the address belongs to a user. Everything that depends on it happens after the response.
func (s *signUps) signUp(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c)
	address, ok := isMail(c.Field("email"))
	alone := s.alone && strings.TrimSpace(c.Field("email")) == ""
	if !ok && !alone {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	p := pendingSignUp{Email: address, Name: strings.TrimSpace(c.Field("name")), Values: f.values}
	if !isName(p.Name) {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeName, textBadName))
	}
	var err error
	if s.names != nil && (alone || strings.TrimSpace(f.username) != "") {
		p.Username, err = s.names.choose(f.username)
	}
	if err == nil {
		err = s.fields.check(ctx, f.values)
	}
	if err == nil {
		err = c.CheckChallenge(ctx, challenge.SignUp)
	}
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	if alone {
		return s.createAlone(ctx, c, f, p)
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	if p.Hash, err = s.chosen.take(ctx, c, c.Field("password"), address); err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
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

// createAlone creates the user of a valid sign-up without an email address, signs them in, and shows their recovery
// codes once. f is the form. The response reveals whether another user has the username: without an address there is no
// other way to say so. Sign-ups are counted for each network.
func (s *signUps) createAlone(
	ctx context.Context, c *core.ActionRequest, f form, p pendingSignUp,
) (*core.Response, error) {
	err := s.names.free(ctx, p.Username)
	if err == nil {
		p.Hash, err = s.chosen.take(ctx, c, c.Field("password"), p.Username)
	}
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	shown, codes, err := s.names.codes.make()
	if err != nil {
		return nil, err
	}
	user := &core.User{ID: core.NewID(), Name: cmp.Or(p.Name, p.Username), Null: store.NullEmail}
	created := false
	u := &newUser{&storedSignUp{pendingSignUp: p}, user, codes}
	response, err := s.created.signIn(ctx, c, u, "", func(ctx context.Context, user *core.User) {
		created = true
		for _, name := range []audit.Name{audit.PasswordSet, audit.UsernameChanged, audit.RecoveryRenewed} {
			c.Audit(ctx, audit.Event{Name: name, Outcome: audit.OK, UserID: user.ID, Provider: s.provider})
		}
	})
	switch {
	case errors.Is(err, errUsernameTaken):
		return s.pages.showAgain(ctx, c, f, err)
	case err != nil || !created: // Callbacks.SignIn has redirected elsewhere
		return response, err
	}
	return s.pages.codes(ctx, c, response, shown), nil
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
	w, err := s.pending.first(ctx, known.Digests[:1])
	if err != nil {
		return nil, err
	}
	var p pendingSignUp
	if w != nil {
		p = w.pendingSignUp
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
	token, err := s.pending.links.host.NewToken()
	if err != nil {
		return err
	}
	record, err := s.pending.links.keep(ctx, kindSignUp, token, "", p, signUpTTL)
	if err != nil {
		return fmt.Errorf("password: store the sign-up: %w", err)
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

// rememberSignUp adds a sign-up to the browser's cookie. Browsers without cookies have to type the password.
func rememberSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	c.EncryptedCookie(signUpCookie, &known)
	known.Digests = append([]string{key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), maxSignUps)]
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
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
				s.pending.links.drop(ctx, kindSignUp, asked.Key)
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
		s.pending.links.drop(ctx, kindSignUp, asked.Key)
		exists := verify
		exists.Kind, exists.URL, exists.Expires = mailkind.Exists, core.Secret(asked.SignIn), time.Time{}
		exists.Code = "" // of a sign-up that was dropped
		return exists, nil
	}
	if asked.Empty {
		s.pending.links.drop(ctx, kindSignUp, asked.Key)
		return core.Email{}, nil
	}
	switch admitted, err := s.pending.admits(ctx, verify.To); {
	case err != nil:
		return core.Email{}, err
	case !admitted:
		s.pending.links.drop(ctx, kindSignUp, asked.Key)
		return core.Email{}, nil
	}
	return verify, nil
}

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
