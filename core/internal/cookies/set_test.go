package cookies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
)

func configOf(faults *[]string) *cookies.Config {
	return &cookies.Config{
		Secrets: []string{"a-secret-of-more-than-thirty-two-bytes"},
		Fault:   func(format string, args ...any) { *faults = append(*faults, fmt.Sprintf(format, args...)) },
	}
}

// TestSets checks names and attributes of the session cookie for http and https origins.
func TestSets(t *testing.T) {
	t.Parallel()
	on, off := true, false
	for name, row := range map[string]struct {
		secure      *bool
		o           cookies.Options
		http, https string
	}{
		"default": {
			nil, cookies.Options{},
			"authjs.session-token=v; Path=/; HttpOnly; SameSite=Lax",
			"__Secure-authjs.session-token=v; Path=/; HttpOnly; Secure; SameSite=Lax",
		},
		"secure everywhere": {
			&on, cookies.Options{},
			"__Secure-authjs.session-token=v; Path=/; HttpOnly; Secure; SameSite=Lax",
			"__Secure-authjs.session-token=v; Path=/; HttpOnly; Secure; SameSite=Lax",
		},
		"secure nowhere": {
			&off, cookies.Options{},
			"authjs.session-token=v; Path=/; HttpOnly; SameSite=Lax",
			"authjs.session-token=v; Path=/; HttpOnly; SameSite=Lax",
		},
		"attributes that need Secure are dropped on http": {
			nil, cookies.Options{Name: "s", SameSite: "none", Partitioned: true, Script: true, Path: "/app"},
			"s=v; Path=/app; SameSite=Lax", "s=v; Path=/app; Secure; Partitioned; SameSite=None",
		},
	} {
		var faults []string
		c := configOf(&faults)
		c.Secure, c.SessionToken = row.secure, row.o
		sets := cookies.NewSets(c)
		got := [2]string{sets[0].Session.Set("v").String(), sets[1].Session.Set("v").String()}
		if got != [2]string{row.http, row.https} || len(faults) > 0 {
			t.Errorf("%s: %q, faults %q", name, got, faults)
		}
	}
}

// TestFaults checks that a name cannot be used twice, and that each field is reported once.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*cookies.Config){
		"one name twice":   func(c *cookies.Config) { c.State.Name, c.Nonce.Name = "x", "x" },
		"name of a chunk":  func(c *cookies.Config) { c.SessionToken.Name, c.State.Name = "s", "s.1" },
		"invalid name":     func(c *cookies.Config) { c.State.Name = "a b" },
		"invalid SameSite": func(c *cookies.Config) { c.Nonce.SameSite = "some" },
	} {
		var faults []string
		c := configOf(&faults)
		set(c)
		if cookies.NewSets(c); len(faults) != 1 {
			t.Errorf("%s: %q", name, faults)
		}
	}
}

// TestSpec checks expiry dates, deletions and names of flow cookies.
func TestSpec(t *testing.T) {
	t.Parallel()
	var faults []string
	set := cookies.NewSets(configOf(&faults))[1]
	ends := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	plugin := set.Plugin("known")
	for name, row := range map[string]struct{ got, want string }{
		"until": {set.State.SetUntil("v", ends).String(), "__Secure-authjs.state=v; Max-Age=900; Path=/; " +
			"Expires=Tue, 01 Jan 2030 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax"},
		"clear":  {set.State.Clear().String(), "__Secure-authjs.state=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax"},
		"chunk":  {set.Session.ClearName("s.1").String(), "s.1=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax"},
		"tagged": {set.Flow.Tagged("abcdefghijkl").Name(), "__Secure-authjs.state.abcdefgh"},
		"plugin": {plugin.Name(), "__Host-latchkey.known"},
		"browser session": {
			set.State.SetSession("v", time.Time{}).String(), "__Secure-authjs.state=v; Path=/; HttpOnly; Secure; SameSite=Lax",
		},
	} {
		if row.got != row.want {
			t.Errorf("%s: %s, want %s", name, row.got, row.want)
		}
	}
}
