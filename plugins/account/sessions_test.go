package account_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// strategies are both session strategies. The page has the same features with both.
var strategies = map[string]func(*core.Config){
	"database": func(*core.Config) {},
	"jwt": func(c *core.Config) {
		c.Session.Strategy, c.Session.Revocation = core.StrategyJWT, core.Revocation{On: core.True}
	},
}

// TestEndSessions: a user ends one session, all others, and the current one, but no session of another user.
func TestEndSessions(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: configure})
			first, second, third, other := s.as(ada), s.as(ada), s.as(ada), s.as(eve)
			sessions := first.overview().Sessions
			if len(sessions) != 3 || !sessions[0].Current || sessions[1].Current || sessions[2].Current {
				t.Fatalf("sessions %+v", sessions)
			}
			end := func(which string) *core.Response {
				return first.call("account/end", url.Values{"session": {which}})
			}
			first.refused(end(other.overview().Sessions[0].ID), 404, "not_found")
			first.refused(end(""), 404, "not_found")
			first.refused(end("nonsense"), 404, "not_found")
			if !other.signedIn() {
				t.Error("another user's session has ended")
			}

			current := second.overview().Sessions[0].ID
			first.fine(end(current), http.StatusOK)
			if second.signedIn() || !first.signedIn() || !third.signedIn() {
				t.Error("the selected session has not ended, or others have")
			}
			var answer struct{ Ended int }
			s.must(json.Unmarshal(end("others").Body, &answer))
			if answer.Ended != 1 || third.signedIn() || !first.signedIn() {
				t.Errorf("ended %d others", answer.Ended)
			}
			second.signIn(ada)
			first.fine(end("all"), http.StatusOK)
			if first.signedIn() || second.signedIn() {
				t.Error("a browser is still signed in")
			}
		})
	}
}

// TestEndOwnSession: a browser that ends its own session is signed out and loses its cookie.
func TestEndOwnSession(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	r := b.post("account/end", url.Values{"session": {b.overview().Sessions[0].ID}})
	if r.Status != http.StatusSeeOther || r.Redirect != origin {
		t.Errorf("answered %d to %s", r.Status, r.Redirect)
	}
	if _, kept := b.cookies["__Secure-authjs.session-token"]; kept || b.signedIn() {
		t.Error("the browser still has a session")
	}
}

// TestSessionsNotListed: encrypted cookies without revocation are not listed, and the page says so.
func TestSessionsNotListed(t *testing.T) {
	s := newSite(t, setup{configure: func(c *core.Config) {
		c.Session.Strategy, c.Session.Revocation.On = core.StrategyJWT, core.False
	}})
	b := s.as(ada)
	if o := b.overview(); o.Sessions != nil {
		t.Errorf("sessions %+v", o.Sessions)
	}
	b.fine(b.open("account"), http.StatusOK)
	b.refused(b.call("account/end", url.Values{"session": {"others"}}), 409, "sessions_not_listed")
}
