package kvtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Costs checks that reading a session with its user is one request, even the first time, and that extending it is one
// request. requests returns the number of requests so far.
func Costs(t *testing.T, s Store, requests func() int) {
	t.Helper()
	const n = 20
	for i := range n {
		id := fmt.Sprint("u", i)
		user(t, s, id)
		session(t, s, id, id)
	}
	u, err := s.User(t.Context(), "u0")
	must(t, err)
	_, err = s.UpdateUser(t.Context(), u)
	must(t, err)
	for what, call := range map[string]func(token string) error{
		"read":   func(token string) error { _, _, err := s.SessionAndUser(t.Context(), token); return err },
		"extend": func(token string) error { return s.UpdateSession(t.Context(), token, ends.Add(time.Minute)) },
	} {
		before := requests()
		for i := range n {
			must(t, call(fmt.Sprint("u", i)))
		}
		if got := requests() - before; got != n {
			t.Errorf("%s: %d requests for %d sessions", what, got, n)
		}
	}
}

// Fill creates n sessions. Each user has ten.
func Fill(b testing.TB, s Store, n int) {
	b.Helper()
	for first := 0; first < n; first += 10 {
		must(b, s.InTransaction(b.Context(), func(ctx context.Context, tx store.Store) error {
			user := fmt.Sprint("u", first/10)
			u := &store.User{ID: user, Email: user + "@example.com", Name: "Name of " + user}
			if _, err := tx.CreateUser(ctx, u); err != nil {
				return err
			}
			if err := tx.LinkAccount(ctx, &store.Account{UserID: user, Provider: "p", ProviderAccountID: user}); err != nil {
				return err
			}
			for i := first; i < min(first+10, n); i++ {
				at := time.UnixMilli(1893553445678).Add(time.Duration(i) * time.Second)
				session := &store.Session{Token: store.Secret(fmt.Sprint("s", i)), UserID: user, Expires: at}
				if err := tx.(store.SessionStore).CreateSession(ctx, session); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// Bench measures the calls of every request, with two database sizes.
func Bench(b *testing.B, open func(b *testing.B) Store) {
	b.Helper()
	for _, n := range []int{1e3, 1e5} {
		s := open(b)
		Fill(b, s, n)
		token := fmt.Sprint("s", n/2)
		b.Run(fmt.Sprintf("%d sessions/read", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/extend", n), func(b *testing.B) {
			b.ReportAllocs()
			at := time.UnixMilli(1893553445678)
			for b.Loop() {
				at = at.Add(time.Millisecond)
				if err := s.UpdateSession(b.Context(), token, at); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/read in parallel", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := s.SessionAndUser(b.Context(), token); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// Kinds returns the kinds of keys that a store writes, for a comparison with its README. keys returns all keys without
// their prefix.
func Kinds(t *testing.T, s Store, keys func() []string) []string {
	t.Helper()
	must(t, s.CreateVerificationToken(t.Context(), &store.VerificationToken{Identifier: "a", Token: "t", Expires: ends}))
	user(t, s, "u1")
	session(t, s, "u1", "s1")
	must(t, s.LinkAccount(t.Context(), &store.Account{UserID: "u1", Provider: "p", ProviderAccountID: "1"}))
	must(t, s.CreateAuthenticator(t.Context(), &store.Authenticator{UserID: "u1", CredentialID: "c"}))
	record(t, s, "u1", "r")
	var kinds []string
	for _, key := range keys() {
		kind, rest, _ := strings.Cut(key, "/")
		if kind == "set" {
			set, _, _ := strings.Cut(rest, "/")
			kind += "/" + set
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) != 16 {
		t.Errorf("%d kinds of keys: %v", len(kinds), kinds)
	}
	return kinds
}
