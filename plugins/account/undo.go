package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// undo is the value of a record of kind "email-undo": the user's previous address, whose owner may undo the change.
type undo struct {
	Address string    `json:"address"`
	Proved  time.Time `json:"proved,omitzero"`
	Made    time.Time `json:"made"`
	// Had are the IDs of the sign-in methods at the time of the change. Password is the time the password was set, or zero
	// if there was none. Undoing the change removes all other methods. Had is nil in links that are older than these
	// fields; those links remove the methods that were added after Made.
	Had      []string  `json:"had"`
	Password time.Time `json:"password,omitzero"`
}

// undos handles the links that undo email changes.
type undos struct {
	host     *core.PluginHost
	links    *links
	restores *restores
}

func (u *undos) actions(*reauth) []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "undo", Handle: u.get},
		{Method: http.MethodPost, Verb: "undo", Handle: u.post},
	}
}

// get handles GET account/undo: it asks for confirmation. It does not require a session.
func (u *undos) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var v undo
	_, err := u.links.find(ctx, kindUndo, c.Field("token"), &v)
	if errors.Is(err, core.ErrNotFound) {
		return nil, deadLink()
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, addressOutput{v.Address}), nil
	}
	page := c.Page("")
	text := textAskUndoOnly
	if u.host.CanEndSessions() {
		text = textAskUndoBody
	}
	return c.Render(ctx, http.StatusOK, page, askPage(askView{
		Page: page, CSRFToken: c.CSRFToken, Heading: page.Locale.Say(textAskUndo),
		Text:    text,
		Address: v.Address, Action: c.URL("account/undo"), Token: c.Field("token"), Button: page.Locale.Say(textAskUndo),
	})), nil
}

// post handles POST account/undo. It restores the old address, ends all sessions and removes the sign-in methods that
// were added since the change. The response starts a password reset in this browser. The link is deleted last: if a
// step before that fails or the process stops, the owner of the mailbox can press the button again. Concurrent requests
// restore the same state, and one of them reports success.
func (u *undos) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var v undo
	kept, err := u.links.find(ctx, kindUndo, c.Field("token"), &v)
	var removed []added
	if err == nil {
		err = announce(ctx, c, audit.EmailUndone, kept.UserID)
	}
	if err == nil {
		removed, err = u.restores.takeBack(ctx, c, kept, &v)
	}
	if err == nil {
		_, err = u.links.records.DeleteRecord(ctx, kindUndo, kept.Key)
	}
	switch {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		auditRefused(ctx, c, audit.EmailUndone, audit.ReasonTokenUnknown, "")
		return nil, deadLink()
	case errors.Is(err, errBusy):
		return nil, &core.Problem{Status: http.StatusConflict, Code: codeBusy, Text: problemText(codeBusy), Cause: err}
	case err != nil:
		return nil, fmt.Errorf("account: undo the change of the address: %w", err)
	}
	c.Audit(ctx, audit.Event{Name: audit.EmailUndone, Outcome: audit.OK, UserID: kept.UserID})
	return u.answer(ctx, c, kept.UserID, v.Address, removed)
}

// answer returns the response that lists the removed sign-in methods and links to the password reset that it starts.
func (u *undos) answer(
	ctx context.Context, c *core.ActionRequest, userID, address string, removed []added,
) (*core.Response, error) {
	v := undoneView{Heading: textUndone, Text: textUndoneBody, Address: address, Ended: u.host.CanEndSessions()}
	for _, m := range removed {
		v.Removed = append(v.Removed, m.name(c.Locale))
	}
	return u.continueWith(ctx, c, userID, v, true)
}

// continueWith returns a page that links to the sign-in page or, if reset is true, to the password reset that it
// starts.
func (u *undos) continueWith(
	ctx context.Context, c *core.ActionRequest, userID string, v undoneView, reset bool,
) (*core.Response, error) {
	next, url, err := "signin", "", error(nil)
	v.Next, v.Button = c.URL("signin"), textSignIn
	if reset {
		url, err = c.StartPasswordReset(ctx, userID)
	}
	switch {
	case err != nil: // the owner can still request a reset by email
		u.host.Logger.ErrorContext(ctx, "account: the password reset after an undone change did not start", "error", err)
	case url != "":
		next, v.Next, v.Button = "reset", url, textUndonePassword
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, nextStep{next, v.Next, v.Removed}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, undonePage(page, v)), nil
}

// undoneView is the page after a change was undone.
type undoneView struct {
	// Text is around Address.
	Heading, Text ui.Text
	Address, Next string
	Button        ui.Text
	// Ended reports whether all sessions have ended.
	Ended bool
	// Removed are the names of the sign-in methods that were removed.
	Removed []string
}

// restoreTries is the number of attempts to restore an address that a concurrent request or another user takes
// meanwhile.
const restoreTries = 3

// restores restores a user's previous email address.
type restores struct {
	host  *core.PluginHost
	links *links
	locks *locks
}

// takeBack restores the address, deletes the links that were sent to other addresses since, ends all sessions, and
// removes the sign-in methods that were added since the change. link is the undo link's record, which it does not
// delete. A concurrent request of the attacker may still change the address. takeBack checks for that at the end, when
// no session is left that could start another change.
func (r *restores) takeBack(
	ctx context.Context, c *core.ActionRequest, link *store.Record, v *undo,
) (removed []added, err error) {
	for range restoreTries {
		err := r.locks.withLock(ctx, link.UserID, func(ctx context.Context) error {
			return r.restore(ctx, c, link.UserID, v)
		})
		if err != nil {
			return nil, err
		}
		r.links.forget(ctx, link.UserID)
		r.forgetUndos(ctx, link, v.Made)
		if err := r.endAll(ctx, link.UserID); err != nil {
			return nil, err
		}
		more, err := r.removeAdded(ctx, c, link.UserID, v)
		if removed = append(removed, more...); err != nil {
			return nil, err
		}
		switch user, err := r.host.Store.User(ctx, link.UserID); {
		case err != nil:
			return nil, err
		case user.Email == v.Address:
			more, err = r.removeAdded(ctx, c, link.UserID, v)
			return append(removed, more...), err
		}
	}
	return nil, errBusy
}

// restore writes the previous address to the user. The caller holds the user's lock.
func (r *restores) restore(ctx context.Context, c *core.ActionRequest, userID string, v *undo) error {
	user, err := r.host.Store.User(ctx, userID)
	if err != nil || user.Email == v.Address {
		return err
	}
	restored := user.Clone()
	restored.Email, restored.EmailVerified, restored.Null = v.Address, v.Proved, restored.Null&^store.NullEmail
	for range restoreTries {
		after, err := r.host.Store.UpdateUser(ctx, restored)
		if err == nil {
			c.UpdatedUser(ctx, user, after)
			return nil
		}
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
		if err := r.vacate(ctx, c, v.Address); err != nil {
			return err
		}
	}
	return errBusy
}

// vacate removes the address from a user who never verified it. Otherwise an attacker who moved the address away could
// register it again, with a profile that its provider does not vouch for, and its owner could never get it back. It
// returns [core.ErrConflict] if that user has verified the address.
func (r *restores) vacate(ctx context.Context, c *core.ActionRequest, address string) error {
	squatter, err := r.host.Store.UserByEmail(ctx, address)
	switch {
	case errors.Is(err, core.ErrNotFound): // that user gave it up meanwhile
		return nil
	case err != nil:
		return err
	}
	if proved, err := readsMail(ctx, r.host.Accounts, squatter); err != nil || proved {
		return cmp.Or(err, core.ErrConflict)
	}
	left := squatter.Clone()
	left.Email, left.Null = "", left.Null|store.NullEmail
	if left, err = r.host.Store.UpdateUser(ctx, left); err != nil {
		return fmt.Errorf("account: remove the address from a user who never verified it: %w", err)
	}
	c.UpdatedUser(ctx, squatter, left)
	c.Audit(ctx, audit.Event{
		Name: audit.EmailChanged, Outcome: audit.OK, Reason: audit.ReasonProved, UserID: left.ID,
	})
	return nil
}

// endAll ends all sessions of the user, if the configuration allows it.
func (r *restores) endAll(ctx context.Context, userID string) error {
	_, err := r.host.Auth.EndSessions(ctx, userID, core.EndOptions{})
	switch {
	case notListed(err):
		r.host.Logger.WarnContext(ctx, "account: an address was restored, but its user's sessions stay valid until "+
			"they expire", "user_id", userID, "error", err)
	case err != nil && !errors.Is(err, core.ErrNotFound):
		return err
	}
	return nil
}

// forgetUndos deletes the other undo links that were created since the given time, because they may be in the
// attacker's mailboxes.
func (r *restores) forgetUndos(ctx context.Context, taken *store.Record, since time.Time) {
	userID := taken.UserID
	records, err := r.links.records.UserRecords(ctx, userID, kindUndo)
	for _, record := range records {
		var v undo
		if json.Unmarshal(record.Value, &v) == nil && v.Made.Before(since) {
			continue
		}
		if record.Key == taken.Key {
			continue
		}
		_, gone := r.links.records.DeleteRecord(ctx, kindUndo, record.Key)
		if gone != nil && !errors.Is(gone, core.ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		r.host.Logger.ErrorContext(ctx, "account: links that undo a later change stay valid until they expire",
			"user_id", userID, "error", err)
	}
}

// added is a sign-in method that was added after an email change. method is nil for a password.
type added struct{ method *core.SignInMethod }

func (a added) name(l ui.Locale) string {
	switch {
	case a.method == nil:
		return l.Say(textPassword)
	case a.method.Passkey:
		return l.Say(textPasskey)
	}
	return a.method.Name
}

// snapshot stores the user's current sign-in methods in v.
func (r *restores) snapshot(ctx context.Context, userID string, v *undo) error {
	methods, err := r.host.SignInMethods(ctx, userID)
	if err != nil {
		return fmt.Errorf("account: list the sign-in methods: %w", err)
	}
	v.Had = make([]string, len(methods))
	for i, m := range methods {
		v.Had[i] = m.ID
	}
	_, v.Password, err = r.password(ctx, userID)
	return err
}

// password returns the user's password record and the time the password was set. The record is nil if there is no
// password.
func (r *restores) password(ctx context.Context, userID string) (*store.Record, time.Time, error) {
	records, err := r.links.records.UserRecords(ctx, userID, kindPassword)
	if err != nil || len(records) == 0 {
		return nil, time.Time{}, err
	}
	var p struct {
		Set time.Time `json:"set"`
	}
	if err := json.Unmarshal(records[0].Value, &p); err != nil {
		return nil, time.Time{}, fmt.Errorf("account: decode the password record: %w", err)
	}
	return records[0], p.Set, nil
}

// removeAdded removes the sign-in methods that the user did not have at the time of the email change.
func (r *restores) removeAdded(
	ctx context.Context,
	c *core.ActionRequest,
	userID string,
	v *undo,
) (all []added, err error) {
	since := v.Made.Truncate(time.Second)
	methods, err := r.host.RemoveSignInMethods(ctx, userID, func(m core.SignInMethod) bool {
		if v.Had != nil {
			return !slices.Contains(v.Had, m.ID)
		}
		return !m.Added.Before(since) // a zero time is before since
	})
	for i := range methods {
		all = append(all, added{&methods[i]})
		name := audit.AccountUnlinked
		if methods[i].Passkey {
			name = audit.PasskeyRemoved
		}
		c.Audit(ctx, audit.Event{
			Name: name, Outcome: audit.OK, Reason: audit.ReasonUndone, UserID: userID, Provider: methods[i].Provider,
		})
	}
	if err != nil {
		return all, err
	}
	record, set, err := r.password(ctx, userID)
	known := v.Had != nil && set.Equal(v.Password) || v.Had == nil && set.Before(since)
	if err != nil || record == nil || known {
		return all, err
	}
	switch _, err := r.links.records.DeleteRecord(ctx, kindPassword, record.Key); {
	case errors.Is(err, core.ErrNotFound):
		return all, nil
	case err != nil:
		return all, fmt.Errorf("account: remove a password: %w", err)
	}
	return append(all, added{}), nil
}
