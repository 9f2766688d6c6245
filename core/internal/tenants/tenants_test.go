package tenants_test

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/tenants"
)

type auth struct{ realm byte }

func realm(a *auth) [32]byte { return [32]byte{a.realm} }

// TestKnown: the first Auth of a realm is returned once for each other Auth of the realm.
func TestKnown(t *testing.T) {
	t.Parallel()
	var known tenants.Known[auth]
	one, two, other := &auth{1}, &auth{1}, &auth{2}
	for i, row := range []struct{ add, want *auth }{
		{one, nil}, {one, nil}, {other, nil}, {two, one}, {two, nil}, {&auth{2}, other},
	} {
		if got := known.Add(row.add, realm); got != row.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// TestKnownIsBounded adds a new Auth for each request, like an application that creates one each time.
func TestKnownIsBounded(t *testing.T) {
	t.Parallel()
	var known tenants.Known[auth]
	asked := 0
	for range 3000 {
		known.Add(&auth{}, func(a *auth) [32]byte { asked++; return realm(a) })
	}
	if asked != 1024 {
		t.Errorf("%d Auths were remembered", asked)
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
