package tenants_test

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/realms"
	"github.com/latchkey-go/latchkey/core/internal/tenants"
)

func auth(realm byte) *realms.Auth { return &realms.Auth{Realm: [32]byte{realm}, Encrypted: true} }

// TestKnown: an Auth that accepts the sessions of the first one of its realm is reported once.
func TestKnown(t *testing.T) {
	t.Parallel()
	var known tenants.Known
	one, two, other, apart := auth(1), auth(1), auth(2), auth(2)
	apart.Encrypted = false
	for i, row := range []struct {
		add  *realms.Auth
		want bool
	}{
		{one, false}, {one, false}, {other, false}, {two, true}, {two, false}, {apart, false}, {auth(2), true},
	} {
		if got := known.Add(row.add); got != row.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// TestKnownIsBounded adds a new Auth for each request, like an application that creates one each time.
func TestKnownIsBounded(t *testing.T) {
	t.Parallel()
	var known tenants.Known
	reported := 0
	for range 3000 {
		if known.Add(auth(1)) {
			reported++
		}
	}
	if reported != 1023 {
		t.Errorf("%d Auths were remembered after the first", reported)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var lines tenants.Lines
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	count := func(at time.Time) (allowed int) {
		for range 30 {
			if lines.Allow(at) {
				allowed++
			}
		}
		return allowed
	}
	if got := count(now); got != 10 {
		t.Errorf("%d lines", got)
	}
	if got := count(now.Add(time.Minute - 1)); got != 0 {
		t.Errorf("%d more lines in the same minute", got)
	}
	if got := count(now.Add(time.Minute)); got != 10 {
		t.Errorf("%d lines in the next minute", got)
	}
	if got := count(now.Add(-time.Hour)); got != 10 {
		t.Errorf("%d lines after the clock was set back", got)
	}
}
