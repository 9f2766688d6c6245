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
		if age, ok := a.RevocationAge(); ok {
			t.Errorf("before the first request the age is %v", age)
		}
		b := signedIn(t, a, "1")
		b.session()
		synctest.Wait()
		if age, ok := a.RevocationAge(); !ok || age > time.Second {
			t.Errorf("after a request: %v, %t", age, ok)
		}
		elapse(time.Hour)
		if age, ok := a.RevocationAge(); !ok || age != time.Hour {
			t.Errorf("after an hour without requests: %v, %t", age, ok)
		}
		b.session()
		synctest.Wait()
		if age, ok := a.RevocationAge(); !ok || age > time.Second {
			t.Errorf("after another request: %v, %t", age, ok)
		}
	})
	off := func(c *core.Config) { c.Session.Revocation = core.Revocation{} }
	for name, a := range map[string]*core.Auth{
		"revocation is off": process(t, newHouse(), 0, off),
		"chosen by request": core.PerRequest("/auth", nil),
	} {
		if age, ok := a.RevocationAge(); ok {
			t.Errorf("%s: %v", name, age)
		}
	}
}
