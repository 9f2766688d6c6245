package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Calls are calls of every method of a store that implements all interfaces but [core.Transactor], by the operation that their
// errors name. Their arguments hold secret; userID is that of a user.
func Calls(store core.Store, userID, secret string) map[string]func(ctx context.Context) error {
	user := &core.User{ID: userID, Name: secret, Email: secret, Image: secret}
	account := &core.Account{UserID: userID, Provider: secret, ProviderAccountID: secret, AccessToken: core.Secret(secret), IDToken: core.Secret(secret)}
	passkey := &core.Authenticator{CredentialID: secret, UserID: userID, CredentialPublicKey: secret}
	second := func(_ any, err error) error { return err }
	sessions, tokens, passkeys := store.(core.SessionStore), store.(core.VerificationTokenStore), store.(core.AuthenticatorStore)
	lister, accounts := store.(core.SessionLister), store.(core.AccountStore)
	return map[string]func(ctx context.Context) error{
		"create user":          func(ctx context.Context) error { return second(store.CreateUser(ctx, user)) },
		"read user":            func(ctx context.Context) error { return second(store.User(ctx, userID)) },
		"read user by e-mail":  func(ctx context.Context) error { return second(store.UserByEmail(ctx, secret)) },
		"read user by account": func(ctx context.Context) error { return second(store.UserByAccount(ctx, secret, secret)) },
		"update user":          func(ctx context.Context) error { return second(store.UpdateUser(ctx, user)) },
		"delete user":          func(ctx context.Context) error { return store.(core.UserDeleter).DeleteUser(ctx, userID) },
		"link account":         func(ctx context.Context) error { return store.LinkAccount(ctx, account) },
		"update account":       func(ctx context.Context) error { return accounts.UpdateAccount(ctx, account) },
		"unlink account":       func(ctx context.Context) error { return accounts.UnlinkAccount(ctx, secret, secret) },
		"read account":         func(ctx context.Context) error { return second(accounts.Account(ctx, secret, secret)) },
		"list accounts":        func(ctx context.Context) error { return second(accounts.Accounts(ctx, userID)) },
		"create session": func(ctx context.Context) error {
			return sessions.CreateSession(ctx, &core.StoredSession{Token: core.Secret(secret), UserID: userID, Expires: time.Unix(1, 0)})
		},
		"read session":    func(ctx context.Context) error { _, _, err := sessions.SessionAndUser(ctx, secret); return err },
		"extend session":  func(ctx context.Context) error { return sessions.UpdateSession(ctx, secret, time.Unix(1, 0)) },
		"delete session":  func(ctx context.Context) error { return second(sessions.DeleteSession(ctx, secret)) },
		"list sessions":   func(ctx context.Context) error { return second(lister.Sessions(ctx, userID)) },
		"delete sessions": func(ctx context.Context) error { return second(lister.DeleteSessions(ctx, userID)) },
		"delete expired sessions": func(ctx context.Context) error {
			return second(store.(core.Cleaner).DeleteExpired(ctx, time.Unix(1, 0)))
		},
		"create verification token": func(ctx context.Context) error {
			return tokens.CreateVerificationToken(ctx, &core.VerificationToken{Identifier: secret, Token: secret})
		},
		"use verification token": func(ctx context.Context) error { return second(tokens.UseVerificationToken(ctx, secret, secret)) },
		"create authenticator":   func(ctx context.Context) error { return passkeys.CreateAuthenticator(ctx, passkey) },
		"read authenticator":     func(ctx context.Context) error { return second(passkeys.Authenticator(ctx, secret)) },
		"list authenticators":    func(ctx context.Context) error { return second(passkeys.Authenticators(ctx, userID)) },
		"update authenticator":   func(ctx context.Context) error { return passkeys.UpdateAuthenticatorCounter(ctx, secret, 1) },
	}
}

// Fails checks that every method fails as a store that is in trouble must, each within a deadline: naming the store and the operation,
// no value, and neither absence nor a conflict, which would be wrong answers. except are operations that do not fail.
func Fails(t *testing.T, name string, store core.Store, userID string, deadline time.Duration, except ...string) {
	t.Helper()
	const secret = "5ecret-value-of-somebody"
	leftOut := map[string]bool{}
	for _, operation := range except {
		leftOut[operation] = true
	}
	for operation, call := range Calls(store, userID, secret) {
		if leftOut[operation] {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		began := time.Now()
		err := call(ctx)
		cancel()
		switch {
		case err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict):
			t.Errorf("%s: error %v, want that of a store in trouble", operation, err)
		case !strings.HasPrefix(err.Error(), name+": "+operation+": "):
			t.Errorf("%s: the error names something else: %v", operation, err)
		case strings.Contains(err.Error(), secret):
			t.Errorf("%s: the error holds a value: %v", operation, err)
		}
		if took := time.Since(began); took > deadline+2*time.Second {
			t.Errorf("%s: took %v with a context of %v", operation, took, deadline)
		}
	}
}

// Outage checks what a store does while its engine is in trouble, and that it goes on by itself afterwards. begin brings the trouble
// and end ends it; deadline is how long a call may take meanwhile.
func Outage(t *testing.T, name string, store core.Store, deadline time.Duration, begin, end func()) {
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
	Fails(t, name, store, victim.ID, deadline)
	end()

	failed := 0
	for back := time.Now(); ; failed++ {
		_, got, err := k.sessions().SessionAndUser(t.Context(), token)
		if err == nil {
			k.same(got, u)
			break
		}
		if errors.Is(err, core.ErrNotFound) || time.Since(back) > 20*time.Second {
			t.Fatalf("the store did not recover: %v", err)
		}
	}
	t.Logf("answered again after %d failures", failed)
	// What failed may have been done, or be done only now: nothing of it may stand in the way.
	u.Name = "afterwards"
	if _, err := store.UpdateUser(t.Context(), u); err != nil && !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
	after := k.user("after "+t.Name(), fmt.Sprintf("after-%x@example.com", t.Name()))
	k.session(after, "after "+token, base)
	k.must(k.sessions().UpdateSession(t.Context(), "after "+token, base.Add(time.Hour)))
}
