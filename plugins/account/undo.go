package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
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

// oldAddressEmail stores the undo link of an email change and returns the email to the old address. An unverified
// address may be a typo and belong to an attacker. It gets the notice without a link, because the link would let its
// owner take over the account. If the user had no address, the email is the zero value.
func (u *undos) oldAddressEmail(ctx context.Context, c *core.ActionRequest, user *core.User) (l core.Email, err error) {
	now := u.host.Now()
	if proved, err := readsMail(ctx, u.host.Accounts, user); err != nil || !proved {
		return core.Email{To: user.Email, Kind: core.EmailAddressChanged, At: now}, err
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
	return core.Email{
		To: user.Email, Kind: core.EmailAddressChanged, Expires: ends, At: now,
		URL: core.Secret(c.URL("account/undo", "token", token)), EndsSessions: u.host.CanEndSessions(),
	}, err
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
		return c.JSON(ctx, http.StatusOK, map[string]string{"email": v.Address}), nil
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

func deadLink() *core.Problem {
	return &core.Problem{Status: http.StatusGone, Code: codeLinkInvalid, Text: problemText(codeLinkInvalid)}
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
	v := undoneView{Address: address, Next: c.URL("signin"), Button: textSignIn, Ended: u.host.CanEndSessions()}
	for _, m := range removed {
		v.Removed = append(v.Removed, m.name(c.Locale))
	}
	next := "signin"
	switch reset, err := c.StartPasswordReset(ctx, userID); {
	case err != nil: // the owner can still request a reset by email
		u.host.Logger.ErrorContext(ctx, "account: the password reset after an undone change did not start", "error", err)
	case reset != "":
		next, v.Next, v.Button = "reset", reset, textUndonePassword
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, struct {
			Next    string   `json:"next"`
			URL     string   `json:"url"`
			Removed []string `json:"removed,omitempty"`
		}{next, v.Next, v.Removed}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, undonePage(page, v)), nil
}

// undoneView is the page after a change of the address was undone.
type undoneView struct {
	Address, Next string
	Button        ui.Text
	// Ended reports whether all sessions have ended.
	Ended bool
	// Removed are the names of the sign-in methods that were removed.
	Removed []string
}
