package core_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// inRows returns processes of one site that limit consecutive wrong attempts and nothing else.
func inRows(t *testing.T, n int, change func(*core.Config)) (apps []*app, asked *int) {
	t.Helper()
	asked = new(int)
	check := anybody().Authorize
	apps, _ = shared(t, n, func(c *core.Config) {
		plenty := limit.Rate{Burst: 10_000, Every: time.Second}
		c.Limits.KnownBrowsers = core.True
		c.Limits.Rates = map[limit.Attempt]limit.Rates{limit.AttemptCredentials: {
			Identifier: limit.Rate{Burst: 10_001, Every: time.Second}, Visitor: plenty, Network: plenty, Browser: plenty,
		}}
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		c.Providers = []core.Provider{&core.CredentialsProvider{
			InARow: true, Authorize: func(ctx context.Context, form map[string]string, r *core.Request) (*core.User, error) {
				*asked++
				return check(ctx, form, r)
			},
		}}
		c.Plugins = []core.Plugin{answers(forgiving("ada@example.com"))}
		if change != nil {
			change(c)
		}
	})
	return apps, asked
}

// forgiving returns an action that resets the counts of a name, as a plugin does after an emailed link was opened.
func forgiving(name string) core.Action {
	return core.Action{Method: "POST", Name: "toy", Verb: "forgive",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			c.ResetAttempts(ctx, limit.AttemptInARow, name)
			return c.JSON(ctx, 200, struct{}{}), nil
		}}
}

// wrongly guesses until attempts are refused, and returns the number of attempts that were checked.
func wrongly(t *testing.T, b *browser, name string) (looked int) {
	t.Helper()
	for range 200 {
		if !guess(b, name) {
			return looked
		}
		looked++
	}
	t.Fatal("200 wrong attempts in a row were checked")
	return 0
}

func place(t *testing.T, a *app, peer string) *browser {
	t.Helper()
	b := visit(t, a)
	b.peer = peer + ":1"
	return b
}

// TestInARow checks that a provider with AttemptInARow refuses further attempts after 50 consecutive wrong ones by one
// client, and 100 by all clients, for existing and unknown names alike.
func TestInARow(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"in one process": 1, "in two": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apps, asked := inRows(t, n, func(c *core.Config) { c.Limits.Shared = n > 1 })
			first, last := apps[0], apps[n-1]
			for _, typed := range []string{"ada@example.com", "nobody@example.com"} {
				here, there := place(t, first, "192.0.2.1"), place(t, last, "192.0.2.2")
				if got := wrongly(t, here, typed); got != 50 {
					t.Errorf("%s: %d from one place", typed, got)
				}
				if got := wrongly(t, there, typed); got != 50 {
					t.Errorf("%s: %d from another place", typed, got)
				}
				before := *asked
				b := place(t, first, "198.51.100.7")
				b.header.Set("Accept", "text/html")
				r := b.submit("/auth/callback/credentials", url.Values{"email": {typed}, "password": {"engine"}})
				if !errors.Is(r.Err, core.ErrorType("TooManyFailures")) || *asked != before ||
					!strings.HasSuffix(r.Redirect, "/auth/signin?error=TooManyFailures") {
					t.Errorf("%s: the right password gets %q, %v", typed, r.Redirect, r.Err)
				}
				if page := string(b.get("/auth/signin?error=TooManyFailures").Body); !strings.Contains(
					page,
					"Too many failed attempts",
				) {
					t.Error("the page does not say why")
				}
				b.header.Set("Accept", "application/json")
				r = b.submit("/auth/callback/credentials", url.Values{"email": {typed}, "password": {"engine"}})
				if d := documentOf(t, r); r.Status != 403 || d.Code != "too_many_failures" {
					t.Errorf("%s: a program gets status %d %s", typed, r.Status, r.Body)
				}
			}
			for _, a := range apps {
				a.clock.Advance(24 * time.Hour)
			}
			if got := wrongly(t, place(t, last, "198.51.100.7"), "ada@example.com"); got != 1 {
				t.Errorf("%d a day later", got)
			}
		})
	}
}

// TestInARowEnds checks that a correct attempt resets the counts, and that a reset in one process takes effect in the
// other.
func TestInARowEnds(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"in one process": 1, "in two": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apps, _ := inRows(t, n, func(c *core.Config) { c.Limits.Shared = n > 1; c.Limits.KnownBrowsers = core.False })
			first, last := apps[0], apps[n-1]
			here, there := place(t, first, "192.0.2.1"), place(t, last, "192.0.2.2")
			for range 3 {
				for range 49 {
					guess(here, "ada@example.com")
				}
				if !enter(here, "ada@example.com") {
					t.Fatal("the right password after 49 wrong ones does not end the row")
				}
			}
			wrongly(t, here, "ada@example.com")
			wrongly(t, there, "ada@example.com")
			if enter(here, "ada@example.com") {
				t.Fatal("the correct attempt after a hundred wrong ones was allowed")
			}
			if r := here.submit("/auth/toy/forgive", nil); r.Err != nil {
				t.Fatal(r.Err)
			}
			if !enter(here, "ada@example.com") || !enter(place(t, last, "192.0.2.3"), "ada@example.com") {
				t.Error("forgiven attempts still count")
			}
		})
	}
}

// TestInARowLocksNoOwnerOut checks that the owner can still sign in in a known browser, which resets nothing for
// attackers, and that an attacker in one network cannot use up the limit of a name.
func TestInARowLocksNoOwnerOut(t *testing.T) {
	t.Parallel()
	apps, _ := inRows(t, 2, nil)
	owner, stranger := place(t, apps[0], "203.0.113.5"), place(t, apps[1], "192.0.2.1")
	if !enter(owner, "ada@example.com") {
		t.Fatal("the owner is refused")
	}
	for range 30 {
		if got := wrongly(t, stranger, "ada@example.com"); got > 50 {
			t.Fatalf("%d guesses", got)
		}
		for _, a := range apps {
			a.clock.Advance(24 * time.Hour)
		}
	}
	if b := place(t, apps[0], "203.0.113.9"); !enter(b, "ada@example.com") {
		t.Error("an attacker in one network locks out the owner")
	}
	for _, peer := range []string{"192.0.2.2", "192.0.2.3"} {
		wrongly(t, place(t, apps[1], peer), "ada@example.com")
	}
	for range 3 {
		if !enter(owner, "ada@example.com") {
			t.Error("the owner's browser waits because of attackers")
		}
	}
	elsewhere := place(t, apps[0], "198.51.100.7")
	if guess(elsewhere, "ada@example.com") {
		t.Error("the owner's sign-ins give attackers more guesses")
	}
	if got := wrongly(t, owner, "ada@example.com"); got != 100 {
		t.Errorf("the owner's browser guesses %d times", got)
	}
	if r := owner.submit("/auth/toy/forgive", nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	if !enter(elsewhere, "ada@example.com") || !enter(owner, "ada@example.com") {
		t.Error("attempts that were forgiven in the owner's browser still count, there or elsewhere")
	}
}

// TestInARowIsOptional checks that a provider without AttemptInARow is not affected.
func TestInARowIsOptional(t *testing.T) {
	t.Parallel()
	apps, asked := inRows(t, 1, func(c *core.Config) { c.Providers[0].(*core.CredentialsProvider).InARow = false })
	b := place(t, apps[0], "192.0.2.1")
	for range 150 {
		guess(b, "ada@example.com")
	}
	if *asked != 150 {
		t.Errorf("%d of 150 were checked", *asked)
	}
}

// TestForgivenInKnownBrowsers checks that a user who has verified a name can try again in all their known browsers.
func TestForgivenInKnownBrowsers(t *testing.T) {
	t.Parallel()
	apps, _ := inRows(t, 1, nil)
	first, second := place(t, apps[0], "203.0.113.5"), place(t, apps[0], "203.0.113.6")
	for _, b := range []*browser{first, second} {
		if !enter(b, "ada@example.com") {
			t.Fatal("the right password is refused")
		}
	}
	if n := wrongly(t, first, "ada@example.com"); n != 100 {
		t.Fatalf("%d guesses in a known browser", n)
	}
	if enter(second, "ada@example.com") {
		t.Fatal("the other known browser has a separate count for the name")
	}
	if r := place(t, apps[0], "203.0.113.7").submit("/auth/toy/forgive", nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	if !enter(second, "ada@example.com") {
		t.Error("the known browsers of the name still wait")
	}
}
