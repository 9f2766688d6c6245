package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// undo is the value of a record of kind "email-undo": the address that a user had, and whose mailbox may take the
// change back.
type undo struct {
	Address string    `json:"address"`
	Proved  time.Time `json:"proved,omitzero"`
	Made    time.Time `json:"made"`
}

// undoLetter keeps the way back from a change of address, and is the letter to the old address with the link to it.
func (a *Account) undoLetter(ctx context.Context, c *core.Call, user *core.User) (l core.Letter, err error) {
	token, err := a.host.NewToken()
	if err != nil {
		return l, err
	}
	now := a.host.Now()
	ends := now.Add(undoFor)
	err = a.remember(ctx, kindUndo, token, user.ID, ends, undo{Address: user.Email, Proved: user.EmailVerified, Made: now})
	return core.Letter{
		To: user.Email, Kind: core.LetterEmailChanged, Expires: ends, At: now,
		URL: core.Secret(c.URL("account/undo", "token", token)),
	}, err
}

// getUndo answers GET account/undo: it asks whether to take the change back. Nobody needs to be signed in.
func (a *Account) getUndo(ctx context.Context, c *core.Call) (*core.Response, error) {
	var v undo
	_, err := a.recall(ctx, kindUndo, c.Field("token"), &v)
	if errors.Is(err, core.ErrNotFound) {
		return nil, deadLink()
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON() {
		return c.Answer(ctx, http.StatusOK, map[string]string{"email": v.Address}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, askPage(askView{
		Page: page, CSRFToken: c.CSRFToken(), Heading: page.Locale.Say(textAskUndo),
		Text:    page.Locale.Say(textAskUndoBody),
		Address: v.Address, Action: c.URL("account/undo"), Token: c.Field("token"), Button: page.Locale.Say(textAskUndo),
	})), nil
}

func deadLink() *core.Problem {
	return &core.Problem{Status: http.StatusGone, Code: codeLinkInvalid, Text: problemText(codeLinkInvalid)}
}

// postUndo answers POST account/undo: the user has the old address again, and all sessions end. The link is used up
// last: whatever fails, or ends this process, before that, the owner of the mailbox can press the button once more. Of
// several who press it at once each restores the same, and one is told so.
func (a *Account) postUndo(ctx context.Context, c *core.Call) (*core.Response, error) {
	var v undo
	kept, err := a.recall(ctx, kindUndo, c.Field("token"), &v)
	if err == nil {
		err = a.takeBack(ctx, c, kept, &v)
	}
	if err == nil {
		_, err = a.records.DeleteRecord(ctx, kindUndo, kept.Key)
	}
	switch {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		denied(ctx, c, core.AuditEmailUndone, core.ReasonTokenUnknown, "")
		return nil, deadLink()
	case err != nil:
		return nil, fmt.Errorf("account: undo the change of the address: %w", err)
	}
	c.Audit(ctx, core.AuditEvent{Name: core.AuditEmailUndone, Outcome: core.OutcomeOK, UserID: kept.UserID})
	if c.WantsJSON() {
		return c.Answer(ctx, http.StatusOK, map[string]string{"next": "signin"}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, undonePage(page, v.Address, c.URL("signin"))), nil
}

// takeBack restores an address, forgets the links that went to others since, and ends all sessions. link is the record
// of the link, which stays.
func (a *Account) takeBack(ctx context.Context, c *core.Call, link *store.Record, v *undo) error {
	userID := link.UserID
	user, err := a.host.Store().User(ctx, userID)
	if err != nil {
		return err
	}
	if user.Email != v.Address {
		restored := user.Clone()
		restored.Email, restored.EmailVerified, restored.Null = v.Address, v.Proved, restored.Null&^store.NullEmail
		if restored, err = a.host.Store().UpdateUser(ctx, restored); err != nil {
			return err
		}
		c.UpdatedUser(ctx, user, restored)
	}
	a.forgetLinks(ctx, userID)
	a.forgetUndos(ctx, link, v.Made)
	if _, err := a.host.Auth().EndSessions(ctx, userID, core.EndOptions{}); notListed(err) {
		a.host.Logger().WarnContext(ctx, "account: an address was restored, and sessions of its user go on until they "+
			"expire", "user_id", userID, "error", err)
	} else if err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return nil
}

// forgetUndos removes the ways back from changes that were made after since, but the one that is taken: the mailboxes
// that would take them may be a stranger's.
func (a *Account) forgetUndos(ctx context.Context, taken *store.Record, since time.Time) {
	userID := taken.UserID
	records, err := a.records.UserRecords(ctx, userID, kindUndo)
	for _, r := range records {
		var v undo
		if json.Unmarshal(r.Value, &v) == nil && v.Made.Before(since) {
			continue
		}
		if r.Key == taken.Key {
			continue
		}
		if _, gone := a.records.DeleteRecord(ctx, kindUndo, r.Key); gone != nil && !errors.Is(gone, core.ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		a.host.Logger().ErrorContext(ctx, "account: links that undo a later change stay until they expire",
			"user_id", userID, "error", err)
	}
}
