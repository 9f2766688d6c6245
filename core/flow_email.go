package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/random"
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
	asked  askedLinks
	sent   *sentLinks
	users  Store
	tokens store.VerificationTokenStore
	pages  *pages
	now    func() time.Time

	sessions   *sessions
	challenges *challenges
	cleaning   *cleanup.Schedule
	// used contains the hashes of links that this process has redeemed.
	used *once.Memory[string, struct{}]
	// codes is set if emails have a code.
	codes *emailCodes
}

// needsToken implements [flow]. The POST is the button on the confirmation page.
func (f *emailFlow) needsToken() bool { return f.ConfirmLink != False || f.codes != nil }

// start implements [flow]. It emails a sign-in link (docs/protocol.md §9.2), unless a link that still works was sent a
// few minutes ago (see sentLinks). The token is stored first and deleted again if the email cannot be sent. So there is
// never a link that cannot work, nor a token without an email.
func (f *emailFlow) start(ctx context.Context, c *call) (*Response, error) {
	address, _ := c.fields.Text("email")
	if again, _ := c.fields.Text("again"); again != "" && address == "" && f.codes != nil {
		if r, err := f.codes.find(ctx, c, codeSignIn); err == nil {
			address = r.Address
		}
	}
	typed := address
	address, err := f.normalize(typed)
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
	user, address, err := userByTyped(ctx, f.users, address, typed)
	sent := ""
	if f.codes == nil || limited != nil { // with codes, each browser gets its own email as far as the limit allows
		sent = f.sent.recent(ctx, c.origin, address)
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
		return nil, asError(err, ErrStore)
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
		f.sent.note(ctx, c, address, f.stored(token))
		c.debug(ctx, "sign-in email sent", slog.String("to", address))
	case f.codes != nil: // the link that was sent before works in this browser too
		token = sent
	}
	c.note(ctx, event)
	if token != "" && (f.ConfirmLink == Default || f.codes != nil) {
		response.Cookies = append(response.Cookies, f.asked.remember(c, token, address))
	}
	response.Redirect, err = weburl.AddQuery(c.base+"/verify-request", "provider", f.ID, "type", string(TypeEmail))
	return response, err
}

// userByTyped finds the user of a typed address. It also returns the address that the token and the email are for,
// which is the stored one if it is another spelling of the same mailbox.
func userByTyped(ctx context.Context, users Store, address, typed string) (*User, string, error) {
	user, err := mailboxes.FindCanonical(ctx, users, address, typed)
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
	var panicked *panics.Error
	switch {
	case errors.As(err, &panicked):
		return "", errorf(ErrAuth, "email address: %w", err)
	case err != nil: // the user can correct it in the form
		return "", errorf(ErrEmailSignIn, "email address: %w", clientError(err))
	case address == "":
		return "", errorf(ErrEmailSignIn, "%w", clientError(errors.New("email address is empty")))
	}
	return address, nil
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
	if token, err = f.newToken(ctx); err != nil {
		return "", nil, err
	}
	link, err := weburl.AddQuery(c.base+"/callback/"+f.ID,
		"callbackUrl", c.callbackURL.target, "token", token, "email", address)
	if err != nil {
		return "", nil, errorf(ErrEmailSignIn, "link: %w", err)
	}
	expires := f.now().Add(f.MaxAge)
	row := &store.VerificationToken{Identifier: address, Token: f.stored(token), Expires: expires}
	f.cleaning.Perhaps()
	err = f.tokens.CreateVerificationToken(ctx, row)
	if err != nil {
		return "", nil, errorf(ErrStore, "%w", err)
	}
	mail := Email{
		To: address, Kind: mailkind.SignIn, From: f.From, URL: Secret(link), Token: Secret(token), Expires: expires,
		Theme: f.pages.theme,
		Host:  hostOf(c.origin), ProviderID: f.ID, Request: c.r, Locale: c.language(),
	}
	if f.codes != nil {
		if mail.Code, cookies, err = f.issueCode(ctx, c, row); err != nil {
			return "", nil, err
		}
	}
	if err := f.send(ctx, mail); err != nil {
		_, undo := f.tokens.UseVerificationToken(context.WithoutCancel(ctx), address, row.Token)
		if undo != nil && !errors.Is(undo, ErrNotFound) {
			undo := errorf(ErrStore, "delete the token of an email that was not sent: %w", undo)
			c.log.failure(ctx, undo, c.attrs()...)
		}
		return "", nil, asError(err, ErrEmailSignIn)
	}
	return token, cookies, nil
}

// linkOfCode is the Data of a code: the link in the same email.
type linkOfCode struct {
	Provider string `json:"p"`
	// Token is the stored hash of the link's token.
	Token string `json:"t"`
	// CallbackURL is where the browser continues.
	CallbackURL string `json:"u"`
}

// issueCode makes a code that is valid together with a link.
func (f *emailFlow) issueCode(
	ctx context.Context, c *call, link *store.VerificationToken,
) (code Secret, cookies []Cookie, err error) {
	data, err := json.Marshal(linkOfCode{f.ID, link.Token, c.callbackURL.target})
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
	var link linkOfCode
	if err == nil && (json.Unmarshal([]byte(r.Data), &link) != nil || link.Provider != f.ID) {
		err = errCodeExpired()
	}
	var invite *store.VerificationToken
	if err == nil {
		invite, err = f.tokens.UseVerificationToken(ctx, r.Address, link.Token)
		switch {
		case errors.Is(err, ErrNotFound), err == nil && invite.Expires.Before(f.now()):
			err = errCodeExpired() // the link was used
		case err != nil:
			err = errorf(ErrStore, "%w", err)
		}
	}
	if err != nil {
		return f.refuseCode(ctx, c, err)
	}
	f.sent.forget(ctx, c.origin, invite.Identifier)
	out := outcome{cookies: []Cookie{f.codes.forget(c, codeSignIn)}, typed: invite.Identifier}
	if link.CallbackURL != c.callbackURL.target {
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

func (f *emailFlow) send(ctx context.Context, mail Email) error {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	return hideCode(hideLink(guard("Send", func() error { return f.Send(ctx, mail) }), mail.URL, mail.To), mail.Code)
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

// stored returns the hash of a token that is stored.
func (f *emailFlow) stored(token string) string { return hashed(token, f.linkSecrets()[0]) }

// linkSecrets returns the secrets that tokens may be hashed with, the current one first.
func (f *emailFlow) linkSecrets() []string {
	if f.Secret != "" {
		return []string{string(f.Secret)}
	}
	return f.secrets
}

// finish implements [flow]. It redeems the token of a link once, or first shows a page with a button (docs/protocol.md
// §9.3).
func (f *emailFlow) finish(ctx context.Context, c *call) (outcome, error) {
	if code, there := c.fields.Text("code"); there && f.codes != nil {
		return f.finishCode(ctx, c, code)
	}
	if _, used := f.used.Get(f.stored(c.query.Get("token"))); used && f.isOwn(ctx, c) {
		return outcome{typed: c.query.Get("email")}, callbackErrorf(ErrVerification, reasonUsed, "%w",
			auditReason(audit.ReasonTokenUnknown, "the link was used before, and its user is signed in"))
	}
	if f.codes != nil && !f.askedHere(c, c.query.Get("token"), c.query.Get("email")) {
		return outcome{typed: c.query.Get("email")}, callbackErrorf(errInvalidCheck, reasonBrowser, "%w", auditReason(
			audit.ReasonCheck, "the link was opened in another browser than the one that requested it"))
	}
	if f.needsConfirmation(c) {
		return outcome{response: f.confirmPage(ctx, c)}, nil
	}
	if c.query.Count("token") > 1 || c.query.Count("email") > 1 {
		return outcome{}, NewError(ErrVerification,
			auditReason(audit.ReasonTokenMisused, "token or email is in the link twice"))
	}
	token, address := c.query.Get("token"), c.query.Get("email")
	if token == "" {
		err := clientError(errors.New("the link has no token: the email program may have cut it off"))
		return outcome{}, errorf(errCallbackRoute, "%w", err)
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
	f.used.Put(f.stored(token), struct{}{}, invite.Expires)
	out := outcome{cookies: f.asked.forget(c, token, address)}
	if f.codes != nil && out.cookies == nil {
		out.cookies = f.asked.forget(c, f.stored(token), address)
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
	invite, err := f.useToken(ctx, token, address)
	if err == nil {
		f.sent.forget(ctx, c.origin, invite.Identifier)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, callbackErrorf(ErrVerification, reasonUsed, "%w",
			auditReason(audit.ReasonTokenUnknown, "no such token for this address: it was used, mistyped or made up"))
	case err != nil:
		return nil, errorf(ErrStore, "%w", err)
	case invite.Expires.Before(f.now()):
		return nil, callbackErrorf(ErrVerification, reasonExpired, "%w",
			auditReason(audit.ReasonTokenExpired, "the token has expired"))
	case address != "" && invite.Identifier != address:
		return nil, NewError(ErrVerification, auditReason(audit.ReasonTokenMisused, "the token belongs to another address"))
	}
	return invite, nil
}

// useToken tries the hashes under all secrets, so that links stay valid after a rotation of the secrets.
func (f *emailFlow) useToken(ctx context.Context, token, address string) (invite *store.VerificationToken, err error) {
	for _, hash := range hashes(token, f.linkSecrets()) {
		invite, err = f.tokens.UseVerificationToken(ctx, address, hash)
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return invite, err
}

// hashes returns the accepted hashes of value: one for each secret, and one for all secrets joined with commas, which
// is the hash that Auth.js computes for a list of secrets.
func hashes(value string, secrets []string) []string {
	var all []string
	for _, s := range secrets {
		all = append(all, hashed(value, s))
	}
	if len(secrets) > 1 {
		all = append(all, hashed(value, strings.Join(secrets, ",")))
	}
	return all
}

// askedHere reports whether this browser may use a link: it requested the email, or it requested one at the limit of
// the address, when that email was the last one.
func (f *emailFlow) askedHere(c *call, token, address string) bool {
	return f.asked.find(c, token, address) >= 0 || f.asked.find(c, f.stored(token), address) >= 0
}

// needsConfirmation reports whether the response to a link is the page with the button; then only its POST redeems the
// token. If links are always confirmed, no browser is remembered.
func (f *emailFlow) needsConfirmation(c *call) bool {
	token, address := c.query.Get("token"), c.query.Get("email")
	if c.r.Method == "POST" || f.ConfirmLink == False || token == "" {
		return false
	}
	return c.session.carrier().cookies.Any() || !f.askedHere(c, token, address)
}

// Opening a sign-in link signs a user in as its recipient. An attacker could therefore make a user open a link to the
// attacker's account, and the user would work there without noticing (login CSRF). A cookie therefore remembers that
// this browser requested the link, as a keyed hash of token and address. In any other browser, and in one that has a
// session, a page with a button is shown first (docs/protocol.md §9.3).

// maxAskedLinks is the number of requested links that a browser remembers.
const maxAskedLinks = 4

// askedLinks reads and writes the cookie with the links that a browser has requested.
type askedLinks struct {
	secrets  []string
	provider string
	maxAge   time.Duration // lifetime of a link and of the cookie
}

// mark returns the cookie's entry for a link: 16 bytes of an HMAC, so that an attacker with the cookie cannot guess
// even a short token.
func (l *askedLinks) mark(secret, token, address string) string {
	mac := hmac.New(sha256.New, []byte("link asked for here\x00"+secret))
	mac.Write([]byte(l.provider + "\x00" + address + "\x00" + token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// markSize is the length of a mark.
const markSize = 22

// in returns the marks in the cookie, the newest first.
func (l *askedLinks) in(c *call) []string {
	value, _ := c.jar.Get(c.cookies.AskedLinks.Name())
	marks := strings.SplitN(value, ".", maxAskedLinks+1)
	return slices.DeleteFunc(marks, func(mark string) bool { return len(mark) != markSize })
}

// remember returns the cookie with a link added. It expires when the link does.
func (l *askedLinks) remember(c *call, token, address string) Cookie {
	marks := append([]string{l.mark(l.secrets[0], token, address)}, l.in(c)...)
	return l.cookie(c, marks[:min(len(marks), maxAskedLinks)])
}

// forget returns the cookie without a link that was used.
func (l *askedLinks) forget(c *call, token, address string) []Cookie {
	marks := l.in(c)
	at := l.find(c, token, address)
	switch {
	case at < 0:
		return nil
	case len(marks) == 1:
		spec := &c.cookies.AskedLinks
		return []Cookie{Cookie(spec.Clear())}
	}
	return []Cookie{l.cookie(c, slices.Delete(marks, at, at+1))}
}

func (l *askedLinks) cookie(c *call, marks []string) Cookie {
	cookie := Cookie(c.cookies.AskedLinks.Set(strings.Join(marks, ".")))
	cookie.HasMaxAge, cookie.MaxAge = true, int(l.maxAge.Seconds())
	return cookie
}

// find returns the index of a link's mark in the cookie, or -1 if this browser did not request the link. It compares
// all marks, in constant time.
func (l *askedLinks) find(c *call, token, address string) int {
	found := -1
	for _, secret := range l.secrets {
		want := l.mark(secret, token, address)
		for i, mark := range l.in(c) {
			if random.Same(mark, want) {
				found = i
			}
		}
	}
	return found
}

// sentLinks remembers for a few minutes which addresses a sign-in link was sent to. Another request for a link within
// that time gets the same response and sends no email, because the first link still works. An attacker can therefore
// not flood a mailbox. Nor can they use up the rate limit of an address so that its owner gets no link.
//
// With codes, every browser needs its own email. So another request sends an email until the limit of the address
// is used up. Then the link of the last email also works in the browser of the request, and no email is sent.
//
// It is nil without codes if known browsers are off or the store has no records. Every request then sends an email, as
// in Auth.js.
type sentLinks struct {
	records  store.RecordStore
	secret   string
	provider string
	life     time.Duration // of an entry
	now      func() time.Time
}

const (
	sentLinkKind = "link-sent"
	// sentLinkLife is the life of an entry, and at most half of the life of a link. With codes it is half of the life of
	// a link, because the limit of an address may last long.
	sentLinkLife = 5 * time.Minute
)

// key returns the record key of a sent link. It includes the origin, because the link points to the origin of its
// request: a link that an attacker requests through another host must not suppress the one that the owner requests.
func (l *sentLinks) key(origin, address string) string {
	return digest(l.secret, sentLinkKind, l.provider+"\x00"+origin+"\x00"+address)
}

// recent returns the stored token of the last link to this origin that was sent to an address and has not been used. If
// there is none or the store fails it returns "".
func (l *sentLinks) recent(ctx context.Context, origin, address string) (stored string) {
	if l == nil {
		return ""
	}
	r, err := l.read(ctx, origin, address)
	if err != nil || !r.Expires.After(l.now()) || json.Unmarshal(r.Value, &stored) != nil {
		return ""
	}
	return stored
}

func (l *sentLinks) read(ctx context.Context, origin, address string) (*store.Record, error) {
	return l.records.Record(ctx, sentLinkKind, l.key(origin, address))
}

// note remembers a link that was sent, by its stored token. If that fails the next request sends another one.
func (l *sentLinks) note(ctx context.Context, c *call, address, stored string) {
	if l == nil {
		return
	}
	value, err := json.Marshal(stored)
	if err != nil { // a string
		return
	}
	r := &store.Record{
		Kind: sentLinkKind, Key: l.key(c.origin, address), Value: value, Expires: l.now().Add(l.life),
	}
	err = l.records.CreateRecord(ctx, r)
	if errors.Is(err, ErrConflict) { // an entry that has expired
		var old *store.Record
		if old, err = l.read(ctx, c.origin, address); err == nil {
			r.Version = old.Version
			err = l.records.UpdateRecord(ctx, r)
		}
	}
	if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
		c.log.failure(ctx, errorf(ErrStore, "remember a link that was sent: %w", err), c.attrs()...)
	}
}

// forget removes the entry of a link that has been used.
func (l *sentLinks) forget(ctx context.Context, origin, address string) {
	if l == nil {
		return
	}
	_, _ = l.records.DeleteRecord(ctx, sentLinkKind, l.key(origin, address))
}
