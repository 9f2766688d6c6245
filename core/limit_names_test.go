package core_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestNamesBesideTheName: a form that declares no fields may be read by "username", whatever stands in "email". Guesses
// at one name are counted whichever other names a guesser makes up beside it, and right ones are given back.
func TestNamesBesideTheName(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"email", "username", "name"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			tried := 0
			a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					if form[field] == "ada" && form["password"] == "engine" {
						return &core.User{ID: "1"}, nil
					}
					tried++
					return nil, nil
				},
			}}})
			b, form := visit(t, a), url.Values{}
			b.peer = "10.0.0.1:1" // nobody is told apart
			guessed := func(password string, i int) int {
				for _, name := range []string{"email", "username", "name"} {
					form.Set(name, fmt.Sprintf("%s %d", name, i))
				}
				form.Set(field, "ada")
				form.Set("password", password)
				return b.submit("/auth/callback/credentials", form).Status
			}
			for i := range 60 {
				if status := guessed("engine", i); status != http.StatusFound {
					t.Fatalf("the right password is answered %d after %d times", status, i)
				}
			}
			for i := range 80 {
				guessed("wrong", i)
			}
			if tried != 50 {
				t.Errorf("%d guesses at one name", tried)
			}
		})
	}
}

// TestSpellingsOfAName: what a table takes for the same name is counted as one: some collations know neither accents
// nor invisible characters, and there is no end of spellings with them.
func TestSpellingsOfAName(t *testing.T) {
	t.Parallel()
	for name, spell := range map[string]func(i int) string{
		"accents":     func(i int) string { return "a\u0301" + strings.Repeat("\u0300", i) + "da" },
		"composed":    func(i int) string { return []string{"áda", "àda", "âda", "ada", "ădä"}[i%5] },
		"compatible":  func(i int) string { return []string{"ａda", "𝐚da", "ⓐda", "ada"}[i%4] },
		"upper case":  func(i int) string { return []string{"ADA", "aDa", "ada", "ÁDA"}[i%4] },
		"soft hyphen": func(i int) string { return "ad" + strings.Repeat("\u00ad", i) + "a" },
		"joiners":     func(i int) string { return "ad" + strings.Repeat("\u200d\u2060\ufe0f", i) + "a" },
		"controls":    func(i int) string { return "ad" + strings.Repeat("\x01", i) + "a" },
		"blanks":      func(i int) string { return "ada" + strings.Repeat(" ", i) },
	} {
		l, allowed := core.NewLimiter(newClock().Now), 0
		for i := range 120 {
			n, _ := attempts(l, 1, from(core.AttemptCredentials, spell(i), ""))
			allowed += n
		}
		if allowed != 50 {
			t.Errorf("%s: %d of 120 went on", name, allowed)
		}
	}
	l := core.NewLimiter(newClock().Now)
	for _, other := range []string{"ada", "adb", "ada lovelace", "ада", "あだ", "\u00ad"} {
		if n, _ := attempts(l, 50, from(core.AttemptCredentials, other, "")); n != 50 {
			t.Errorf("%q is counted as another: %d went on", other, n)
		}
	}
}
