package kvtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Calls are calls of every method, by the operation that their errors name. Their arguments hold secret.
func Calls(s *keyvalue.Store, secret string) map[string]func(ctx context.Context) error {
	user := &store.User{ID: secret, Name: secret, Email: secret, Image: secret}
	account := &store.Account{UserID: secret, Provider: secret, ProviderAccountID: secret, AccessToken: store.Secret(secret), IDToken: store.Secret(secret)}
	passkey := &store.Authenticator{CredentialID: secret, UserID: secret, CredentialPublicKey: secret}
	second := func(_ any, err error) error { return err }
	return map[string]func(ctx context.Context) error{
		"create user":          func(ctx context.Context) error { return second(s.CreateUser(ctx, user)) },
		"read user":            func(ctx context.Context) error { return second(s.User(ctx, secret)) },
		"read user by e-mail":  func(ctx context.Context) error { return second(s.UserByEmail(ctx, secret)) },
		"read user by account": func(ctx context.Context) error { return second(s.UserByAccount(ctx, secret, secret)) },
		"update user":          func(ctx context.Context) error { return second(s.UpdateUser(ctx, user)) },
		"delete user":          func(ctx context.Context) error { return s.DeleteUser(ctx, secret) },
		"link account":         func(ctx context.Context) error { return s.LinkAccount(ctx, account) },
		"update account":       func(ctx context.Context) error { return s.UpdateAccount(ctx, account) },
		"unlink account":       func(ctx context.Context) error { return s.UnlinkAccount(ctx, secret, secret) },
		"read account":         func(ctx context.Context) error { return second(s.Account(ctx, secret, secret)) },
		"list accounts":        func(ctx context.Context) error { return second(s.Accounts(ctx, secret)) },
		"create session": func(ctx context.Context) error {
			return s.CreateSession(ctx, &store.Session{Token: store.Secret(secret), UserID: secret, Expires: ends})
		},
		"read session":            func(ctx context.Context) error { _, _, err := s.SessionAndUser(ctx, secret); return err },
		"extend session":          func(ctx context.Context) error { return s.UpdateSession(ctx, secret, ends) },
		"delete session":          func(ctx context.Context) error { return second(s.DeleteSession(ctx, secret)) },
		"list sessions":           func(ctx context.Context) error { return second(s.Sessions(ctx, secret)) },
		"delete sessions":         func(ctx context.Context) error { return second(s.DeleteSessions(ctx, secret)) },
		"delete expired sessions": func(ctx context.Context) error { return second(s.DeleteExpired(ctx, time.Unix(1, 0))) },
		"create verification token": func(ctx context.Context) error {
			return s.CreateVerificationToken(ctx, &store.VerificationToken{Identifier: secret, Token: secret})
		},
		"use verification token": func(ctx context.Context) error { return second(s.UseVerificationToken(ctx, secret, secret)) },
		"create authenticator":   func(ctx context.Context) error { return s.CreateAuthenticator(ctx, passkey) },
		"read authenticator":     func(ctx context.Context) error { return second(s.Authenticator(ctx, secret)) },
		"list authenticators":    func(ctx context.Context) error { return second(s.Authenticators(ctx, secret)) },
		"update authenticator":   func(ctx context.Context) error { return s.UpdateAuthenticatorCounter(ctx, secret, 1) },
		"transaction": func(ctx context.Context) error {
			return s.InTransaction(ctx, func(ctx context.Context, tx store.Store) error { return second(tx.CreateUser(ctx, user)) })
		},
	}
}

// inTrouble checks that an error is that of a store in trouble: naming the operation, no value, neither absence nor a conflict.
func inTrouble(t *testing.T, s *keyvalue.Store, operation string, err error, secret string) {
	t.Helper()
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict):
		t.Errorf("%s: error %v, want that of a store in trouble", operation, err)
	case !names(err, operation) && operation != "transaction":
		t.Errorf("%s: the error names something else: %v", operation, err)
	case strings.Contains(err.Error(), secret):
		t.Errorf("%s: the error holds a value: %v", operation, err)
	}
}

// Fails checks that every method fails as a store in trouble must. except are operations that do not fail.
func Fails(ctx context.Context, t *testing.T, s *keyvalue.Store, except ...string) {
	t.Helper()
	const secret = "5ecret-value-of-somebody"
	for operation, call := range Calls(s, secret) {
		if !slices.Contains(except, operation) {
			inTrouble(t, s, operation, call(ctx), secret)
		}
	}
}

// Outage checks what a store does while its engine cannot be reached, and that it goes on by itself afterwards. begin brings the
// trouble and end ends it; patience is how long a call may take meanwhile. What is in the store must outlive it.
func Outage(t *testing.T, s *keyvalue.Store, patience time.Duration, begin, end func()) {
	t.Helper()
	id := fmt.Sprint("u", rand.Uint64()) //nolint:gosec // a name, no secret
	_, err := s.CreateUser(t.Context(), &store.User{ID: id})
	must(t, err)
	session(t, s, id, id)
	var many sync.WaitGroup // so that a pool holds several connections that will be dead
	for range 8 {
		many.Go(func() {
			if _, _, err := s.SessionAndUser(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()

	begin()
	began := time.Now()
	for operation, call := range Calls(s, id) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		began := time.Now()
		err := call(ctx)
		cancel()
		inTrouble(t, s, operation, err, id)
		if took := time.Since(began); took > patience+2*time.Second {
			t.Errorf("%s: took %v with a context of %v", operation, took, patience)
		}
	}
	t.Logf("%d calls failed within %v", len(Calls(s, "")), time.Since(began))
	end()
	Recovers(t, s, id)
}

// Recovers waits until a store whose engine is back answers, without being opened again.
func Recovers(t *testing.T, s *keyvalue.Store, token string) {
	t.Helper()
	failed := 0
	for back := time.Now(); ; failed++ {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, _, err := s.SessionAndUser(ctx, token)
		cancel()
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
	must(t, s.DeleteUser(t.Context(), "after "+token))
}

// InFlight kills the engine while a request waits in it, which pause brings about.
func InFlight(t *testing.T, s *keyvalue.Store, pause, kill, start func()) {
	t.Helper()
	user(t, s, "waits")
	session(t, s, "waits", "waits")
	pause()
	result := make(chan error, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	go func() {
		_, _, err := s.SessionAndUser(ctx, "waits")
		result <- err
	}()
	go func() { result <- s.UpdateSession(ctx, "waits", time.Unix(3, 0)) }()
	select {
	case err := <-result:
		t.Fatalf("the request did not wait: %v", err)
	case <-time.After(300 * time.Millisecond): // the engine does not answer
	}
	kill()
	for range 2 {
		if err := <-result; err == nil || errors.Is(err, store.ErrNotFound) || !names(err, "") {
			t.Errorf("error %v", err)
		}
	}
	start()
}

// FillUp writes until the engine has no room left, and returns the ids of what it wrote.
func FillUp(t *testing.T, s *keyvalue.Store, most int) (ids []string) {
	t.Helper()
	for i := range most {
		noise := make([]byte, 256<<10)
		for j := range noise {
			noise[j] = byte('a' + rand.IntN(26)) //nolint:gosec // noise, no secret
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
		_, err = s.User(t.Context(), id)
		want(t, err, store.ErrNotFound)
		return ids
	}
	t.Fatalf("the engine took %d users", most)
	return nil
}

// TooLarge writes users of some bytes, which the engine refuses.
func TooLarge(t *testing.T, s *keyvalue.Store, size int) {
	t.Helper()
	u := user(t, s, "u1")
	session(t, s, "u1", "s1")
	large := store.Members{"x": json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}
	_, err := s.CreateUser(t.Context(), &store.User{ID: "u2", Extra: large})
	inTrouble(t, s, "create user", err, "xxxx")
	_, err = s.User(t.Context(), "u2")
	want(t, err, store.ErrNotFound)
	changed := *u
	changed.Extra = large
	_, err = s.UpdateUser(t.Context(), &changed)
	inTrouble(t, s, "update user", err, "xxxx")
	_, got, err := s.SessionAndUser(t.Context(), "s1")
	must(t, err)
	if len(got.Extra) != 0 {
		t.Error("a user who was refused is there")
	}
}

// names tells whether an error begins with an engine and an operation, or any when it is empty.
func names(err error, operation string) bool {
	engine, rest, found := strings.Cut(err.Error(), ": ")
	return found && strings.Trim(engine, "abcdefghijklmnopqrstuvwxyz") == "" && (operation == "" || strings.HasPrefix(rest, operation+": "))
}
