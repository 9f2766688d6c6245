package storetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Trouble contains checks for a store whose database fails. Its value is the prefix of the store's errors.
type Trouble string

// hidden is a value that [Trouble.Fails] searches for in errors.
const hidden = "5ecret-value-of-somebody"

// Reads returns the operations that only read. They must work while the database rejects writes.
func (name Trouble) Reads(store core.Store) (list []string) {
	for operation := range name.Calls(store, "", "") {
		if strings.HasPrefix(operation, "read ") || strings.HasPrefix(operation, "list ") {
			list = append(list, operation)
		}
	}
	return list
}

// Check checks the error of a store whose database fails: it contains the store and the operation, but no value. It is
// neither ErrNotFound nor ErrConflict, which would be wrong results.
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

// callsAtOnce is smaller than a connection pool. A call that waits in database/sql for a connection can leave a
// connection that was opened for it and never used. The MySQL driver does not check such a connection before its first
// use.
const callsAtOnce = 6

// Fails checks that every method fails correctly, each within the deadline. If deadline is negative, contexts have
// already expired. userID is the ID of a user; if it is empty, the user does not exist. except lists operations that do
// not fail. Some calls run concurrently, as in an application: all of them together must not wait longer than one
// call.
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

// Outage checks a store during a failure of its database, and that it recovers without a restart and without data loss.
// begin starts the failure and end ends it. deadline is the maximum duration of a call during the failure.
func (name Trouble) Outage(t *testing.T, store core.Store, deadline time.Duration, begin, end func()) {
	t.Helper()
	k := &kit{t, store}
	u := k.user(t.Name(), fmt.Sprintf("%x@example.com", t.Name()))
	token := "session of " + u.ID
	k.session(u, token, base)
	victim := k.user("victim "+t.Name(), "") // failed calls may be applied later, deletions too
	var many sync.WaitGroup                  // opens several connections, which will then be dead
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
	// A failed call may have been applied, or may be applied only now. It must not block later calls.
	u.Name = "afterwards"
	if _, err := store.UpdateUser(t.Context(), u); err != nil && !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
}

// Recovers waits until a store works again after its database has recovered, without being reopened, and then writes.
// token is the token of a session. It returns the session's user.
func (name Trouble) Recovers(t *testing.T, tested core.Store, token string) *core.User {
	t.Helper()
	k := &kit{t, tested}
	u := recovered(k, token)
	after := k.user("after "+token, fmt.Sprintf("after-%x@example.com", token))
	k.session(after, "after "+token, base)
	k.must(k.sessions().UpdateSession(t.Context(), "after "+token, base.Add(time.Hour)))
	k.must(k.sessions().UpdateSession(t.Context(), token, base.Add(time.Hour)))
	k.must(tested.(store.UserDeleter).DeleteUser(t.Context(), after.ID))
	return u
}

// recovered reads a session until that succeeds.
func recovered(k *kit, token string) *core.User {
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

// InFlight kills the database while it has requests in progress. hold locks the row of a user, so that the operations
// on this user wait in the database; then kill is called. A failed call must not be applied in part, and the store must
// work after start.
func (name Trouble) InFlight(
	t *testing.T, store core.Store, operations []string, hold func(userID string), kill, start func(),
) {
	t.Helper()
	k := &kit{t, store}
	u := k.user("waits", "waits@example.com")
	token := hidden + " in flight" // a failed call of another test may still create a session with the other name
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
	case <-time.After(300 * time.Millisecond): // they wait for the database
	}
	kill()
	for range operations {
		(<-results)()
	}
	start()
	k.same(name.Recovers(t, store, token), u)
}

// FillUp writes users of a given size until the database is full, and returns the IDs of the written users. The
// rejected user must not exist. On etcd it may exist, but not in part: a server that becomes full between its two
// checks applies a transaction and reports that there is no space.
func (name Trouble) FillUp(t *testing.T, store core.Store, size, most int) (ids []string) {
	t.Helper()
	for i := range most {
		noise := make([]byte, size*3/4)
		_, _ = rand.Read(noise) // cannot be compressed
		raw := []byte(`"` + base64.StdEncoding.EncodeToString(noise) + `"`)
		id := uuid(fmt.Sprint("large ", i))
		_, err := store.CreateUser(t.Context(), &core.User{ID: id, Extra: core.Members{"noise": raw}})
		if err == nil {
			ids = append(ids, id)
			continue
		}
		name.Check(t, "create user", err, string(raw[1:20]))
		t.Logf("full after %d: %.1000v", i, err)
		switch u, err := store.User(t.Context(), id); {
		case errors.Is(err, core.ErrNotFound):
		case name == "etcd" && err == nil && string(u.Extra["noise"]) == string(raw):
		default:
			t.Errorf("a user that was refused: %.1000v, %v", u, err)
		}
		return ids
	}
	t.Fatalf("the engine took %d users of %d bytes", most, size)
	return nil
}

// TooLarge writes users of a given size, which the database rejects as too large. No part of them may exist.
func (name Trouble) TooLarge(t *testing.T, store core.Store, size int) {
	t.Helper()
	k := &kit{t, store}
	u := k.user("u1", "ada@example.com")
	k.session(u, "s1", base)
	_, err := store.CreateUser(t.Context(), large("u2", size))
	name.Check(t, "create user", err, "xxxx")
	_, err = store.User(t.Context(), large("u2", 0).ID)
	k.want(err, core.ErrNotFound)
	changed := *u
	changed.Extra = large("", size).Extra
	_, err = store.UpdateUser(t.Context(), &changed)
	name.Check(t, "update user", err, "xxxx")
	_, got, err := k.sessions().SessionAndUser(t.Context(), "s1")
	k.must(err)
	k.same(got, u)
}

// large returns a user of about size bytes.
func large(id string, size int) *core.User {
	return &core.User{ID: uuid(id), Extra: core.Members{"large": json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}}
}

// patience is the maximum time that the tests wait for background work of a database.
const patience = 2 * time.Minute

// lateness starts to measure, with a heartbeat, how long a busy machine delays this process. The returned function
// stops the measurement and returns the sum of the delays.
func lateness() func() time.Duration {
	const beat = 20 * time.Millisecond
	stop, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				result <- late
				return
			case <-time.After(beat):
				late += max(time.Since(began)-beat, 0)
			}
		}
	}()
	return func() time.Duration { close(stop); return <-result }
}
