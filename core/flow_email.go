package core

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// mailTimeout bounds the delivery of a mail: the visitor waits for it.
const mailTimeout = 30 * time.Second

// guessable is the length below which a token can be hit on by trying.
const guessable = 20

// sendLink mails a sign-in link (WIRE 9). The token is stored first and removed again when the mail cannot be sent: there is
// never a link that cannot work, nor a token that nobody got.
func (x *exchange) sendLink(ctx context.Context, p *EmailProvider) (*Response, error) {
	address, _ := x.fields.Text("email")
	typed := address
	address, err := x.normalizeIdentifier(p, typed)
	if err != nil {
		return nil, err
	}
	if err := x.limit(ctx, LimitParams{Attempt: AttemptEmail, Identifier: address}); err != nil {
		return nil, err
	}
	user, address, err := x.userByTyped(ctx, address, typed)
	if errors.Is(err, ErrNotFound) {
		user, err = x.strangerByEmail(address)
	}
	if err != nil {
		return nil, asError(err, AdapterError)
	}
	account := &Account{Type: TypeEmail, Provider: p.ID, ProviderAccountID: address, UserID: user.ID}
	redirect, err := x.askSignIn(ctx, SignInParams{User: user, Account: account, VerificationRequest: true})
	if err != nil {
		return nil, err
	}
	if redirect != "" {
		return &Response{Redirect: redirect}, nil
	}
	token, err := x.storeAndSend(ctx, p, address)
	if err != nil {
		return nil, err
	}
	response := &Response{}
	if p.ConfirmLink == Auto {
		response.Cookies = []Cookie{x.rememberLink(p, token, address)}
	}
	response.Redirect, err = weburl.AddQuery(x.base()+"/verify-request", "provider", p.ID, "type", string(TypeEmail))
	return response, err
}

// userByTyped finds the user of a typed address, and the spelling to go on with. Tables that Auth.js filled hold addresses as they
// were typed: one with its domain in ASCII belongs to whoever types it so again.
func (x *exchange) userByTyped(ctx context.Context, address, typed string) (*User, string, error) {
	user, err := x.userByEmail(ctx, x.store, address)
	if ascii := mailaddr.ASCII(address); errors.Is(err, ErrNotFound) && ascii != address && strings.EqualFold(strings.TrimSpace(typed), ascii) {
		if user, err = x.userByEmail(ctx, x.store, ascii); err == nil {
			address = ascii
		}
	}
	return user, address, err
}

func (x *exchange) normalizeIdentifier(p *EmailProvider, address string) (string, error) {
	normalize := p.NormalizeIdentifier
	if normalize == nil {
		normalize = mailaddr.Normalize
	}
	address, err := guarded("NormalizeIdentifier", func() (string, error) { return normalize(address) })
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		return "", errorf(AuthError, "e-mail address: %w", err)
	case err != nil: // the visitor can mend it: back to the form
		return "", errorf(EmailSignInError, "e-mail address: %w", mistake(err))
	case address == "":
		return "", errorf(EmailSignInError, "%w", mistake(errors.New("e-mail address is empty")))
	}
	return address, nil
}

// strangerByEmail is somebody of whom only the address is known.
func (x *exchange) strangerByEmail(address string) (*User, error) {
	id, err := x.uuid()
	return &User{ID: id, Email: address}, err
}

// storeAndSend makes a token, stores its hash and mails it.
func (x *exchange) storeAndSend(ctx context.Context, p *EmailProvider, address string) (token string, err error) {
	if token, err = x.linkToken(ctx, p); err != nil {
		return "", err
	}
	link, err := weburl.AddQuery(x.base()+"/callback/"+p.ID, "callbackUrl", x.callbackURL, "token", token, "email", address)
	if err != nil {
		return "", errorf(EmailSignInError, "link: %w", err)
	}
	expires := x.now().Add(p.MaxAge)
	row := &VerificationToken{Identifier: address, Token: hashed(token, x.linkSecrets(p)[0]), Expires: expires}
	_, err = guarded("Store.CreateVerificationToken", func() (struct{}, error) { return struct{}{}, x.store.tokens.CreateVerificationToken(ctx, row) })
	if err != nil {
		return "", errorf(AdapterError, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	mail := SignInMail{
		To: address, From: p.From, URL: Secret(link), Token: Secret(token), Expires: expires, Theme: x.theme,
		Host: hostOf(x.origin), ProviderID: p.ID, Request: x.r,
	}
	if _, err = guarded("Send", func() (struct{}, error) { return struct{}{}, p.Send(ctx, mail) }); err != nil {
		if _, undo := x.store.tokens.UseVerificationToken(context.WithoutCancel(ctx), address, row.Token); undo != nil && !errors.Is(undo, ErrNotFound) {
			x.logError(ctx, errorf(AdapterError, "remove the token of a mail that was not sent: %w", undo), x.logAttrs()...)
		}
		return "", asError(err, AuthError)
	}
	return token, nil
}

func (x *exchange) linkToken(ctx context.Context, p *EmailProvider) (string, error) {
	if p.GenerateToken == nil {
		return x.randomHex(32)
	}
	token, err := guarded("GenerateToken", func() (string, error) { return p.GenerateToken(ctx) })
	if err == nil && token == "" {
		err = errors.New("GenerateToken returned an empty token")
	}
	return token, err
}

// linkSecrets are the secrets that tokens may be hashed with, the current one first.
func (x *exchange) linkSecrets(p *EmailProvider) []string {
	if p.Secret != "" {
		return []string{string(p.Secret)}
	}
	return x.secrets
}

// confirmPage asks the reader of a mail to press a button.
func (x *exchange) confirmPage(ctx context.Context) *Response {
	view := ui.ConfirmView{Page: x.pageView(), CSRFToken: x.csrfToken, Action: x.origin + x.publicTarget()}
	if address, err := mailaddr.Normalize(x.query.Get("email")); err == nil {
		view.Email = address
	}
	return x.render(ctx, &Response{}, x.views.Confirm(view))
}

// followLink redeems the token of a sign-in link, once.
func (x *exchange) followLink(ctx context.Context, p *EmailProvider, response *Response) (*identity, error) {
	if x.query.Count("token") > 1 || x.query.Count("email") > 1 {
		return nil, errorf(Verification, "token or email is there twice")
	}
	token, address := x.query.Get("token"), x.query.Get("email")
	if token == "" {
		return nil, errorf(CallbackRouteError, "%w", mistake(errors.New("the link has no token: it was opened by hand, or the mail cut it off")))
	}
	attempt := LimitParams{Attempt: AttemptEmailToken, Identifier: address, Guessable: len(token) < guessable}
	if err := x.limit(ctx, attempt); err != nil {
		return nil, err
	}
	invite, err := x.useToken(ctx, p, token, address)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errorf(Verification, "no such token for this address: used, mistyped or made up")
	case err != nil:
		return nil, errorf(AdapterError, "%w", err)
	case invite.Expires.Before(x.now()):
		return nil, errorf(Verification, "the token has expired")
	case address != "" && invite.Identifier != address:
		return nil, errorf(Verification, "the token belongs to another address")
	}
	x.forgive(ctx, attempt)
	response.Cookies = append(response.Cookies, x.forgetLink(p, token, address)...)
	user, err := x.userByEmail(ctx, x.store, invite.Identifier)
	if errors.Is(err, ErrNotFound) {
		user, err = x.strangerByEmail(invite.Identifier)
	}
	if err != nil {
		return nil, errorf(AdapterError, "%w", err)
	}
	account := &Account{Type: TypeEmail, Provider: p.ID, ProviderAccountID: user.Email, UserID: user.ID}
	return &identity{user: user, account: account}, nil
}

// useToken tries the hashes of all secrets, so that links outlive a rotation.
func (x *exchange) useToken(ctx context.Context, p *EmailProvider, token, address string) (invite *VerificationToken, err error) {
	for _, hash := range hashes(token, x.linkSecrets(p)) {
		invite, err = guarded("Store.UseVerificationToken", func() (*VerificationToken, error) {
			return present(x.store.tokens.UseVerificationToken(ctx, address, hash))
		})
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return invite, err
}
