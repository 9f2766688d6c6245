package accounts_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/emailproof"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
)

const ada = "ada@example.com"

var now = time.Unix(1_000_000, 0).UTC()

// tables is a store in memory. hook is called before each operation.
type tables struct {
	store.SessionStore       // not used
	store.AuthenticatorStore // not used
	users                    map[string]store.User
	accounts                 map[string]store.Account
	passkeys                 map[string]store.Authenticator
	sessions                 map[string]string // user IDs by token
	hook                     func(operation string) error
	log                      []string
}

func newTables() *tables {
	return &tables{
		users: map[string]store.User{}, accounts: map[string]store.Account{},
		passkeys: map[string]store.Authenticator{}, sessions: map[string]string{},
	}
}

func (t *tables) before(operation string) error {
	t.log = append(t.log, operation)
	if t.hook != nil {
		return t.hook(operation)
	}
	return nil
}

func (t *tables) find(match func(u store.User) bool) (*store.User, error) {
	for _, u := range t.users {
		if match(u) {
			return u.Clone(), nil
		}
	}
	return nil, store.ErrNotFound
}

func (t *tables) CreateUser(_ context.Context, u *store.User) (*store.User, error) {
	if err := t.before("create user"); err != nil {
		return nil, err
	}
	taken := func(o store.User) bool { return o.ID == u.ID || o.Email != "" && o.Email == u.Email }
	if _, err := t.find(taken); err == nil {
		return nil, store.ErrConflict
	}
	t.users[u.ID] = *u.Clone()
	return u.Clone(), nil
}

func (t *tables) User(_ context.Context, id string) (*store.User, error) {
	if err := t.before("user"); err != nil {
		return nil, err
	}
	return t.find(func(u store.User) bool { return u.ID == id })
}

func (t *tables) UserByEmail(_ context.Context, email string) (*store.User, error) {
	if err := t.before("user by email"); err != nil {
		return nil, err
	}
	return t.find(func(u store.User) bool { return u.Email == email })
}

func (t *tables) UserByAccount(ctx context.Context, provider, id string) (*store.User, error) {
	if err := t.before("user by account"); err != nil {
		return nil, err
	}
	if a, there := t.accounts[provider+"/"+id]; there {
		return t.find(func(u store.User) bool { return u.ID == a.UserID })
	}
	return nil, store.ErrNotFound
}

func (t *tables) UpdateUser(_ context.Context, u *store.User) (*store.User, error) {
	t.users[u.ID] = *u.Clone()
	return u.Clone(), t.before("update user")
}

func (t *tables) LinkAccount(_ context.Context, a *store.Account) error {
	if err := t.before("link"); err != nil {
		return err
	}
	t.accounts[a.Provider+"/"+a.ProviderAccountID] = *a.Clone()
	return nil
}

func (t *tables) Account(_ context.Context, provider, id string) (*store.Account, error) {
	if err := t.before("account"); err != nil {
		return nil, err
	}
	a, there := t.accounts[provider+"/"+id]
	if !there {
		return nil, store.ErrNotFound
	}
	return a.Clone(), nil
}

func (t *tables) Accounts(_ context.Context, userID string) (all []*store.Account, err error) {
	if err := t.before("accounts"); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(t.accounts)) {
		if a := t.accounts[key]; a.UserID == userID {
			all = append(all, a.Clone())
		}
	}
	return all, nil
}

func (t *tables) UpdateAccount(_ context.Context, a *store.Account) error {
	t.accounts[a.Provider+"/"+a.ProviderAccountID] = *a.Clone()
	return t.before("update account")
}

func (t *tables) UnlinkAccount(ctx context.Context, provider, id string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	delete(t.accounts, provider+"/"+id)
	return t.before("unlink")
}

func (t *tables) DeleteUser(ctx context.Context, id string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, there := t.users[id]; !there {
		return store.ErrNotFound
	}
	delete(t.users, id)
	return t.before("delete user")
}

func (t *tables) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	delete(t.sessions, token)
	return nil, cmp.Or(t.before("delete session"), store.ErrNotFound)
}

func (t *tables) Sessions(context.Context, string) ([]*store.Session, error) { return nil, nil }

func (t *tables) DeleteSessions(_ context.Context, userID string) (int, error) {
	maps.DeleteFunc(t.sessions, func(_, user string) bool { return user == userID })
	return 0, t.before("delete sessions")
}

func (t *tables) CreateAuthenticator(_ context.Context, k *store.Authenticator) error {
	t.passkeys[k.CredentialID] = *k
	return t.before("create passkey")
}

func (t *tables) Authenticators(_ context.Context, userID string) (all []*store.Authenticator, err error) {
	for _, k := range t.passkeys {
		if k.UserID == userID {
			all = append(all, &k)
		}
	}
	return all, nil
}

func (t *tables) DeleteAuthenticator(_ context.Context, credentialID string) error {
	delete(t.passkeys, credentialID)
	return nil
}

// transactor is tables with transactions. twice means that each transaction runs twice, as after a write conflict.
type transactor struct {
	*tables
	twice bool
}

func (t *transactor) InTransaction(ctx context.Context, do func(context.Context, store.Store) error) error {
	users, linked, keys := maps.Clone(t.users), maps.Clone(t.accounts), maps.Clone(t.passkeys)
	back := func() { t.users, t.accounts, t.passkeys = users, linked, keys }
	if t.twice {
		_ = do(ctx, t.tables)
		back()
		users, linked, keys = maps.Clone(t.users), maps.Clone(t.accounts), maps.Clone(t.passkeys)
	}
	err := do(ctx, t.tables)
	if err == nil {
		err = t.before("commit")
	}
	if err != nil {
		back()
	}
	return err
}

// listless hides methods of a store.
type listless struct{ store.Store }

// effects records what is reported.
type effects struct {
	announced, done []string
	last            accounts.Change
	added           []accounts.Method
	failed          error
	in              *accounts.SignIn
}

// link links a sign-in with these effects.
func (e *effects) link(ctx context.Context, l *accounts.Linker, in *accounts.SignIn) (accounts.Member, error) {
	e.in = in
	return l.Link(ctx, in, e)
}

func (e *effects) Kept() *store.Account {
	kept := e.in.Account.Clone()
	if e.in.OAuth {
		kept.AccessToken = "fresh"
	}
	if e.in.Verifies {
		kept.VerifiedEmail = ada
	}
	return kept
}

func (e *effects) Announce(_ context.Context, _ store.RecordStore, event audit.Event) error {
	e.announced = append(e.announced, string(event.Name))
	return e.failed
}

func (e *effects) Add(
	ctx context.Context, a *accounts.Attempt, m accounts.Method, write func(context.Context) error,
) error {
	e.added = append(e.added, m)
	return write(ctx)
}

func (e *effects) Done(_ context.Context, c accounts.Change) {
	e.done = append(e.done, string(c.Event.Name)+" "+c.Event.UserID)
	e.last = c
}

// refused is the error of a refusal.
type refused struct{ accounts.Refusal }

func (r refused) Error() string { return r.Text }

// newLinker returns a linker whose new users have the IDs new-1, new-2 and so on.
func newLinker(s store.Store) *accounts.Linker {
	direct := func(ctx context.Context, _ string, call func(context.Context) error) error { return call(ctx) }
	within := func(tx store.Store) storecalls.Stores { return storecalls.New(tx, direct) }
	n := 0
	return &accounts.Linker{
		Store: within(s), Within: within, Now: func() time.Time { return now }, Open: true,
		NewID:   func() (string, error) { n++; return fmt.Sprintf("new-%d", n), nil },
		Refused: func(r accounts.Refusal) error { return refused{r} },
	}
}

// byOAuth is a sign-in with the account op/1.
func byOAuth(vouched bool) *accounts.SignIn {
	account := &store.Account{Type: store.TypeOIDC, Provider: "op", ProviderAccountID: "1", UserID: "u"}
	return &accounts.SignIn{
		User: &store.User{ID: "u", Email: ada}, Account: account, OAuth: true, SameSession: true,
		ByAddress: true, Verifies: vouched, Given: ada,
	}
}

// byLink is a sign-in with a link.
func byLink() *accounts.SignIn {
	return &accounts.SignIn{
		User: &store.User{ID: "u", Email: ada}, Account: &store.Account{Type: store.TypeEmail, Provider: "email"},
	}
}

// byPasskey is the registration of the passkey key.
func byPasskey(typed string) *accounts.SignIn {
	account := &store.Account{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "key"}
	return &accounts.SignIn{
		User: &store.User{ID: "u"}, Account: account, SameSession: true, Typed: typed,
		Passkey: &store.Authenticator{CredentialID: "key", ProviderAccountID: "key"},
	}
}

func (t *tables) add(id, email string, verified bool, linked ...store.Account) *tables {
	u := store.User{ID: id, Email: email}
	if verified {
		u.EmailVerified = now.Add(-time.Hour)
	}
	t.users[id] = u
	for _, a := range linked {
		a.UserID = id
		t.accounts[a.Provider+"/"+a.ProviderAccountID] = a
	}
	return t
}

func account(id, vouched string) store.Account {
	return store.Account{Type: store.TypeOIDC, Provider: "op", ProviderAccountID: id, VerifiedEmail: vouched}
}

func current(id string) accounts.Current {
	return accounts.Current{
		User: &store.User{ID: id, EmailVerified: now}, Session: &store.Session{UserID: id}, AtRest: "here", AuthTime: now,
	}
}

// TestWho checks the user, the writes and the reports of each sign-in.
func TestWho(t *testing.T) {
	t.Parallel()
	signedIn := func(in *accounts.SignIn, change func(*accounts.Current)) *accounts.SignIn {
		in.Current = current("me")
		change(&in.Current)
		return in
	}
	same := func(*accounts.Current) {}
	many := make([]store.Account, accounts.Max)
	for i := range many {
		many[i] = account(fmt.Sprint("n", i), "")
	}
	keys := make([]store.Account, accounts.Max)
	for i := range keys {
		keys[i] = store.Account{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: fmt.Sprint("k", i)}
	}
	typed := store.Account{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: ada}
	elsewhere := func(in *accounts.SignIn) *accounts.SignIn {
		in.SameSession = false
		return in
	}
	for name, row := range map[string]struct {
		store *tables
		in    *accounts.SignIn
		// the user, the owner of op/1, the owner of the address, and the reports; or the text of the error
		who, account, address, done, err string
	}{
		"new user": {newTables(), byOAuth(false), "u created", "u", "u", "user.created u, account.linked u", ""},
		"known account": {
			newTables().add("a", ada, false, account("1", "")), byOAuth(false), "a", "a", "a", "", "",
		},
		"known account, another user's address": {
			newTables().add("a", "", false, account("1", "")).add("b", ada, true), byOAuth(true), "a", "a", "b", "", "",
		},
		"the ID of an account at another provider": {
			newTables().add("a", ada, true, store.Account{Type: store.TypeOIDC, Provider: "other", ProviderAccountID: "1"}),
			byOAuth(false), "", "", "a", "", "already has this email address",
		},
		"another session has ended": {
			newTables(), elsewhere(byOAuth(false)), "u created", "u", "u", "user.created u, account.linked u", "",
		},
		"another user's account": {
			newTables().add("me", "", false).add("a", ada, false, account("1", "")), signedIn(byOAuth(false), same),
			"", "a", "a", "", "already associated with another user",
		},
		"own account": {
			newTables().add("me", ada, false, account("1", "")), signedIn(byOAuth(false), same), "me kept", "me", "me", "", "",
		},
		"a second account": {
			newTables().add("me", "", true), signedIn(byOAuth(false), same), "me kept", "me", "", "account.linked me", "",
		},
		"one account too many": {
			newTables().add("me", "", true, many...), signedIn(byOAuth(false), same), "", "", "", "",
			"the user has 100 linked accounts",
		},
		"the first passkey of a user with many accounts": {
			newTables().add("me", "", true, many...), signedIn(byPasskey(""), same), "me kept", "", "",
			"account.linked me, passkey.added me", "",
		},
		"one passkey too many": {
			newTables().add("me", "", true, keys...), signedIn(byPasskey(""), same), "", "", "", "", "the user has 100 passkeys",
		},
		"another session": {
			newTables().add("me", "", true), signedIn(elsewhere(byOAuth(false)), same), "", "", "", "",
			"started under another session",
		},
		"an outdated session": {
			newTables().add("me", "", true), signedIn(byOAuth(false), func(c *accounts.Current) { c.Outdated = true }),
			"", "", "", "", "older than the verification",
		},
		"a stale session": {
			newTables().add("me", "", true),
			signedIn(byOAuth(false), func(c *accounts.Current) { c.AuthTime = now.Add(-2 * time.Hour) }),
			"", "", "", "", "too long ago",
		},
		"address not vouched for": {
			newTables().add("a", ada, true), byOAuth(false), "", "", "a", "", "already has this email address",
		},
		"verified address": {newTables().add("a", ada, true), byOAuth(true), "a", "a", "a", "account.linked a", ""},
		"unverified address, no methods": {
			newTables().add("a", ada, false), byOAuth(true), "a", "a", "a verified",
			"email.proved a, sessions.ended a, account.linked a", "",
		},
		"unverified address, vouched methods": {
			newTables().add("a", ada, false, account("2", ada)), byOAuth(true), "a", "a", "a verified",
			"email.proved a, account.linked a", "",
		},
		"unverified address, another method": {
			newTables().add("a", ada, false, account("2", "eve@example.com")), byOAuth(true), "new-2 created", "new-2",
			"new-2 verified", "email.changed a, user.created new-2, account.linked new-2", "",
		},
		"a lost account record": {
			newTables().add("a", ada, true, account("1", "")), byOAuth(false), "a", "a", "a", "", "",
		},
		"a link":                    {newTables(), byLink(), "u created", "", "u verified", "user.created u", ""},
		"a link of a verified user": {newTables().add("a", ada, true), byLink(), "a", "", "a", "email.proved a", ""},
		"a link of an unverified user": {
			newTables().add("a", ada, false, account("2", "")), byLink(), "new-2 created", "", "new-2 verified",
			"email.changed a, user.created new-2", "",
		},
		"a link of an unverified user, vouched methods": {
			newTables().add("a", ada, false, account("2", ada)), byLink(), "a", "", "a verified", "email.proved a", "",
		},
		"a link under another session": {
			newTables().add("a", ada, true).add("me", "", true), signedIn(byLink(), same), "a", "", "a",
			"session.ended me, email.proved a", "",
		},
		"a link under the user's session": {
			newTables().add("me", ada, true), signedIn(byLink(), same), "me", "", "me", "email.proved me", "",
		},
		"a passkey": {
			newTables(), byPasskey(ada), "new-2 created", "", "",
			"user.created new-2, account.linked new-2, passkey.added new-2", "",
		},
		"a passkey without an address": {
			newTables(), byPasskey(""), "new-2 created", "", "",
			"user.created new-2, account.linked new-2, passkey.added new-2", "",
		},
		"a passkey with the address of a user": {
			newTables().add("a", ada, true), byPasskey(ada), "", "", "a", "", "already has this email address",
		},
		"a passkey of a signed-in user, whose label is taken": {
			newTables().add("me", "", true).add("a", "", true, typed), signedIn(byPasskey(ada), same), "me kept", "", "",
			"account.linked me, passkey.added me", "",
		},
		"a registered passkey": {
			newTables().add("a", "", true, store.Account{
				Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "key",
			}), byPasskey(ada), "", "", "", "", "already registered",
		},
		"a taken passkey": {
			newTables().add("a", "", true, typed), byPasskey(ada), "", "", "", "",
			"already registered",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.store.sessions["here"], row.store.sessions["there"] = "me", "a"
			e := &effects{}
			l := newLinker(&transactor{row.store, true})
			l.FreshLinks, l.StoredSessions = time.Hour, true
			m, err := e.link(t.Context(), l, row.in)
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Fatal(err)
			}
			who := ""
			if err == nil {
				who = m.User.ID + map[bool]string{true: " created"}[m.Created] + map[bool]string{true: " kept"}[m.KeepsSession]
			}
			address := ""
			for id, u := range row.store.users {
				if u.Email == ada {
					address = id + map[bool]string{true: " verified"}[u.EmailVerified.Equal(now)]
				}
			}
			owner := row.store.accounts["op/1"].UserID
			if who != row.who || owner != row.account || address != row.address || strings.Join(e.done, ", ") != row.done {
				t.Errorf("%q, account of %q, address of %q, reported %q", who, owner, address, e.done)
			}
			if owner != "" && err == nil && row.in.OAuth && row.store.accounts["op/1"].AccessToken != "fresh" {
				t.Error("the tokens are not stored")
			}
			ended := name == "a link under another session"
			if _, there := row.store.sessions["here"]; there == ended {
				t.Error("session of the request:", there)
			}
			if _, there := row.store.sessions["there"]; there == (name == "unverified address, no methods") {
				t.Error("earlier session:", there)
			}
			if passkey := row.in.Passkey; passkey != nil && err == nil {
				if kept := row.store.passkeys["key"]; kept.UserID != m.User.ID || len(e.added) != 1 && len(e.added) != 2 {
					t.Error("passkey of", kept.UserID, e.added)
				}
				named := row.store.accounts["passkey/"+ada]
				if (named.UserID == m.User.ID) != (m.Created && row.in.Typed != "") || row.store.accounts["passkey/"].UserID != "" {
					t.Error("the typed address finds", named.UserID)
				}
			}
		})
	}
}

var errFault = errors.New("fault")

// TestUndo checks that a user whose account could not be linked is deleted, without transactions.
func TestUndo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		fails, done string
	}{
		{"link", "user.created u, user.deleted u"},
		{"delete user", "user.created u, user.deleted u"},
		{"create user", ""},
	} {
		s, e := newTables(), &effects{}
		s.hook = func(operation string) error {
			if operation == row.fails || operation == "link" {
				return errFault
			}
			return nil
		}
		_, err := e.link(t.Context(), newLinker(s), byOAuth(false))
		if !errors.Is(err, errFault) || len(s.users) != 0 || strings.Join(e.done, ", ") != row.done {
			t.Errorf("%s: %v, %v, %q", row.fails, err, s.users, e.done)
		}
		if (row.fails == "delete user") != (e.last.Err != nil) {
			t.Errorf("%s: %v", row.fails, e.last.Err)
		}
	}
}

// TestUndoLimits checks that a user is deleted after the client has disconnected, and stays if the store cannot delete.
func TestUndoLimits(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		hide func(s *tables) store.Store
		left int
	}{
		"disconnected":  {func(s *tables) store.Store { return s }, 0},
		"cannot delete": {func(s *tables) store.Store { return listless{s} }, 1},
	} {
		s := newTables()
		ctx, cancel := context.WithCancel(t.Context())
		s.hook = func(operation string) error {
			if operation == "link" {
				cancel()
				return errFault
			}
			return nil
		}
		if _, err := (&effects{}).link(ctx, newLinker(row.hide(s)), byOAuth(false)); !errors.Is(err, errFault) ||
			len(s.users) != row.left {
			t.Errorf("%s: %v, %v", name, err, s.users)
		}
	}
}

// TestRefusal checks which user a refusal names, for the audit event, and that zero does not limit the age of sessions.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		s := newTables().add("me", "", true).add("a", "a@example.com", true, account("2", ""))
		in := byOAuth(false)
		in.Current = current("me")
		in.Current.AuthTime = time.Time{}
		l := newLinker(s)
		if stale {
			l.FreshLinks = time.Hour
		}
		_, err := (&effects{}).link(t.Context(), l, in)
		if r, is := errors.AsType[refused](err); is != stale || r.UserID != "" || !is && err != nil {
			t.Error("a new account of a user with a stale session:", stale, err)
		}
		in.Account.ProviderAccountID = "2"
		_, err = (&effects{}).link(t.Context(), l, in)
		if r, is := errors.AsType[refused](err); !is || r.UserID != "a" {
			t.Error("another user's account:", err)
		}
	}
}

// TestReportsFollowTheCommit checks that nothing is reported of a transaction that is not committed.
func TestReportsFollowTheCommit(t *testing.T) {
	t.Parallel()
	s, e := newTables(), &effects{}
	s.hook = func(operation string) error {
		if operation == "commit" {
			return errFault
		}
		return nil
	}
	_, err := e.link(t.Context(), newLinker(&transactor{s, false}), byOAuth(false))
	if !errors.Is(err, errFault) || len(e.done) > 0 || len(s.users) > 0 {
		t.Error(err, e.done, s.users)
	}
	if len(e.announced) > 0 {
		t.Error("announced outside of the transaction, because it has no records:", e.announced)
	}
	e = &effects{failed: errFault}
	if _, err := e.link(t.Context(), newLinker(newTables()), byOAuth(false)); !errors.Is(err, errFault) ||
		!slices.Equal(e.announced, []string{"user.created"}) {
		t.Error("an announcement that fails does not prevent the change", err, e.announced)
	}
}

// TestLostRace checks that a sign-in succeeds if a concurrent one creates its user or links its account first.
func TestLostRace(t *testing.T) {
	t.Parallel()
	first := func(s *tables) { s.add("a", ada, false, account("1", "")) }
	another := func(s *tables) { s.add("a", ada, false, account("2", "")) }
	for name, row := range map[string]struct {
		when string
		nth  int // call of when
		then func(s *tables)
		want string // ID of the user, or "" for a refusal
	}{
		"user created first":            {"create user", 1, first, "a"},
		"account linked in between":     {"user by email", 1, first, "a"},
		"account linked meanwhile":      {"accounts", 1, first, "a"},
		"account linked before we wait": {"accounts", 2, first, "a"},
		"account linked while we wait":  {"accounts", 3, first, "a"},
		"another account":               {"user by email", 1, another, ""},
		"another account while we wait": {"accounts", 3, another, ""},
	} {
		s := newTables()
		if row.when == "accounts" {
			s.add("a", ada, false)
		}
		calls := 0
		s.hook = func(operation string) error {
			if operation != row.when {
				return nil
			}
			if calls++; calls == row.nth {
				row.then(s)
			}
			return nil
		}
		m, err := (&effects{}).link(t.Context(), newLinker(s), byOAuth(false))
		switch {
		case row.want == "" && (!errors.As(err, &refused{}) || row.when == "accounts" && calls != row.nth):
			t.Errorf("%s: %v, %d calls", name, err, calls)
		case row.want != "" && (err != nil || m.User.ID != row.want || m.Created):
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// TestWaits checks the cases in which a refused sign-in waits for a concurrent one.
func TestWaits(t *testing.T) {
	t.Parallel()
	lists := func(s *tables) (n int) {
		for _, operation := range s.log {
			n += map[bool]int{true: 1}[operation == "accounts"]
		}
		return n
	}
	verified := newTables().add("a", ada, true)
	if _, err := (&effects{}).link(t.Context(), newLinker(verified), byOAuth(false)); err == nil || lists(verified) != 2 {
		t.Error("waits for a verified user", err, lists(verified))
	}
	within := newTables().add("a", ada, false)
	if _, err := (&effects{}).link(t.Context(), newLinker(&transactor{within, false}), byOAuth(false)); err == nil ||
		lists(within) != 2 {
		t.Error("waits although there are transactions", err, lists(within))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	canceled := newTables().add("a", ada, false)
	if _, err := (&effects{}).link(ctx, newLinker(canceled), byOAuth(false)); err == nil || lists(canceled) != 2 {
		t.Error("waits for a client that is gone", err, lists(canceled))
	}
	failing := newTables().add("a", ada, false)
	failing.hook = func(operation string) error {
		if operation == "accounts" && lists(failing) == 2 {
			return errFault
		}
		return nil
	}
	if _, err := (&effects{}).link(t.Context(), newLinker(failing), byOAuth(false)); !errors.As(err, &refused{}) ||
		lists(failing) != 2 {
		t.Error("waits for a store that fails", err, lists(failing))
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		unlisted := newTables().add("a", ada, false)
		if _, err := (&effects{}).link(t.Context(), newLinker(listless{unlisted}), byOAuth(false)); err == nil {
			t.Error("signed in by an unverified address")
		}
		if _, err := (&effects{}).link(t.Context(), newLinker(unlisted), byPasskey(ada)); err == nil {
			t.Error("a passkey with the address of a user")
		}
		if waited := time.Since(start); waited > 0 {
			t.Error("waits for an account that it cannot see, or for a passkey:", waited)
		}
	})
}

// TestMethodLinkedDuringVerification checks an account that an attacker links while the owner verifies the address.
func TestMethodLinkedDuringVerification(t *testing.T) {
	t.Parallel()
	s := newTables().add("a", ada, false)
	s.hook = func(operation string) error {
		if operation == "commit" && len(s.accounts) == 0 {
			s.add("a", ada, false, account("evil", ""))
			s.hook = nil
		}
		return nil
	}
	m, err := (&effects{}).link(t.Context(), newLinker(&transactor{s, false}), byLink())
	if err != nil || m.User.ID != "new-1" || s.users["a"].Email != "" {
		t.Error("the verified user has the attacker's account", m.User, err)
	}

	// The attacker's own request runs second.
	s, e := newTables().add("me", ada, false), &effects{}
	s.hook = func(operation string) error {
		if operation == "commit" {
			s.users["me"] = store.User{ID: "me", Email: ada, EmailVerified: now}
		}
		return nil
	}
	in := byOAuth(false)
	in.Current = current("me")
	in.Current.User = &store.User{ID: "me", Email: ada}
	if _, err := e.link(t.Context(), newLinker(&transactor{s, false}), in); !errors.As(err, &refused{}) ||
		len(s.accounts) != 0 || e.last.Event.Name != audit.AccountUnlinked {
		t.Error("the account stays linked", err, s.accounts, e.done)
	}
}

// TestVouchedByOthers checks the address of an account that a user adds: it counts as vouched for like the others.
func TestVouchedByOthers(t *testing.T) {
	t.Parallel()
	for linked, want := range map[string]string{ada: ada, "eve@example.com": ""} {
		s := newTables().add("me", ada, false, account("2", linked))
		in := byOAuth(false)
		in.Current = current("me")
		in.Current.User = &store.User{ID: "me", Email: ada}
		_, err := (&effects{}).link(t.Context(), newLinker(s), in)
		if got := s.accounts["op/1"].VerifiedEmail; err != nil || got != want {
			t.Errorf("%s: %q, %v", linked, got, err)
		}
	}
}

// TestKnownAccount checks what a further sign-in changes in a stored account.
func TestKnownAccount(t *testing.T) {
	t.Parallel()
	for _, onlyIDToken := range []bool{false, true} {
		old := account("1", ada)
		old.AccessToken = "old"
		s := newTables().add("a", ada, false, old)
		in := byOAuth(false)
		in.OnlyIDToken = onlyIDToken
		if _, err := (&effects{}).link(t.Context(), newLinker(s), in); err != nil {
			t.Fatal(err)
		}
		got := s.accounts["op/1"]
		if (got.AccessToken == "old") != onlyIDToken || got.VerifiedEmail != ada {
			t.Error("only an ID token:", onlyIDToken, got.AccessToken, got.VerifiedEmail)
		}
	}
}

// TestSessions checks when a sign-in creates a session.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := newTables().add("me", "", true, account("1", ""))
	for _, always := range []bool{false, true} {
		l := newLinker(s)
		l.NewSessions = always
		in := byOAuth(false)
		in.Current = current("me")
		in.NewSession = func(
			_ context.Context, sessions store.SessionStore, m accounts.Member,
		) (*store.Session, error) {
			if sessions == nil || m.User.ID != "me" {
				t.Error(sessions, m)
			}
			return &store.Session{Token: "new"}, nil
		}
		m, err := (&effects{}).link(t.Context(), l, in)
		if err != nil || (m.Session.Token == "new") != always || m.KeepsSession == always {
			t.Error(always, m, err)
		}
	}
}

// TestUpgrade checks a provisional user who becomes the new user.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		s, e := newTables().add("guest", "", false), &effects{}
		in := byOAuth(false)
		in.Upgrades = "guest"
		in.Upgrade = func(ctx context.Context, tx store.Store, u *store.User) (*store.User, error) {
			if gone {
				return nil, store.ErrNotFound
			}
			u = u.Clone()
			u.ID = "guest"
			return tx.UpdateUser(ctx, u)
		}
		m, err := e.link(t.Context(), newLinker(&transactor{s, true}), in)
		want, done := "guest", "guest.upgraded guest, account.linked guest"
		if gone {
			want, done = "u", "user.created u, account.linked u"
		}
		if err != nil || m.User.ID != want || m.Upgraded == gone || !m.Created || strings.Join(e.done, ", ") != done {
			t.Error(gone, m, err, e.done)
		}
		if added := e.added[len(e.added)-1]; !added.NewUser {
			t.Error("a new user is informed of their first account")
		}
	}
}

// TestVerify checks the verification of an address outside of a sign-in.
func TestVerify(t *testing.T) {
	t.Parallel()
	key := store.Account{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "evil"}
	vouchedKey := store.Account{
		Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "own", VerifiedEmail: ada,
	}
	for name, row := range map[string]struct {
		store       *tables
		removed     string
		ended       int
		err         error
		address, id string
	}{
		"no methods":      {newTables().add("a", ada, false), "", 1, nil, ada, "a"},
		"vouched":         {newTables().add("a", ada, false, account("1", ada)), "", 0, nil, ada, "a"},
		"others":          {newTables().add("a", ada, false, account("1", ""), key, vouchedKey), "1 evil", 1, nil, ada, "a"},
		"verified before": {newTables().add("a", ada, true, account("1", "")), "", 0, nil, ada, "a"},
		"another address": {newTables().add("a", "b@example.com", false), "", 0, emailproof.ErrChanged, ada, "a"},
		"no user":         {newTables(), "", 0, store.ErrNotFound, ada, "a"},
	} {
		row.store.passkeys["evil"] = store.Authenticator{CredentialID: "evil", ProviderAccountID: "evil", UserID: "a"}
		row.store.passkeys["own"] = store.Authenticator{CredentialID: "own", ProviderAccountID: "own", UserID: "a"}
		before := row.store.users["a"].EmailVerified
		l, ended := newLinker(&transactor{row.store, true}), 0
		l.EndSessions = func(context.Context, string) error { ended++; return nil }
		user, unlinked, err := l.Verify(t.Context(), row.id, row.address, &effects{})
		var removed []string
		for _, a := range unlinked {
			removed = append(removed, a.ProviderAccountID)
		}
		if !errors.Is(err, row.err) || strings.Join(removed, " ") != row.removed || ended != row.ended {
			t.Errorf("%s: %v, %v, %d", name, err, removed, ended)
		}
		if _, there := row.store.passkeys["evil"]; there == (name == "others") || len(row.store.passkeys) == 0 {
			t.Errorf("%s: %v", name, row.store.passkeys)
		}
		switch after := row.store.users["a"].EmailVerified; {
		case row.err != nil || !before.IsZero():
			if !after.Equal(before) || user != nil {
				t.Errorf("%s: %v, %v", name, after, user)
			}
		case !after.Equal(now) || user == nil:
			t.Errorf("%s: not verified", name)
		}
	}
	for _, s := range []store.Store{newTables().add("a", ada, false), listless{newTables().add("a", ada, false)}} {
		l := newLinker(s)
		l.StoredSessions, l.Open = true, false
		l.EndSessions = func(context.Context, string) error { return errFault }
		if user, _, err := l.Verify(t.Context(), "a", ada, &effects{}); err != nil || user == nil {
			t.Error("sessions that are stored end as if they were in cookies:", user, err)
		}
	}
	if _, _, err := newLinker(newTables().add("a", "", false)).Verify(t.Context(), "a", "", &effects{}); err == nil {
		t.Error("the empty address is verified")
	}
}

// TestLinkedDuringVerify checks that an account that is linked during Verify is removed too, and that an error of
// EndSessions is returned with the removed accounts.
func TestLinkedDuringVerify(t *testing.T) {
	t.Parallel()
	s := newTables().add("a", ada, false)
	s.hook = func(operation string) error {
		if operation == "commit" {
			evil := account("evil", "")
			evil.UserID = "a"
			s.accounts["op/evil"] = evil
		}
		return nil
	}
	l := newLinker(&transactor{s, false})
	l.EndSessions = func(context.Context, string) error { return errFault }
	user, unlinked, err := l.Verify(t.Context(), "a", ada, &effects{})
	if !errors.Is(err, errFault) || user == nil || len(unlinked) != 1 || len(s.accounts) != 0 {
		t.Error(user, unlinked, err, s.accounts)
	}
}

// TestUnlistedAccounts checks a store that cannot list accounts.
func TestUnlistedAccounts(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		s := newTables().add("a", ada, false)
		l := newLinker(listless{s})
		l.Open = open
		m, err := (&effects{}).link(t.Context(), l, byLink())
		if err != nil || m.Created != open {
			t.Error("accounts can sign in:", open, m.User, err)
		}
	}
	// Sessions that cannot be ended stay with the user who had the address.
	s := newTables().add("a", ada, false)
	l := newLinker(listless{s})
	l.Open, l.StoredSessions = false, true
	if m, err := (&effects{}).link(t.Context(), l, byLink()); err != nil || !m.Created {
		t.Error(m.User, err)
	}
}
