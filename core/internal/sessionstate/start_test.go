package sessionstate_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/revocation"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// log is a store with the records of a revocation list.
type log struct {
	records []*recordstore.Record
	down    error
}

func (l *log) CreateRecord(_ context.Context, r *recordstore.Record) error {
	l.records = append(l.records, r)
	return l.down
}

func (l *log) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	for _, r := range l.records {
		if r.Kind == kind && r.Key == key {
			return r, l.down
		}
	}
	return nil, cmp.Or(l.down, recordstore.ErrNotFound)
}

func (l *log) UpdateRecord(context.Context, *recordstore.Record) error { return l.down }

func (l *log) DeleteRecord(context.Context, string, string) (*recordstore.Record, error) {
	return nil, recordstore.ErrNotFound
}

func (l *log) UserRecords(context.Context, string, string) ([]*recordstore.Record, error) {
	return nil, l.down
}

func (l *log) DeleteUserRecords(context.Context, string, string) (int, error) { return 0, l.down }

// revocable adds a revocation list to tokens.
func revocable(t *testing.T, j *sessionstate.Tokens) *log {
	t.Helper()
	l := &log{}
	j.Revocations = revocation.New(revocation.Options{
		Records: l, Now: j.Now, TokenAge: time.Hour, Failed: func(_ context.Context, err error) { t.Error(err) },
	})
	return l
}

// TestFirst checks the claims of a new session.
func TestFirst(t *testing.T) {
	t.Parallel()
	facts := storedtoken.Facts{AuthTime: now.Add(-time.Minute), Methods: []string{"pwd", "not a word"}, ACR: "high"}
	imitated := storedtoken.Facts{AuthTime: now, Methods: []string{}, Actor: "admin", ActorSession: "s"}
	for name, row := range map[string]struct {
		change func(j *sessionstate.Tokens, s *sessionstate.Start)
		want   string // the session ID is left out
	}{
		"plain": {func(*sessionstate.Tokens, *sessionstate.Start) {}, `{"sub":"u1"}`},
		"absolute": {
			func(j *sessionstate.Tokens, _ *sessionstate.Start) { j.Absolute = time.Hour },
			`{"auth_time":NOW,"sub":"u1"}`,
		},
		"short": {
			func(_ *sessionstate.Tokens, s *sessionstate.Start) { s.Short = true },
			`{"short_session":true,"sub":"u1"}`,
		},
		"facts": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) { j.Facts, s.Facts = true, facts },
			`{"amr":["pwd"],"auth_acr":"high","auth_time":AGO,"started_at":NOW,"sub":"u1"}`,
		},
		"impersonated": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) { j.Facts, s.Facts = true, imitated },
			`{"act":{"sub":"admin","sid":"s"},"amr":[],"auth_time":NOW,"sub":"u1"}`,
		},
		"a linked account": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) {
				j.Facts, s.Facts, s.Continues, s.Short = true, facts, true, true
				s.Before = &token.Token{}
				_ = token.SetFacts(s.Before, token.Facts{Start: now, AuthTime: now, Methods: []string{"otp"}})
			},
			`{"amr":["otp"],"auth_time":NOW,"sub":"u1"}`,
		},
		"a linked account of a short session": {
			func(_ *sessionstate.Tokens, s *sessionstate.Start) {
				s.Continues, s.Before = true, &token.Token{}
				_ = s.Before.Extra.Set(sessionstate.ShortSession, true)
			},
			`{"short_session":true,"sub":"u1"}`,
		},
		"a linked account, unreadable": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) {
				j.Facts, s.Facts, s.Continues, s.Short = true, facts, true, true
			},
			`{"amr":["pwd"],"auth_acr":"high","auth_time":AGO,"started_at":NOW,"sub":"u1"}`,
		},
		"unverified, nobody can verify": {
			func(j *sessionstate.Tokens, _ *sessionstate.Start) { j.Users = &table{} }, `{"sub":"u1"}`,
		},
		"unverified": {
			func(j *sessionstate.Tokens, _ *sessionstate.Start) { j.Users, j.Proofs = &table{}, true },
			`{"email_unproved":true,"sub":"u1"}`,
		},
		"verified": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) {
				j.Users, j.Proofs, s.User.EmailVerified = &table{}, true, now
			}, `{"sub":"u1"}`,
		},
		"the application's user": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) { j.Users, s.ByApplication = &table{}, true },
			`{"email_unproved":NOW,"sub":"u1"}`,
		},
		"the application's user, not stored": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) {
				j.Users, j.Proofs, s.ByApplication = &table{}, true, true
			}, `{"sub":"u1"}`,
		},
		"the application's user, stored": {
			func(j *sessionstate.Tokens, s *sessionstate.Start) {
				j.Proofs, s.ByApplication, s.User.EmailVerified = true, true, now
				j.Users = &table{users: map[string]*store.User{"u1": {ID: "u1"}}}
			}, `{"email_unproved":NOW,"sub":"u1"}`,
		},
	} {
		j, _ := newTokens()
		s := &sessionstate.Start{User: &store.User{ID: "u1"}, Failed: func(err error) { t.Errorf("%s: %v", name, err) }}
		row.change(j, s)
		got, err := j.First(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if j.Facts && s.Before == nil && token.SessionID(got) == "" {
			t.Errorf("%s: no session ID", name)
		}
		text := strings.NewReplacer(
			fmt.Sprint(now.Unix()), "NOW", fmt.Sprint(now.Add(-time.Minute).Unix()), "AGO",
			`"sid":`+token.Claim(got, "sid")+",", "",
		).Replace(claimsOf(t, got))
		if text != row.want {
			t.Errorf("%s: %s, want %s", name, text, row.want)
		}
	}
}

// claimsOf returns the claims of a token, sorted and without empty ones.
func claimsOf(t *testing.T, claims *token.Token) string {
	t.Helper()
	shown := token.ShowFacts(claims)
	list := []string{`"sub":"` + shown.Subject + `"`}
	for name, raw := range shown.Extra {
		list = append(list, fmt.Sprintf("%q:%s", name, raw))
	}
	slices.Sort(list)
	return "{" + strings.Join(list, ",") + "}"
}

// broken is a store whose users cannot be read.
type broken struct{ store.Store }

func (broken) User(context.Context, string) (*store.User, error) { return nil, errUnknown }

// TestFirstFails checks that a session without a known epoch does not start, and that one whose user cannot be read
// counts as unverified.
func TestFirstFails(t *testing.T) {
	t.Parallel()
	j, _ := newTokens()
	l := revocable(t, j)
	l.down, j.Facts = errUnknown, true
	s := &sessionstate.Start{User: &store.User{ID: "u1"}}
	if got, err := j.First(t.Context(), s); got != nil || !errors.Is(err, autherr.Store) || !errors.Is(err, errUnknown) {
		t.Errorf("%v, %v", got, err)
	}
	j, _ = newTokens()
	j.Users, j.Proofs, s.ByApplication = broken{}, true, true
	var failed error
	s.Failed = func(err error) { failed = err }
	got, err := j.First(t.Context(), s)
	if err != nil || !errors.Is(failed, errUnknown) || !sessionstate.IssuedUnproved(got) {
		t.Errorf("%v, %v, failed %v", got, err, failed)
	}
}

// TestProtect checks that a callback of the application cannot change or remove the claims of Latchkey.
func TestProtect(t *testing.T) {
	t.Parallel()
	before := &token.Token{Subject: "u1"}
	_ = before.Extra.Set(sessionstate.ShortSession, true)
	_ = before.Extra.Set(sessionstate.EmailUnproved, 7)
	_ = token.SetFacts(before, token.Facts{SID: "id", Start: now, AuthTime: now, Methods: []string{"pwd"}})
	changed := &token.Token{Subject: "u1"}
	_ = changed.Extra.Set("amr", []string{"mfa"})
	_ = changed.Extra.Set(sessionstate.ShortSession, false)
	for name, after := range map[string]*token.Token{"a new token": {Subject: "u1"}, "changed claims": changed} {
		j, _ := newTokens()
		j.Facts = true
		if err := j.Protect(before, after); err != nil {
			t.Fatal(err)
		}
		if got, want := claimsOf(t, after), claimsOf(t, before); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	j, _ := newTokens()
	plain := &token.Token{Subject: "u1"}
	_ = plain.Extra.Set("amr", "own")
	if err := j.Protect(&token.Token{}, plain); err != nil || claimsOf(t, plain) != `{"amr":"own","sub":"u1"}` {
		t.Errorf("without facts: %s, %v", claimsOf(t, plain), err)
	}
}

// TestEndOfTokens checks that a session ends with all its tokens, and that its end is stored once.
func TestEndOfTokens(t *testing.T) {
	t.Parallel()
	j, _ := newTokens()
	before := &token.Token{Subject: "u1", ID: "jti"}
	if err := j.End(t.Context(), before); err != nil || j.Next(before, before) != before {
		t.Errorf("without revocation: %v", err)
	}
	l := revocable(t, j)
	next := j.Next(before, &token.Token{Subject: "u1", ID: "other"})
	if err := j.End(t.Context(), before); err != nil || !j.HasEnded(next) || !j.HasEnded(before) {
		t.Errorf("the next token is valid, %v", err)
	}
	if err := j.Check(t.Context(), next); !errors.Is(err, sessionstate.ErrEnded) {
		t.Errorf("Check of a token whose session has ended: %v", err)
	}
	written := len(l.records)
	if err := j.End(t.Context(), next); err != nil || len(l.records) != written || written == 0 {
		t.Errorf("%d records, before %d, %v", len(l.records), written, err)
	}
	named := token.WithSID(&token.Token{ID: "x"}, "own")
	if j.Next(before, named) != named {
		t.Error("a token with a session ID gets another one")
	}
	if none := (&token.Token{}); j.Next(none, none) != none {
		t.Error("a token without an ID gets a session ID")
	}
}

// TestExpired checks which expired tokens are read, and when an impersonation has ended.
func TestExpired(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	claims := &token.Token{Subject: "u1"}
	by := token.ActorClaim{Subject: "admin", SID: "s"}
	_ = token.SetFacts(claims, token.Facts{SID: "id", Start: now, AuthTime: now, Actor: by})
	value, err := j.SealSession(t.Context(), set, claims)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := j.SealSession(t.Context(), set, &token.Token{Subject: "u2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		after  time.Duration
		values []string
		want   token.ActorClaim
	}{
		{time.Hour, []string{value}, by},
		{time.Hour - time.Second, []string{value}, token.ActorClaim{}},
		{48 * time.Hour, []string{"planted", value}, by},
		{48 * time.Hour, []string{plain, value}, token.ActorClaim{}},
		{48 * time.Hour, []string{"planted"}, token.ActorClaim{}},
		{48 * time.Hour, nil, token.ActorClaim{}},
	} {
		j.Now = func() time.Time { return now.Add(row.after) }
		if got := j.ExpiredActor(set, slices.Values(row.values)); got != row.want {
			t.Errorf("after %v, %d values: %+v", row.after, len(row.values), got)
		}
	}
	if got := j.Expired(set, value); got == nil || got.Subject != "u1" {
		t.Errorf("expired: %v", got)
	}
	j.Decode = func(context.Context, string, string) (*token.Token, error) { return claims, nil }
	if got := j.Expired(set, value); got != nil {
		t.Errorf("with an own encoding: %v", got)
	}
}
