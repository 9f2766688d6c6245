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
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// Overview describes a user's account for that user. Its JSON form is the response to GET account, so it contains no
// tokens, hashes of passwords or IDs of the store.
type Overview struct {
	// User is the user's profile.
	User Person `json:"user"`
	// Methods are the IDs of the providers that the user can sign in with, each once, in the order of the sign-in page:
	// "password", "email", "github". It is never nil.
	Methods []string `json:"methods"`
	// Accounts are the linked accounts at OAuth and OpenID Connect providers. It is never nil.
	Accounts []Linked `json:"accounts"`
	// Passkeys are the user's passkeys. It is never nil.
	Passkeys []Passkey `json:"passkeys"`
	// Sessions are the active sessions: the current one first, then by last use. It is nil if sessions cannot be listed,
	// which is the case with StrategyJWT if Session.Revocation is off.
	Sessions []Session `json:"sessions"`
	// Second is reserved and always empty. Plugins show second factors in their own sections.
	Second []string `json:"second"`
}

// Person is the user of an [Overview].
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Image string `json:"image"`
	// EmailVerified reports whether the user has verified the address.
	EmailVerified bool `json:"emailVerified"`
	// EmailBounces reports whether [core.Auth.ReportBounce] was called for the address after it was
	// verified.
	EmailBounces bool `json:"emailBounces,omitempty"`
}

// Linked is an account at a provider.
type Linked struct {
	// ID identifies the account in requests. It is a hash.
	ID string `json:"id"`
	// Provider is the provider's ID. Name is its display name, or the ID if the provider is no longer configured.
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Label is the address or user name at the provider, as of the last sign-in with it. It is empty if unknown.
	Label string `json:"label"`
	// Removable is false for the last sign-in method.
	Removable bool `json:"removable"`
}

// Passkey is a passkey of the user.
type Passkey struct {
	// ID identifies the passkey in requests. It is a hash.
	ID string `json:"id"`
	// Name is the name that the user gave it, or "".
	Name string `json:"name"`
	// Provider is the product that stores the passkey, such as "Google Password Manager". The page shows it if Name is
	// empty. It is "" if it is unknown. The user's device states it, so it proves nothing.
	Provider string `json:"provider,omitempty"`
	// Made is the time it was first seen, Used the time of its last sign-in, both to the second. They are zero if unknown.
	Made time.Time `json:"made,omitzero"`
	Used time.Time `json:"used,omitzero"`
	// Synced reports whether the passkey is backed up, for example by a password manager.
	Synced bool `json:"synced"`
	// Removable is false for the last sign-in method.
	Removable bool `json:"removable"`
}

// Session is an active session of the user.
type Session struct {
	// ID identifies the session in requests. It is a hash.
	ID string `json:"id"`
	// Current is true for the session of the current request.
	Current bool `json:"current"`
	// Made is the time of the sign-in, Seen the time of the last use, accurate to an hour. They are zero if
	// unknown.
	Made time.Time `json:"made,omitzero"`
	Seen time.Time `json:"seen,omitzero"`
	// Agent is the User-Agent header, which the client can forge. Network is the IP address or network that rate limits
	// count.
	Agent   string `json:"agent"`
	Network string `json:"network"`
	// Methods are the authentication methods (RFC 8176). Provider is the provider's ID.
	Methods  []amr.Method `json:"methods"`
	Provider string       `json:"provider"`
	// Expires is the time the session expires if it is not used before.
	Expires time.Time `json:"expires"`
	// Support reports that an administrator is using the account in this session. Agent and Network are empty then.
	Support bool `json:"support,omitempty"`
}

// publicID returns the ID of a stored object for use in requests: a hash of 128 bits.
func publicID(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

func accountID(a *core.Account) string { return publicID("account", a.Provider, a.ProviderAccountID) }

func passkeyID(credentialID string) string { return publicID("passkey", credentialID) }

// overviews reads overviews from the store.
type overviews struct {
	host    *core.PluginHost
	records store.RecordStore
	notes   *passkeyNotes
	names   map[string]string // Options.PasskeyNames
}

// accountData is an overview and the data it was built from.
type accountData struct {
	Overview
	has     credentials
	methods []signInMethod
	handles []string // user handles of the passkeys, in base64url
}

// load reads everything about a user. current is the current session's ID, or "" if the context contains the session.
func (o *overviews) load(ctx context.Context, userID, current string) (*accountData, error) {
	has, records, err := o.credentials(ctx, userID)
	if err != nil {
		return nil, err
	}
	v := &accountData{has: has, methods: signInMethods(o.host.Providers(), has)}
	v.User = Person{
		Name: has.user.Name, Email: has.user.Email, Image: has.user.Image,
		EmailVerified: has.user.Email != "" && !has.user.EmailVerified.IsZero(),
		EmailBounces:  o.host.Bounces(has.user, records),
	}
	v.Methods, v.Accounts, v.Passkeys, v.Second = []string{}, []Linked{}, []Passkey{}, []string{}
	seen := map[string]bool{}
	for _, w := range v.methods {
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

// credentials reads the user's sign-in methods and records.
func (o *overviews) credentials(
	ctx context.Context, userID string,
) (b credentials, records []*store.Record, err error) {
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

// passwordOpens reports whether a password is valid for sign-in. A password that was set before the address was
// verified may be an attacker's. It becomes invalid when the address is verified.
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

func (v *accountData) addAccounts(providers []core.ProviderInfo) {
	names := map[string]string{}
	for _, p := range providers {
		names[p.ID] = p.Name
	}
	for _, a := range v.has.accounts {
		if a.Type == core.TypeWebAuthn || a.Type == core.TypeEmail {
			continue
		}
		l := Linked{
			ID: accountID(a), Provider: a.Provider, Name: names[a.Provider], Removable: !isLast(v.methods, a),
			Label: cmp.Or(a.Label, a.VerifiedEmail),
		}
		if l.Name == "" {
			l.Name = a.Provider
		}
		v.Accounts = append(v.Accounts, l)
	}
}

// addPasskeys lists the passkeys. It stores the time a passkey is first listed, which is right after it was added,
// because adding one redirects to the page.
func (o *overviews) addPasskeys(ctx context.Context, v *accountData, records []*store.Record) {
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
		handle := base64.RawURLEncoding.EncodeToString(n.Handle)
		if handle != "" && !slices.Contains(v.handles, handle) {
			v.handles = append(v.handles, handle)
		}
		v.Passkeys = append(v.Passkeys, Passkey{
			ID: id, Name: n.Name, Provider: cmp.Or(o.names[n.AAGUID], passkeyProviders[n.AAGUID]), Made: n.Made, Used: n.Used,
			Synced: k.CredentialBackedUp, Removable: !v.lastPasskey(k),
		})
	}
	slices.SortFunc(v.Passkeys, func(x, y Passkey) int {
		return cmp.Or(x.Made.Compare(y.Made), cmp.Compare(x.ID, y.ID))
	})
}

// lastPasskey reports whether a passkey is the only sign-in method.
func (v *accountData) lastPasskey(k *store.Authenticator) bool {
	for _, w := range v.methods {
		if w.passkey == k {
			return isLast(v.methods, w.account)
		}
	}
	return false
}

// sessionsOf lists the user's sessions, the current one first. It returns nil if the configuration cannot list
// sessions.
func sessionsOf(ctx context.Context, auth *core.Auth, userID, current string) ([]Session, error) {
	infos, err := auth.Sessions(ctx, userID)
	switch {
	case notListed(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("account: list the sessions: %w", err)
	}
	all := make([]Session, 0, len(infos))
	for _, s := range infos {
		shown := Session{
			ID: s.ID, Current: s.Current || s.ID == current, Made: s.CreatedAt, Seen: s.LastSeen, Agent: s.UserAgent,
			Methods: s.AuthMethods, Provider: s.Provider, Expires: s.Expires, Support: s.Actor != "",
		}
		if shown.Support { // the browser of the administrator
			shown.Agent = ""
		}
		if s.Network.IsValid() && !shown.Support {
			shown.Network = s.Network.String()
			if s.Network.IsSingleIP() {
				shown.Network = s.Network.Addr().String()
			}
		}
		all = append(all, shown)
	}
	slices.SortStableFunc(all, func(x, y Session) int {
		if x.Current != y.Current {
			if x.Current {
				return -1
			}
			return 1
		}
		return 0
	})
	return all, nil
}
