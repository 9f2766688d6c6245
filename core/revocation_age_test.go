package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestRevocationAge: the age starts with the first request, grows while there are no requests, and is small again after
// a request.
func TestRevocationAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := process(t, newHouse(), 0)
		if s := a.Stats(); s.RevocationRead {
			t.Errorf("before the first request the age is %v", s.RevocationAge)
		}
		b := signedIn(t, a, "1")
		b.session()
		synctest.Wait()
		if s := a.Stats(); !s.RevocationRead || s.RevocationAge > time.Second {
			t.Errorf("after a request: %v, %t", s.RevocationAge, s.RevocationRead)
		}
		elapse(time.Hour)
		if s := a.Stats(); !s.RevocationRead || s.RevocationAge != time.Hour {
			t.Errorf("after an hour without requests: %v, %t", s.RevocationAge, s.RevocationRead)
		}
		b.session()
		synctest.Wait()
		if s := a.Stats(); !s.RevocationRead || s.RevocationAge > time.Second {
			t.Errorf("after another request: %v, %t", s.RevocationAge, s.RevocationRead)
		}
	})
	off := func(c *core.Config) { c.Session.Revocation = core.Revocation{} }
	for name, a := range map[string]*core.Auth{
		"revocation is off": process(t, newHouse(), 0, off),
		"chosen by request": core.PerRequest("/auth", nil),
	} {
		if s := a.Stats(); s.RevocationRead {
			t.Errorf("%s: %v", name, s.RevocationAge)
		}
	}
}
