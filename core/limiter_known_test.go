package core_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// inKnownBrowser returns an attempt in a known browser, from an IPv4 address or, if peer is empty, from an unidentified
// client.
func inKnownBrowser(attempt core.Attempt, name, peer, browser string) core.LimitParams {
	p := from(attempt, name, peer)
	p.Browser = browser
	return p
}

// TestKnownBrowsersShare checks that users who make many browsers known get no more attempts, and do not use up the
// limits of unknown browsers.
func TestKnownBrowsersShare(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		attempt core.Attempt
		of      func(i int) core.LimitParams
		most    int
	}{
		"one name, many browsers and clients": {core.AttemptCredentials, func(i int) core.LimitParams {
			return inKnownBrowser(core.AttemptCredentials, "ada", fmt.Sprintf("192.0.2.%d", i%200), fmt.Sprint(i))
		}, 50},
		"in a row": {core.AttemptInARow, func(i int) core.LimitParams {
			return inKnownBrowser(core.AttemptInARow, "ada", fmt.Sprintf("192.0.2.%d", i%200), fmt.Sprint(i))
		}, 100},
		"many names, one client": {core.AttemptCredentials, func(i int) core.LimitParams {
			return inKnownBrowser(core.AttemptCredentials, fmt.Sprint("name ", i), "192.0.2.1", fmt.Sprint(i))
		}, 60},
		"many names, unidentified": {core.AttemptCredentials, func(i int) core.LimitParams {
			return inKnownBrowser(core.AttemptCredentials, fmt.Sprint("name ", i), "", fmt.Sprint(i))
		}, 600},
		"passkey challenges of one client": {core.AttemptWebAuthn, func(i int) core.LimitParams {
			return inKnownBrowser(core.AttemptWebAuthn, "", "192.0.2.1", fmt.Sprint(i))
		}, 120},
	} {
		t.Run(name, func(t *testing.T) {
			l, allowed := core.NewLimiter(newClock().Now), 0
			for i := range 2000 {
				n, _ := attempts(l, 1, row.of(i))
				allowed += n
			}
			if allowed != row.most {
				t.Errorf("%d attempts, want %d", allowed, row.most)
			}
			unknown := row.of(0)
			unknown.Browser = ""
			if n, wait := attempts(l, 1, unknown); n != 1 {
				t.Errorf("an unknown browser waits %v", wait)
			}
		})
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

// TestOneNetworkFillsNoPool simulates an attacker with a /48 who makes one wrong attempt for as many names as the
// network can in a day. The limit of a name that was not attacked is unchanged.
func TestOneNetworkFillsNoPool(t *testing.T) {
	t.Parallel()
	l := core.NewLimiter(newClock().Now)
	for i := range 26_000 {
		p := from(core.AttemptInARow, fmt.Sprint("name ", i), "")
		p.Peer, p.PeerIsVisitor = netip.MustParsePrefix(fmt.Sprintf("2001:db8:0:%x::/64", i)), true
		if wait, err := l.Limit(context.Background(), p); wait > 0 || err != nil {
			t.Fatal(i, wait, err)
		}
	}
	for i := range 50 {
		honest := from(core.AttemptInARow, fmt.Sprint("honest ", i), "198.51.100.7")
		if n, wait := attempts(l, 50, honest); n != 50 {
			t.Fatalf("%s: %d attempts, then a wait of %v", honest.Identifier, n, wait)
		}
	}
}

// TestRowSurvivesAFlood checks that the wrong attempt of a name is not evicted by a flood of names with more attempts.
func TestRowSurvivesAFlood(t *testing.T) {
	t.Parallel()
	l := core.NewLimiter(newClock().Now)
	attempts(l, 1, from(core.AttemptInARow, "ada", "203.0.113.99"))
	for i := range 100_000 {
		peer := fmt.Sprintf("%d.%d.%d.%d", 11+i>>24, i>>16&255, i>>8&255, i&255)
		attempts(l, 2, from(core.AttemptInARow, fmt.Sprint("name ", i), peer))
	}
	allowed := 0
	for i := range 20 {
		n, _ := attempts(l, 10, from(core.AttemptInARow, "ada", fmt.Sprintf("203.0.113.%d", i)))
		allowed += n
	}
	if allowed != 99 {
		t.Errorf("%d attempts after the flood", allowed)
	}
}
