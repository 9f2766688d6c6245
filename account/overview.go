package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Overview is what somebody's account consists of, as they may see it. Its JSON form is what GET account answers, so no
// token, no hash and no ID of the store is in it.
type Overview struct {
	// User is the person.
	User Person `json:"user"`
	// Methods are the IDs of the providers that the user can sign in with now, each once, in the order of the sign-in
	// page: "password", "email", "github". Never nil.
	Methods []string `json:"methods"`
	// Accounts are the linked accounts of OAuth and OpenID Connect providers. Never nil.
	Accounts []Linked `json:"accounts"`
	// Passkeys are the passkeys. Never nil.
	Passkeys []Passkey `json:"passkeys"`
	// Sessions are the live sessions, the current one first, then those that were used last. nil: they cannot be listed
	// under this configuration, which are those of Session.Strategy jwt without Session.Revocation.
	Sessions []Session `json:"sessions"`
	// Second are the second factors. Always empty so far.
	Second []string `json:"second"`
}

// Person is the user of an [Overview].
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Image string `json:"image"`
	// EmailVerified reports whether the user has proved the address.
	EmailVerified bool `json:"emailVerified"`
}

// Linked is an account at a provider.
type Linked struct {
	// ID names it in requests: a hash.
	ID string `json:"id"`
	// Provider is the ID of the provider, Name what people call it: the ID where it is no longer configured.
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Removable is false for the last way to sign in.
	Removable bool `json:"removable"`
}

// Passkey is a passkey.
type Passkey struct {
	// ID names it in requests: a hash.
	ID string `json:"id"`
	// Name is what its user calls it; empty: it has no name.
	Name string `json:"name"`
	// Made is when it was first seen here, Used when it last signed in, to the second; zero: not known.
	Made time.Time `json:"made,omitzero"`
	Used time.Time `json:"used,omitzero"`
	// Synced reports whether it was backed up, by a password manager for example.
	Synced bool `json:"synced"`
	// Removable is false for the last way to sign in.
	Removable bool `json:"removable"`
}

// Session is a place where the user is signed in.
type Session struct {
	// ID names it in requests: a hash.
	ID string `json:"id"`
	// Current is true for the session that asks.
	Current bool `json:"current"`
	// Made is when it began, Seen when it was last used, within an hour; zero: not known.
	Made time.Time `json:"made,omitzero"`
	Seen time.Time `json:"seen,omitzero"`
	// Agent is the User-Agent of the browser: the visitor's word. Network is where it was, as limits count.
	Agent   string `json:"agent"`
	Network string `json:"network"`
	// Methods are how the user signed in (RFC 8176), Provider is the ID of the provider.
	Methods  []core.Method `json:"methods"`
	Provider string        `json:"provider"`
	// Expires is when it ends unless it is used before.
	Expires time.Time `json:"expires"`
}

// publicID is what names something of the store in requests: a hash, cut to 128 bits.
func publicID(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

func accountID(a *core.Account) string { return publicID("account", a.Provider, a.ProviderAccountID) }

func passkeyID(credentialID string) string { return publicID("passkey", credentialID) }

// Overview returns what the account of a user consists of. Under a context of a request, behind the request hook, it
// knows the current session. [core.ErrNotFound]: there is no such user. It reads the store four to six times.
func (a *Account) Overview(ctx context.Context, userID string) (*Overview, error) {
	v, err := a.stories.pages.looks.look(ctx, userID, "")
	if err != nil {
		return nil, err
	}
	return &v.Overview, nil
}

// overviews are made of what the store has of a user.
type overviews struct {
	host    *core.Host
	records store.RecordStore
	notes   *passkeyNotes
}

// looked is an overview together with what it was made of.
type looked struct {
	Overview
	has  belongings
	ways []way
}

// look reads everything about a user. current is the ID of the session that asks, empty where the context tells.
func (o *overviews) look(ctx context.Context, userID, current string) (*looked, error) {
	has, records, err := o.belongings(ctx, userID)
	if err != nil {
		return nil, err
	}
	v := &looked{has: has, ways: waysOf(o.host.Providers(), has)}
	v.User = Person{
		Name: has.user.Name, Email: has.user.Email, Image: has.user.Image,
		EmailVerified: has.user.Email != "" && !has.user.EmailVerified.IsZero(),
	}
	v.Methods, v.Accounts, v.Passkeys, v.Second = []string{}, []Linked{}, []Passkey{}, []string{}
	seen := map[string]bool{}
	for _, w := range v.ways {
		if !seen[w.provider.ID] {
			seen[w.provider.ID] = true
			v.Methods = append(v.Methods, w.provider.ID)
		}
	}
	v.addAccounts(o.host.Providers())
	o.addPasskeys(ctx, v, records)
	v.Sessions, err = sessionsOf(ctx, o.host.Auth, userID, current)
	return v, err
}

// belongings reads what can open the account of a user, and the records that it has.
func (o *overviews) belongings(ctx context.Context, userID string) (b belongings, records []*store.Record, err error) {
	if b.user, err = o.host.Store.User(ctx, userID); err != nil {
		return b, nil, fmt.Errorf("account: read the user: %w", err)
	}
	if b.accounts, err = o.host.Accounts.Accounts(ctx, userID); err != nil {
		return b, nil, fmt.Errorf("account: list the accounts: %w", err)
	}
	if keys := o.host.Authenticators; keys != nil {
		if b.passkeys, err = keys.Authenticators(ctx, userID); err != nil {
			return b, nil, fmt.Errorf("account: list the passkeys: %w", err)
		}
	}
	if records, err = o.records.UserRecords(ctx, userID, ""); err != nil {
		return b, nil, fmt.Errorf("account: list the records: %w", err)
	}
	for _, r := range records {
		b.hasPassword = b.hasPassword || r.Kind == kindPassword && passwordOpens(b.user, r)
	}
	return b, records, nil
}

// passwordOpens reports whether a password signs its user in. One that was set before anybody had proved the address
// may be a stranger's, and has ended with the proof.
func passwordOpens(u *core.User, r *store.Record) bool {
	var p struct {
		Hash     string `json:"hash"`
		Unproved bool   `json:"unproved"`
	}
	if json.Unmarshal(r.Value, &p) != nil || p.Hash == "" {
		return false
	}
	return !p.Unproved || u.EmailVerified.IsZero()
}

func (v *looked) addAccounts(providers []core.ProviderInfo) {
	names := map[string]string{}
	for _, p := range providers {
		names[p.ID] = p.Name
	}
	for _, a := range v.has.accounts {
		if a.Type == core.TypeWebAuthn || a.Type == core.TypeEmail {
			continue
		}
		l := Linked{ID: accountID(a), Provider: a.Provider, Name: names[a.Provider], Removable: !isLast(v.ways, a)}
		if l.Name == "" {
			l.Name = a.Provider
		}
		v.Accounts = append(v.Accounts, l)
	}
}

// addPasskeys lists the passkeys. One that is listed for the first time is noted: a visitor who adds one comes to the
// page at once.
func (o *overviews) addPasskeys(ctx context.Context, v *looked, records []*store.Record) {
	notes := map[string]passkeyNote{}
	for _, r := range records {
		var n passkeyNote
		if r.Kind == kindPasskey && json.Unmarshal(r.Value, &n) == nil {
			notes[r.Key] = n
		}
	}
	for _, k := range v.has.passkeys {
		id := passkeyID(k.CredentialID)
		n, noted := notes[id]
		if !noted {
			n.Made = o.host.Now().UTC().Truncate(time.Second)
			o.notes.note(ctx, v.has.user.ID, id, func(kept *passkeyNote) { kept.seen(n.Made) })
		}
		v.Passkeys = append(v.Passkeys, Passkey{
			ID: id, Name: n.Name, Made: n.Made, Used: n.Used, Synced: k.CredentialBackedUp,
			Removable: !v.lastPasskey(k),
		})
	}
	slices.SortFunc(v.Passkeys, func(x, y Passkey) int {
		return cmp.Or(x.Made.Compare(y.Made), cmp.Compare(x.ID, y.ID))
	})
}

// lastPasskey reports whether a passkey is the last way to sign in.
func (v *looked) lastPasskey(k *store.Authenticator) bool {
	for _, w := range v.ways {
		if w.passkey == k {
			return isLast(v.ways, w.account)
		}
	}
	return false
}
