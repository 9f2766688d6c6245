package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passkeyNote is the value of a record of kind "passkey", whose key is the passkey's ID of the overview.
type passkeyNote struct {
	Name string    `json:"name"`
	Made time.Time `json:"made,omitzero"`
	Used time.Time `json:"used,omitzero"`
}

// seen notes when a passkey was first seen.
func (n *passkeyNote) seen(at time.Time) {
	if n.Made.IsZero() {
		n.Made = at
	}
}

// maxName is how many characters the name of a passkey has at most.
const maxName = 64

// NamePasskey gives a passkey of a user a name, of 64 characters at most; empty takes it away. id is that of
// [Passkey]. [core.ErrNotFound]: the user has no such passkey.
func (a *Account) NamePasskey(ctx context.Context, userID, id, name string) error {
	name = strings.TrimSpace(name)
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errName
	}
	if _, err := a.passkey(ctx, userID, id); err != nil {
		return err
	}
	return a.note(ctx, userID, id, func(n *passkeyNote) { n.Name = name })
}

var errName = errors.New("account: the name of a passkey is 64 characters at most, all of them printable")

// RemovePasskey removes a passkey of a user. id is that of [Passkey]. [ErrLastMethod]: they could not sign in any more;
// [core.ErrNotFound]: the user has no such passkey. The authenticator keeps its half, which opens nothing any more.
func (a *Account) RemovePasskey(ctx context.Context, userID, id string) error {
	return a.locked(ctx, userID, func(ctx context.Context) error {
		has, _, err := a.belongings(ctx, userID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(has.passkeys, func(k *store.Authenticator) bool { return passkeyID(k.CredentialID) == id })
		if i < 0 {
			return core.ErrNotFound
		}
		return a.removePasskey(ctx, has, has.passkeys[i])
	})
}

// removePasskey removes the account of a passkey first, without which it opens nothing, then the passkey. What a
// failure leaves behind is listed, and goes the next time.
func (a *Account) removePasskey(ctx context.Context, has belongings, key *store.Authenticator) error {
	for _, account := range has.accounts {
		if account.Type != core.TypeWebAuthn || account.ProviderAccountID != key.ProviderAccountID {
			continue
		}
		if err := a.unlink(ctx, has, account); err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	if deleter := a.host.AuthenticatorDeleter; deleter != nil {
		if err := deleter.DeleteAuthenticator(ctx, key.CredentialID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("account: remove the passkey: %w", err)
		}
	}
	_, err := a.records.DeleteRecord(ctx, kindPasskey, passkeyID(key.CredentialID))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("account: remove the name of the passkey: %w", err)
	}
	return nil
}

// passkey finds a passkey of a user by its ID.
func (a *Account) passkey(ctx context.Context, userID, id string) (*store.Authenticator, error) {
	keys := a.host.Authenticators
	if keys == nil {
		return nil, core.ErrNotFound
	}
	all, err := keys.Authenticators(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("account: list the passkeys: %w", err)
	}
	for _, k := range all {
		if passkeyID(k.CredentialID) == id {
			return k, nil
		}
	}
	return nil, core.ErrNotFound
}

// note changes what is noted of a passkey. Of two changes at once both count.
func (a *Account) note(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	for range 3 {
		err := a.tryNote(ctx, userID, id, change)
		if !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return errBusy
}

func (a *Account) tryNote(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	kept, err := a.records.Record(ctx, kindPasskey, id)
	absent := errors.Is(err, core.ErrNotFound)
	if err != nil && !absent {
		return fmt.Errorf("account: read the name of a passkey: %w", err)
	}
	var n passkeyNote
	if absent {
		kept = &store.Record{Kind: kindPasskey, Key: id, UserID: userID}
	} else if err := json.Unmarshal(kept.Value, &n); err != nil {
		n = passkeyNote{} // nothing that this version wrote
	}
	change(&n)
	if kept.Value, err = json.Marshal(n); err != nil {
		return fmt.Errorf("account: note of a passkey: %w", err)
	}
	if absent {
		return a.records.CreateRecord(ctx, kept)
	}
	return a.records.UpdateRecord(ctx, kept)
}

// postPasskey answers POST account/passkey: id and name, or id and remove.
func (a *Account) postPasskey(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	id := c.Field("id")
	var remove bool
	if c.Field("remove") != "" || c.Member("remove", &remove) && remove {
		err := a.RemovePasskey(ctx, session.UserID, id)
		if err == nil {
			told(ctx, c, core.AuditPasskeyRemoved, session)
		}
		return a.changed(ctx, c, "passkey-removed", err)
	}
	err = a.NamePasskey(ctx, session.UserID, id, c.Field("name"))
	if errors.Is(err, errName) {
		return refuse(c, http.StatusBadRequest, codeName)
	}
	return a.changed(ctx, c, "passkey-named", err)
}

// noteUse is note for what nobody is kept waiting for: a failure is logged.
func (a *Account) noteUse(ctx context.Context, userID, id string, change func(*passkeyNote)) {
	if err := a.note(ctx, userID, id, change); err != nil {
		a.host.Logger.WarnContext(ctx, "account: what is noted of a passkey could not be written", "error", err)
	}
}

// gate never holds a sign-in. It notes when a passkey was used, and takes the invitation of who signs in, whom
// Callbacks.SignIn has given what it holds by now. What it cannot write is logged: nobody is kept out for it.
func (a *Account) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Account != nil && p.Account.Type == core.TypeWebAuthn {
		now := a.host.Now().UTC().Truncate(time.Second)
		a.noteUse(ctx, p.User.ID, passkeyID(p.Account.ProviderAccountID), func(n *passkeyNote) {
			n.seen(now)
			n.Used = now
		})
	}
	if err := a.useInvitation(ctx, p.User); err != nil {
		a.host.Logger.WarnContext(ctx, "account: an invitation that was used could not be removed", "error", err)
	}
	return "", nil
}
