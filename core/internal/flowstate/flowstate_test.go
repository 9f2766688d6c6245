package flowstate_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

var errExpired = errors.New("expired")

// world is a browser with a clock.
type world struct {
	keys    *flowstate.Keys
	set     *cookies.Set
	now     time.Time
	cookies map[string]string
	owner   string
	csrf    string
}

func newWorld(t *testing.T, secrets ...string) *world {
	t.Helper()
	w := &world{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), cookies: map[string]string{}, csrf: "browser 1"}
	if len(secrets) == 0 {
		secrets = []string{"a-secret-of-more-than-thirty-two-bytes"}
	}
	w.set = cookies.NewSets(&cookies.Config{Secrets: secrets, Fault: func(string, ...any) { t.Error("faults") }})[1]
	keys, err := flowstate.NewKeys(secrets, cookies.Sealer{
		Now: func() time.Time { return w.now }, Rand: rand.Reader, Expired: errExpired,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.keys = keys
	return w
}

// browser returns the browser with its cookies.
func (w *world) browser() *flowstate.Browser {
	h := http.Header{}
	for name, value := range w.cookies {
		h.Add("Cookie", name+"="+value)
	}
	return &flowstate.Browser{
		Keys: w.keys, Jar: cookie.Parse(h["Cookie"]), Cookies: w.set, CSRF: w.csrf,
		Owner: func(context.Context) string { return w.owner },
	}
}

// take stores the cookies of a response.
func (w *world) take(all []cookie.Cookie) {
	for _, c := range all {
		if c.HasMaxAge && c.MaxAge == 0 {
			delete(w.cookies, c.Name)
		} else {
			w.cookies[c.Name] = c.Value
		}
	}
}

// start starts a flow and stores its cookies.
func (w *world) start(t *testing.T, client *flowstate.Client, start flowstate.Start) *flowstate.Flow {
	t.Helper()
	b := w.browser()
	flow, err := b.Start(t.Context(), client, start)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := b.Store(flow, client, 100)
	if err != nil {
		t.Fatal(err)
	}
	w.take(stored)
	return flow
}

var all = []string{flowstate.CheckState, flowstate.CheckPKCE, flowstate.CheckNonce}

// TestFind checks which callbacks find a flow, for the first flow of a browser and for a further one.
func TestFind(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(w *world, client *flowstate.Client, state *string)
		want   error
	}{
		"the callback":     {func(*world, *flowstate.Client, *string) {}, nil},
		"another state":    {func(_ *world, _ *flowstate.Client, s *string) { *s = "x" }, flowstate.ErrOtherState},
		"without a state":  {func(_ *world, _ *flowstate.Client, s *string) { *s = "" }, flowstate.ErrOtherState},
		"another provider": {func(_ *world, c *flowstate.Client, _ *string) { c.ID = "other" }, flowstate.ErrNoFlow},
		"no cookies":       {func(w *world, _ *flowstate.Client, _ *string) { clear(w.cookies) }, flowstate.ErrNoFlow},
		"after its expiry": {
			func(w *world, _ *flowstate.Client, _ *string) { w.now = w.now.Add(time.Hour) }, flowstate.ErrNoFlow,
		},
		"cookie of another": {
			func(w *world, _ *flowstate.Client, _ *string) { w.cookies["__Secure-authjs.nonce"] = "x" }, nil,
		},
	} {
		for _, further := range []bool{false, true} {
			w := newWorld(t)
			client := &flowstate.Client{ID: "op", Checks: all}
			if further {
				w.start(t, &flowstate.Client{ID: "first", Checks: all}, flowstate.Start{})
			}
			flow := w.start(t, client, flowstate.Start{CallbackURL: "/orders"})
			state := flow.State
			row.change(w, client, &state)
			found, err := w.browser().Find(client, state)
			want := row.want
			switch {
			case name == "cookie of another" && !further:
				want = flowstate.ErrNoFlow
			case want != nil && further: // the check cookies are those of the first provider
				want = flowstate.ErrNoFlow
			}
			if !errors.Is(err, want) {
				t.Errorf("%s, further %v: %v", name, further, err)
				continue
			}
			if err == nil && (found.Verifier != flow.Verifier || found.Nonce != flow.Nonce || found.CallbackURL != "/orders") {
				t.Errorf("%s, further %v: %+v", name, further, found)
			}
		}
	}
}

// TestCheckCookiesOfTwoFlows checks that the value of a check cookie of another flow is not used.
func TestCheckCookiesOfTwoFlows(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	client := &flowstate.Client{ID: "op", Checks: all}
	flow := w.start(t, client, flowstate.Start{})
	other.start(t, client, flowstate.Start{})
	w.cookies["__Secure-authjs.nonce"] = other.cookies["__Secure-authjs.nonce"]
	if _, err := w.browser().Find(client, flow.State); !errors.Is(err, flowstate.ErrNoFlow) {
		t.Errorf("the nonce of another flow: %v", err)
	}
}

// TestAuthJSCookie checks that a flow that Auth.js has started continues with its own state only. Auth.js's cookie
// contains the state and no tag.
func TestAuthJSCookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims := &token.Token{}
	_ = claims.Extra.Set("value", "the state")
	_ = claims.Extra.Set("provider", "op")
	sealed, err := w.keys.Seal(w.set.State.Keys, claims, cookies.FlowLifetime)
	if err != nil {
		t.Fatal(err)
	}
	w.cookies[w.set.State.Name()] = sealed
	client := &flowstate.Client{ID: "op", Checks: []string{flowstate.CheckState}}
	for state, want := range map[string]error{
		"the state": nil, "another": flowstate.ErrOtherState, "": flowstate.ErrOtherState,
	} {
		if _, err := w.browser().Find(client, state); !errors.Is(err, want) {
			t.Errorf("state %q: %v", state, err)
		}
	}
}

// TestCompare checks how the session and the browser of a callback relate to those of the start.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before, after string
		csrf          string
		switches      bool
		want          flowstate.Session
		err           error
	}{
		"no session":                 {"", "", "browser 1", false, flowstate.SameSession, nil},
		"the same session":           {"u1", "u1", "browser 1", false, flowstate.SameSession, nil},
		"signed out meanwhile":       {"u1", "", "browser 1", false, flowstate.SameSession, nil},
		"signed in meanwhile":        {"", "u1", "browser 1", false, flowstate.SignedOut, nil},
		"another session":            {"u1", "u2", "browser 1", false, flowstate.OtherSession, nil},
		"switches":                   {"u1", "u1", "browser 1", true, flowstate.SwitchesUser, nil},
		"switches, another session":  {"u1", "u2", "browser 1", true, flowstate.OtherSession, nil},
		"switches without a session": {"", "u1", "browser 1", true, flowstate.SignedOut, nil},
		"another browser":            {"u1", "u1", "browser 2", false, 0, flowstate.ErrOtherBrowser},
		"unknown browser":            {"u1", "u1", "", false, flowstate.SameSession, nil},
	} {
		w := newWorld(t)
		w.owner = row.before
		client := &flowstate.Client{ID: "op", Checks: all}
		flow := w.start(t, client, flowstate.Start{Switches: row.switches})
		w.owner, w.csrf = row.after, row.csrf
		found, err := w.browser().Find(client, flow.State)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.browser().Compare(t.Context(), found); got != row.want || !errors.Is(err, row.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestUnknownBrowser: a CSRF cookie that a sibling subdomain can set does not identify the browser.
func TestUnknownBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set.CSRF.Attributes.Name = "__Secure-authjs.csrf-token"
	client := &flowstate.Client{ID: "op", Checks: all}
	flow := w.start(t, client, flowstate.Start{})
	w.csrf = "browser 2"
	found, err := w.browser().Find(client, flow.State)
	if err != nil || flow.Browser != "" {
		t.Fatalf("%+v, %v", flow, err)
	}
	if _, err := w.browser().Compare(t.Context(), found); err != nil {
		t.Error(err)
	}
}

// TestRotation checks that a flow continues after a secret was added.
func TestRotation(t *testing.T) {
	t.Parallel()
	const before, after = "a-secret-of-more-than-thirty-two-bytes", "another-secret-of-more-than-32-bytes!"
	w, next := newWorld(t, before), newWorld(t, after, before)
	client := &flowstate.Client{ID: "op", Checks: all}
	for range 2 { // in the check cookies, and in its own
		flow := w.start(t, client, flowstate.Start{})
		next.cookies, next.csrf = w.cookies, w.csrf
		found, err := next.browser().Find(client, flow.State)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.browser().Compare(t.Context(), found); err != nil {
			t.Error(err)
		}
	}
}

// TestRoom checks that a browser has at most four pending flows, and that the oldest is deleted.
func TestRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := &flowstate.Client{ID: "op", Checks: all}
	var states []string
	for range 6 {
		states = append(states, w.start(t, client, flowstate.Start{CallbackURL: "/" + strings.Repeat("x", 500)}).State)
		w.now = w.now.Add(time.Millisecond)
	}
	for i, state := range states {
		if _, err := w.browser().Find(client, state); (err == nil) != (i >= 2) {
			t.Errorf("flow %d: %v", i, err)
		}
	}
	limited := w.browser()
	limited.HeaderLimit = 2500
	flow, err := limited.Start(t.Context(), client, flowstate.Start{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := limited.Store(flow, client, 100)
	if w.take(stored); err != nil || len(w.cookies) != 1 {
		t.Errorf("with a small header limit, %d cookies: %v", len(w.cookies), err)
	}
}

// TestStates checks the alphabet of the state, and the claims for a redirect proxy.
func TestStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.start(t, &flowstate.Client{ID: "op", Checks: all}, flowstate.Start{})
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(flow.State) != 22 || strings.Trim(flow.State, alphabet) != "" {
		t.Errorf("state %q", flow.State)
	}
	proxied := &flowstate.Client{ID: "op", Checks: all, Proxied: true}
	flow = w.start(t, proxied, flowstate.Start{ReturnTo: "https://app.example"})
	claims, err := w.keys.Open(w.keys.State, flow.State)
	if err != nil || claims.Extra.Text("origin") != "https://app.example" || flow.Browser != "" {
		t.Errorf("%v, %v, browser %q", claims, err, flow.Browser)
	}
}

// TestAnswers checks that a stored form_post callback is found once, by its own provider.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := &flowstate.Client{ID: "op", Checks: all, FormPost: true}
	flow := w.start(t, client, flowstate.Start{})
	for _, c := range w.cookies {
		if c == "" {
			t.Error("an empty cookie")
		}
	}
	key, stored, err := w.browser().StoreAnswer(client, map[string]string{"state": flow.State, "code": "c1"})
	if err != nil {
		t.Fatal(err)
	}
	w.take([]cookie.Cookie{stored})
	if answer, _, err := w.browser().FindAnswer(client, key); err != nil || answer["code"] != "c1" {
		t.Errorf("%v, %v", answer, err)
	}
	for name, row := range map[string]struct {
		client *flowstate.Client
		key    string
	}{
		"another provider": {&flowstate.Client{ID: "other"}, key}, "another key": {client, "abcdefgh"},
		"a short key": {client, ""},
	} {
		if _, _, err := w.browser().FindAnswer(row.client, row.key); !errors.Is(err, flowstate.ErrNoFlow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err = w.browser().StoreAnswer(client, map[string]string{"state": "x"})
	if !errors.Is(err, flowstate.ErrOtherState) {
		t.Errorf("a callback of no flow: %v", err)
	}
}

// TestChallenge checks that a passkey ceremony belongs to its provider.
func TestChallenge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stored, err := w.browser().StoreChallenge(t.Context(), "passkey", "content")
	if err != nil {
		t.Fatal(err)
	}
	w.take([]cookie.Cookie{stored})
	for _, provider := range []string{"passkey", "other"} {
		_, content, err := w.browser().FindChallenge(provider)
		if ok := provider == "passkey"; ok != (err == nil && content == "content") {
			t.Errorf("%s: %q, %v", provider, content, err)
		}
	}
}

// TestRandomFails checks that no flow starts without randomness.
func TestRandomFails(t *testing.T) {
	t.Parallel()
	for _, proxied := range []bool{false, true} {
		w := newWorld(t)
		w.keys.Rand = strings.NewReader("")
		client := &flowstate.Client{ID: "op", Checks: all, Proxied: proxied}
		if flow, err := w.browser().Start(t.Context(), client, flowstate.Start{}); err == nil {
			t.Errorf("proxied %s: %+v", strconv.FormatBool(proxied), flow)
		}
	}
}

// TestFailure checks the types of errors, and which ones tell the user why the sign-in cannot continue.
func TestFailure(t *testing.T) {
	t.Parallel()
	lost := autherr.New(autherr.Store, errors.New("row 7"))
	for name, row := range map[string]struct {
		err    error
		kind   autherr.Type
		reason errormarks.Reason
		level  slog.Level
	}{
		"another browser": {
			fmt.Errorf("flow: %w", flowstate.ErrOtherBrowser), autherr.InvalidCheck, errormarks.Browser, slog.LevelWarn,
		},
		"another state": {flowstate.ErrOtherState, autherr.CallbackRoute, errormarks.Expired, slog.LevelWarn},
		"no flow":       {flowstate.ErrNoFlow, autherr.InvalidCheck, errormarks.Expired, slog.LevelWarn},
		"typed":         {lost, autherr.Store, "", slog.LevelError},
		"any":           {errors.New("x"), autherr.Auth, "", slog.LevelError},
	} {
		got, ok := errors.AsType[*autherr.Error](flowstate.Failure(row.err))
		if !ok || got.Type != row.kind || errormarks.ReasonIn(got) != row.reason || errormarks.Level(got) != row.level {
			t.Errorf("%s: %#v", name, got)
		}
	}
	if err := flowstate.Failure(nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}
