package dbtest

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func (s *rowStore) User(_ context.Context, id string) (*core.User, error) {
	return found[core.User](s.look(), "user/"+id)
}

func (s *rowStore) UserByEmail(_ context.Context, email string) (*core.User, error) {
	return s.look().byEmail(email)
}

func (a *attempt) byEmail(email string) (*core.User, error) {
	id, err := found[string](a, "mail/"+email)
	if err != nil {
		return nil, err
	}
	u, err := found[core.User](a, "user/"+*id)
	if err == nil && u.Email != email {
		err = core.ErrNotFound
	}
	return u, err
}

func (s *rowStore) UserByAccount(_ context.Context, provider, id string) (*core.User, error) {
	a := s.look()
	account, err := found[store.Account](a, "account/"+provider+"/"+id)
	if err != nil {
		return nil, err
	}
	return found[core.User](a, "user/"+account.UserID)
}

// reserve reserves an address for a user, unless it belongs to another.
func (a *attempt) reserve(email, id string) error {
	owner, there, err := get[string](a, "mail/"+email)
	switch {
	case err != nil:
		return err
	case a.fault == reservesForEver && there && owner != id:
		return core.ErrConflict
	case a.fault == reservesForEver:
		return a.do(false, func(first *attempt) error { first.write["mail/"+email] = id; return nil })
	case a.fault == sharesAddresses:
	case there && owner != id:
		if _, err := a.byEmail(email); !errors.Is(err, core.ErrNotFound) {
			return errors.Join(err, core.ErrConflict)
		}
	}
	a.write["mail/"+email] = id
	return nil
}

func (s *rowStore) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	return u, s.do(false, func(a *attempt) error {
		a.write["user/"+u.ID] = *u
		return a.reserve(u.Email, u.ID)
	})
}

func (s *rowStore) UpdateUser(_ context.Context, u *core.User) (*core.User, error) {
	err := s.do(false, func(a *attempt) error {
		old, err := found[core.User](a, "user/"+u.ID)
		if err != nil {
			return err
		}
		a.write["user/"+u.ID] = *u
		if u.Email == old.Email {
			return nil
		}
		if a.fault != keepsOldAddress {
			a.write["mail/"+old.Email] = nil
		}
		return a.reserve(u.Email, u.ID)
	})
	if err == nil && s.copies() {
		err = s.copyInto(u)
	}
	return u, err
}

func (s *rowStore) copies() bool { return s.fault == copiesUsers || s.fault == copiesQuietly }

// copied returns the key of a session's copy of its user.
func copied(key string) string { return "copy/" + key }

func (s *rowStore) copyInto(u *core.User) error {
	sessions, err := s.look().owned("session/", u.ID)
	for _, key := range sessions {
		err = errors.Join(err, s.do(true, func(a *attempt) error { a.write[copied(key)] = *u; return nil }))
	}
	if s.fault == copiesQuietly {
		return nil
	}
	return err
}

func (s *rowStore) DeleteUser(_ context.Context, id string) error {
	early, err := s.look().owned("session/", id)
	if err != nil {
		return err
	}
	err = s.do(false, func(a *attempt) error {
		u, err := found[core.User](a, "user/"+id)
		if err == nil {
			a.write["user/"+id], a.write["mail/"+u.Email] = nil, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, kind := range []string{"session/", "account/", "passkey/", "record/"} {
		keys, err := s.look().owned(kind, id)
		switch {
		case err != nil:
			return err
		case kind == "account/" && s.fault == keepsAccounts:
			continue
		case kind == "session/" && s.fault == losesNewSessions:
			keys = early
		}
		for _, key := range keys {
			if err := s.do(false, func(a *attempt) error { a.write[key] = nil; return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// add writes a row of an existing user. It may replace a row of a deleted user.
func (s *rowStore) add(key, user string, value any, late bool) error {
	return s.do(late, func(a *attempt) error {
		if _, err := found[core.User](a, "user/"+user); err != nil {
			return err
		}
		there, _, err := get[any](a, key)
		if err != nil {
			return err
		}
		if owner := ownerOf(there); owner != "" {
			_, err := found[core.User](a, "user/"+owner)
			if !errors.Is(err, core.ErrNotFound) {
				return errors.Join(err, core.ErrConflict)
			}
		}
		a.write[key] = value
		return nil
	})
}

// take deletes an existing row.
func take[T any](s *rowStore, key string, blindly bool) (*T, error) {
	var row *T
	err := s.do(blindly, func(a *attempt) (err error) {
		row, err = found[T](a, key)
		a.write[key] = nil
		return err
	})
	return row, err
}

func (s *rowStore) LinkAccount(_ context.Context, a *core.Account) error {
	return s.add("account/"+a.Provider+"/"+a.ProviderAccountID, a.UserID, *a, s.fault == linksLate)
}

func (s *rowStore) Accounts(_ context.Context, id string) (list []*store.Account, err error) {
	a := s.look()
	keys, err := a.owned("account/", id)
	for _, key := range keys {
		account, failure := found[store.Account](a, key)
		list, err = append(list, account), errors.Join(err, failure)
	}
	return list, err
}

func (s *rowStore) UnlinkAccount(_ context.Context, provider, id string) error {
	_, err := take[store.Account](s, "account/"+provider+"/"+id, false)
	return err
}

func (s *rowStore) CreateSession(_ context.Context, session *store.Session) error {
	err := s.add("session/"+string(session.Token), session.UserID, *session, false)
	if err != nil || !s.copies() {
		return err
	}
	u, err := found[core.User](s.look(), "user/"+session.UserID)
	if err != nil {
		return err
	}
	return s.copyInto(u)
}

func (s *rowStore) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	a := s.look()
	session, err := found[store.Session](a, "session/"+token)
	if err != nil {
		return nil, nil, err
	}
	u, err := found[core.User](a, "user/"+session.UserID)
	if s.fault == losesNewSessions && errors.Is(err, core.ErrNotFound) {
		return session, &core.User{ID: session.UserID}, nil
	}
	if old, failure := found[core.User](a, copied("session/"+token)); failure == nil && err == nil {
		u = old
	}
	return session, u, err
}

func (s *rowStore) UpdateSession(_ context.Context, token string, expires time.Time) error {
	return s.do(s.fault == extendsBlindly, func(a *attempt) error {
		session, err := found[store.Session](a, "session/"+token)
		if err == nil {
			session.Expires = expires
			a.write["session/"+token] = *session
		}
		return err
	})
}

func (s *rowStore) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	return take[store.Session](s, "session/"+token, false)
}

func (s *rowStore) CreateAuthenticator(_ context.Context, a *store.Authenticator) error {
	return s.add("passkey/"+a.CredentialID, a.UserID, *a, false)
}

func (s *rowStore) Authenticator(_ context.Context, id string) (*store.Authenticator, error) {
	return found[store.Authenticator](s.look(), "passkey/"+id)
}

func (s *rowStore) CreateRecord(_ context.Context, r *store.Record) error {
	made := *r
	made.Version = 1
	return s.add("record/"+r.Kind+"/"+r.Key, r.UserID, made, false)
}

func (s *rowStore) Record(_ context.Context, kind, key string) (*store.Record, error) {
	return found[store.Record](s.look(), "record/"+kind+"/"+key)
}

func (s *rowStore) UserRecords(_ context.Context, user, _ string) (list []*store.Record, err error) {
	a := s.look()
	keys, err := a.owned("record/", user)
	for _, key := range keys {
		r, failure := found[store.Record](a, key)
		list, err = append(list, r), errors.Join(err, failure)
	}
	return list, err
}

func (s *rowStore) UpdateRecord(_ context.Context, r *store.Record) error {
	return s.do(false, func(a *attempt) error {
		there, err := found[store.Record](a, "record/"+r.Kind+"/"+r.Key)
		if err == nil && there.Version != r.Version {
			err = core.ErrConflict
		}
		next := *r
		next.Version++
		a.write["record/"+r.Kind+"/"+r.Key] = next
		return err
	})
}

func (s *rowStore) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	return take[store.Record](s, "record/"+kind+"/"+key, s.fault == takesBlindly)
}
