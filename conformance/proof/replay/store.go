package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// memory is the store of the recordings: ids user-1, user-2, …, exact look-ups, every call in the trace. failing names
// the methods that throw.
type memory struct {
	rec     *recorder
	failing []string
	start   time.Time

	users     []*core.User
	accounts  []*core.Account
	sessions  []*store.Session
	tokens    []*store.VerificationToken
	passkeys  []*store.Authenticator
	made      int
	linked    string // the user whom an account was linked to in this step
	tokenOnly bool
}

var errStore = errors.New("storage failure")

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// call records a call; it reports whether the method is to fail.
func (m *memory) call(method string, args ...any) (done func(returned string), err error) {
	entry := object{"kind": "adapter", "method": method, "args": args}
	m.rec.add(entry)
	if slices.Contains(m.failing, method) {
		entry["threw"] = "Error"
		return nil, errStore
	}
	return func(returned string) { entry["returned"] = returned }, nil
}

func found[T any](done func(string), v *T) (*T, error) {
	if v == nil {
		done("null")
		return nil, core.ErrNotFound
	}
	done("object")
	c := *v
	return &c, nil
}

func find[T any](rows []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		return rows[i]
	}
	return nil
}

func (m *memory) user(id string) *core.User {
	return find(m.users, func(u *core.User) bool { return u.ID == id })
}

func (m *memory) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	done, err := m.call("createUser", plain(u))
	if err != nil {
		return nil, err
	}
	m.made++
	row := *u // null and absent members stay what they are
	row.ID = fmt.Sprintf("user-%d", m.made)
	m.users = append(m.users, &row)
	return found(done, &row)
}

// User records the look-up, but not the one that follows a link: the reference does not ask whether somebody has proved
// the user's address meanwhile.
func (m *memory) User(_ context.Context, id string) (*core.User, error) {
	if row := m.user(id); row != nil && m.linked == id {
		m.linked = ""
		return row.AsStored(), nil
	}
	done, err := m.call("getUser", id)
	if err != nil {
		return nil, err
	}
	return found(done, m.user(id))
}

func (m *memory) UserByEmail(_ context.Context, email string) (*core.User, error) {
	done, err := m.call("getUserByEmail", email)
	if err != nil {
		return nil, err
	}
	return found(done, find(m.users, func(u *core.User) bool { return u.Email == email }))
}

func (m *memory) UserByAccount(_ context.Context, provider, id string) (*core.User, error) {
	done, err := m.call("getUserByAccount", object{"provider": provider, "providerAccountId": id})
	if err != nil {
		return nil, err
	}
	a := find(m.accounts, func(a *core.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
	if a == nil {
		return found[core.User](done, nil)
	}
	return found(done, m.user(a.UserID))
}

// UpdateUser records what changes, as Auth.js hands over only that.
func (m *memory) UpdateUser(_ context.Context, u *core.User) (*core.User, error) {
	row := m.user(u.ID)
	change := object{"id": u.ID}
	if !u.EmailVerified.IsZero() {
		change["emailVerified"] = iso(u.EmailVerified)
	}
	done, err := m.call("updateUser", change)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return found(done, row)
	}
	*row = *u.AsStored()
	return found(done, row)
}

func (m *memory) LinkAccount(_ context.Context, a *core.Account) error {
	done, err := m.call("linkAccount", plainAccount(a))
	if err != nil {
		return err
	}
	row := *a
	m.accounts = append(m.accounts, &row)
	m.linked = a.UserID
	done("object")
	return nil
}

// Accounts implements store.AccountStore, of which Auth.js knows Account alone: it leaves no trace.
func (m *memory) Accounts(_ context.Context, userID string) (list []*core.Account, err error) {
	for _, a := range m.accounts {
		if a.UserID == userID {
			row := *a
			list = append(list, &row)
		}
	}
	return list, nil
}

// UpdateAccount implements store.AccountStore. Auth.js leaves an account as the first sign-in made it.
func (m *memory) UpdateAccount(context.Context, *core.Account) error { return nil }

// UnlinkAccount implements store.AccountStore: it leaves no trace.
func (m *memory) UnlinkAccount(_ context.Context, provider, id string) error {
	m.accounts = slices.DeleteFunc(m.accounts, func(a *core.Account) bool {
		return a.Provider == provider && a.ProviderAccountID == id
	})
	return nil
}

// Sessions implements store.SessionLister, which Auth.js does not know: it leaves no trace.
func (m *memory) Sessions(_ context.Context, userID string) (list []*store.Session, err error) {
	for _, s := range m.sessions {
		if s.UserID == userID {
			row := *s
			list = append(list, &row)
		}
	}
	return list, nil
}

// DeleteSessions implements store.SessionLister.
func (m *memory) DeleteSessions(_ context.Context, userID string) (int, error) {
	before := len(m.sessions)
	m.sessions = slices.DeleteFunc(m.sessions, func(s *store.Session) bool { return s.UserID == userID })
	return before - len(m.sessions), nil
}

func sessionObject(s *store.Session) object {
	return object{"sessionToken": string(s.Token), "userId": s.UserID, "expires": iso(s.Expires)}
}

func (m *memory) CreateSession(_ context.Context, s *store.Session) error {
	done, err := m.call("createSession", sessionObject(s))
	if err != nil {
		return err
	}
	row := *s
	m.sessions = append(m.sessions, &row)
	done("object")
	return nil
}

func (m *memory) sessionRow(token string) *store.Session {
	return find(m.sessions, func(s *store.Session) bool { return string(s.Token) == token })
}

func (m *memory) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	done, err := m.call("getSessionAndUser", token)
	if err != nil {
		return nil, nil, err
	}
	s := m.sessionRow(token)
	if s == nil || m.user(s.UserID) == nil {
		done("null")
		return nil, nil, core.ErrNotFound
	}
	done("object")
	session, user := *s, *m.user(s.UserID)
	return &session, &user, nil
}

func (m *memory) UpdateSession(_ context.Context, token string, expires time.Time) error {
	done, err := m.call("updateSession", object{"sessionToken": token, "expires": iso(expires)})
	if err != nil {
		return err
	}
	s, err := found(done, m.sessionRow(token))
	if err != nil {
		return err
	}
	_ = s
	m.sessionRow(token).Expires = expires
	return nil
}

func (m *memory) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	done, err := m.call("deleteSession", token)
	if err != nil {
		return nil, err
	}
	row := m.sessionRow(token)
	m.sessions = slices.DeleteFunc(m.sessions, func(s *store.Session) bool { return s == row })
	return found(done, row)
}

func tokenObject(t *store.VerificationToken) object {
	return object{"identifier": t.Identifier, "token": t.Token, "expires": iso(t.Expires)}
}

func (m *memory) CreateVerificationToken(_ context.Context, t *store.VerificationToken) error {
	done, err := m.call("createVerificationToken", tokenObject(t))
	if err != nil {
		return err
	}
	row := *t
	m.tokens = append(m.tokens, &row)
	done("object")
	return nil
}

func (m *memory) UseVerificationToken(_ context.Context, identifier, token string) (*store.VerificationToken, error) {
	asked := object{"token": token}
	if identifier != "" {
		asked["identifier"] = identifier
	}
	done, err := m.call("useVerificationToken", asked)
	if err != nil {
		return nil, err
	}
	row := find(m.tokens, func(t *store.VerificationToken) bool {
		return t.Token == token && (m.tokenOnly || t.Identifier == identifier)
	})
	m.tokens = slices.DeleteFunc(m.tokens, func(t *store.VerificationToken) bool { return t == row })
	return found(done, row)
}

// seed adds recorded rows.
func (w *world) seed(all rows) error {
	for table, list := range all {
		for _, row := range list {
			if err := w.seedRow(table, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) seedRow(table string, row object) error {
	m := w.store
	text := func(name string) string { s, _ := row[name].(string); return s }
	switch table {
	case "users":
		u := core.User{
			ID: text("id"), Name: text("name"), Email: text("email"),
			Image: text("image"), EmailVerified: m.at(row["emailVerified"]),
		}
		m.users = append(m.users, u.AsStored())
	case "accounts":
		m.accounts = append(m.accounts, &core.Account{
			UserID: text("userId"), Type: core.ProviderType(text("type")),
			Provider: text("provider"), ProviderAccountID: text("providerAccountId"),
		})
	case "sessions":
		m.sessions = append(m.sessions, &store.Session{
			Token: core.Secret(text("sessionToken")), UserID: text("userId"), Expires: m.at(row["expires"]),
		})
	case "verificationTokens":
		m.tokens = append(m.tokens, &store.VerificationToken{
			Identifier: text("identifier"), Token: text("token"), Expires: m.at(row["expires"]),
		})
	case "authenticators":
		return w.seedPasskey(row)
	default:
		return fmt.Errorf("unknown table %q", table)
	}
	return nil
}

// at reads a recorded date: {"$in": seconds from start}, a text, or null.
func (m *memory) at(v any) time.Time {
	switch v := v.(type) {
	case object:
		if n, ok := v["$in"].(interface{ Int64() (int64, error) }); ok {
			seconds, _ := n.Int64()
			return m.start.Add(time.Duration(seconds) * time.Second)
		}
	case string:
		t, _ := time.Parse(time.RFC3339, v)
		return t
	}
	return time.Time{}
}

// rows lists a table for the comparison with finalState.
func (m *memory) rows(table string) (list []any) {
	switch table {
	case "users":
		for _, u := range m.users {
			list = append(list, plain(u))
		}
	case "accounts":
		for _, a := range m.accounts {
			list = append(list, plainAccount(a))
		}
	case "sessions":
		for _, s := range m.sessions {
			list = append(list, sessionObject(s))
		}
	case "verificationTokens":
		for _, t := range m.tokens {
			list = append(list, tokenObject(t))
		}
	case "authenticators":
		for _, a := range m.passkeys {
			list = append(list, authenticatorObject(a))
		}
	}
	return list
}

// without hides the methods that a scenario's adapter omits, the way a Go store lacks them: whole interfaces.
func (m *memory) without(omitted []string) core.Store {
	lacks := func(methods ...string) bool {
		return slices.ContainsFunc(methods, func(name string) bool { return slices.Contains(omitted, name) })
	}
	sessions := !lacks("createSession", "getSessionAndUser", "updateSession", "deleteSession")
	tokens := !lacks("createVerificationToken", "useVerificationToken")
	passkeys := !lacks("getAccount", "getAuthenticator", "createAuthenticator",
		"listAuthenticatorsByUserId", "updateAuthenticatorCounter")
	switch {
	case sessions && tokens && passkeys:
		return m
	case sessions && tokens:
		return struct {
			core.Store
			store.SessionStore
			store.VerificationTokenStore
			store.AccountStore
			store.SessionLister
		}{m, m, m, m, m}
	case sessions:
		return struct {
			core.Store
			store.SessionStore
			store.AccountStore
			store.SessionLister
		}{m, m, m, m}
	case tokens:
		return struct {
			core.Store
			store.VerificationTokenStore
			store.AccountStore
		}{m, m, m}
	}
	return struct {
		core.Store
		store.AccountStore
	}{m, m}
}
