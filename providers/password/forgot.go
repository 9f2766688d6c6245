package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// resetRequests handles requests for a reset link. The link itself is handled by resets.
type resetRequests struct {
	pages  *pages
	links  *resetLinks
	emails *emails
	users  core.Store
	code   bool // Options.Code
	alone  bool // Usernames.Alone
}

func (s *resetRequests) actions() []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "forgot", Handle: s.show},
		{Method: http.MethodPost, Verb: "forgot", Handle: s.ask},
		{Method: http.MethodGet, Verb: "sent", Handle: showSent},
	}
}

func (s *resetRequests) form(c *core.ActionRequest) form {
	codePage := ""
	if s.alone {
		codePage = c.URL(ID + "/recover")
	}
	return form{textForgot, func(page ui.Page, v filled) templ.Component {
		return forgotPage(page, c.URL(ID+"/forgot"), c.URL("signin"), v)
	}, filled{email: c.Field("email"), challenge: challenge.Reset, recover: codePage}}
}

func (s *resetRequests) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c)
	f.email = ""
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// ask handles POST password/forgot (email). It looks up the user after the response, so that the response time is the
// same for unknown addresses.
func (s *resetRequests) ask(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	typed := c.Field("email")
	address, ok := isMail(typed)
	if !ok {
		return s.pages.showAgain(ctx, c, s.form(c), problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	if err := c.CheckChallenge(ctx, challenge.Reset); err != nil {
		return s.pages.showAgain(ctx, c, s.form(c), err)
	}
	switch err := c.Allow(ctx, limit.AttemptMail, address); {
	case errors.Is(err, core.ErrTooManyRequests) && s.emails.sent.recent(address):
		sent := sentMail{Email: address}
		if last := lastSent(c); last.Email == address {
			sent.Code = last.Code // the code of this browser is still valid
		}
		return toSent(ctx, c, sent, "for", forReset) // the link that was sent still works
	case err != nil:
		return nil, err
	}
	sent := sentMail{Email: address}
	if s.code {
		sent.Code = codeReset
	}
	switch err := s.send(ctx, c, sent.Code, resetRequest{Typed: typed, Address: address}); {
	case errors.Is(err, errBusy):
		return s.pages.showAgain(ctx, c, s.form(c), err)
	case err != nil:
		return nil, err
	}
	s.emails.sent.note(address)
	c.Audit(ctx, audit.Event{Name: audit.PasswordResetAsked, Outcome: audit.OK, Subject: address})
	return toSent(ctx, c, sent, "for", forReset)
}

// send sends the email of a request after the response: a link, and a code if its purpose is not empty. It returns
// errBusy if the queue is full.
func (s *resetRequests) send(ctx context.Context, c *core.ActionRequest, purpose string, r resetRequest) (err error) {
	if r.Token, err = s.links.host.NewToken(); err != nil {
		return err
	}
	l := s.emails.write(c, mailkind.Reset, "")
	l.URL = core.Secret(c.URL(ID+"/reset", "token", r.Token))
	if purpose != "" {
		code := core.EmailCode{Purpose: purpose, Address: r.Address, Data: s.links.digest(r.Token)}
		if l.Code, err = c.IssueCode(ctx, code); err != nil {
			return err
		}
	}
	return s.emails.later(ctx, c, core.BackgroundEmail{Sender: senderReset, Email: l, Data: r, Subject: r.Address})
}

// resetRequest is the data of a requested reset email.
type resetRequest struct {
	Token   string `json:"token"`
	Typed   string `json:"typed"` // as the browser sent it
	Address string `json:"address"`
	// UserID is the user whose sign-in is pending, or empty if the address was typed.
	UserID string `json:"user,omitempty"`
}

// user returns the recipient, or nil. If the address of the user whose sign-in is pending has changed, the code in the
// email was counted for another address, and nothing is sent.
func (r *resetRequest) user(ctx context.Context, users core.Store) (*core.User, error) {
	if r.UserID == "" {
		return userByEmail(ctx, users, r.Typed)
	}
	user, err := userByID(ctx, users, r.UserID)
	if user != nil && user.Email != r.Typed {
		user = nil
	}
	return user, err
}

// sender writes the emails that ask and exposed have queued. It creates the link only if a user has the address.
func (s *resetRequests) sender() core.EmailSender {
	return core.EmailSender{
		Name: senderReset, Mailer: s.emails.mail,
		Write: func(ctx context.Context, l core.Email, data json.RawMessage) (core.Email, error) {
			var asked resetRequest
			if err := json.Unmarshal(data, &asked); err != nil {
				return core.Email{}, err
			}
			user, err := asked.user(ctx, s.users)
			if err != nil || user == nil {
				return core.Email{}, err
			}
			record, err := s.links.create(ctx, user, asked.Token, !s.code && asked.UserID == "")
			if err != nil || record == nil {
				return core.Email{}, err
			}
			l.To, l.Expires = user.Email, record.Expires
			return l, nil
		},
		Undo: func(ctx context.Context, _ core.Email, data json.RawMessage) {
			var asked resetRequest
			if json.Unmarshal(data, &asked) == nil {
				s.emails.sent.forget(asked.Address)
				s.links.drop(ctx, kindReset, s.links.digest(asked.Token))
			}
		},
	}
}

// sentMail is the cookie with the address that the last email was requested for in this browser, as the user typed it.
// Code is the purpose of the code in the email, or empty if the page has no input for one.
type sentMail struct {
	Email string `json:"e"`
	Code  string `json:"c,omitempty"`
}

func lastSent(c *core.ActionRequest) (sent sentMail) {
	c.EncryptedCookie(sentCookie, &sent)
	return sent
}

const (
	sentCookie = "password-sent"
	sentTTL    = time.Hour
)

// toSent responds to a request for an email: the next page shows the address. It does so whether or not an email was
// sent.
func toSent(ctx context.Context, c *core.ActionRequest, sent sentMail, query ...string) (*core.Response, error) {
	if !c.WantsJSON {
		if err := c.SetEncryptedCookie(sentCookie, sent, sentTTL); err != nil {
			return nil, fmt.Errorf("password: store the address for the next page: %w", err)
		}
	}
	return next(ctx, c, http.StatusAccepted, "mail", ID+"/sent", query...)
}

// showSent handles GET password/sent. The query says whether the email resets a password or completes a sign-up.
func showSent(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page := c.Page("")
	sent := lastSent(c)
	v := ui.SentView{
		Page: page, CSRFToken: c.CSRFToken, Text: page.Locale.Say(textSentBody), Email: sent.Email,
		ChangeURL: c.URL(ID + "/sign-up"), URL: c.Home, Host: c.Host(),
	}
	resend, action := ID+"/resend", challenge.SignUp
	if c.Field("for") == forReset {
		action = challenge.Reset
		v.Text, v.ChangeURL, resend = page.Locale.Say(textSentReset), c.URL(ID+"/forgot"), ID+"/forgot"
	}
	input := codeInput(c, sent, &v)
	if sent.Email != "" {
		v.ResendURL = c.URL(resend)
		v.Challenge = c.ChallengeWidget(action)
	}
	return c.Render(ctx, http.StatusOK, v.Page, sentPage(v, input)), nil
}

// forReset is the query parameter "for" of password/sent after a password reset was requested.
const forReset = "reset"

// codeInput returns the form for a code, or nil if this browser has none. It changes the text of v.
func codeInput(c *core.ActionRequest, sent sentMail, v *ui.SentView) *ui.CodeForm {
	purpose, text, action := codeSignUp, textSentCode, "/confirm-code"
	if c.Field("for") == forReset {
		purpose, text, action = codeReset, textSentResetCode, "/reset-code"
	}
	if sent.Code != purpose || !c.HasCode(purpose) {
		return nil
	}
	v.Text = v.Locale.Say(text)
	return &ui.CodeForm{
		CSRFToken: c.CSRFToken, Action: c.URL(ID + action), Link: true, Error: c.Field("error"),
		Left: c.Field("left"),
	}
}

// The purposes of codes.
const (
	codeReset  = ID + "-reset"
	codeSignUp = ID + "-sign-up"
)

// refuseCode audits a refused code. A browser returns to the page with the input.
func refuseCode(
	ctx context.Context, c *core.ActionRequest, err error, name audit.Name, action string, query ...string,
) (*core.Response, error) {
	var denial *audit.Denial
	if errors.As(err, &denial) {
		c.Audit(ctx, audit.Event{Name: name, Outcome: audit.Refused, Reason: denial.Reason, Provider: ID})
	}
	more, ok := c.CodeError(err)
	if !ok || c.WantsJSON {
		return nil, err
	}
	response := c.Redirect(c.URL(action, append(query, more...)...))
	response.Err = err
	return response, nil
}
