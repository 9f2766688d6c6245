package core_test

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestOneSpellingOfAToken changes a good token everywhere (ATTACKS JW2): nothing but the token itself is accepted.
func TestOneSpellingOfAToken(t *testing.T) {
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
		for _, c := range []byte(alphabet + ".=+/ \n\x00") {
			if c != good[i] {
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

// TestSealedThings puts each sealed value in each other's place (ATTACKS JW3).
func TestSealedThings(t *testing.T) {
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce)}})
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
			t.Errorf("%s is a session: %s", name, got)
		}
		if _, err := a.DecodeToken(sealed[sessionCookie], name); err == nil {
			t.Errorf("a session opens as %s", name)
		}
	}
	thief := visit(t, a)
	thief.origin = "http://app.test" // where the cookie has another name
	if _, err := a.DecodeToken(sealed[sessionCookie], "authjs.session-token"); err == nil {
		t.Error("a token of the secure name opens under the other one")
	}
}

// TestTokensNeverRepeat draws many (ATTACKS JW8, SE12, OA2).
func TestTokensNeverRepeat(t *testing.T) {
	a := newApp(t, core.Config{Providers: []core.Provider{(&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce)}})
	seen := map[string]bool{}
	fresh := func(what, text string, least int) {
		t.Helper()
		if len(text) < least || seen[what+text] {
			t.Fatalf("%s %q came before, or is short", what, text)
		}
		seen[what+text] = true
	}
	for range 20_000 {
		token, err := a.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		fresh("iv", strings.Split(token, ".")[2], 22)
	}
	for range 500 {
		b := visit(t, a)
		r := b.submit("/auth/signin/op", nil)
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			_, value, _ := strings.Cut(r.Redirect, name+"=")
			value, _, _ = strings.Cut(value, "&")
			fresh(name, value, 43)
		}
		fresh("csrf", b.cookies["__Host-authjs.csrf-token"][:64], 64)
	}
}

// broken is a source of randomness that has run dry.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no randomness") }

var _ io.Reader = broken{}

// TestNoRandomness is a failure, never a value that could be guessed (ATTACKS JW8).
func TestNoRandomness(t *testing.T) {
	a, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Rand: broken{}, Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" }, Now: func() time.Time { return start },
		Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := a.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour); err == nil {
		t.Errorf("made %q", token)
	}
	r := visit(t, a).get("/auth/csrf")
	if r.Err == nil || strings.Contains(string(r.Body), "csrfToken") {
		t.Errorf("answered %d: %s", r.Status, r.Body)
	}
	for _, c := range r.Cookies {
		if strings.Contains(c.Name, "csrf") {
			t.Errorf("set %s", c.Name)
		}
	}
}
