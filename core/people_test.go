package core_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// people is an in-memory store that implements all interfaces. as hides those that a simpler store lacks.
type people struct {
	mu sync.Mutex
	rows
	// at is called before each call, without the lock: tests use it to make concurrent changes.
	at func(method string)
	// forgets means that the store does not keep Account.VerifiedEmail.
	forgets bool
}

type rows struct {
	users    map[string]core.User
	accounts map[string]core.Account
	sessions map[string]store.Session
	tokens   map[string]store.VerificationToken
	passkeys map[string]store.Authenticator
}

func newPeople() *people {
	return &people{rows: rows{
		users: map[string]core.User{}, accounts: map[string]core.Account{}, sessions: map[string]store.Session{},
		tokens: map[string]store.VerificationToken{}, passkeys: map[string]store.Authenticator{},
	}}
}

func (r rows) copy() rows {
	return rows{
		maps.Clone(r.users), maps.Clone(r.accounts), maps.Clone(r.sessions), maps.Clone(r.tokens), maps.Clone(r.passkeys),
	}
}

// power lists the optional interfaces of a store, in addition to the four that all stores here have.
type power struct {
	tx      bool
	deletes bool // store.UserDeleter
	lists   bool // store.AccountStore
	ends    bool // store.SessionLister
}

func (p power) String() string {
	var can []string
	for name, is := range map[string]bool{
		"transactions": p.tx, "deletes": p.deletes, "lists accounts": p.lists, "ends sessions": p.ends,
	} {
		if is {
			can = append(can, name)
		}
	}
	slices.Sort(can)
	if len(can) == 0 {
		return "least"
	}
	return strings.Join(can, ", ")
}

func powers() (all []power) {
	for _, tx := range []bool{true, false} {
		for _, ends := range []bool{true, false} {
			all = append(all, power{tx, true, true, ends}, power{tx, false, true, ends}, power{tx, false, false, ends})
		}
	}
	return all
}

type least interface {
	core.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
}

type transactions struct {
	p     *people
	inner core.Store
}

func (t transactions) InTransaction(
	ctx context.Context, do func(context.Context, core.Store) error,
) (err error) {
	t.p.mu.Lock()
	before, at := t.p.copy(), t.p.at
	t.p.at = nil // no other request runs in between
	t.p.mu.Unlock()
	if at != nil {
		at("begin")
	}
	defer func() {
		t.p.mu.Lock()
		defer t.p.mu.Unlock()
		t.p.at = at
		if err != nil {
			t.p.rows = before
		}
	}()
	return do(ctx, t.inner)
}

func (p *people) as(can power) core.Store {
	var tx store.Transactor
	if can.tx {
		tx = transactions{p, p.as(power{false, can.deletes, can.lists, can.ends})}
	}
	switch can {
	case power{true, true, true, true}:
		return struct {
			least
			store.Transactor
			store.UserDeleter
			store.AccountStore
			store.SessionLister
		}{p, tx, p, p, p}
	case power{true, true, true, false}:
		return struct {
			least
			store.Transactor
			store.UserDeleter
			store.AccountStore
		}{p, tx, p, p}
	case power{true, false, true, true}:
		return struct {
			least
			store.Transactor
			store.AccountStore
			store.SessionLister
		}{p, tx, p, p}
	case power{true, false, true, false}:
		return struct {
			least
			store.Transactor
			store.AccountStore
		}{p, tx, p}
	case power{true, false, false, true}:
		return struct {
			least
			store.Transactor
			store.SessionLister
		}{p, tx, p}
	case power{true, false, false, false}:
		return struct {
			least
			store.Transactor
		}{p, tx}
	case power{false, true, true, true}:
		return struct {
			least
			store.UserDeleter
			store.AccountStore
			store.SessionLister
		}{p, p, p, p}
	case power{false, true, true, false}:
		return struct {
			least
			store.UserDeleter
			store.AccountStore
		}{p, p, p}
	case power{false, false, true, true}:
		return struct {
			least
			store.AccountStore
			store.SessionLister
		}{p, p, p}
	case power{false, false, true, false}:
		return struct {
			least
			store.AccountStore
		}{p, p}
	case power{false, false, false, true}:
		return struct {
			least
			store.SessionLister
		}{p, p}
	}
	return struct{ least }{p}
}

// step starts one call: it calls at, and then locks the store.
func (p *people) step(method string) func() {
	p.mu.Lock()
	if at := p.at; at != nil {
		p.mu.Unlock()
		at(method)
		p.mu.Lock()
	}
	return p.mu.Unlock
}

func found[K comparable, V any](m map[K]V, key K) (*V, error) {
	v, ok := m[key]
	if !ok {
		return nil, core.ErrNotFound
	}
	return &v, nil
}

func (p *people) byEmail(email string) (*core.User, error) {
	for _, u := range p.users {
		if email != "" && u.Email == email {
			return u.AsStored(), nil
		}
	}
	return nil, core.ErrNotFound
}

func (p *people) user(id string) (*core.User, error) {
	u, err := found(p.users, id)
	if err != nil {
		return nil, err
	}
	return u.AsStored(), nil
}

func (p *people) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	defer p.step("CreateUser")()
	if _, err := p.byEmail(u.Email); err == nil {
		return nil, core.ErrConflict
	}
	if _, taken := p.users[u.ID]; taken {
		return nil, core.ErrConflict
	}
	p.users[u.ID] = *u
	return p.user(u.ID)
}

func (p *people) User(_ context.Context, id string) (*core.User, error) {
	defer p.step("User")()
	return p.user(id)
}

func (p *people) UserByEmail(_ context.Context, email string) (*core.User, error) {
	defer p.step("UserByEmail")()
	return p.byEmail(email)
}

func accountKey(provider, id string) string { return provider + "/" + id }

func (p *people) UserByAccount(_ context.Context, provider, id string) (*core.User, error) {
	defer p.step("UserByAccount")()
	return p.user(p.accounts[accountKey(provider, id)].UserID)
}

func (p *people) UpdateUser(_ context.Context, u *core.User) (*core.User, error) {
	defer p.step("UpdateUser")()
	if _, err := p.user(u.ID); err != nil {
		return nil, err
	}
	if other, err := p.byEmail(u.Email); err == nil && other.ID != u.ID {
		return nil, core.ErrConflict
	}
	p.users[u.ID] = *u
	return p.user(u.ID)
}

func (p *people) keep(a core.Account) {
	if p.forgets {
		a.VerifiedEmail = ""
	}
	p.accounts[accountKey(a.Provider, a.ProviderAccountID)] = a
}

func (p *people) LinkAccount(_ context.Context, a *core.Account) error {
	defer p.step("LinkAccount")()
	if _, taken := p.accounts[accountKey(a.Provider, a.ProviderAccountID)]; taken {
		return core.ErrConflict
	}
	p.keep(*a)
	return nil
}

func (p *people) UpdateAccount(_ context.Context, a *core.Account) error {
	defer p.step("UpdateAccount")()
	old, err := found(p.accounts, accountKey(a.Provider, a.ProviderAccountID))
	if err != nil {
		return err
	}
	fresh := *a
	fresh.UserID = old.UserID
	p.keep(fresh)
	return nil
}

func (p *people) Account(_ context.Context, provider, id string) (*core.Account, error) {
	defer p.step("Account")()
	return found(p.accounts, accountKey(provider, id))
}

func (p *people) Accounts(_ context.Context, userID string) (list []*core.Account, err error) {
	defer p.step("Accounts")()
	for _, a := range p.accounts {
		if a.UserID == userID {
			list = append(list, &a)
		}
	}
	return list, nil
}

func (p *people) UnlinkAccount(_ context.Context, provider, id string) error {
	defer p.step("UnlinkAccount")()
	_, err := found(p.accounts, accountKey(provider, id))
	delete(p.accounts, accountKey(provider, id))
	return err
}

func (p *people) DeleteUser(_ context.Context, id string) error {
	defer p.step("DeleteUser")()
	_, err := p.user(id)
	delete(p.users, id)
	maps.DeleteFunc(p.accounts, func(_ string, a core.Account) bool { return a.UserID == id })
	maps.DeleteFunc(p.sessions, func(_ string, s store.Session) bool { return s.UserID == id })
	maps.DeleteFunc(p.passkeys, func(_ string, a store.Authenticator) bool { return a.UserID == id })
	return err
}

func (p *people) CreateSession(_ context.Context, s *store.Session) error {
	defer p.step("CreateSession")()
	if _, err := p.user(s.UserID); err != nil {
		return err
	}
	p.sessions[string(s.Token)] = *s
	return nil
}

func (p *people) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	defer p.step("SessionAndUser")()
	s, err := found(p.sessions, token)
	if err != nil {
		return nil, nil, err
	}
	u, err := p.user(s.UserID)
	return s, u, err
}

func (p *people) UpdateSession(_ context.Context, token string, expires time.Time) error {
	defer p.step("UpdateSession")()
	s, err := found(p.sessions, token)
	if err == nil {
		s.Expires = expires
		p.sessions[token] = *s
	}
	return err
}

func (p *people) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	defer p.step("DeleteSession")()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := found(p.sessions, token)
	delete(p.sessions, token)
	return s, err
}

func (p *people) Sessions(_ context.Context, userID string) (list []*store.Session, err error) {
	defer p.step("Sessions")()
	for _, s := range p.sessions {
		if s.UserID == userID {
			list = append(list, &s)
		}
	}
	return list, nil
}

func (p *people) DeleteSessions(_ context.Context, userID string) (int, error) {
	defer p.step("DeleteSessions")()
	before := len(p.sessions)
	maps.DeleteFunc(p.sessions, func(_ string, s store.Session) bool { return s.UserID == userID })
	return before - len(p.sessions), nil
}

func (p *people) CreateVerificationToken(_ context.Context, t *store.VerificationToken) error {
	defer p.step("CreateVerificationToken")()
	p.tokens[t.Identifier+" "+t.Token] = *t
	return nil
}

func (p *people) UseVerificationToken(_ context.Context, identifier, token string) (*store.VerificationToken, error) {
	defer p.step("UseVerificationToken")()
	t, err := found(p.tokens, identifier+" "+token)
	delete(p.tokens, identifier+" "+token)
	return t, err
}

func (p *people) Authenticator(_ context.Context, id string) (*store.Authenticator, error) {
	defer p.step("Authenticator")()
	return found(p.passkeys, id)
}

func (p *people) CreateAuthenticator(_ context.Context, a *store.Authenticator) error {
	defer p.step("CreateAuthenticator")()
	if _, taken := p.passkeys[a.CredentialID]; taken {
		return core.ErrConflict
	}
	p.passkeys[a.CredentialID] = *a
	return nil
}

func (p *people) Authenticators(_ context.Context, userID string) (list []*store.Authenticator, err error) {
	defer p.step("Authenticators")()
	for _, a := range p.passkeys {
		if a.UserID == userID {
			list = append(list, &a)
		}
	}
	return list, nil
}

func (p *people) UpdateAuthenticatorCounter(_ context.Context, id string, counter uint32) error {
	defer p.step("UpdateAuthenticatorCounter")()
	a, err := found(p.passkeys, id)
	if err == nil {
		a.Counter = counter
		p.passkeys[id] = *a
	}
	return err
}

// has describes the data of a user, for messages.
func (p *people) has(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var accounts []string
	for key, a := range p.accounts {
		if a.UserID == id {
			accounts = append(accounts, key)
		}
	}
	slices.Sort(accounts)
	u := p.users[id]
	return fmt.Sprintf("%q proved %v %v", u.Email, !u.EmailVerified.IsZero(), accounts)
}
