package sqltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Reads are the operations that only read, which a read-only engine still does.
func Reads() []string {
	var list []string
	for operation := range Calls(nil, "") {
		if strings.HasPrefix(operation, "read ") || strings.HasPrefix(operation, "list ") {
			list = append(list, operation)
		}
	}
	return list
}

// Outage checks what a store does while its engine cannot be reached, and that it goes on by itself afterwards. begin brings the
// trouble and end ends it; patience is how long a call may take meanwhile.
func Outage(t *testing.T, s *sqlstore.Store, patience time.Duration, begin, end func()) {
	t.Helper()
	must(t, s.Migrate(t.Context()))
	user := fmt.Sprint("u", rand.Uint64()) //nolint:gosec // a name, no secret
	_, err := s.CreateUser(t.Context(), &store.User{ID: user})
	must(t, err)
	must(t, s.CreateSession(t.Context(), &store.Session{Token: store.Secret(user), UserID: user, Expires: time.Unix(1, 0)}))
	var many sync.WaitGroup // so that the pool holds several connections that will be dead
	for range 8 {
		many.Go(func() {
			if _, _, err := s.SessionAndUser(t.Context(), user); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()

	begin()
	began := time.Now()
	for operation, call := range Calls(s, user) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		began := time.Now()
		err := call(ctx)
		cancel()
		if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: error %v, want that of a store in trouble", operation, err)
		} else if !names(err, operation) && operation != "delete user" || strings.Contains(err.Error(), user) {
			t.Errorf("%s: the error names something else: %v", operation, err)
		}
		if took := time.Since(began); took > patience+2*time.Second {
			t.Errorf("%s: took %v with a context of %v", operation, took, patience)
		}
	}
	t.Logf("%d calls failed within %v", len(Calls(nil, "")), time.Since(began))
	end()

	recovers(t, s, user)
}

// recovers waits until a store whose engine is back answers.
func recovers(t *testing.T, s *sqlstore.Store, token string) {
	t.Helper()
	failed := 0
	for back := time.Now(); ; failed++ {
		_, _, err := s.SessionAndUser(t.Context(), token)
		if err == nil {
			break
		}
		if errors.Is(err, store.ErrNotFound) || time.Since(back) > 20*time.Second {
			t.Fatalf("the store did not recover: %v", err)
		}
	}
	t.Logf("answered again after %d failures", failed)
	_, err := s.CreateUser(t.Context(), &store.User{ID: "after " + token})
	must(t, err)
	must(t, s.UpdateSession(t.Context(), token, time.Unix(2, 0)))
}

// InFlight kills the engine while a request waits in it. block makes the row of the user of that id wait until then.
func InFlight(t *testing.T, s *sqlstore.Store, block func(id string), kill, start func()) {
	t.Helper()
	must(t, s.Migrate(t.Context()))
	_, err := s.CreateUser(t.Context(), &store.User{ID: "waits", Name: "before"})
	must(t, err)
	must(t, s.CreateSession(t.Context(), &store.Session{Token: "waits", UserID: "waits", Expires: time.Unix(1, 0)}))
	block("waits")
	result := make(chan error, 1)
	go func() {
		_, err := s.UpdateUser(context.WithoutCancel(t.Context()), &store.User{ID: "waits", Name: "after"})
		result <- err
	}()
	select {
	case err := <-result:
		t.Fatalf("the request did not wait: %v", err)
	case <-time.After(300 * time.Millisecond): // it waits for a lock that nobody will give it
	}
	kill()
	if err := <-result; err == nil || !names(err, "update user") || errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	start()
	recovers(t, s, "waits")
	u, err := s.User(t.Context(), "waits")
	must(t, err)
	if u.Name != "before" {
		t.Errorf("an update that failed is there: %q", u.Name)
	}
}

// FillUp writes until the engine has no room left, and returns the ids of what it wrote.
func FillUp(t *testing.T, s *sqlstore.Store, most int) (ids []string) {
	t.Helper()
	for i := range most {
		noise := make([]byte, 1<<20)
		for j := range noise {
			noise[j] = byte('0' + rand.IntN(75)) //nolint:gosec // noise, no secret
		}
		raw, err := json.Marshal(string(noise))
		must(t, err)
		id := fmt.Sprint("large ", i)
		_, err = s.CreateUser(t.Context(), &store.User{ID: id, Extra: store.Members{"noise": raw}})
		if err == nil {
			ids = append(ids, id)
			continue
		}
		if !names(err, "create user") || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) || len(err.Error()) > 1000 {
			t.Errorf("error %.1000v", err)
		}
		t.Logf("full after %d: %v", i, err)
		if _, err := s.User(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a user that was refused: %v", err)
		}
		return ids
	}
	t.Fatalf("the engine took %d MB", most)
	return nil
}

// Large is a user of a megabyte.
func Large(id string) *store.User {
	return &store.User{ID: id, Extra: store.Members{"large": json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}}
}
