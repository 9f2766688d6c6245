package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func TestFresh(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy)
			b := signedIn(t, a, "1")
			passes := func() bool {
				s, refusal := a.Visit(t.Context(), b.request("GET", "/payout", "", "")).Require(core.Fresh(10 * time.Minute))
				return s != nil && refusal == nil
			}
			if !passes() {
				t.Error("refused after a proof")
			}
			a.clock.Advance(10 * time.Minute)
			if !passes() {
				t.Error("refused at the end of the time")
			}
			a.clock.Advance(time.Second)
			if passes() {
				t.Error("passes with an old proof")
			}
			b.signIn("1")
			if !passes() {
				t.Error("refused after another proof")
			}
		})
	}
	guard := core.Fresh(time.Hour)
	for name, s := range map[string]*core.Session{
		"without facts": {UserID: "1"},
		"long ago":      {UserID: "1", AuthTime: time.Now().Add(-2 * time.Hour)},
	} {
		var again *core.StepUp
		if err := guard(t.Context(), s); !errors.As(err, &again) || again.MaxAge != time.Hour {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := guard(t.Context(), &core.Session{AuthTime: time.Now()}); err != nil {
		t.Error(err)
	}
}

// TestGuardsAnswer has guards object, to clients of both kinds.
func TestGuardsAnswer(t *testing.T) {
	t.Parallel()
	stepUp := func(context.Context, *core.Session) error { return &core.StepUp{MaxAge: 10 * time.Minute} }
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	broken := func(context.Context, *core.Session) error { return errors.New("no answer") }
	panics := func(context.Context, *core.Session) error { panic("at the disco") }
	passes := func(_ context.Context, s *core.Session) error {
		if s.UserID != "1" {
			return errors.New("another session")
		}
		return nil
	}
	for name, row := range map[string]struct {
		guards     []core.Guard
		html, json int
		code       string
	}{
		"none":            {nil, 0, 0, ""},
		"one that passes": {[]core.Guard{passes, passes}, 0, 0, ""},
		"step up":         {[]core.Guard{passes, stepUp}, 303, 401, "reauth_required"},
		"forbidden":       {[]core.Guard{passes, never}, 403, 403, "forbidden"},
		"fails":           {[]core.Guard{broken}, 500, 500, ""},
		"panics":          {[]core.Guard{panics}, 500, 500, ""},
		"the first":       {[]core.Guard{never, stepUp, panics}, 403, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, core.StrategyJWT)
			b := signedIn(t, a, "1")
			for accept, status := range map[string]int{"text/html": row.html, "application/json": row.json} {
				b.header.Set("Accept", accept)
				session, r := a.Visit(t.Context(), b.request("GET", "/payout?to=2", "", "")).Require(row.guards...)
				if status == 0 {
					if r != nil || session == nil {
						t.Errorf("%s: refused: %+v", accept, r)
					}
					continue
				}
				if r == nil || session != nil || r.Status != status {
					t.Fatalf("%s: %+v, %+v", accept, session, r)
				}
				checkObjection(t, r, accept, row.code)
			}
		})
	}
}

func checkObjection(t *testing.T, r *core.Response, accept, code string) {
	t.Helper()
	h := r.Header
	if !strings.Contains(h.Get("Cache-Control"), "no-store") || !strings.Contains(h.Get("Vary"), "Cookie") {
		t.Errorf("%s: caches may keep it: %v", accept, h)
	}
	if r.Status == http.StatusSeeOther && !strings.HasSuffix(h.Get("Location"),
		"/auth/signin?error=SessionRequired&callbackUrl=%2Fpayout%3Fto%3D2") {
		t.Errorf("%s: leads to %q", accept, h.Get("Location"))
	}
	if code == "" || accept == "text/html" {
		return
	}
	var problem struct {
		Status int
		Code   string
		MaxAge int
	}
	if err := json.Unmarshal(r.Body, &problem); err != nil || problem.Code != code || problem.Status != r.Status ||
		h.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %v %s", accept, h, r.Body)
	}
	const challenge = `Bearer error="insufficient_user_authentication", error_description="Sign in again first.", ` +
		`max_age="600"`
	if asks := h.Get("Www-Authenticate"); r.Status == 401 && (asks != challenge || problem.MaxAge != 600) {
		t.Errorf("%s: challenge %q, %s", accept, asks, r.Body)
	}
}

// TestGuardsAreForSignedInVisitors asks no guard about nobody.
func TestGuardsAreForSignedInVisitors(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT)
	asked := false
	_, r := a.Visit(t.Context(), visit(t, a).request("GET", "/payout", "", "")).Require(
		func(context.Context, *core.Session) error { asked = true; return nil })
	if asked || r.Status != 401 || !strings.Contains(string(r.Body), `"code":"session_required"`) {
		t.Errorf("asked %t, %d %s", asked, r.Status, r.Body)
	}
}
