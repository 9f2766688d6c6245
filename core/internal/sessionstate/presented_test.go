package sessionstate_test

import (
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
	"github.com/latchkey-go/latchkey/internal/supersede"
)

// presented returns the session tokens of a request with these session cookies.
func presented(set *cookies.Set, values ...string) *sessioncookies.Carrier {
	var header []string
	for _, value := range values {
		header = append(header, set.Session.Name()+"="+value)
	}
	b := sessioncookies.Browser{Cookies: set, Jar: cookie.Parse(header)}
	c := b.Carrier(supersede.New[sessioncookies.Replacement](func() time.Time { return now }))
	return &c
}

// TestSealedToken checks what is read of the token of a request: the one of a valid session, once.
func TestSealedToken(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	l := revocable(t, j)
	claims := &token.Token{Subject: "u1", ID: "of-u1"}
	by := token.ActorClaim{Subject: "admin", SID: "s"}
	_ = token.SetFacts(claims, token.Facts{SID: "id", Start: now, AuthTime: now, Actor: by})
	_ = claims.Extra.Set(sessionstate.ShortSession, true)
	sealed := func(claims *token.Token) string {
		value, err := j.SealSession(t.Context(), set, claims)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	first, second := sealed(claims), sealed(&token.Token{Subject: "u2"})

	s := &sessionstate.SealedToken{State: j, From: presented(set, "planted", first, second)}
	if err := s.Choose(t.Context()); err != nil || s.From.Value() != first {
		t.Errorf("chosen %.10q, %v", s.From.Value(), err)
	}
	if said := s.Facts(t.Context()); said != (sessionstate.TokenFacts{Owner: "u1", Actor: by, Short: true}) {
		t.Errorf("says %+v", said)
	}
	s.From.Tokens = cookie.Whole("other", second)
	if claims, err := s.Claims(t.Context()); err != nil || claims.Subject != "u1" {
		t.Errorf("a token is read twice: %v, %v", claims, err)
	}
	j.Now = func() time.Time { return now.Add(time.Hour) }
	if got := s.ExpiredActor(); got != (token.ActorClaim{}) {
		t.Errorf("the second token has the actor %v", got)
	}
	s.From.Tokens = cookie.Whole("other", first)
	if got := s.ExpiredActor(); got != by {
		t.Errorf("expired actor %v", got)
	}
	j.Now = func() time.Time { return now }

	s = &sessionstate.SealedToken{State: j, From: presented(set, first)}
	if err := s.Choose(t.Context()); err != nil {
		t.Error(err)
	}
	valid, err := s.Valid(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.End(t.Context(), valid); err != nil || len(l.records) == 0 {
		t.Fatal(err)
	}
	if got, err := s.Valid(t.Context()); got != nil || !errors.Is(err, sessionstate.ErrEnded) {
		t.Errorf("a revoked session is valid: %v, %v", got, err)
	}
	s = &sessionstate.SealedToken{State: j, From: presented(set, first, second)}
	if err := s.Choose(t.Context()); err != nil || s.From.Value() != second {
		t.Errorf("a revoked session is chosen: %v", err)
	}

	for name, values := range map[string][]string{"no token": nil, "planted": {"planted"}} {
		s := &sessionstate.SealedToken{State: j, From: presented(set, values...)}
		_, err := s.Claims(t.Context())
		if said := s.Facts(t.Context()); said != (sessionstate.TokenFacts{}) || err == nil ||
			errors.Is(err, sessionstate.ErrAbsent) != (values == nil) {
			t.Errorf("%s: says %+v, %v", name, said, err)
		}
	}
}

// TestOldForm checks when the cookie of an unchanged token is written again.
func TestOldForm(t *testing.T) {
	t.Parallel()
	j, set := newTokens()
	rotated := cookies.NewSets(&cookies.Config{
		Secrets: []string{"another-secret-of-more-than-thirty-two", "a-secret-of-more-than-thirty-two-bytes"},
		Fault:   func(string, ...any) {},
	})[0]
	value, err := j.SealSession(t.Context(), set, &token.Token{Subject: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		from *sessioncookies.Carrier
		old  bool
	}{
		"current": {presented(set, value), false}, "rotated": {presented(rotated, value), true},
	} {
		s := &sessionstate.SealedToken{State: j, From: row.from}
		if s.OldForm() != row.old {
			t.Errorf("%s: %t", name, s.OldForm())
		}
		if s.From.FromHeader = true; s.OldForm() {
			t.Errorf("%s, from a header", name)
		}
		if s.From.FromHeader, s.From.Restored = false, true; !s.OldForm() {
			t.Errorf("%s: the cookies are not those of the token", name)
		}
	}
}

// TestStoredToken checks what is read of the token of a stored session.
func TestStoredToken(t *testing.T) {
	t.Parallel()
	at := now
	s := &table{users: map[string]*store.User{"u1": {ID: "u1"}}, sessions: map[string]*store.Session{}}
	rows := &sessionstate.Rows{Store: s, Now: func() time.Time { return at }}
	rows.MaxAge, rows.Impersonated = 24*time.Hour, time.Hour
	own := storedtoken.Append(storedtoken.AppendShort("t"), storedtoken.Facts{
		Start: now, AuthTime: now, Actor: "admin", ActorSession: "s",
	})
	for _, value := range []string{own, "plain"} {
		s.sessions[value] = &store.Session{Token: store.Secret(value), UserID: "u1", Expires: now.Add(24 * time.Hour)}
	}
	by := token.ActorClaim{Subject: "admin", SID: "s"}
	_, set := newTokens()

	p := &sessionstate.StoredToken{Rows: rows, From: presented(set, "planted", own, "plain")}
	if err := p.Choose(t.Context()); err != nil || p.From.Value() != own {
		t.Errorf("chosen %q, %v", p.From.Value(), err)
	}
	if said := p.Facts(t.Context()); said != (sessionstate.TokenFacts{Owner: own, Actor: by, Short: true}) {
		t.Errorf("says %+v", said)
	}
	delete(s.sessions, own)
	if found, err := p.First(t.Context()); err != nil || string(found.Session.Token) != own {
		t.Errorf("the session is looked up twice: %v, %v", found, err)
	}
	if _, err := p.First(t.Context()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the session is not looked up again: %v", err)
	}
	if got := p.ExpiredActor(); got != (token.ActorClaim{}) {
		t.Errorf("expired at once: %v", got)
	}
	at = now.Add(time.Hour + time.Second)
	if got := p.ExpiredActor(); got != by {
		t.Errorf("expired actor %v", got)
	}

	p = &sessionstate.StoredToken{Rows: rows, From: presented(set, "plain")}
	rows.Store = brokenRows{}
	if err := p.Choose(t.Context()); err != nil {
		t.Errorf("a single token is looked up: %v", err)
	}
	p.From = presented(set, "plain", "planted")
	if err := p.Choose(t.Context()); !errors.Is(err, errUnknown) {
		t.Errorf("Choose: %v", err)
	}
}

// TestUnknownVerification checks that a session continues if the store of users is down, and not with Strict.
func TestUnknownVerification(t *testing.T) {
	t.Parallel()
	claims := &token.Token{Subject: "u1"}
	_ = claims.Extra.Set(sessionstate.EmailUnproved, now.Unix())
	for name, row := range map[string]struct {
		strict, revocable bool
	}{"no revocation": {false, false}, "revocation": {false, true}, "strict": {true, true}} {
		j, _ := newTokens()
		j.Users, j.Proofs = broken{}, true
		if row.revocable {
			revocable(t, j)
			j.Revocations.Strict = row.strict
		}
		var told error
		ended, err := j.EndedByVerification(t.Context(), claims, func(err error) { told = err })
		if ended || errors.Is(err, autherr.SessionToken) != row.strict || (err != nil) != row.strict {
			t.Errorf("%s: ended %t, %v", name, ended, err)
		}
		if err = errors.Join(err, told); !errors.Is(err, autherr.Store) || (told == nil) != row.strict {
			t.Errorf("%s: reported %v, %v", name, told, err)
		}
		if ended, err := j.EndedByVerification(t.Context(), &token.Token{}, nil); ended || err != nil {
			t.Errorf("%s: without the mark: %t, %v", name, ended, err)
		}
		j.Users = &table{users: map[string]*store.User{"u1": {EmailVerified: now}}}
		if ended, err := j.EndedByVerification(t.Context(), claims, nil); !ended || err != nil {
			t.Errorf("%s: after the verification: %t, %v", name, ended, err)
		}
	}
}

// TestCookieExpiry checks that the browser deletes the cookie of a short session when it closes.
func TestCookieExpiry(t *testing.T) {
	t.Parallel()
	with, without := sessionstate.Lifetimes{Short: time.Hour}, sessionstate.Lifetimes{}
	if got := with.CookieExpiry(true, now); !got.IsZero() {
		t.Errorf("a short session: %v", got)
	}
	if long, off := with.CookieExpiry(false, now), without.CookieExpiry(true, now); !long.Equal(now) || !off.Equal(now) {
		t.Errorf("a long session: %v, without short sessions: %v", long, off)
	}
}
