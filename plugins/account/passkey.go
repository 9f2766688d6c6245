package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// passkeys renames and removes passkeys. A new passkey is created by a sign-in with it.
type passkeys struct {
	host      *core.PluginHost
	overviews *overviews
	locks     *locks
	notes     *passkeyNotes
}

func (p *passkeys) actions(r *reauth) []core.Action {
	return []core.Action{r.change("passkey", p.post)}
}

// endpoints returns the document passkey-endpoints: where users create and manage passkeys (W3C, A Well-Known URL for
// Relying Party Passkey Endpoints).
func (p *passkeys) endpoints(_ context.Context, base string) (*core.Response, error) {
	isPasskey := func(p core.ProviderInfo) bool { return p.Type == core.TypeWebAuthn }
	if !slices.ContainsFunc(p.host.Providers(), isPasskey) {
		return nil, &core.Problem{Status: http.StatusNotFound, Code: "not_found"}
	}
	page := base + "/account"
	body, err := json.Marshal(map[string]string{"enroll": page, "manage": page})
	if err != nil {
		return nil, err
	}
	return &core.Response{Body: body, Header: http.Header{"Content-Type": {"application/json"}}}, nil
}

// maxName is the maximum length of a passkey name, in characters.
const maxName = 64

func (p *passkeys) name(ctx context.Context, userID, id, name string) error {
	name = strings.TrimSpace(name)
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errName
	}
	if _, err := p.find(ctx, userID, id); err != nil {
		return err
	}
	return p.notes.write(ctx, userID, id, func(n *passkeyNote) { n.Name = name })
}

var errName = errors.New("account: a passkey name must have at most 64 printable characters")

func (p *passkeys) remove(ctx context.Context, userID, id string) error {
	return p.locks.withLock(ctx, userID, func(ctx context.Context) error {
		has, _, err := p.overviews.credentials(ctx, userID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(has.passkeys, func(k *store.Authenticator) bool { return passkeyID(k.CredentialID) == id })
		if i < 0 {
			return core.ErrNotFound
		}
		return p.removeFrom(ctx, has, has.passkeys[i])
	})
}

// removeFrom removes the passkey's account first, because the passkey cannot sign in without it, then the passkey. If a
// step fails, the page still lists the passkey and the next attempt removes it.
func (p *passkeys) removeFrom(ctx context.Context, has credentials, key *store.Authenticator) error {
	user := has.user.ID
	err := p.notes.records.CreateRecord(ctx, &store.Record{
		Kind: kindRemoved, Key: user, UserID: user, Value: json.RawMessage("null"),
	})
	if err != nil && !errors.Is(err, core.ErrConflict) {
		return fmt.Errorf("account: note that a passkey was removed: %w", err)
	}
	for _, account := range has.accounts {
		if account.Type != core.TypeWebAuthn || account.ProviderAccountID != key.ProviderAccountID {
			continue
		}
		if err := unlink(ctx, p.host, has, account); err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	if deleter := p.host.AuthenticatorDeleter; deleter != nil {
		if err := deleter.DeleteAuthenticator(ctx, key.CredentialID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("account: remove the passkey: %w", err)
		}
	}
	_, err = p.notes.records.DeleteRecord(ctx, kindPasskey, passkeyID(key.CredentialID))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("account: remove the name of the passkey: %w", err)
	}
	return nil
}

// creation returns the data for the page's script, which creates a passkey without a prompt. It is nil for a user who
// has a passkey, or has removed one.
func (p *passkeys) creation(
	ctx context.Context, c *core.ActionRequest, session *core.Session, l *accountData,
) (*ui.PasskeyCreation, error) {
	made := c.PasskeyCreation(session)
	if made == nil || len(l.has.passkeys) > 0 {
		return nil, nil
	}
	_, err := p.notes.records.Record(ctx, kindRemoved, session.UserID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return made, nil
	case err != nil:
		return nil, fmt.Errorf("account: read whether a passkey was removed: %w", err)
	}
	return nil, nil
}

// find returns a user's passkey by its public ID.
func (p *passkeys) find(ctx context.Context, userID, id string) (*store.Authenticator, error) {
	keys := p.host.Authenticators
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

// post handles POST account/passkey with the fields id and name, or id and remove.
func (p *passkeys) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	id := c.Field("id")
	var remove bool
	if c.Field("remove") != "" || c.JSONMember("remove", &remove) && remove {
		gone, err := p.find(ctx, session.UserID, id)
		if err != nil {
			return methodChanged(ctx, c, "passkey-removed", err)
		}
		n := core.SecurityNotice{Kind: mailkind.PasskeyRemoved, UserID: session.UserID}
		err = c.NotifyChange(ctx, n, func(ctx context.Context) error { return p.remove(ctx, session.UserID, id) })
		if err == nil {
			auditDone(ctx, c, audit.PasskeyRemoved, session)
			if !c.WantsJSON {
				return redirectWithFlash(c, flash{Done: "passkey-removed", Removed: base64URL(gone.CredentialID)})
			}
		}
		return methodChanged(ctx, c, "passkey-removed", err)
	}
	err = p.name(ctx, session.UserID, id, c.Field("name"))
	if errors.Is(err, errName) {
		return refuse(c, http.StatusBadRequest, codeName)
	}
	return methodChanged(ctx, c, "passkey-named", err)
}

// added stores the facts about a new passkey.
func (p *passkeys) added(ctx context.Context, made core.NewPasskey) {
	now := p.host.Now().UTC().Truncate(time.Second)
	p.notes.note(ctx, made.UserID, passkeyID(made.CredentialID), func(n *passkeyNote) {
		*n = passkeyNote{Made: now, AAGUID: made.AAGUID, Handle: made.UserHandle} // an older one is of a removed passkey
	})
}

// userHandle returns the user handle of the user's passkeys, or nil.
func (p *passkeys) userHandle(ctx context.Context, userID string) ([]byte, error) {
	records, err := p.notes.records.UserRecords(ctx, userID, kindPasskey)
	if err != nil {
		return nil, fmt.Errorf("account: list the notes of passkeys: %w", err)
	}
	var first passkeyNote
	for _, r := range records {
		var n passkeyNote
		if json.Unmarshal(r.Value, &n) == nil && len(n.Handle) > 0 && (first.Handle == nil || n.Made.Before(first.Made)) {
			first = n
		}
	}
	return first.Handle, nil
}

// signals returns the signals for the account page: the passkeys that the site accepts, and the one that was just
// removed, which the password manager of this device may still offer. One that was removed on another device is missing
// from the accepted ones.
func (p *passkeys) signals(c *core.ActionRequest, l *accountData, removed string) *ui.PasskeySignals {
	s := c.PasskeySignals(l.has.user)
	if s == nil || removed == "" && len(l.handles) == 0 {
		return nil
	}
	if removed != "" {
		s.Unknown = []string{removed}
	}
	for _, k := range l.has.passkeys {
		s.Accepted = append(s.Accepted, base64URL(k.CredentialID))
	}
	s.Users = l.handles
	return s
}

// base64URL returns a stored ID, which is in standard base64, in base64url.
func base64URL(id string) string {
	return strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(id)
}

// used stores the time of a sign-in with a passkey.
func (p *passkeys) used(ctx context.Context, signIn *core.PendingSignIn) {
	if signIn.Account == nil || signIn.Account.Type != core.TypeWebAuthn {
		return
	}
	now := p.host.Now().UTC().Truncate(time.Second)
	p.notes.note(ctx, signIn.User.ID, passkeyID(signIn.Account.ProviderAccountID), func(n *passkeyNote) {
		n.seen(now)
		n.Used = now
	})
}

// passkeyNote is the value of a record of kind "passkey". The record's key is the passkey's public ID.
type passkeyNote struct {
	Name string    `json:"name"`
	Made time.Time `json:"made,omitzero"`
	Used time.Time `json:"used,omitzero"`
	// AAGUID is core.VerifiedPasskey.AAGUID, and Handle the user handle. They are empty for passkeys of earlier versions.
	AAGUID string `json:"aaguid,omitempty"`
	Handle []byte `json:"handle,omitempty"`
}

// seen sets the time a passkey was first seen, once.
func (n *passkeyNote) seen(at time.Time) {
	if n.Made.IsZero() {
		n.Made = at
	}
}

// passkeyNotes stores the names and times of passkeys. Credentials are stored elsewhere.
type passkeyNotes struct {
	records store.RecordStore
	log     *slog.Logger
}

// write updates the note of a passkey. It retries after write conflicts, so that no concurrent update is lost.
func (p *passkeyNotes) write(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	for range 3 {
		err := p.try(ctx, userID, id, change)
		if !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return errBusy
}

func (p *passkeyNotes) try(ctx context.Context, userID, id string, change func(*passkeyNote)) error {
	kept, err := p.records.Record(ctx, kindPasskey, id)
	absent := errors.Is(err, core.ErrNotFound)
	if err != nil && !absent {
		return fmt.Errorf("account: read the name of a passkey: %w", err)
	}
	var n passkeyNote
	if absent {
		kept = &store.Record{Kind: kindPasskey, Key: id, UserID: userID}
	} else if err := json.Unmarshal(kept.Value, &n); err != nil {
		n = passkeyNote{} // not written by this version
	}
	change(&n)
	if kept.Value, err = json.Marshal(n); err != nil {
		return fmt.Errorf("account: encode the note of a passkey: %w", err)
	}
	if absent {
		return p.records.CreateRecord(ctx, kept)
	}
	return p.records.UpdateRecord(ctx, kept)
}

// note calls write and only logs a failure.
func (p *passkeyNotes) note(ctx context.Context, userID, id string, change func(*passkeyNote)) {
	if err := p.write(ctx, userID, id, change); err != nil {
		p.log.WarnContext(ctx, "account: could not write the note of a passkey", "error", err)
	}
}
