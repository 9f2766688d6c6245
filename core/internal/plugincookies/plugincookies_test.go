package plugincookies_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/purposekey"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"password-step": true, "codes": true, "": false, "Step": false, "a.b": false, "pending": false, "locale": false,
		"known": false, "address": false, "remember": false, "passkey-unknown": false, "code-reauth": false,
	} {
		if err := plugincookies.CheckName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCookies checks that a cookie is read under its name and until it expires, and that a value fits a cookie.
func TestCookies(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	all := plugincookies.Cookies{
		Set: &cookies.Set{Plugins: cookies.Spec{Attributes: cookie.Cookie{Name: "__Host-latchkey.", Path: "/"}}},
		Keys: &purposekey.Keys{
			Secrets: []string{strings.Repeat("s", 32)}, Rand: rand.Reader, Now: func() time.Time { return now },
		},
	}
	made, err := all.New("toy", "blue", now.Add(time.Minute))
	if err != nil || made.Name != "__Host-latchkey.toy" || !made.HasMaxAge || made.MaxAge != 60 || made.Path != "/" ||
		!made.Expires.Equal(now.Add(time.Minute)) || strings.Contains(made.Value, "blue") {
		t.Fatalf("%+v, %v", made, err)
	}
	read := func(header, name string) (value string) {
		if !all.Read(cookie.Parse([]string{header}), name, &value) {
			return "none"
		}
		return value
	}
	if got := read(made.Name+"="+made.Value, "toy"); got != "blue" {
		t.Errorf("read %s", got)
	}
	if got := read("__Host-latchkey.other="+made.Value, "other"); got != "none" {
		t.Errorf("read under another name: %s", got)
	}
	if got := read("a=b", "toy"); got != "none" {
		t.Errorf("read without the cookie: %s", got)
	}
	now = now.Add(2 * time.Minute)
	if got := read(made.Name+"="+made.Value, "toy"); got != "none" {
		t.Errorf("read after its expiry: %s", got)
	}
	if _, err := all.New("toy", strings.Repeat("x", 3900), now.Add(time.Minute)); err == nil {
		t.Error("a value that browsers would not store is accepted")
	}
}
