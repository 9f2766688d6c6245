package core_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/bits"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func TestClaimsAreExact(t *testing.T) {
	t.Parallel()
	var token core.Token
	err := token.UnmarshalJSON([]byte(`{"sub":"1","SUB":"2","role":"user","ROLE":"admin","n":1e3}`))
	if err != nil || token.Subject != "1" {
		t.Errorf("subject %q, %v", token.Subject, err)
	}
	if err := token.UnmarshalJSON([]byte(`{"sub":"1","sub":"2"}`)); err == nil {
		t.Error("a repeated claim was accepted")
	}
}

// TestClaimsTooLarge: the log has the largest claim, the size and the limit, and no values of claims.
func TestClaimsTooLarge(t *testing.T) {
	t.Parallel()
	for _, size := range []int{47_500, 60_000, 200_000} {
		a := newApp(t, core.Config{
			Providers: []core.Provider{passwords()},
			Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				_ = p.Token.Extra.Set("small", "x")
				return p.Token, p.Token.Extra.Set("permissions", strings.Repeat("canary ", size/7))
			}},
		})
		b := visit(t, a)
		b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		if b.who() != "" {
			t.Fatalf("%d bytes: signed in", size)
		}
		for _, want := range []string{`permissions`, "Callbacks.JWT", "StrategyDatabase", "47232",
			strconv.Itoa(size / 1000)} {
			if !strings.Contains(a.log.String(), want) {
				t.Errorf("%d bytes: no %q in the log: %s", size, want, a.log)
			}
		}
		if strings.Contains(a.log.String(), "canary") {
			t.Errorf("%d bytes: the log has the value of a claim", size)
		}
	}
}

// TestOneSpellingOfAToken changes a valid token at every position. Only the token itself is accepted.
func TestOneSpellingOfAToken(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{})
	good, err := a.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.DecodeToken(good, "salt"); err != nil {
		t.Fatal(err)
	}
	refused := func(token string) {
		t.Helper()
		if _, err := a.DecodeToken(token, "salt"); err == nil {
			t.Errorf("accepted: %q", token)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range len(good) {
		refused(good[:i])
		atAnEnd := i < 2 || i >= len(good)-2 || strings.Contains(good[i-2:i+3], ".")
		for n, c := range []byte(alphabet + ".=+/ \n\x00") {
			// Every character at the ends of the parts, and each of them somewhere inside of each part.
			if c != good[i] && (atAnEnd || (i+n)%8 == 0) {
				refused(good[:i] + string(c) + good[i+1:])
			}
		}
	}
	for _, more := range []string{"=", " ", "\n", "\r\n", ".", "A", "\x00"} {
		refused(good + more)
		refused(more + good)
		refused(strings.Replace(good, "..", "."+more+".", 1))
	}
	refused(strings.ToUpper(good))
}

// TestEncryptedValues uses each encrypted value where another one belongs.
func TestEncryptedValues(t *testing.T) {
	t.Parallel()
	proxied := (&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce)
	proxied.RedirectProxyURL = "https://proxy.example/auth" // otherwise the state parameter is not encrypted
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords(), proxied}, RedirectProxyTargets: []string{"https://app.test"},
	})
	b := visit(t, a)
	signIn(t, b)
	started := b.submit("/auth/signin/op", nil)
	sealed := maps.Clone(b.cookies)
	_, state, _ := strings.Cut(started.Redirect, "state=")
	state, _, _ = strings.Cut(state, "&")
	sealed["the state parameter"] = state
	for _, name := range slices.Sorted(maps.Keys(sealed)) {
		if strings.Count(sealed[name], ".") != 4 || name == sessionCookie {
			continue
		}
		thief := visit(t, a)
		thief.cookies[sessionCookie] = sealed[name]
		if got := string(thief.get("/auth/session").Body); got != "null" {
			t.Errorf("%s is accepted as a session: %s", name, got)
		}
		if _, err := a.DecodeToken(sealed[sessionCookie], name); err == nil {
			t.Errorf("a session token is accepted as %s", name)
		}
	}
	if _, err := a.DecodeToken(sealed[sessionCookie], "authjs.session-token"); err == nil {
		t.Error("a token of the cookie with a prefix is accepted under the name without")
	}
	sealed["encodedState"] = sealed["the state parameter"]
	delete(sealed, "the state parameter")
	sealed["encodedWebauthnChallenge"], sealed["__Secure-authjs.challenge"], sealed["authjs.state"] = "", "", ""
	opened := 0
	for from, value := range sealed {
		if strings.Count(value, ".") != 4 {
			continue
		}
		for to := range sealed {
			if _, err := a.DecodeToken(value, to); (err == nil) != (from == to) {
				t.Errorf("a value encrypted as %s is accepted as %s: %v", from, to, err)
			} else if err == nil {
				opened++
			}
		}
	}
	if opened != 5 { // session, state, verifier, nonce, and the state parameter
		t.Errorf("%d encrypted values", opened)
	}
	checks := []string{
		"__Secure-authjs.state", "__Secure-authjs.pkce.code_verifier", "__Secure-authjs.nonce", sessionCookie,
		"encodedState",
	}
	for _, to := range checks[:2] {
		for _, from := range checks {
			if from == to {
				continue
			}
			s := &service{}
			swapped := visit(t,
				newApp(t, core.Config{Providers: []core.Provider{passwords(), s.provider("op", core.CheckState, core.CheckPKCE)}}))
			answer := s.grant(t, swapped.submit("/auth/signin/op", nil).Redirect)
			swapped.cookies[to] = sealed[from]
			if r := swapped.get(answer); r.Err == nil || swapped.cookies[sessionCookie] != "" {
				t.Errorf("%s is accepted as %s", from, to)
			}
		}
	}
}

// TestTokensNeverRepeat starts many sign-ins and checks the length of each random value.
func TestTokensNeverRepeat(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{(&service{}).provider("op", core.CheckState,
		core.CheckPKCE, core.CheckNonce)}})
	seen := map[string]bool{}
	fresh := func(what, text string, least int) {
		t.Helper()
		if len(text) < least || seen[what+text] {
			t.Fatalf("%s %q is repeated or too short", what, text)
		}
		seen[what+text] = true
	}
	b := visit(t, a)
	token := b.csrf()
	for range 100 {
		b := visit(t, a)
		b.cookies["__Host-authjs.csrf-token"] = ""
		r := b.submit("/auth/signin/op", nil)
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			_, value, _ := strings.Cut(r.Redirect, name+"=")
			value, _, _ = strings.Cut(value, "&")
			fresh(name, value, map[bool]int{true: 22, false: 43}[name == "state"]) // 130 and 256 bits
		}
		sealed := func(text string, claims *core.Token) {
			_, rest, _ := strings.Cut(text, "..")
			fresh("IV", rest[:strings.IndexByte(rest, '.')], 22)
			fresh("ID", claims.ID, 36)
		}
		for _, check := range []string{"pkce.code_verifier", "nonce", "state"} {
			name := "__Secure-authjs." + check
			claims, err := a.DecodeToken(b.cookies[name], name)
			if err != nil {
				t.Fatal(err)
			}
			fresh(name, claims.Extra.Text("value"), 22)
			sealed(b.cookies[name], claims)
		}
		fresh("csrf", b.cookies["__Host-authjs.csrf-token"][:64], 64)
	}
	if seen["csrf"+token] {
		t.Error("a CSRF token is repeated")
	}
}

// TestSessionIDs creates tokens of database sessions with the real random source. They are random UUIDs, as recorded:
// six of their 128 bits are fixed, all others vary.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	const draws = 20_000
	store := newSessionRows()
	a, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Store: store, Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	request := visit(t, a).request("POST", "/register", "", "")
	var ones, zeros [16]byte
	for range draws {
		cookies, err := a.NewSession(t.Context(), request, &core.User{ID: "1"})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(strings.ReplaceAll(cookies[0].Value, "-", ""))
		if err != nil || len(raw) != 16 {
			t.Fatalf("%q: %v", cookies[0].Value, err)
		}
		for i, b := range raw {
			ones[i] |= b
			zeros[i] |= ^b
		}
	}
	varying := 0
	for i := range ones {
		varying += bits.OnesCount8(ones[i] & zeros[i])
	}
	if len(store.rows) != draws || varying != 122 {
		t.Errorf("%d different tokens of %d, %d varying bits", len(store.rows), draws, varying)
	}
}

// broken is a random source that always fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no randomness") }

var _ io.Reader = broken{}

// rationed is a random source that fails after some bytes.
type rationed struct{ left int }

func (r *rationed) Read(b []byte) (int, error) {
	if r.left -= len(b); r.left < 0 {
		return 0, errors.New("no more randomness")
	}
	return rand.Read(b)
}

// TestRandomnessThatEnds: a sign-in in a second tab fails wherever the random source fails.
func TestRandomnessThatEnds(t *testing.T) {
	t.Parallel()
	newAuth := func(source io.Reader) *core.Auth {
		a, err := core.New(core.Config{
			Secrets: []core.Secret{testSecret}, URL: "https://app.test", Rand: source, Logger: slog.New(slog.DiscardHandler),
			Getenv:    func(string) string { return "" },
			Providers: []core.Provider{(&service{}).provider("op", core.CheckPKCE)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	failures := map[int]bool{}
	for ration := 0; ; ration += 16 {
		b := visit(t, newAuth(rand.Reader))
		b.submit("/auth/signin/op", nil) // the first tab
		fields := url.Values{"csrfToken": {b.csrf()}}
		source := &rationed{ration}
		b.auth = newAuth(source)
		r := b.post("/auth/signin/op", fields)
		if r.Err == nil && strings.Contains(r.Redirect, "op.example") {
			if source.left != 0 || len(failures) < 4 {
				t.Errorf("ration of %d bytes: %d are left after %d failures", ration, source.left, len(failures))
			}
			return
		}
		if failures[ration] = true; ration > 1<<10 || r.Err == nil || strings.Contains(r.Redirect, "op.example") {
			t.Fatalf("%d bytes: status %d, redirect to %q, %v", ration, r.Status, r.Redirect, r.Err)
		}
	}
}

// TestNoRandomness checks that a failing random source is an error and never a predictable value.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	a, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Rand: broken{}, Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" }, Now: func() time.Time { return start },
		Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := a.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour); err == nil {
		t.Errorf("created %q", token)
	}
	good := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState)}})
	for path, fields := range map[string]url.Values{
		"signin/op": {}, "callback/credentials": {"email": {"ada@example.com"}, "password": {"engine"}},
	} {
		b := visit(t, good)
		b.csrf() // accepted by the other one
		fields.Set("csrfToken", b.cookies["__Host-authjs.csrf-token"][:64])
		b.auth = a
		if r := b.post("/auth/"+path, fields); r.Err == nil || strings.Contains(r.Redirect, "op.example") ||
			b.cookies[sessionCookie] != "" || b.cookies["__Secure-authjs.state"] != "" {
			t.Errorf("POST %s: status %d, redirect to %q", path, r.Status, r.Redirect)
		}
	}
	r := visit(t, a).get("/auth/csrf")
	if r.Err == nil || strings.Contains(string(r.Body), "csrfToken") {
		t.Errorf("status %d: %s", r.Status, r.Body)
	}
	for _, c := range r.Cookies {
		if strings.Contains(c.Name, "csrf") {
			t.Errorf("set %s", c.Name)
		}
	}
}

// TestRotation changes the list of secrets while a session, a CSRF cookie and a sign-in link are in use.
func TestRotation(t *testing.T) {
	t.Parallel()
	const (
		older core.Secret = "an-older-secret-of-more-than-32-bytes"
		newer core.Secret = "a-newer-secret-of-more-than-32-bytes"
		other core.Secret = "another-secret-of-more-than-32-bytes"
	)
	for _, row := range []struct {
		name    string
		secrets []core.Secret
		alive   bool
	}{
		{"the same", []core.Secret{older}, true},
		{"a new one in front", []core.Secret{newer, older}, true},
		{"two new ones", []core.Secret{other, newer, older}, true},
		{"a later one added", []core.Secret{older, newer}, true},
		{"removed", []core.Secret{newer}, false},
		{"unknown", []core.Secret{other, newer}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
			link := ""
			open := func(secrets ...core.Secret) *app {
				send := func(_ context.Context, m core.Email) error { link = string(m.URL); return nil }
				return newApp(t, core.Config{
					Secrets: secrets, Store: store, Session: core.SessionConfig{Strategy: core.StrategyJWT},
					Providers: []core.Provider{passwords(), &core.EmailProvider{Send: send}},
				})
			}
			before, after := open(older), open(row.secrets...)
			b := visit(t, before)
			signIn(t, b)
			b.submit("/auth/signin/email", url.Values{"email": {"bob@example.com"}})
			pair := b.cookies["__Host-authjs.csrf-token"]
			b.auth = after
			if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
				t.Errorf("session valid: %v", got)
			}
			b.auth = before
			_, err := before.DecodeToken(b.cookies[sessionCookie], sessionCookie)
			if row.alive && (err == nil) != (row.secrets[0] == older) {
				t.Errorf("the renewed token is not encrypted with the first secret: %v", err)
			}
			b.auth = after
			b.post("/auth/signout", url.Values{"csrfToken": {pair[:64]}})
			if kept := b.cookies["__Host-authjs.csrf-token"] == pair; kept != row.alive {
				t.Errorf("CSRF cookie unchanged: %v", kept)
			}
			r := b.get(strings.TrimPrefix(link, "https://app.test"))
			if got := r.Err == nil && b.cookies[sessionCookie] != ""; got != row.alive {
				t.Errorf("the link works: %v, %v", got, r.Err)
			}
		})
	}
	for name, secrets := range map[string][]core.Secret{
		"none": {}, "empty": {""}, "empty among others": {newer, ""}, "31 characters": {newer[:31]},
		"short among others": {newer, "short"}, "twice": {newer, newer},
	} {
		_, err := core.New(core.Config{Secrets: secrets, URL: "https://app.test", Getenv: func(string) string { return "" }})
		if err == nil || !strings.Contains(err.Error(), "Secrets") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := core.New(core.Config{
		Secrets: []core.Secret{newer[:32]}, URL: "https://app.test", Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Errorf("32 characters: %v", err)
	}
}

// TestSessionTokens sends hostile session tokens as session cookies and as bearer tokens.
func TestSessionTokens(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Want, Why, Token string
		Secrets              []string
		Gen                  any
	}
	const secret = "latchkey-attack-secret-one-0123456789abcdef"
	for _, p := range payloads[payload](t, "jwe.json") {
		if p.Gen != nil {
			continue // created at test time, by the tests of the token reader
		}
		t.Run(p.ID, func(t *testing.T) {
			secrets := []core.Secret{secret}
			if p.Secrets != nil {
				secrets = nil
				for _, s := range p.Secrets {
					secrets = append(secrets, core.Secret(s))
				}
			}
			a := newApp(t, core.Config{Secrets: secrets, InsecureShortSecrets: true, Now: func() time.Time { return start }})
			r := visit(t, a).request("GET", "/auth/session", "", "")
			r.Header.Set("Cookie", sessionCookie+"="+url.PathEscape(p.Token))
			signedIn := string(a.Handle(t.Context(), r).Body) != "null"
			bearer := visit(t, a).request("GET", "/", "", "")
			bearer.Header = http.Header{"Authorization": {"Bearer " + url.PathEscape(p.Token)}}
			token, err := a.Token(t.Context(), bearer)
			if err != nil {
				t.Errorf("%s: %v", p.Why, err)
			}
			if p.Want == "accept" && (!signedIn || token == nil) || p.Want == "reject" && (signedIn || token != nil) {
				t.Errorf("%s: as a cookie %v, as a bearer token %v, want %s", p.Why, signedIn, token != nil, p.Want)
			}
		})
	}
}
