package storetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Trouble proves what a store does while its engine is in trouble. It is the name that the errors of the store begin
// with.
type Trouble string

// Calls are calls of every method of a store that implements all interfaces, [store.Transactor] or not, by the
// operation that their errors name. Their arguments hold secret; userID is that of a user.
func (Trouble) Calls(tested core.Store, userID, secret string) map[string]func(ctx context.Context) error {
	calls := userCalls(tested, userID, secret)
	maps.Copy(calls, sessionCalls(tested, userID, secret))
	maps.Copy(calls, passkeyCalls(tested, userID, secret))
	maps.Copy(calls, recordCalls(tested, userID, secret))
	return calls
}

// second is the error of a call that returns something besides.
func second(_ any, err error) error { return err }

// calls are operations by the name that their errors have.
type calls = map[string]func(ctx context.Context) error

func userCalls(tested core.Store, userID, secret string) calls {
	user := &core.User{ID: userID, Name: secret, Email: secret, Image: secret}
	account := &core.Account{
		UserID: userID, Provider: secret, ProviderAccountID: secret,
		AccessToken: core.Secret(secret), IDToken: core.Secret(secret),
	}
	accounts := tested.(store.AccountStore)
	calls := calls{
		"create user":          func(ctx context.Context) error { return second(tested.CreateUser(ctx, user)) },
		"read user":            func(ctx context.Context) error { return second(tested.User(ctx, userID)) },
		"read user by e-mail":  func(ctx context.Context) error { return second(tested.UserByEmail(ctx, secret)) },
		"read user by account": func(ctx context.Context) error { return second(tested.UserByAccount(ctx, secret, secret)) },
		"update user":          func(ctx context.Context) error { return second(tested.UpdateUser(ctx, user)) },
		"delete user":          func(ctx context.Context) error { return tested.(store.UserDeleter).DeleteUser(ctx, userID) },
		"link account":         func(ctx context.Context) error { return tested.LinkAccount(ctx, account) },
		"update account":       func(ctx context.Context) error { return accounts.UpdateAccount(ctx, account) },
		"unlink account":       func(ctx context.Context) error { return accounts.UnlinkAccount(ctx, secret, secret) },
		"read account":         func(ctx context.Context) error { return second(accounts.Account(ctx, secret, secret)) },
		"list accounts":        func(ctx context.Context) error { return second(accounts.Accounts(ctx, userID)) },
	}
	if tx, ok := tested.(store.Transactor); ok {
		calls[transaction] = func(ctx context.Context) error {
			return tx.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
				return second(tx.CreateUser(ctx, user))
			})
		}
	}
	return calls
}

func sessionCalls(tested core.Store, userID, secret string) calls {
	session := &store.Session{Token: core.Secret(secret), UserID: userID, Expires: time.Unix(1, 0)}
	sessions, lister := tested.(store.SessionStore), tested.(store.SessionLister)
	tokens := tested.(store.VerificationTokenStore)
	return calls{
		"create session": func(ctx context.Context) error { return sessions.CreateSession(ctx, session) },
		"read session": func(ctx context.Context) error {
			_, _, err := sessions.SessionAndUser(ctx, secret)
			return err
		},
		"extend session": func(ctx context.Context) error {
			return sessions.UpdateSession(ctx, secret, time.Unix(1, 0))
		},
		"delete session":  func(ctx context.Context) error { return second(sessions.DeleteSession(ctx, secret)) },
		"list sessions":   func(ctx context.Context) error { return second(lister.Sessions(ctx, userID)) },
		"delete sessions": func(ctx context.Context) error { return second(lister.DeleteSessions(ctx, userID)) },
		"delete expired sessions": func(ctx context.Context) error {
			return second(tested.(store.Cleaner).DeleteExpired(ctx, time.Unix(1, 0)))
		},
		"create verification token": func(ctx context.Context) error {
			return tokens.CreateVerificationToken(ctx, &store.VerificationToken{Identifier: secret, Token: secret})
		},
		"use verification token": func(ctx context.Context) error {
			return second(tokens.UseVerificationToken(ctx, secret, secret))
		},
	}
}

func passkeyCalls(tested core.Store, userID, secret string) calls {
	passkey := &store.Authenticator{CredentialID: secret, UserID: userID, CredentialPublicKey: secret}
	passkeys := tested.(store.AuthenticatorStore)
	return calls{
		"create authenticator": func(ctx context.Context) error { return passkeys.CreateAuthenticator(ctx, passkey) },
		"read authenticator":   func(ctx context.Context) error { return second(passkeys.Authenticator(ctx, secret)) },
		"list authenticators":  func(ctx context.Context) error { return second(passkeys.Authenticators(ctx, userID)) },
		"update authenticator": func(ctx context.Context) error {
			return passkeys.UpdateAuthenticatorCounter(ctx, secret, 1)
		},
		"delete authenticator": func(ctx context.Context) error {
			return tested.(store.AuthenticatorDeleter).DeleteAuthenticator(ctx, secret)
		},
	}
}

func recordCalls(tested core.Store, userID, secret string) calls {
	record := &store.Record{Kind: "note", Key: secret, UserID: userID, Value: fmt.Appendf(nil, "%q", secret), Version: 1}
	records := tested.(store.RecordStore)
	return calls{
		"create record":  func(ctx context.Context) error { return records.CreateRecord(ctx, record.Clone()) },
		"read record":    func(ctx context.Context) error { return second(records.Record(ctx, "note", secret)) },
		"update record":  func(ctx context.Context) error { return records.UpdateRecord(ctx, record.Clone()) },
		"delete record":  func(ctx context.Context) error { return second(records.DeleteRecord(ctx, "note", secret)) },
		"list records":   func(ctx context.Context) error { return second(records.UserRecords(ctx, userID, "")) },
		"delete records": func(ctx context.Context) error { return second(records.DeleteUserRecords(ctx, userID, "")) },
	}
}

// transaction is the operation whose errors may also name what was done in it.
const transaction = "transaction"

// Reads are the operations that only read, which an engine that takes no writes still does.
func (name Trouble) Reads(store core.Store) (list []string) {
	for operation := range name.Calls(store, "", "") {
		if strings.HasPrefix(operation, "read ") || strings.HasPrefix(operation, "list ") {
			list = append(list, operation)
		}
	}
	return list
}

// hidden is the value that [Trouble.Fails] looks for in errors.
const hidden = "5ecret-value-of-somebody"

// Check checks that an error is that of a store in trouble: it names the store and the operation, it holds none of the
// values, and it is neither absence nor a conflict, which would be wrong answers.
func (name Trouble) Check(t *testing.T, operation string, err error, values ...string) {
	t.Helper()
	begins := string(name) + ": " + operation + ": "
	if operation == transaction {
		begins = string(name) + ": "
	}
	switch {
	case err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict):
		t.Errorf("%s: error %v, want that of a store in trouble", operation, err)
	case !strings.HasPrefix(err.Error(), begins):
		t.Errorf("%s: the error names something else: %v", operation, err)
	case slices.ContainsFunc(values, func(value string) bool { return strings.Contains(err.Error(), value) }):
		t.Errorf("%s: the error holds a value: %v", operation, err)
	}
}

// callsAtOnce is less than a pool has connections. A call that waits in database/sql for a connection can leave one
// behind that was opened for it and never used, which the driver of MySQL does not look at again before its first use.
const callsAtOnce = 6

// Fails checks that every method fails as it must, each within a deadline; what passes has passed already when it is
// negative. userID is that of a user; empty: of nobody. except are operations that do not fail. Some calls are made at
// once, as those of an application with several visitors are: together they wait for an engine as long as one of them.
func (name Trouble) Fails(t *testing.T, store core.Store, userID string, deadline time.Duration, except ...string) {
	t.Helper()
	var all sync.WaitGroup
	free := make(chan struct{}, callsAtOnce)
	for operation, call := range name.Calls(store, cmp.Or(userID, hidden), hidden) {
		if slices.Contains(except, operation) {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			began := time.Now()
			late := lateness()
			err := call(ctx)
			name.Check(t, operation, err, hidden)
			if took, late := time.Since(began), late(); took-late > max(deadline, 0)+2*time.Second {
				t.Errorf("%s: took %v with a context of %v, of which a busy machine took %v", operation, took, deadline, late)
			}
		})
	}
	all.Wait()
}

// Outage checks what a store does while its engine is in trouble, and that it goes on by itself afterwards, with what
// it had. begin brings the trouble and end ends it; deadline is how long a call may take meanwhile.
func (name Trouble) Outage(t *testing.T, store core.Store, deadline time.Duration, begin, end func()) {
	t.Helper()
	k := &kit{t, store}
	u := k.user(t.Name(), fmt.Sprintf("%x@example.com", t.Name()))
	token := "session of " + u.ID
	k.session(u, token, base)
	victim := k.user("victim "+t.Name(), "") // calls that fail may be carried out later, deletions too
	var many sync.WaitGroup                  // so that there are several connections that will be dead
	for range 8 {
		many.Go(func() {
			if _, _, err := k.sessions().SessionAndUser(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()

	begin()
	name.Fails(t, store, victim.ID, deadline)
	end()

	k.same(name.Recovers(t, store, token), u)
	// What failed may have been done, or be done only now: nothing of it may stand in the way.
	u.Name = "afterwards"
	if _, err := store.UpdateUser(t.Context(), u); err != nil && !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
}

// Recovers waits until a store whose engine is back answers, without being opened again, and writes then. token is that
// of a session, whose user it returns.
func (name Trouble) Recovers(t *testing.T, tested core.Store, token string) *core.User {
	t.Helper()
	k := &kit{t, tested}
	u := k.recovered(token)
	after := k.user("after "+token, fmt.Sprintf("after-%x@example.com", token))
	k.session(after, "after "+token, base)
	k.must(k.sessions().UpdateSession(t.Context(), "after "+token, base.Add(time.Hour)))
	k.must(k.sessions().UpdateSession(t.Context(), token, base.Add(time.Hour)))
	k.must(tested.(store.UserDeleter).DeleteUser(t.Context(), after.ID))
	return u
}

// recovered asks for a session until there is an answer.
func (k *kit) recovered(token string) *core.User {
	k.Helper()
	failed := 0
	for back := time.Now(); ; failed++ {
		ctx, cancel := context.WithTimeout(k.Context(), 5*time.Second)
		_, u, err := k.sessions().SessionAndUser(ctx, token)
		cancel()
		if err == nil {
			k.Logf("answered again after %d failures", failed)
			return u
		}
		if errors.Is(err, core.ErrNotFound) || time.Since(back) > patience {
			k.Fatalf("the store did not recover: %v", err)
		}
	}
}

// InFlight kills the engine while requests wait in it: calls of some operations on a user whom hold makes wait. What
// fails then has not been done in part, and the store goes on when the engine has started again.
func (name Trouble) InFlight(
	t *testing.T, store core.Store, operations []string, hold func(userID string), kill, start func(),
) {
	t.Helper()
	k := &kit{t, store}
	u := k.user("waits", "waits@example.com")
	token := hidden + " in flight" // a call of another test that failed may still begin a session by the other name
	k.session(u, token, base)
	calls := name.Calls(store, u.ID, token)
	hold(u.ID)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	results := make(chan func(), len(operations))
	for _, operation := range operations {
		go func() {
			err := calls[operation](ctx)
			results <- func() { name.Check(t, operation, err, hidden) }
		}()
	}
	select {
	case check := <-results:
		check()
		t.Fatal("a request did not wait")
	case <-time.After(300 * time.Millisecond): // they wait for an engine that gives no answer
	}
	kill()
	for range operations {
		(<-results)()
	}
	start()
	k.same(name.Recovers(t, store, token), u)
}

// FillUp writes users of some bytes until the engine has no room left, and returns the ids of what it wrote. The one
// that is refused is not there in part.
func (name Trouble) FillUp(t *testing.T, store core.Store, size, most int) (ids []string) {
	t.Helper()
	for i := range most {
		noise := make([]byte, size*3/4)
		_, _ = rand.Read(noise) // no engine can compress it
		raw := []byte(`"` + base64.StdEncoding.EncodeToString(noise) + `"`)
		id := uuid(fmt.Sprint("large ", i))
		_, err := store.CreateUser(t.Context(), &core.User{ID: id, Extra: core.Members{"noise": raw}})
		if err == nil {
			ids = append(ids, id)
			continue
		}
		name.Check(t, "create user", err, string(raw[1:20]))
		t.Logf("full after %d: %.1000v", i, err)
		if _, err := store.User(t.Context(), id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a user that was refused: %v", err)
		}
		return ids
	}
	t.Fatalf("the engine took %d users of %d bytes", most, size)
	return nil
}

// TooLarge writes users of some bytes, whom the engine refuses for their size: they are not there in part.
func (name Trouble) TooLarge(t *testing.T, store core.Store, size int) {
	t.Helper()
	k := &kit{t, store}
	u := k.user("u1", "ada@example.com")
	k.session(u, "s1", base)
	_, err := store.CreateUser(t.Context(), Large("u2", size))
	name.Check(t, "create user", err, "xxxx")
	_, err = store.User(t.Context(), Large("u2", 0).ID)
	k.want(err, core.ErrNotFound)
	changed := *u
	changed.Extra = Large("", size).Extra
	_, err = store.UpdateUser(t.Context(), &changed)
	name.Check(t, "update user", err, "xxxx")
	_, got, err := k.sessions().SessionAndUser(t.Context(), "s1")
	k.must(err)
	k.same(got, u)
}

// Large is a user of some bytes.
func Large(id string, size int) *core.User {
	return &core.User{ID: uuid(id), Extra: core.Members{"large": json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}}
}
