package webauthn

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/ui"
)

//go:generate env GOWORK=off go tool -modfile=../../tools/go.mod templ generate -include-version=false

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET sign-up":  {"Get the page to sign up with a passkey", struct{}{}, nil},
	"POST sign-up": {"Send a link and a code to sign up with a passkey", startInput{}, nextStep{}},
	"GET sent":     {"Get the page after an email was sent", sentQuery{}, nil},
	"GET confirm":  {"Verify the address with the link of an email", tokenInput{}, nil},
	"POST code":    {"Verify the address with the code of an email", codeInput{}, nil},
	"GET create":   {"Get the sign-up whose address this browser has verified", struct{}{}, signUpState{}},
	"GET options":  {"Get the options to create the passkey", linkInput{}, passkey.RegistrationResponse{}},
	"POST create":  {"Create the user with the passkey and sign in", passkeyInput{}, nil},
}

type (
	startInput struct {
		Email string `json:"email"`
	}
	sentQuery struct {
		Error string `json:"error,omitempty" jsonschema:"the problem to show"`
		Left  string `json:"left,omitempty" jsonschema:"the number of tries to show"`
	}
	tokenInput struct {
		Token string `json:"token" jsonschema:"the token of a link"`
	}
	codeInput struct {
		Code string `json:"code"`
	}
	linkInput struct {
		Link string `json:"link" jsonschema:"the member link of GET create"`
	}
	passkeyInput struct {
		linkInput
		Action string `json:"action" jsonschema:"register"`
		Data   string `json:"data" jsonschema:"the new credential as JSON text"`
		Signal string `json:"signal,omitempty" jsonschema:"set by the script of the page"`
	}
	nextStep struct {
		Next string `json:"next" jsonschema:"mail"`
	}
	signUpState struct {
		Email string `json:"email"`
		Link  string `json:"link" jsonschema:"identifies the sign-up in the next requests"`
		Other bool   `json:"otherBrowser" jsonschema:"whether another browser started the sign-up"`
	}
)

// problem returns an error response that the user can act on.
func problem(status int, code string, text ui.Text) *core.Problem {
	return &core.Problem{Status: status, Code: code, Detail: text.English, Text: text}
}

var (
	errAddress = problem(http.StatusUnprocessableEntity, "email_invalid", textAddress)
	errLink    = problem(http.StatusBadRequest, "link_invalid", textLink)
	errOther   = problem(http.StatusConflict, "link_invalid", textOther)
	errExists  = problem(http.StatusConflict, "account_exists", textExists)
	errPasskey = problem(http.StatusBadRequest, "passkey_invalid", textPasskey)
	errBusy    = &core.Problem{Status: http.StatusServiceUnavailable, Code: "busy", RetryAfter: busyTime}
)

// startAgain responds to a sign-up that cannot continue: with a problem document, or with the form and the problem.
func (s *signUps) startAgain(ctx context.Context, c *core.ActionRequest, err error) (*core.Response, error) {
	if errors.Is(err, core.ErrMailQueueFull) {
		busy := *errBusy
		busy.Cause = err
		return nil, &busy
	}
	var told *core.Problem
	if c.WantsJSON || !errors.As(err, &told) || told.Text.Key == "" || told.Status >= http.StatusInternalServerError {
		return nil, err
	}
	response := s.startPage(ctx, c, cmp.Or(told.Status, http.StatusBadRequest), c.Field("email"), told.Text)
	response.Err = err
	return response, nil
}

// startPage is the form for the address.
func (s *signUps) startPage(
	ctx context.Context, c *core.ActionRequest, status int, email string, problem ui.Text,
) *core.Response {
	page := c.Page(c.Locale.Say(textStart))
	page.Challenge = c.ChallengeWidget(challenge.SignUp)
	view := ui.SignUpView{
		Page: page, CSRFToken: c.CSRFToken, CallbackURL: c.Field("callbackUrl"), Heading: page.Title, Form: kindSignUp,
		Foot: ui.Link{Label: page.Locale.Say(textHaveAccount), Action: "signin"},
	}
	for _, p := range s.host.Providers() {
		if p.Type != core.TypeWebAuthn {
			shown := ui.Provider{ID: p.ID, Name: p.Name, Type: string(p.Type), Style: p.Style}
			view.Providers = append(view.Providers, shown)
		}
	}
	return c.Render(ctx, status, page, startPage(view, c.URL(action+"/sign-up"), email, page.Locale.Say(problem)))
}

// showSent handles GET passkey/sent, the page after the email was requested.
func (s *signUps) showSent(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page := c.Page("")
	var started startedSignUps
	c.EncryptedCookie(startCookie, &started)
	v := ui.SentView{
		Page: page, CSRFToken: c.CSRFToken, Text: page.Locale.Say(textSent), Email: started.Email,
		ChangeURL: c.URL(action + "/sign-up"), URL: c.Home, Host: c.Host(),
	}
	if started.Email != "" {
		v.ResendURL, v.Challenge = c.URL(action+"/sign-up"), c.ChallengeWidget(challenge.SignUp)
	}
	var code *ui.CodeForm
	if s.code && started.Code && c.HasCode(codeSignUp) {
		v.Text = page.Locale.Say(textSentCode)
		code = &ui.CodeForm{
			CSRFToken: c.CSRFToken, Action: c.URL(action + "/code"), Link: true, Error: c.Field("error"),
			Left: c.Field("left"),
		}
	}
	return c.Render(ctx, http.StatusOK, v.Page, sentPage(v, code)), nil
}

// createView is the data of the page that creates the passkey.
type createView struct {
	csrf, action, options, link, email, problem, restart string
	other                                                bool
}

// createPage is the page that creates the passkey.
func (s *signUps) createPage(
	ctx context.Context, c *core.ActionRequest, status int, v *verifiedSignUp, problem ui.Text,
) *core.Response {
	page := c.Page(c.Locale.Say(textCreate))
	return c.Render(ctx, status, page, createPage(page, createView{
		csrf: c.CSRFToken, action: c.URL(action + "/create"), options: c.URL(action+"/options", "link", v.link()),
		link: v.link(), email: v.Email, problem: page.Locale.Say(problem), restart: c.URL(action + "/sign-up"),
		other: v.Other,
	}))
}
