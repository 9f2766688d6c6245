package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// disavowal is the value of a record of kind "not-me": a change that was reported to the user's address, whose owner
// may say that it was not theirs.
type disavowal struct {
	Kind    mailkind.Kind `json:"kind"`
	Method  string        `json:"method,omitempty"`
	At      time.Time     `json:"at"`
	Address string        `json:"address"`
}

// disavowals handles the links "This wasn't me" of security notices.
type disavowals struct {
	host     *core.PluginHost
	links    *links
	undos    *undos
	restores *restores
}

func (d *disavowals) actions(*reauth) []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "not-me", Handle: d.get},
		{Method: http.MethodPost, Verb: "not-me", Handle: d.post},
	}
}

// link stores the record of a notice and returns the action of its link. Like the undo link of an email change, it is
// valid for a week.
func (d *disavowals) link(ctx context.Context, n core.SecurityNotice) (action string, expires time.Time, err error) {
	if n.Address == "" {
		user, err := d.host.Store.User(ctx, n.UserID)
		if err != nil {
			return "", time.Time{}, err
		}
		n.Address = user.Email
	}
	token, err := d.host.NewToken()
	if err != nil {
		return "", time.Time{}, err
	}
	expires = d.host.Now().Add(undoTTL)
	v := disavowal{Kind: n.Kind, Method: n.Method, At: n.At, Address: n.Address}
	return "account/not-me?token=" + token, expires, d.links.save(ctx, kindNotMe, token, n.UserID, expires, v)
}

// get handles GET account/not-me: it asks for confirmation and changes nothing, because email scanners open links. It
// does not require a session.
func (d *disavowals) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var v disavowal
	_, err := d.links.find(ctx, kindNotMe, c.Field("token"), &v)
	if errors.Is(err, core.ErrNotFound) {
		return nil, deadLink()
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, noticeOutput{v.Address, string(v.Kind)}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, askPage(askView{
		Page: page, CSRFToken: c.CSRFToken, Heading: page.Locale.Say(textNotMe), Text: textNotMeBody, Address: v.Address,
		Action: c.URL("account/not-me"), Token: c.Field("token"), Button: page.Locale.Say(textNotMeButton),
	})), nil
}

// post handles POST account/not-me. It ends all sessions, reverses the change, deletes links that were sent to other
// addresses, and starts a password reset in this browser. It creates no session. The link is deleted last: if a step
// before that fails or the process stops, the owner can press the button again. Of concurrent requests one succeeds.
func (d *disavowals) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var v disavowal
	kept, err := d.links.find(ctx, kindNotMe, c.Field("token"), &v)
	if err == nil {
		err = announce(ctx, c, audit.AccountSecured, kept.UserID)
	}
	if err == nil {
		err = d.reverse(ctx, c, kept, &v)
	}
	if err == nil {
		_, err = d.links.records.DeleteRecord(ctx, kindNotMe, kept.Key)
	}
	switch {
	case errors.Is(err, core.ErrNotFound):
		auditRefused(ctx, c, audit.AccountSecured, audit.ReasonTokenUnknown, "")
		return nil, deadLink()
	case err != nil:
		return nil, fmt.Errorf("account: secure an account: %w", err)
	}
	c.Audit(ctx, audit.Event{Name: audit.AccountSecured, Outcome: audit.OK, UserID: kept.UserID, Email: string(v.Kind)})
	user, err := d.host.Store.User(ctx, kept.UserID)
	if err != nil {
		return nil, err
	}
	view := undoneView{
		Heading: textSecured, Text: textSecuredBody, Address: v.Address, Ended: d.host.CanEndSessions(),
	}
	// The mailbox of a previous address may not choose the password. Its owner has the undo link of the email change.
	return d.undos.continueWith(ctx, c, user.ID, view, core.SameMailbox(user.Email, v.Address))
}

// reverse ends the sessions before and after the change is reversed, so that no session of an attacker can repeat it.
func (d *disavowals) reverse(ctx context.Context, c *core.ActionRequest, link *store.Record, v *disavowal) error {
	if err := d.restores.endAll(ctx, link.UserID); err != nil {
		return err
	}
	n := core.SecurityNotice{Kind: v.Kind, UserID: link.UserID, Method: v.Method, At: v.At}
	if err := c.ReverseNotice(ctx, n); err != nil {
		return err
	}
	d.links.forget(ctx, link.UserID)
	return d.restores.endAll(ctx, link.UserID)
}
