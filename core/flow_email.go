package core

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// guessable is the token length below which an attacker could guess a token.
const guessable = 20

// emailFlow signs users in with a link in an email.
type emailFlow struct {
	*EmailProvider
	*site
	gate   gatekeeper
	limits *limits
	asked  emaillinks.Asked
	sent   *emaillinks.Sent
	users  Store
	links  emaillinks.Tokens
	pages  *pages

	sessions   *sessions
	challenges *challengeGuard
	cleaning   *cleanup.Schedule
	// used contains the hashes of links that this process has redeemed.
	used *once.Memory[string, struct{}]
	// codes is set if emails have a code.
	codes *emailCodes
}

// needsToken implements [flow]. The POST is the button on the confirmation page.
func (f *emailFlow) needsToken() bool { return f.ConfirmLink != False || f.codes != nil }

// start implements [flow]. It emails a sign-in link (docs/protocol.md §9.2), unless a link that still works was sent a
// few minutes ago (see emaillinks.Sent). The token is stored first and deleted again if the email cannot be sent. So
// there is never a link that cannot work, nor a token without an email.
func (f *emailFlow) start(ctx context.Context, c *call) (*Response, error) {
	address, _ := c.fields.Text("email")
	if again, _ := c.fields.Text("again"); again != "" && address == "" && f.codes != nil {
		if r, err := f.codes.Find(ctx, codeSignIn, f.codes.key(c, codeSignIn)); err == nil {
			address = r.Address
		}
	}
	typed := address
	address, err := emaillinks.Normalize(f.NormalizeIdentifier, typed)
	if err != nil {
		return nil, err
	}
	if err := f.challenges.check(ctx, c, challenge.SignIn); err != nil {
		return nil, err
	}
	limited := f.limits.ask(ctx, c, newAttempt(limit.AttemptEmail, address))
	if limited != nil && !errors.Is(limited, ErrTooManyRequests) {
		return nil, limited
	}
	user, address, err := mailboxes.FindTyped(ctx, f.users, address, typed)
	sent := ""
	if f.codes == nil || limited != nil { // with codes, each browser gets its own email as far as the limit allows
		sent = f.sent.Recent(ctx, c.origin, address)
	}
	if limited != nil && sent == "" {
		return nil, limited
	}
	event := audit.Event{Name: audit.MailAsked, Outcome: audit.OK}
	if errors.Is(err, ErrNotFound) {
		user, err = f.newUser(address)
		event.Subject = address
	} else if err == nil {
		event.UserID = user.ID
	}
	if err != nil {
		return nil, errormarks.As(err, ErrStore)
	}
	account := &Account{Type: TypeEmail, Provider: f.ID, ProviderAccountID: address, UserID: user.ID}
	redirect, err := f.gate.allow(ctx, &c.arrival, SignInParams{User: user, Account: account, VerificationRequest: true})
	if err != nil {
		return nil, err
	}
	if redirect != "" {
		return redirectTo(redirect), nil
	}
	response, token := &Response{}, ""
	switch {
	case sent == "":
		if token, response.Cookies, err = f.storeAndSend(ctx, c, address); err != nil {
			return nil, err
		}
		if err := f.sent.Note(ctx, c.origin, address, f.links.Hash(token)); err != nil { // the next request sends another one
			c.log.failure(ctx, errorf(ErrStore, "remember a link that was sent: %w", err), c.attrs()...)
		}
		c.debug(ctx, "sign-in email sent", slog.String("to", address))
	case f.codes != nil: // the link that was sent before works in this browser too
		token = sent
	}
	c.note(ctx, event)
	if token != "" && (f.ConfirmLink == Default || f.codes != nil) {
		response.Cookies = append(response.Cookies, Cookie(f.asked.Remember(c.askedLinks(), token, address)))
	}
	response.Redirect, err = weburl.AddQuery(c.base+"/verify-request", "provider", f.ID, "type", string(TypeEmail))
	return response, err
}

// newUser returns an unsaved user with a new ID and this email address.
func (f *emailFlow) newUser(address string) (*User, error) {
	id, err := uuid(f.rand)
	return &User{ID: id, Email: address}, err
}

// storeAndSend makes a token, stores its hash and emails the link. With codes it also makes a code, and returns the
// cookie of the browser that may use it.
func (f *emailFlow) storeAndSend(
	ctx context.Context, c *call, address string,
) (token string, cookies []Cookie, err error) {
	if token, err = emaillinks.NewToken(ctx, f.GenerateToken, f.rand); err != nil {
		return "", nil, err
	}
	link, err := weburl.AddQuery(c.base+"/callback/"+f.ID,
		"callbackUrl", c.callbackURL.Target, "token", token, "email", address)
	if err != nil {
		return "", nil, errorf(ErrEmailSignIn, "link: %w", err)
	}
	f.cleaning.Perhaps()
	row, err := f.links.Create(ctx, token, address)
	if err != nil {
		return "", nil, errorf(ErrStore, "%w", err)
	}
	mail := Email{
		To: address, Kind: mailkind.SignIn, From: f.From, URL: Secret(link), Token: Secret(token), Expires: row.Expires,
		Theme: f.pages.theme,
		Host:  c.at.Host, ProviderID: f.ID, Request: c.r, Locale: c.language(),
	}
	if f.codes != nil {
		if mail.Code, cookies, err = f.issueCode(ctx, c, row); err != nil {
			return "", nil, err
		}
	}
	if err := emaillinks.Send(ctx, f.Send, mail); err != nil {
		if undo := f.links.Withdraw(ctx, row); undo != nil {
			undo := errorf(ErrStore, "delete the token of an email that was not sent: %w", undo)
			c.log.failure(ctx, undo, c.attrs()...)
		}
		return "", nil, errormarks.As(err, ErrEmailSignIn)
	}
	return token, cookies, nil
}

// issueCode makes a code that is valid together with a link.
func (f *emailFlow) issueCode(
	ctx context.Context, c *call, link *store.VerificationToken,
) (code Secret, cookies []Cookie, err error) {
	data, err := json.Marshal(emaillinks.CodeLink{
		Provider: f.ID, Token: link.Token, CallbackURL: c.callbackURL.Target,
	})
	if err != nil {
		return "", nil, err
	}
	code, cookie, err := f.codes.issue(ctx, c, emailcode.Code{
		Purpose: codeSignIn, Address: link.Identifier, Data: string(data),
	})
	return code, []Cookie{cookie}, err
}

// finishCode signs a user in with the code that this browser requested. It consumes the link in the same email too, so
// that of the two only one works.
func (f *emailFlow) finishCode(ctx context.Context, c *call, code string) (outcome, error) {
	r, err := f.codes.check(ctx, c, codeSignIn, code)
	if err != nil {
		return f.refuseCode(ctx, c, err)
	}
	restoreCode := func(ctx context.Context) error { return f.codes.Restore(ctx, r) }
	link, invite, err := f.links.RedeemCode(ctx, r.Data, f.ID, r.Address)
	switch {
	case errors.Is(err, emaillinks.ErrUnknown), errors.Is(err, emaillinks.ErrExpired): // the link was used
		return f.refuseCode(ctx, c, errCodeExpired())
	case err != nil:
		return outcome{restore: restoreCode}, errorf(ErrStore, "%w", err)
	}
	f.sent.Forget(ctx, c.origin, invite.Identifier)
	out := outcome{cookies: []Cookie{f.codes.forget(c, codeSignIn)}, typed: invite.Identifier}
	out.restore = func(ctx context.Context) error {
		return errors.Join(f.links.Restore(ctx, invite), restoreCode(ctx))
	}
	if link.CallbackURL != c.callbackURL.Target {
		if out.returnTo, err = c.redirectTarget(ctx, link.CallbackURL); err != nil {
			out.returnTo = ""
		}
	}
	out.identity, err = f.identityOf(ctx, invite)
	return out, err
}

// refuseCode audits a code that is not accepted. A browser returns to the page with the input.
func (f *emailFlow) refuseCode(ctx context.Context, c *call, err error) (outcome, error) {
	var problem *Problem
	if !errors.As(err, &problem) || negotiate.AsksJSON(c.r.Method, c.r.Header) {
		return outcome{}, err
	}
	c.auditCallback(ctx, "", err)
	e := problem.logged()
	c.log.failure(ctx, e, c.attrs()...)
	query, known := codeError(problem)
	if !known {
		query = []string{"error", "Callback"}
	}
	query = append([]string{"provider", f.ID, "type", string(TypeEmail)}, query...)
	target, err := weburl.AddQuery(c.base+"/verify-request", query...)
	response := redirectTo(target)
	response.Err = e
	return outcome{response: response}, err
}

// finish implements [flow]. It redeems the token of a link once, or first shows a page with a button (docs/protocol.md
// §9.3).
func (f *emailFlow) finish(ctx context.Context, c *call) (outcome, error) {
	if code, there := c.fields.Text("code"); there && f.codes != nil {
		return f.finishCode(ctx, c, code)
	}
	if _, used := f.used.Get(f.links.Hash(c.query.Get("token"))); used && f.isOwn(ctx, c) {
		return outcome{typed: c.query.Get("email")}, NewError(ErrVerification, errormarks.Over(errormarks.Used,
			errormarks.Denial(audit.ReasonTokenUnknown, "the link was used before, and its user is signed in")))
	}
	if f.codes != nil && !f.askedHere(c, c.query.Get("token"), c.query.Get("email")) {
		return outcome{typed: c.query.Get("email")}, NewError(autherr.InvalidCheck, errormarks.Over(errormarks.Browser,
			errormarks.Denial(audit.ReasonCheck, "the link was opened in another browser than the one that requested it")))
	}
	if f.needsConfirmation(c) {
		return outcome{response: f.confirmPage(ctx, c)}, nil
	}
	if c.query.Count("token") > 1 || c.query.Count("email") > 1 {
		return outcome{}, NewError(ErrVerification,
			errormarks.Denial(audit.ReasonTokenMisused, "token or email is in the link twice"))
	}
	token, address := c.query.Get("token"), c.query.Get("email")
	if token == "" {
		err := errormarks.ByClient(errors.New("the link has no token: the email program may have cut it off"))
		return outcome{}, errorf(autherr.CallbackRoute, "%w", err)
	}
	attempt := newAttempt(limit.AttemptEmailToken, address)
	attempt.Guessable = len(token) < guessable
	if err := f.limits.ask(ctx, c, attempt); err != nil {
		return outcome{}, err
	}
	invite, err := f.redeem(ctx, c, token, address)
	if err != nil {
		return outcome{typed: address}, err
	}
	f.limits.right(ctx, c, attempt)
	f.used.Put(f.links.Hash(token), struct{}{}, invite.Expires)
	out := outcome{
		cookies: ownCookies(f.asked.Forget(c.askedLinks(), token, address)),
		restore: func(ctx context.Context) error { return f.links.Restore(ctx, invite) },
	}
	if f.codes != nil && out.cookies == nil {
		out.cookies = ownCookies(f.asked.Forget(c.askedLinks(), f.links.Hash(token), address))
	}
	if f.codes != nil && f.codes.key(c, codeSignIn) != "" {
		out.cookies = append(out.cookies, f.codes.forget(c, codeSignIn))
	}
	out.identity, err = f.identityOf(ctx, invite)
	return out, err
}

// identityOf returns the identity of the recipient of an email: a stored user, or a new one.
func (f *emailFlow) identityOf(ctx context.Context, invite *store.VerificationToken) (*identity, error) {
	user, err := mailboxes.ByEmail(ctx, f.users, invite.Identifier)
	if errors.Is(err, ErrNotFound) {
		user, err = f.newUser(invite.Identifier)
	}
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	account := &Account{Type: TypeEmail, Provider: f.ID, ProviderAccountID: user.Email, UserID: user.ID}
	return &identity{user: user, account: account}, nil
}

// isOwn reports whether the signed-in user has the address of the link.
func (f *emailFlow) isOwn(ctx context.Context, c *call) bool {
	current, err := c.session.current(ctx)
	return err == nil && current != nil && current.user.Email != "" && current.user.Email == c.query.Get("email")
}

// confirmPage renders the page with the button that redeems the link.
func (f *emailFlow) confirmPage(ctx context.Context, c *call) *Response {
	view := ui.ConfirmView{Page: f.pages.shell(&c.arrival), CSRFToken: c.csrf.Token, Action: c.origin + c.publicTarget()}
	if address, err := mailaddr.Normalize(c.query.Get("email")); err == nil {
		view.Email = address
	}
	return f.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, f.pages.views.Confirm(view))
}

// redeem deletes the token of a link from the store and validates it.
func (f *emailFlow) redeem(ctx context.Context, c *call, token, address string) (*store.VerificationToken, error) {
	invite, err := f.links.Redeem(ctx, token, address)
	if invite != nil {
		f.sent.Forget(ctx, c.origin, invite.Identifier)
	}
	return invite, emaillinks.Failure(err)
}

// askedHere reports whether this browser may use a link: it requested the email, or it requested one at the limit of
// the address, when that email was the last one.
func (f *emailFlow) askedHere(c *call, token, address string) bool {
	return f.asked.Has(c.askedLinks(), token, address) || f.asked.Has(c.askedLinks(), f.links.Hash(token), address)
}

// needsConfirmation reports whether the response to a link is the page with the button; then only its POST redeems the
// token. If links are always confirmed, no browser is remembered.
func (f *emailFlow) needsConfirmation(c *call) bool {
	token, address := c.query.Get("token"), c.query.Get("email")
	if c.r.Method == "POST" || f.ConfirmLink == False || token == "" {
		return false
	}
	return c.session.carrier().Tokens.Any() || !f.askedHere(c, token, address)
}

func (c *call) askedLinks() emaillinks.Browser {
	return emaillinks.Browser{Jar: c.jar, Spec: &c.cookies.AskedLinks}
}
