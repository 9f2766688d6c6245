package sessionstate_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

var (
	now        = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	errUnknown = errors.New("unknown")
	errExpired = errors.New("expired")
)

// table is a store with users and sessions.
type table struct {
	store.Store
	store.SessionStore
	users    map[string]*store.User
	sessions map[string]*store.Session
}

func (s *table) User(_ context.Context, id string) (*store.User, error) {
	if u := s.users[id]; u != nil {
		return u, nil
	}
	return nil, store.ErrNotFound
}

func (s *table) CreateSession(_ context.Context, session *store.Session) error {
	s.sessions[string(session.Token)] = session
	return nil
}

func (s *table) SessionAndUser(_ context.Context, token string) (*store.Session, *store.User, error) {
	session := s.sessions[token]
	if session == nil {
		return nil, nil, store.ErrNotFound
	}
	copied := *session
	return &copied, s.users[session.UserID], nil
}

func (s *table) UpdateSession(_ context.Context, token string, expires time.Time) error {
	s.sessions[token].Expires = expires
	return nil
}

func (s *table) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	session := s.sessions[token]
	if session == nil {
		return nil, store.ErrNotFound
	}
	delete(s.sessions, token)
	return session, nil
}

func newTokens() (*sessionstate.Tokens, *cookies.Set) {
	secrets := []string{"a-secret-of-more-than-thirty-two-bytes"}
	set := cookies.NewSets(&cookies.Config{Secrets: secrets, Fault: func(string, ...any) {}})[0]
	return &sessionstate.Tokens{
		Sealer:        cookies.Sealer{Now: func() time.Time { return now }, Rand: rand.Reader, Expired: errExpired},
		Lifetimes:     sessionstate.Lifetimes{MaxAge: 24 * time.Hour, Update: time.Hour, Impersonated: time.Hour},
		EncodedMaxAge: 24 * time.Hour,
	}, set
}

// TestTokens checks which tokens are valid, and why others are not.
func TestTokens(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for name, row := range map[string]struct {
		change func(j *sessionstate.Tokens, claims *token.Token)
		after  time.Duration // between issue and use
		want   error
	}{
		"valid":   {func(*sessionstate.Tokens, *token.Token) {}, time.Hour, nil},
		"expired": {func(*sessionstate.Tokens, *token.Token) {}, 2 * day, errExpired},
		"too old": {func(j *sessionstate.Tokens, c *token.Token) {
			j.Absolute = 12 * time.Hour
			_ = c.Extra.Set(sessionstate.AuthTime, now.Add(-12*time.Hour).Unix())
		}, 0, sessionstate.ErrTooOld},
		"young enough": {func(j *sessionstate.Tokens, c *token.Token) {
			j.Absolute = 12 * time.Hour
			_ = c.Extra.Set(sessionstate.AuthTime, now.Add(-11*time.Hour).Unix())
		}, 0, nil},
		"issued before the limit was set": {
			func(j *sessionstate.Tokens, _ *token.Token) { j.Absolute = 12 * time.Hour }, 0, nil,
		},
		"revoked by the application": {func(j *sessionstate.Tokens, _ *token.Token) {
			j.IsRevoked = func(context.Context, *token.Token) (bool, error) { return true, nil }
		}, 0, sessionstate.ErrRevoked},
		"revocation unknown": {func(j *sessionstate.Tokens, _ *token.Token) {
			j.IsRevoked = func(context.Context, *token.Token) (bool, error) { return false, errors.New("away") }
		}, 0, autherr.SessionToken},
	} {
		j, set := newTokens()
		claims := &token.Token{Subject: "u1"}
		row.change(j, claims)
		value, err := j.SealSession(t.Context(), set, claims)
		if err != nil {
			t.Fatal(err)
		}
		j.Now = func() time.Time { return now.Add(row.after) }
		got, err := j.Valid(t.Context(), set, value)
		if !errors.Is(err, row.want) || err == nil && got.Subject != "u1" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestTokenWithoutAnAge checks that a token that does not contain its start is too old for an absolute lifetime.
func TestTokenWithoutAnAge(t *testing.T) {
	t.Parallel()
	j, _ := newTokens()
	j.Absolute = time.Hour
	if err := j.Check(t.Context(), &token.Token{Subject: "u1"}); !errors.Is(err, sessionstate.ErrTooOld) {
		t.Error("the token is accepted")
	}
}

// TestLargeTokens checks that the error names the largest claim.
func TestLargeTokens(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	long := json.RawMessage(`"` + strings.Repeat("x", 1<<17) + `"`)
	claims := &token.Token{Subject: "u1", Extra: store.Members{"roles": long}}
	if _, err := j.SealSession(t.Context(), set, claims); err == nil || !strings.Contains(err.Error(), `"roles" alone`) {
		t.Error(err)
	}
}

// TestVerificationEndsSessions checks which tokens are older than the verification of the user's address.
func TestVerificationEndsSessions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		verified    time.Time // of the stored user, before the sign-in
		byApp       bool
		proofs      bool
		mark        string
		later       time.Time
		outdated    bool
		needsLookup bool
	}{
		"verified before":           {now, false, true, "", now.Add(time.Hour), false, false},
		"unverified":                {time.Time{}, false, true, "true", now.Add(time.Hour), true, false},
		"unverified, still":         {time.Time{}, false, true, "true", time.Time{}, false, false},
		"application":               {time.Time{}, true, true, "1893456000", now.Add(time.Hour), true, true},
		"application, same second":  {time.Time{}, true, true, "1893456000", now, true, true},
		"application, older proof":  {time.Time{}, true, true, "1893456000", now.Add(-time.Hour), false, true},
		"no provider can verify it": {time.Time{}, false, false, "", now, false, false},
	} {
		j, _ := newTokens()
		user := &store.User{ID: "u1", EmailVerified: row.verified}
		j.Users, j.Proofs = &table{users: map[string]*store.User{"u1": user}}, row.proofs
		claims, err := j.First(t.Context(), &sessionstate.Start{User: user, ByApplication: row.byApp})
		if err != nil {
			t.Fatal(err)
		}
		if mark := string(claims.Extra[sessionstate.EmailUnproved]); mark != row.mark {
			t.Errorf("%s: claim %q", name, mark)
		}
		user.EmailVerified = row.later
		outdated, err := j.Outdated(t.Context(), claims)
		if err != nil || outdated != row.outdated || j.CanEndOnVerification(claims) != row.needsLookup {
			t.Errorf("%s: outdated %v, lookup %v, %v", name, outdated, j.CanEndOnVerification(claims), err)
		}
		if j.KeepsUser = true; j.CanEndOnVerification(claims) != (row.mark != "") {
			t.Errorf("%s: if a plugin verifies addresses, lookup %v", name, j.CanEndOnVerification(claims))
		}
	}
}

// TestRenewal checks the age of tokens that are renewed.
func TestRenewal(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		update, short time.Duration
		age           time.Duration
		renews        bool
	}{
		"young":                  {time.Hour, 0, 59 * time.Minute, false},
		"old enough":             {time.Hour, 0, time.Hour, true},
		"always":                 {0, 0, 0, true},
		"from the future":        {time.Hour, 0, -time.Minute, true},
		"longer than its life":   {48 * time.Hour, 0, 13 * time.Hour, true},
		"a short session, young": {time.Hour, 20 * time.Minute, 9 * time.Minute, false},
		"a short session":        {time.Hour, 20 * time.Minute, 10 * time.Minute, true},
	} {
		j, _ := newTokens()
		j.Update, j.Short = row.update, row.short
		claims := &token.Token{IssuedAt: now}
		if row.short > 0 {
			_ = claims.Extra.Set(sessionstate.ShortSession, true)
		}
		if got := j.NeedsRenewal(claims, now.Add(row.age)); got != row.renews {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRows checks when a stored session ends and is extended.
func TestRows(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		absolute time.Duration
		short    bool
		actor    string
		after    time.Duration
		found    bool
		extended time.Duration // from the use to the new expiry; zero: not extended
	}{
		"new":                     {0, false, "", time.Minute, true, 0},
		"due":                     {0, false, "", 2 * time.Hour, true, 24 * time.Hour},
		"expired":                 {0, false, "", 25 * time.Hour, false, 0},
		"absolute":                {3 * time.Hour, false, "", 2 * time.Hour, true, 0},
		"after its absolute end":  {3 * time.Hour, false, "", 4 * time.Hour, false, 0},
		"extended up to it":       {25 * time.Hour, false, "", 3 * time.Hour, true, 22 * time.Hour},
		"short, due":              {0, true, "", 15 * time.Minute, true, 20 * time.Minute},
		"short, expired":          {0, true, "", 21 * time.Minute, false, 0},
		"impersonated":            {0, false, "admin", 59 * time.Minute, true, 0},
		"impersonated, too long":  {0, false, "admin", 61 * time.Minute, false, 0},
		"impersonated, and short": {0, true, "admin", 21 * time.Minute, false, 0},
	} {
		at := now
		s := &table{users: map[string]*store.User{"u1": {ID: "u1"}}, sessions: map[string]*store.Session{}}
		rows := &sessionstate.Rows{
			Lifetimes: sessionstate.Lifetimes{
				MaxAge: 24 * time.Hour, Short: 20 * time.Minute, Update: time.Hour, Absolute: row.absolute, Impersonated: time.Hour,
			},
			Store: s, Now: func() time.Time { return at }, Rand: rand.Reader, HashTokens: true, Facts: true,
		}
		facts := storedtoken.Facts{AuthTime: now, Actor: row.actor, ActorSession: "s"}
		made, err := rows.Create(t.Context(), s, "u1", row.short, facts)
		if err != nil {
			t.Fatal(err)
		}
		if _, plain := s.sessions[string(made.Token)]; plain {
			t.Errorf("%s: the store has the token", name)
		}
		at = now.Add(row.after)
		found, err := rows.Find(t.Context(), string(made.Token))
		if row.found != (err == nil) || err != nil && (!errors.Is(err, store.ErrNotFound) || len(s.sessions) > 0) {
			t.Errorf("%s: %v, %d rows", name, err, len(s.sessions))
			continue
		}
		if err != nil || row.actor != "" { // core does not extend an impersonated session
			continue
		}
		extended, err := rows.Extend(t.Context(), found.Session)
		if err != nil || extended != (row.extended > 0) || extended && !found.Session.Expires.Equal(at.Add(row.extended)) {
			t.Errorf("%s: extended %v to %v, %v", name, extended, found.Session.Expires.Sub(at), err)
		}
	}
}

// TestLimitsOfOldRows checks that the limits also apply to rows that another configuration stored for longer.
func TestLimitsOfOldRows(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		actor string
		after time.Duration
		found bool
	}{
		"just before the absolute end": {"", 3*time.Hour - time.Second, true},
		"after the absolute end":       {"", 3*time.Hour + time.Second, false},
		"an impersonation":             {"admin", time.Hour - time.Second, true},
		"an expired impersonation":     {"admin", time.Hour + time.Second, false},
	} {
		at := now
		s := &table{users: map[string]*store.User{"u1": {ID: "u1"}}, sessions: map[string]*store.Session{}}
		rows := &sessionstate.Rows{
			Lifetimes: sessionstate.Lifetimes{MaxAge: 24 * time.Hour, Absolute: 3 * time.Hour, Impersonated: time.Hour},
			Store:     s, Now: func() time.Time { return at }, Rand: rand.Reader, Facts: true,
		}
		facts := storedtoken.Facts{AuthTime: now, Actor: row.actor, ActorSession: "s"}
		made, err := rows.Create(t.Context(), s, "u1", false, facts)
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range s.sessions {
			session.Expires = now.Add(1000 * time.Hour)
		}
		at = now.Add(row.after)
		if _, err := rows.Find(t.Context(), string(made.Token)); row.found != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEnds checks when a session that is used now expires, and that an expired impersonation is refused.
func TestEnds(t *testing.T) {
	t.Parallel()
	by := token.ActorClaim{Subject: "admin", SID: "s"}
	for name, row := range map[string]struct {
		absolute time.Duration
		actor    token.ActorClaim
		age      time.Duration
		ends     time.Duration // from now
		want     error
	}{
		"no limit":                 {0, token.ActorClaim{}, 2 * time.Hour, 24 * time.Hour, nil},
		"near its absolute end":    {25 * time.Hour, token.ActorClaim{}, 2 * time.Hour, 23 * time.Hour, nil},
		"far from it":              {99 * time.Hour, token.ActorClaim{}, 2 * time.Hour, 24 * time.Hour, nil},
		"an impersonation":         {0, by, 59 * time.Minute, time.Minute, nil},
		"an expired impersonation": {0, by, time.Hour, 0, sessionstate.ErrTooOld},
	} {
		j, _ := newTokens()
		j.Absolute = row.absolute
		claims := &token.Token{Subject: "u1"}
		facts := token.Facts{SID: "id", Start: now.Add(-row.age), AuthTime: now, Actor: row.actor}
		if err := token.SetFacts(claims, facts); err != nil {
			t.Fatal(err)
		}
		ends, err := j.Ends(claims, now).Sub(now), j.Check(t.Context(), claims)
		if ends != row.ends || !errors.Is(err, row.want) {
			t.Errorf("%s: expires in %v, %v", name, ends, err)
		}
	}
}

// TestChoose checks that the first valid token is chosen.
func TestChoose(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	revoked, away := "", ""
	j.IsRevoked = func(_ context.Context, claims *token.Token) (bool, error) {
		if claims.Subject == away {
			return false, errors.New("away")
		}
		return claims.Subject == revoked, nil
	}
	var values []string
	for _, user := range []string{"u1", "u2"} {
		value, err := j.SealSession(t.Context(), set, &token.Token{Subject: user})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, "planted", value)
	}
	for _, row := range []struct {
		revoked, away, user string
		want                error
	}{{"", "", "u1", nil}, {"u1", "", "u2", nil}, {"u2", "u1", "", autherr.SessionToken}} {
		revoked, away = row.revoked, row.away
		value, claims, err := j.Choose(t.Context(), set, slices.Values(values))
		if !errors.Is(err, row.want) || err == nil && (claims.Subject != row.user || value == "planted") {
			t.Errorf("%+v: %.10s, %v, %v", row, value, claims, err)
		}
		if read, err := j.Read(t.Context(), set, slices.Values(values)); err != nil || read.Subject != "u1" {
			t.Errorf("read %v, %v", read, err)
		}
	}
	if _, claims, err := j.Choose(t.Context(), set, slices.Values(values[:1])); claims != nil || err != nil {
		t.Errorf("without a session: %v, %v", claims, err)
	}
	if claims, err := j.Read(t.Context(), set, slices.Values(values[:1])); claims != nil || err == nil {
		t.Errorf("without a token: %v, %v", claims, err)
	}
}

// TestUnknownTokens checks that the search for a token reports that the application's decoding has failed.
func TestUnknownTokens(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	j.Decode = func(_ context.Context, value, _ string) (*token.Token, error) {
		if value == "b" {
			panic("x")
		}
		return nil, nil
	}
	if _, err := j.Read(t.Context(), set, slices.Values([]string{"a", "b", "c"})); !errors.Is(err, autherr.SessionToken) {
		t.Errorf("Read: %v", err)
	}
}

// TestSeveralRows checks that the first session that exists is chosen, and that all end.
func TestSeveralRows(t *testing.T) {
	t.Parallel()
	s := &table{users: map[string]*store.User{"u1": {ID: "u1"}}, sessions: map[string]*store.Session{
		"a": {Token: "a", UserID: "u1", Expires: now.Add(time.Hour)},
		"b": {Token: "b", UserID: "u1", Expires: now.Add(time.Hour)},
	}}
	rows := &sessionstate.Rows{Store: s, Now: func() time.Time { return now }}
	tokens := []string{"planted", "b", "a"}
	value, found, err := rows.Choose(t.Context(), tokens)
	if value != "b" || found == nil || found.User.ID != "u1" || err != nil {
		t.Errorf("chosen %q, %v, %v", value, found, err)
	}
	first, id, err := rows.DeleteAll(t.Context(), tokens)
	if first == nil || first.Token != "b" || id != rows.PublicID("b") || err != nil || len(s.sessions) > 0 {
		t.Errorf("deleted %v, %q, %v, left %v", first, id, err, s.sessions)
	}
	if value, found, err := rows.Choose(t.Context(), tokens); value != "" || found != nil || err != nil {
		t.Errorf("chosen %q, %v, %v", value, found, err)
	}
	if first, id, err := rows.DeleteAll(t.Context(), tokens); first != nil || id != "" || err != nil {
		t.Errorf("deleted %v, %q, %v", first, id, err)
	}
	s.sessions, rows.Store = nil, brokenRows{}
	if _, _, err := rows.Choose(t.Context(), tokens); !errors.Is(err, errUnknown) {
		t.Errorf("Choose: %v", err)
	}
	if _, _, err := rows.DeleteAll(t.Context(), tokens); !errors.Is(err, errUnknown) {
		t.Errorf("DeleteAll: %v", err)
	}
}

// brokenRows is a store of sessions that is down.
type brokenRows struct{ store.SessionStore }

func (brokenRows) SessionAndUser(context.Context, string) (*store.Session, *store.User, error) {
	return nil, nil, errUnknown
}

func (brokenRows) DeleteSession(context.Context, string) (*store.Session, error) {
	return nil, errUnknown
}

// TestGenerate checks that a token of the application is used, and that an empty one creates no session.
func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"own-token", ""} {
		s := &table{sessions: map[string]*store.Session{}}
		rows := &sessionstate.Rows{
			Store: s, Now: func() time.Time { return now }, Generate: func() (string, error) { return text, nil },
		}
		made, err := rows.Create(t.Context(), s, "u1", false, storedtoken.Facts{})
		if (err == nil) != (text != "") || len(s.sessions) != len(text)/9 || err == nil && string(made.Token) != text {
			t.Errorf("%q: %v, %v", text, made, err)
		}
	}
}
