// Package notices decides which security notices are sent: emails that inform users about changes of their account.
package notices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Data is stored with a notice in the mail queue. The link in the email is made when the email is delivered, so that a
// notice can be stored in the transaction of its change.
type Data struct {
	UserID   string `json:"user"`
	Provider string `json:"provider,omitempty"`
	Method   string `json:"method,omitempty"`
	// Base is the URL of the actions. It is empty outside of a request without Config.URL.
	Base string `json:"base,omitempty"`
	// Action is SecurityNotice.Action.
	Action string `json:"action,omitempty"`
	// Verified reports that the user had verified the address. Otherwise a linked provider must have.
	Verified bool `json:"verified,omitempty"`
}

// New returns the email of a notice to a user, and its data. ok is false if the user is nil or has no valid address.
func New(u *store.User, n mail.SecurityNotice, base string) (l mail.Email, d Data, ok bool) {
	if u == nil {
		return l, d, false
	}
	to, err := mailaddr.Normalize(u.Email)
	l = mail.Email{To: to, Kind: n.Kind, At: n.At}
	return l, Data{u.ID, n.Provider, n.Method, base, n.Action, !u.EmailVerified.IsZero()}, err == nil
}

// Checkable reports whether [Made] can look up the change of a notice.
func Checkable(kind mailkind.Kind, method string) bool {
	return method != "" && (kind == mailkind.PasskeyAdded || kind == mailkind.AccountLinked)
}

// Made reports whether the change of a notice was made, for a process that ended or failed in between. has reports
// whether a user has a sign-in method. Made returns true if the change cannot be looked up: a needless notice is better
// than none.
func Made(kind mailkind.Kind, d Data, has func(userID, method string) (bool, error)) (bool, error) {
	if !Checkable(kind, d.Method) {
		return true, nil
	}
	made, err := has(d.UserID, d.Method)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return made, err
}

// Link makes the link of a notice: an action with its query, and its expiry.
type Link = func(ctx context.Context, n mail.SecurityNotice) (action string, expires time.Time, err error)

// Links make the links of notices. Each may be nil.
type Links struct {
	// Secure makes the link "This wasn't me".
	Secure Link
	// Reset makes the link to reset the password of a user. Its error is store.ErrNotFound if the user has none.
	Reset func(ctx context.Context, userID string) (action string, expires time.Time, err error)
}

// Action returns the action of the link in a notice, or "". Guessed codes changed nothing that could be reversed, and
// their sender knows the password: that link starts a password reset. A panic is returned as an error.
func (l *Links) Action(ctx context.Context, n mail.SecurityNotice) (action string, expires time.Time, err error) {
	err = panics.Guard("NoticeLink", func() (err error) {
		if n.Kind == mailkind.FactorGuessed && l.Reset != nil {
			action, expires, err = l.Reset(ctx, n.UserID)
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if action, err = "", nil; l.Secure != nil {
			action, expires, err = l.Secure(ctx, n)
		}
		return err
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("link of a security notice: %w", err)
	}
	return action, expires, nil
}

// Writer completes notices when they are sent.
type Writer struct {
	Links *Links
	// Page is the action where the owner of an account secures it.
	Page string
	// User returns a user, and Accounts their accounts.
	User     func(ctx context.Context, id string) (*store.User, error)
	Accounts func(ctx context.Context, userID string) ([]*store.Account, error)
	// Service returns the name of a provider.
	Service func(provider string) string
	// LinkFailed logs that there is no link.
	LinkFailed func(ctx context.Context, err error)
}

// Write adds the link to a notice. If the user is gone or has another address by now, a link to reset their password is
// not sent to the old address. An address that no one has verified gets no email. The email is sent without its link if
// that cannot be made.
func (w *Writer) Write(ctx context.Context, l mail.Email, data json.RawMessage) (mail.Email, error) {
	var d Data
	if err := json.Unmarshal(data, &d); err != nil {
		return mail.Email{}, err
	}
	user, err := w.User(ctx, d.UserID)
	gone := errors.Is(err, store.ErrNotFound)
	if err == nil && !d.Verified {
		d.Verified, err = w.vouched(ctx, user, l.To)
	}
	switch {
	case err != nil && !gone:
		return mail.Email{}, err
	case !d.Verified:
		return mail.Email{}, nil
	}
	if l.Kind == mailkind.AccountLinked || l.Kind == mailkind.AccountUnlinked {
		l.Service = w.Service(d.Provider)
	}
	if d.Base == "" {
		return l, nil
	}
	page := d.Action
	if page == "" {
		page = w.Page
	}
	l.URL = store.Secret(d.Base + "/" + page)
	if gone || d.Action != "" || l.Kind == mailkind.FactorGuessed && !mailboxes.Same(user.Email, l.To) {
		return l, nil
	}
	action, expires, err := w.Links.Action(ctx, mail.SecurityNotice{
		Kind: l.Kind, UserID: d.UserID, Provider: d.Provider, Method: d.Method, At: l.At, Address: l.To,
	})
	switch {
	case err != nil:
		w.LinkFailed(ctx, err)
	case action != "":
		l.URL, l.Expires = store.Secret(d.Base+"/"+action), expires
	}
	return l, nil
}

// vouched reports whether a linked provider has vouched for an address.
func (w *Writer) vouched(ctx context.Context, u *store.User, address string) (bool, error) {
	linked, err := w.Accounts(ctx, u.ID)
	return slices.ContainsFunc(linked, func(a *store.Account) bool {
		return mailboxes.Same(a.VerifiedEmail, address)
	}), err
}
