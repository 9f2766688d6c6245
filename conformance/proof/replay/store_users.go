package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// userRows are the users with their accounts and sessions.
type userRows struct {
	*calls
	users    []*core.User
	accounts []*core.Account
	sessions []*store.Session
	made     int
	linked   string // the user to whom an account was linked in this step
}

func (m *userRows) user(id string) *core.User {
	return find(m.users, func(u *core.User) bool { return u.ID == id })
}

func (m *userRows) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	done, err := m.call("createUser", plain(u))
	if err != nil {
		return nil, err
	}
	m.made++
	row := *u // null and missing members stay different
	row.ID = fmt.Sprintf("user-%d", m.made)
	m.users = append(m.users, &row)
	return found(done, &row)
}

// User records the lookup, except the one after an account is linked. Auth.js does not check whether the user's address
// was verified in the meantime.
func (m *userRows) User(_ context.Context, id string) (*core.User, error) {
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

func (m *userRows) UserByEmail(_ context.Context, email string) (*core.User, error) {
	done, err := m.call("getUserByEmail", email)
	if err != nil {
		return nil, err
	}
	return found(done, find(m.users, func(u *core.User) bool { return u.Email == email }))
}

func (m *userRows) UserByAccount(_ context.Context, provider, id string) (*core.User, error) {
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

// UpdateUser records only the changed members, as Auth.js passes only these.
func (m *userRows) UpdateUser(_ context.Context, u *core.User) (*core.User, error) {
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

func (m *userRows) LinkAccount(_ context.Context, a *core.Account) error {
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

func (m *userRows) Account(_ context.Context, provider, id string) (*core.Account, error) {
	row := find(m.accounts, func(a *core.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
	if row != nil && row.Type != core.TypeWebAuthn { // only for its address, which Auth.js does not look up
		kept := *row
		return &kept, nil
	}
	done, err := m.call("getAccount", id, provider)
	if err != nil {
		return nil, err
	}
	return found(done, row)
}

// Accounts implements store.AccountStore. Auth.js has only Account, so this call is not in the trace.
func (m *userRows) Accounts(_ context.Context, userID string) (list []*core.Account, err error) {
	for _, a := range m.accounts {
		if a.UserID == userID {
			row := *a
			list = append(list, &row)
		}
	}
	return list, nil
}

// UpdateAccount implements store.AccountStore. Auth.js never updates an account.
func (m *userRows) UpdateAccount(context.Context, *core.Account) error { return nil }

// UnlinkAccount implements store.AccountStore. It is not in the trace.
func (m *userRows) UnlinkAccount(_ context.Context, provider, id string) error {
	m.accounts = slices.DeleteFunc(m.accounts, func(a *core.Account) bool {
		return a.Provider == provider && a.ProviderAccountID == id
	})
	return nil
}

func (m *userRows) CreateSession(_ context.Context, s *store.Session) error {
	done, err := m.call("createSession", sessionObject(s))
	if err != nil {
		return err
	}
	row := *s
	m.sessions = append(m.sessions, &row)
	done("object")
	return nil
}

func (m *userRows) sessionRow(token string) *store.Session {
	return find(m.sessions, func(s *store.Session) bool { return string(s.Token) == token })
}

func (m *userRows) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
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

func (m *userRows) UpdateSession(_ context.Context, token string, expires time.Time) error {
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

func (m *userRows) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	done, err := m.call("deleteSession", token)
	if err != nil {
		return nil, err
	}
	row := m.sessionRow(token)
	m.sessions = slices.DeleteFunc(m.sessions, func(s *store.Session) bool { return s == row })
	return found(done, row)
}

// Sessions implements store.SessionLister. Auth.js does not have it, so it is not in the trace.
func (m *userRows) Sessions(_ context.Context, userID string) (list []*store.Session, err error) {
	for _, s := range m.sessions {
		if s.UserID == userID {
			row := *s
			list = append(list, &row)
		}
	}
	return list, nil
}

// DeleteSessions implements store.SessionLister.
func (m *userRows) DeleteSessions(_ context.Context, userID string) (int, error) {
	before := len(m.sessions)
	m.sessions = slices.DeleteFunc(m.sessions, func(s *store.Session) bool { return s.UserID == userID })
	return before - len(m.sessions), nil
}
