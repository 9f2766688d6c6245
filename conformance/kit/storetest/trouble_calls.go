package storetest

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Calls returns a call of every method of a store that implements all interfaces except, possibly, [store.Transactor].
// The keys are the operations in their errors. The arguments contain secret; userID is the ID of a user.
func (Trouble) Calls(tested core.Store, userID, secret string) map[string]func(ctx context.Context) error {
	calls := userCalls(tested, userID, secret)
	maps.Copy(calls, sessionCalls(tested, userID, secret))
	maps.Copy(calls, passkeyCalls(tested, userID, secret))
	maps.Copy(calls, recordCalls(tested, userID, secret))
	return calls
}

// second returns the error of a call with two results.
func second(_ any, err error) error { return err }

// calls are functions by the operation in their errors.
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
	if finder, ok := tested.(store.UserFinder); ok {
		calls["list users"] = func(ctx context.Context) error {
			_, _, err := finder.ListUsers(ctx, "", 10)
			return err
		}
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

// transaction is an operation whose errors may name an inner operation instead.
const transaction = "transaction"
