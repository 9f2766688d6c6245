package main

import (
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// memory is the store of the recordings. Its IDs are user-1, user-2, …, its lookups are exact, and every call is in the
// trace.
type memory struct {
	*calls
	userRows
	tokenRows
	passkeyRows
	start time.Time
}

func newMemory(rec *recorder, start time.Time) *memory {
	c := &calls{rec: rec}
	return &memory{
		calls: c, userRows: userRows{calls: c}, tokenRows: tokenRows{calls: c}, passkeyRows: passkeyRows{calls: c},
		start: start,
	}
}

// calls are the store's calls. failing names the methods that throw.
type calls struct {
	rec     *recorder
	failing []string
}

// call records a call. It returns an error if the method must fail.
func (m *calls) call(method string, args ...any) (done func(returned string), err error) {
	entry := object{"kind": "adapter", "method": method, "args": args}
	m.rec.add(entry)
	if slices.Contains(m.failing, method) {
		entry["threw"] = "Error"
		return nil, errStore
	}
	return func(returned string) { entry["returned"] = returned }, nil
}

var errStore = errors.New("storage failure")

// without hides the methods that a scenario's adapter omits. A Go store omits whole interfaces.
func (m *memory) without(omitted []string) core.Store {
	lacks := func(methods ...string) bool {
		return slices.ContainsFunc(methods, func(name string) bool { return slices.Contains(omitted, name) })
	}
	sessions := !lacks("createSession", "getSessionAndUser", "updateSession", "deleteSession")
	tokens := !lacks("createVerificationToken", "useVerificationToken")
	passkeys := !lacks("getAccount", "getAuthenticator", "createAuthenticator",
		"listAuthenticatorsByUserId", "updateAuthenticatorCounter")
	switch {
	case sessions && tokens && passkeys:
		return m
	case sessions && tokens:
		return struct {
			core.Store
			store.SessionStore
			store.VerificationTokenStore
			store.AccountStore
			store.SessionLister
		}{m, m, m, m, m}
	case sessions:
		return struct {
			core.Store
			store.SessionStore
			store.AccountStore
			store.SessionLister
		}{m, m, m, m}
	case tokens:
		return struct {
			core.Store
			store.VerificationTokenStore
			store.AccountStore
		}{m, m, m}
	}
	return struct {
		core.Store
		store.AccountStore
	}{m, m}
}

// rows lists a table for the comparison with finalState.
func (m *memory) rows(table string) (list []any) {
	switch table {
	case "users":
		for _, u := range m.users {
			list = append(list, plain(u))
		}
	case "accounts":
		for _, a := range m.accounts {
			list = append(list, plainAccount(a))
		}
	case "sessions":
		for _, s := range m.sessions {
			list = append(list, sessionObject(s))
		}
	case "verificationTokens":
		for _, t := range m.tokens {
			list = append(list, tokenObject(t))
		}
	case "authenticators":
		for _, a := range m.passkeys {
			list = append(list, authenticatorObject(a))
		}
	}
	return list
}

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func found[T any](done func(string), v *T) (*T, error) {
	if v == nil {
		done("null")
		return nil, core.ErrNotFound
	}
	done("object")
	c := *v
	return &c, nil
}

func find[T any](rows []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		return rows[i]
	}
	return nil
}

func sessionObject(s *store.Session) object {
	return object{"sessionToken": string(s.Token), "userId": s.UserID, "expires": iso(s.Expires)}
}

func tokenObject(t *store.VerificationToken) object {
	return object{"identifier": t.Identifier, "token": t.Token, "expires": iso(t.Expires)}
}

func authenticatorObject(a *store.Authenticator) object {
	out := object{
		"credentialID": a.CredentialID, "userId": a.UserID,
		"providerAccountId": a.ProviderAccountID, "credentialPublicKey": a.CredentialPublicKey,
		"counter": plain(a.Counter), "credentialDeviceType": a.CredentialDeviceType,
		"credentialBackedUp": a.CredentialBackedUp, "transports": nil,
	}
	if a.Transports != "" {
		out["transports"] = a.Transports
	}
	return out
}
