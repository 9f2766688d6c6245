package tokens_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/internal/flaky"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

// TestApprovalEndsWithSessions: a device that a user has approved gets no tokens after the user's sessions have ended.
func TestApprovalEndsWithSessions(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *tokens.Options) {
				c.Session.Strategy = strategy
				if strategy == core.StrategyJWT {
					c.Session.Revocation.On = core.True
				}
			})
			d := s.start()
			s.decide(s.as("ada"), d.UserCode, "allow")
			if _, err := s.auth.EndSessions(t.Context(), "ada", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
			if r := s.poll(d.DeviceCode); r.StatusCode == 200 {
				t.Error("the device gets tokens")
			}
		})
	}
}

// TestDeviceAsksTwiceAtOnce: of two concurrent requests of an approved device, one gets tokens.
func TestDeviceAsksTwiceAtOnce(t *testing.T) {
	f := &flaky.Failing{}
	s := newSite(t, func(c *core.Config, _ *tokens.Options) { f.Store = c.Store.(*faulty).Store; c.Store = f })
	d := s.start()
	s.decide(s.as("ada"), d.UserCode, "allow")
	faster := 0
	f.Fail = func(call string) bool {
		if call == "CreateRecord app-grant" && faster == 0 {
			faster = -1
			faster = s.poll(d.DeviceCode).StatusCode
		}
		return false
	}
	r := s.poll(d.DeviceCode)
	grants, err := f.Store.UserRecords(t.Context(), "ada", "app-grant")
	if faster != 200 || r.StatusCode != 400 || len(grants) != 1 || err != nil {
		t.Errorf("answered %d and %d %s; %d grants, %v", faster, r.StatusCode, r.body, len(grants), err)
	}
}

// TestDeviceAfterFailures: an approved device gets its tokens after a failure of the store, once.
func TestDeviceAfterFailures(t *testing.T) {
	var calls []string
	failures := 0
	for n := -1; n < len(calls); n++ {
		f := &flaky.Failing{}
		s := newSite(t, func(c *core.Config, _ *tokens.Options) { f.Store = c.Store.(*faulty).Store; c.Store = f })
		d := s.start()
		s.decide(s.as("ada"), d.UserCode, "allow")
		f.Fail = flaky.After("", n, func(call string) {
			if n < 0 {
				calls = append(calls, call)
			}
		})
		r := s.poll(d.DeviceCode)
		f.Fail = nil
		if r.StatusCode == 200 {
			continue
		}
		failures++
		if again := s.poll(d.DeviceCode); r.StatusCode < 500 || again.StatusCode != 200 {
			t.Errorf("a failing %s is answered %d %s, and the next poll %d %s", calls[n], r.StatusCode, r.body,
				again.StatusCode, again.body)
		}
		if r := s.poll(d.DeviceCode); r.StatusCode == 200 {
			t.Errorf("after a failing %s, the device code works twice", calls[n])
		}
	}
	if failures == 0 {
		t.Errorf("no failure of %q", calls)
	}
}
