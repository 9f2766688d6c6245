package core

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// mailTimeout bounds the delivery of a mail: the visitor waits for it, and is told of a failure within ten seconds.
const mailTimeout = 8 * time.Second

// guessable is the length below which a token can be hit on by trying.
const guessable = 20

// emailFlow signs in by a link in a mail.
type emailFlow struct {
	*EmailProvider
	*site
	gate   gatekeeper
	limits *limits
	asked  askedLinks
	sent   *sentLinks
	users  Store
	tokens store.VerificationTokenStore
	pages  *pages
	now    func() time.Time

	sessions *sessions
	cleaning *cleaning
	// used are the hashes of links that this process has redeemed.
	used *once.Memory[string, struct{}]
}

// needsToken implements [flow]: the POST is the button of our own page.
func (f *emailFlow) needsToken() bool { return f.ConfirmLink != Off }

// start implements [flow]: it emails a sign-in link (docs/protocol.md §9.2), unless one that works was sent within
// minutes (see sentLinks). The token is stored first and removed again if the email cannot be sent: there is never a
// link that cannot work, nor a token without an email.
func (f *emailFlow) start(ctx context.Context, c *call) (*Response, error) {
	address, _ := c.fields.Text("email")
	typed := address
	address, err := f.normalize(typed)
	if err != nil {
		return nil, err
	}
	limited := f.limits.ask(ctx, c, LimitParams{Attempt: AttemptEmail, Identifier: address})
	if limited != nil && !errors.Is(limited, ErrTooManyRequests) {
		return nil, limited
	}
	user, address, err := userByTyped(ctx, f.users, address, typed)
	sent := f.sent.recent(ctx, c.origin, address)
	if limited != nil && !sent {
		return nil, limited
	}
	asked := AuditEvent{Name: AuditMailAsked, Outcome: OutcomeOK}
	if errors.Is(err, ErrNotFound) {
		user, err = f.stranger(address)
		asked.Subject = address
	} else if err == nil {
		asked.UserID = user.ID
	}
	if err != nil {
		return nil, asError(err, ErrStore)
	}
	account := &Account{Type: TypeEmail, Provider: f.ID, ProviderAccountID: address, UserID: user.ID}
	redirect, err := f.gate.ask(ctx, &c.arrival, SignInParams{User: user, Account: account, VerificationRequest: true})
	if err != nil {
		return nil, err
	}
	if redirect != "" {
		return redirectTo(redirect), nil
	}
	token := ""
	if !sent {
		if token, err = f.storeAndSend(ctx, c, address); err != nil {
			return nil, err
		}
		f.sent.note(ctx, c, address)
		c.debug(ctx, "sign-in email sent", slog.String("to", address))
	}
	c.audit.note(ctx, &c.arrival, asked)
	response := &Response{}
	if f.ConfirmLink == Auto && !sent {
		response.Cookies = []Cookie{f.asked.remember(c, token, address)}
	}
	response.Redirect, err = weburl.AddQuery(c.base+"/verify-request", "provider", f.ID, "type", string(TypeEmail))
	return response, err
}

// userByTyped finds the user of a typed address. It returns the address that the token and the email are for: the
// stored one if it is another spelling of the same mailbox.
func userByTyped(ctx context.Context, users Store, address, typed string) (*User, string, error) {
	user, err := userByMailbox(ctx, users, address, typed)
	if err == nil && SameMailbox(user.Email, address) {
		address = user.Email
	}
	return user, address, err
}

func (f *emailFlow) normalize(address string) (string, error) {
	normalize := f.NormalizeIdentifier
	if normalize == nil {
		normalize = mailaddr.Normalize
	}
	address, err := guarded("NormalizeIdentifier", func() (string, error) { return normalize(address) })
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		return "", errorf(ErrAuth, "e-mail address: %w", err)
	case err != nil: // the visitor can mend it: back to the form
		return "", errorf(ErrEmailSignIn, "e-mail address: %w", mistake(err))
	case address == "":
		return "", errorf(ErrEmailSignIn, "%w", mistake(errors.New("e-mail address is empty")))
	}
	return address, nil
}

// stranger is a user of whom only the address is known.
func (f *emailFlow) stranger(address string) (*User, error) {
	id, err := uuid(f.rand)
	return &User{ID: id, Email: address}, err
}

// storeAndSend makes a token, stores its hash and mails it.
func (f *emailFlow) storeAndSend(ctx context.Context, c *call, address string) (token string, err error) {
	if token, err = f.newToken(ctx); err != nil {
		return "", err
	}
	link, err := weburl.AddQuery(c.base+"/callback/"+f.ID,
		"callbackUrl", c.callbackURL.now, "token", token, "email", address)
	if err != nil {
		return "", errorf(ErrEmailSignIn, "link: %w", err)
	}
	expires := f.now().Add(f.MaxAge)
	row := &store.VerificationToken{Identifier: address, Token: hashed(token, f.linkSecrets()[0]), Expires: expires}
	f.cleaning.perhaps()
	err = guard("Store.CreateVerificationToken", func() error { return f.tokens.CreateVerificationToken(ctx, row) })
	if err != nil {
		return "", errorf(ErrStore, "%w", err)
	}
	mail := SignInMail{
		To: address, From: f.From, URL: Secret(link), Token: Secret(token), Expires: expires, Theme: f.pages.theme,
		Host: hostOf(c.origin), ProviderID: f.ID, Request: c.r, Locale: c.language(),
	}
	if err := f.send(ctx, mail); err != nil {
		_, undo := f.tokens.UseVerificationToken(context.WithoutCancel(ctx), address, row.Token)
		if undo != nil && !errors.Is(undo, ErrNotFound) {
			undo := errorf(ErrStore, "remove the token of a mail that was not sent: %w", undo)
			c.log.failure(ctx, undo, c.attrs()...)
		}
		return "", asError(err, ErrEmailSignIn)
	}
	return token, nil
}

func (f *emailFlow) send(ctx context.Context, mail SignInMail) error {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	return hideLink(guard("Send", func() error { return f.Send(ctx, mail) }), mail.URL, mail.To)
}

func (f *emailFlow) newToken(ctx context.Context) (string, error) {
	if f.GenerateToken == nil {
		return randomHex(f.rand, 32)
	}
	token, err := guarded("GenerateToken", func() (string, error) { return f.GenerateToken(ctx) })
	if err == nil && token == "" {
		err = errors.New("GenerateToken returned an empty token")
	}
	return token, err
}

// linkSecrets are the secrets that tokens may be hashed with, the current one first.
func (f *emailFlow) linkSecrets() []string {
	if f.Secret != "" {
		return []string{string(f.Secret)}
	}
	return f.secrets
}

// finish implements [flow]. It redeems the token of a link, once, or asks the visitor to press a button first
// (docs/protocol.md §9.3).
func (f *emailFlow) finish(ctx context.Context, c *call) (outcome, error) {
	if _, used := f.used.Get(hashed(c.query.Get("token"), f.linkSecrets()[0])); used && f.isOwn(ctx, c) {
		return outcome{typed: c.query.Get("email")}, overf(ErrVerification, reasonUsed, "%w",
			because(ReasonTokenUnknown, "the link was used before, and its user is signed in"))
	}
	if f.asksFirst(c) {
		return outcome{response: f.confirmPage(ctx, c)}, nil
	}
	if c.query.Count("token") > 1 || c.query.Count("email") > 1 {
		return outcome{}, NewError(ErrVerification, because(ReasonTokenMisused, "token or email is there twice"))
	}
	token, address := c.query.Get("token"), c.query.Get("email")
	if token == "" {
		err := mistake(errors.New("the link has no token: it was opened by hand, or the mail cut it off"))
		return outcome{}, errorf(ErrCallbackRoute, "%w", err)
	}
	attempt := LimitParams{Attempt: AttemptEmailToken, Identifier: address, Guessable: len(token) < guessable}
	if err := f.limits.ask(ctx, c, attempt); err != nil {
		return outcome{}, err
	}
	invite, err := f.redeem(ctx, c, token, address)
	if err != nil {
		return outcome{typed: address}, err
	}
	f.limits.right(ctx, c, attempt)
	f.used.Put(hashed(token, f.linkSecrets()[0]), struct{}{}, invite.Expires)
	out := outcome{cookies: f.asked.forget(c, token, address)}
	user, err := userByEmail(ctx, f.users, invite.Identifier)
	if errors.Is(err, ErrNotFound) {
		user, err = f.stranger(invite.Identifier)
	}
	if err != nil {
		return out, errorf(ErrStore, "%w", err)
	}
	account := &Account{Type: TypeEmail, Provider: f.ID, ProviderAccountID: user.Email, UserID: user.ID}
	out.who = &identity{user: user, account: account}
	return out, nil
}

// isOwn reports whether the user who is signed in has the address of a link.
func (f *emailFlow) isOwn(ctx context.Context, c *call) bool {
	user, err := f.sessions.currentUser(ctx, &c.session)
	return err == nil && user != nil && user.Email != "" && user.Email == c.query.Get("email")
}

// confirmPage asks the reader of a mail to press a button.
func (f *emailFlow) confirmPage(ctx context.Context, c *call) *Response {
	view := ui.ConfirmView{Page: f.pages.shell(&c.arrival), CSRFToken: c.csrf.token, Action: c.origin + c.publicTarget()}
	if address, err := mailaddr.Normalize(c.query.Get("email")); err == nil {
		view.Email = address
	}
	return f.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, f.pages.views.Confirm(view))
}

// redeem takes the token of a link out of the store and checks it.
func (f *emailFlow) redeem(ctx context.Context, c *call, token, address string) (*store.VerificationToken, error) {
	invite, err := f.useToken(ctx, token, address)
	if err == nil {
		f.sent.forget(ctx, c.origin, invite.Identifier)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, overf(ErrVerification, reasonUsed, "%w",
			because(ReasonTokenUnknown, "no such token for this address: used, mistyped or made up"))
	case err != nil:
		return nil, errorf(ErrStore, "%w", err)
	case invite.Expires.Before(f.now()):
		return nil, overf(ErrVerification, reasonExpired, "%w", because(ReasonTokenExpired, "the token has expired"))
	case address != "" && invite.Identifier != address:
		return nil, NewError(ErrVerification, because(ReasonTokenMisused, "the token belongs to another address"))
	}
	return invite, nil
}

// useToken tries the hashes of all secrets, so that links outlive a rotation.
func (f *emailFlow) useToken(ctx context.Context, token, address string) (invite *store.VerificationToken, err error) {
	for _, hash := range hashes(token, f.linkSecrets()) {
		invite, err = guarded("Store.UseVerificationToken", func() (*store.VerificationToken, error) {
			return present(f.tokens.UseVerificationToken(ctx, address, hash))
		})
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return invite, err
}

// asksFirst reports whether a request for a link is answered with the page that has the button. Only its POST uses the
// token then. Where links are always confirmed no browser is remembered.
func (f *emailFlow) asksFirst(c *call) bool {
	token, address := c.query.Get("token"), c.query.Get("email")
	if c.r.Method == "POST" || f.ConfirmLink == Off || token == "" {
		return false
	}
	return c.session.cookie().Any() || f.asked.find(c, token, address) < 0
}
