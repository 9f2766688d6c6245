package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// emails handles email changes: the request, the email to the new address, and the confirmation. The undo link is
// handled by undos.
type emails struct {
	host   *core.PluginHost
	links  *links
	sender *sender
	undos  *undos
	locks  *locks
	code   bool // Options.Code
}

// codeChange is the purpose of codes for a new address.
const codeChange = "account-email"

func (e *emails) actions(r *reauth) []core.Action {
	return []core.Action{
		r.change("email", e.post),
		{Method: http.MethodGet, Verb: "confirm", Require: signedIn, Handle: e.getConfirm},
		{Method: http.MethodPost, Verb: "confirm", Require: signedIn, Handle: e.postConfirm},
	}
}

// change is the value of a record of kind "email-change", a pending email change. Only the session that requested the
// change can confirm it. An attacker who opens the link without a session, or in a session of another user, verifies
// nothing. The owner of a mailbox that was entered by mistake cannot get into the account.
type change struct {
	Session string `json:"session"` // the ID of the session that requested the change
	Old     string `json:"old"`     // the address at the time of the request; it must not have changed since
	New     string `json:"new"`
}

// maxPendingChanges is the maximum number of pending email changes for one user. It limits the emails per day that one
// account can send to arbitrary mailboxes, from any number of IP addresses.
const maxPendingChanges = 10

// post handles POST account/email, whose field email is the new address. The response is the same whether or not the
// address belongs to another user. Only the email to its owner differs.
func (e *emails) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	address, err := core.NormalizeEmail(c.Field("email"))
	if err != nil {
		return refuse(c, http.StatusBadRequest, codeEmail)
	}
	user, err := e.host.Store.User(ctx, session.UserID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("account: read the user: %w", err)
	case core.SameMailbox(user.Email, address) && !user.EmailVerified.IsZero():
		records, err := e.links.records.UserRecords(ctx, user.ID, "")
		if err != nil {
			return nil, fmt.Errorf("account: list the records: %w", err)
		}
		if !e.host.Bounces(user, records) { // otherwise the user verifies the address again
			return refuse(c, http.StatusBadRequest, codeSameEmail)
		}
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	switch many, err := e.links.countPending(ctx, user.ID, kindChange); {
	case err != nil:
		return nil, err
	case many >= maxPendingChanges: // emails to other people's mailboxes, limited for each user
		return nil, &core.Problem{Status: http.StatusTooManyRequests, Code: codeMany, RetryAfter: changeTTL}
	}
	token, err := e.host.NewToken()
	if err != nil {
		return nil, err
	}
	email, err := e.newAddressEmail(ctx, c, token, user, change{Session: session.ID, Old: user.Email, New: address})
	if err == nil && e.code {
		err = e.addCode(ctx, c, &email, user.ID, token)
	}
	if err == nil {
		err = e.sender.send(ctx, c, email)
	}
	if err != nil {
		e.links.withdraw(ctx, kindChange, token)
		return nil, err
	}
	auditDone(ctx, c, audit.EmailChangeAsked, session)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusAccepted, emailSent{"mail"}), nil
	}
	if e.code {
		return c.Redirect(c.URL("account/confirm")), nil
	}
	return redirectWithFlash(c, flash{Done: "email-asked"})
}

// addCode adds a code to the email to a new address. If the address belongs to another user, the code is made and not
// sent, so that the responses to wrong codes do not differ.
func (e *emails) addCode(
	ctx context.Context, c *core.ActionRequest, email *core.Email, userID, token string,
) error {
	code, err := c.IssueCode(ctx, core.EmailCode{
		Purpose: codeChange, Address: email.To, UserID: userID, Data: e.links.key(kindChange, token),
	})
	if email.Kind == mailkind.AddressChange {
		email.Code = code
	}
	return err
}

// newAddressEmail returns the email to the new address. It contains the confirmation link, or, if the address belongs
// to another user, a notice about the attempt. Both cases make the same calls to the store, so that their timing does
// not differ.
func (e *emails) newAddressEmail(
	ctx context.Context, c *core.ActionRequest, token string, user *core.User, to change,
) (l core.Email, err error) {
	ends := e.host.Now().Add(changeTTL)
	if err := e.links.save(ctx, kindChange, token, user.ID, ends, to); err != nil {
		return l, err
	}
	owner, err := core.UserByMailbox(ctx, e.host.Store, c.Field("email"))
	switch {
	case err == nil && owner.ID == user.ID: // the user verifies the current address
	case err == nil:
		return core.Email{To: to.New, Kind: mailkind.Exists, URL: core.Secret(c.URL("signin"))}, nil
	case !errors.Is(err, core.ErrNotFound):
		return l, fmt.Errorf("account: look up the address: %w", err)
	}
	return core.Email{
		To: to.New, Kind: mailkind.AddressChange, Expires: ends,
		URL: core.Secret(c.URL("account/confirm", "token", token)),
	}, nil
}

// getConfirm handles GET account/confirm: it asks for confirmation of the new address. Only the POST changes something,
// because mail scanners open links.
func (e *emails) getConfirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.Field("token") == "" && c.HasCode(codeChange) && !c.WantsJSON {
		return e.codePage(ctx, c), nil
	}
	pending, _, err := e.pending(ctx, session, c.Field("token"))
	if errors.Is(err, core.ErrNotFound) {
		return refuse(c, http.StatusGone, codeLinkInvalid)
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, addressOutput{pending.New}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, askPage(askView{
		Page: page, CSRFToken: c.CSRFToken, Heading: page.Locale.Say(textAskConfirm),
		Text: textAskConfirmBody, Address: pending.New,
		Action: c.URL("account/confirm"), Token: c.Field("token"), Button: page.Locale.Say(textAskConfirmButton),
	})), nil
}

// codePage returns the page with the input for the code in the email to the new address.
func (e *emails) codePage(ctx context.Context, c *core.ActionRequest) *core.Response {
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, codePage(ui.SentView{
		Page: page, Text: page.Locale.Say(textEmailCode), ChangeURL: c.URL("account"), URL: c.Home, Host: c.Host(),
	}, &ui.CodeForm{
		CSRFToken: c.CSRFToken, Action: c.URL("account/confirm"), Link: true, Error: c.Field("error"), Left: c.Field("left"),
	}))
}

// byCode returns the pending change whose code this browser sends. The code must have been requested in this session. A
// refusal other than [core.ErrNotFound] is one of [core.ActionRequest.CheckCode].
func (e *emails) byCode(
	ctx context.Context, c *core.ActionRequest, session *core.Session,
) (*change, *store.Record, error) {
	found, err := c.CheckCode(ctx, codeChange, c.Field("code"))
	if err != nil {
		return nil, nil, err
	}
	var v change
	r, err := e.links.first(ctx, kindChange, []string{found.Data}, &v)
	return v.in(session, r, err)
}

// refuseCode audits a code that was refused. A browser returns to the page with the input.
func (e *emails) refuseCode(
	ctx context.Context, c *core.ActionRequest, session *core.Session, err error,
) (*core.Response, error) {
	query, ok := c.CodeError(err)
	if !ok {
		return nil, err
	}
	var denial *audit.Denial
	if errors.As(err, &denial) {
		auditRefused(ctx, c, audit.EmailChanged, denial.Reason, session.UserID)
	}
	if c.WantsJSON {
		return nil, err
	}
	response := c.Redirect(c.URL("account/confirm", query...))
	response.Err = err
	return response, nil
}

// pending returns the pending change of a token. It returns [core.ErrNotFound] if this session may not confirm one.
func (e *emails) pending(ctx context.Context, session *core.Session, token string) (*change, *store.Record, error) {
	var v change
	r, err := e.links.find(ctx, kindChange, token, &v)
	return v.in(session, r, err)
}

// in returns the change and its record if this session may confirm it, or [core.ErrNotFound].
func (v *change) in(session *core.Session, r *store.Record, err error) (*change, *store.Record, error) {
	if err == nil && (r.UserID != session.UserID || v.Session != session.ID || session.ID == "") {
		err = core.ErrNotFound
	}
	return v, r, err
}

// postConfirm handles POST account/confirm: it changes the address and notifies the old one.
func (e *emails) postConfirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	var pending *change
	var kept *store.Record
	token := c.Field("token")
	if !e.code || token != "" || c.Field("code") == "" && !c.HasCode(codeChange) {
		pending, kept, err = e.pending(ctx, session, token)
	} else if pending, kept, err = e.byCode(ctx, c, session); err != nil && !errors.Is(err, core.ErrNotFound) {
		return e.refuseCode(ctx, c, session, err)
	}
	if err == nil {
		err = e.locks.withLock(ctx, session.UserID, func(ctx context.Context) error {
			return e.useLink(ctx, c, kept, pending)
		})
	}
	switch {
	case errors.Is(err, errBusy):
		return refuse(c, http.StatusConflict, codeBusy)
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		auditRefused(ctx, c, audit.EmailChanged, audit.ReasonTokenUnknown, session.UserID)
		return refuse(c, http.StatusGone, codeLinkInvalid)
	case err != nil:
		return nil, fmt.Errorf("account: change the address: %w", err)
	}
	auditDone(ctx, c, audit.EmailChanged, session)
	if err := c.RenewSession(ctx); err != nil { // with StrategyJWT the session contains the address
		e.host.Logger.WarnContext(ctx, "account: the session still shows the old address", "error", err)
	}
	what := "email-changed"
	if pending.New == pending.Old {
		what = "email-verified"
	}
	return done(ctx, c, what, addressOutput{pending.New})
}

// useLink uses up a link and changes the address. Of concurrent requests, one succeeds. The caller holds the user's
// lock, under which an undo deletes the links: a restored link would otherwise remain.
func (e *emails) useLink(ctx context.Context, c *core.ActionRequest, link *store.Record, to *change) error {
	if _, err := e.links.records.DeleteRecord(ctx, kindChange, link.Key); err != nil {
		return err
	}
	err := announce(ctx, c, audit.EmailChanged, link.UserID)
	if err == nil {
		err = e.move(ctx, c, link.UserID, to)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) && !errors.Is(err, core.ErrConflict) {
		e.links.restore(ctx, link)
	}
	return err
}

// restore writes a used record back after a failure, so that the link can be used again.
func (l *links) restore(ctx context.Context, record *store.Record) {
	again := *record
	again.Version = 0
	if err := l.records.CreateRecord(context.WithoutCancel(ctx), &again); err != nil {
		l.host.Logger.WarnContext(ctx, "account: could not restore a link after a failure", "kind", record.Kind,
			"error", err)
	}
}

// move changes the user's address. It returns [core.ErrConflict] if the address belongs to another user by now; the
// store decides this when it writes. The undo link is stored before anything changes. The caller holds the user's lock.
func (e *emails) move(ctx context.Context, c *core.ActionRequest, userID string, to *change) error {
	user, err := e.host.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	if user.Email != to.Old {
		return core.ErrConflict
	}
	email := core.Email{}
	if to.New != to.Old {
		if email, err = e.undos.oldAddressEmail(ctx, c, user); err != nil {
			return err
		}
	}
	moved := user.Clone()
	moved.Email, moved.EmailVerified, moved.Null = to.New, e.host.Now(), moved.Null&^store.NullEmail
	err = e.sender.notify(ctx, c, userID, email, func(ctx context.Context) error {
		moved, err = e.host.Store.UpdateUser(ctx, moved)
		return err
	})
	if err != nil {
		return err
	}
	e.links.forget(ctx, userID)
	c.UpdatedUser(ctx, user, moved)
	if user.EmailVerified.IsZero() {
		e.endOthers(ctx, c, userID)
	}
	return nil
}

// endOthers ends the user's other sessions after the first verification of an address, because an attacker may have
// created the user with it. Session tokens with the claim email_unproved end in any case, so a failure is only logged.
func (e *emails) endOthers(ctx context.Context, c *core.ActionRequest, userID string) {
	if _, err := c.EndOtherSessions(ctx); err != nil && !notListed(err) {
		e.host.Logger.ErrorContext(ctx, "account: could not end the sessions from before the address was verified",
			"user_id", userID, "error", err)
	}
}

// countPending returns the number of the user's unexpired links of a kind.
func (l *links) countPending(ctx context.Context, userID, kind string) (n int, err error) {
	records, err := l.records.UserRecords(ctx, userID, kind)
	if err != nil {
		return 0, fmt.Errorf("account: list the links of kind %s: %w", kind, err)
	}
	for _, r := range records {
		if r.Expires.After(l.host.Now()) {
			n++
		}
	}
	return n, nil
}

// withdraw deletes a link whose email could not be sent, so that it does not count as pending. If the deletion fails,
// the record is harmless until it expires, because its token was not delivered.
func (l *links) withdraw(ctx context.Context, kind, token string) {
	_, err := l.records.DeleteRecord(context.WithoutCancel(ctx), kind, l.key(kind, token))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		l.host.Logger.WarnContext(ctx, "account: a link that was not sent stays until it expires", "kind", kind,
			"error", err)
	}
}

// oldAddressEmail stores the undo link of an email change and returns the email to the old address. An unverified
// address may be a typo and belong to an attacker. It gets the notice without a link, because the link would let its
// owner take over the account. If the user had no address, the email is the zero value.
func (u *undos) oldAddressEmail(ctx context.Context, c *core.ActionRequest, user *core.User) (l core.Email, err error) {
	now := u.host.Now()
	if proved, err := readsMail(ctx, u.host.Accounts, user); err != nil || !proved {
		return core.Email{To: user.Email, Kind: mailkind.AddressChanged, At: now}, err
	}
	token, err := u.host.NewToken()
	if err != nil {
		return l, err
	}
	ends := now.Add(undoTTL)
	back := undo{Address: user.Email, Proved: user.EmailVerified, Made: now}
	if err := u.restores.snapshot(ctx, user.ID, &back); err != nil {
		return l, err
	}
	err = u.links.save(ctx, kindUndo, token, user.ID, ends, back)
	return c.AddClient(core.Email{
		To: user.Email, Kind: mailkind.AddressChanged, Expires: ends, At: now,
		URL: core.Secret(c.URL("account/undo", "token", token)), EndsSessions: u.host.CanEndSessions(),
	}), err
}
