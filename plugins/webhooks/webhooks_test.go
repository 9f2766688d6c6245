package webhooks_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const secret core.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// message is a request that a receiver got.
type message struct {
	id, kind, body string
}

// receiver is an endpoint. It verifies each request as Standard Webhooks describes.
type receiver struct {
	*testing.T
	*httptest.Server
	secrets []core.Secret

	mu     sync.Mutex
	status int
	hold   chan struct{} // requests wait until it is closed, if it is not nil
	held   int           // requests that have waited
	got    []message
	used   []int // the number of signatures of each request
	now    func() time.Time
}

func newReceiver(t *testing.T, start func(http.Handler) *httptest.Server) *receiver {
	t.Helper()
	r := &receiver{T: t, secrets: []core.Secret{secret}, status: http.StatusNoContent}
	r.Server = start(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	hold, status := r.hold, r.status
	if hold != nil {
		r.held++
	}
	r.mu.Unlock()
	if hold != nil {
		<-hold
	}
	id, at := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	sent := strings.Fields(req.Header.Get("webhook-signature"))
	valid := false
	for _, s := range r.secrets {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), "whsec_"))
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		valid = valid || slices.Contains(sent, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	var event struct{ Type string }
	if err := json.Unmarshal(body, &event); err != nil || !valid || req.Method != http.MethodPost ||
		req.Header.Get("Content-Type") != "application/json" {
		r.Errorf("the request is %v %s, signed correctly: %v", req.Header, body, valid)
	}
	if seconds, _ := strconv.ParseInt(at, 10, 64); r.now != nil && seconds != r.now().Unix() {
		r.Errorf("the time is %s", at)
	}
	r.mu.Lock()
	r.got, r.used = append(r.got, message{id, event.Type, string(body)}), append(r.used, len(sent))
	r.mu.Unlock()
	if status/100 == 3 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
}

func (r *receiver) respond(status int) { r.mu.Lock(); defer r.mu.Unlock(); r.status = status }

// take returns the requests since the last call.
func (r *receiver) take() (all []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, r.got, r.used = r.got, nil, nil
	return all
}

// site is an application with webhooks and a clock that tests set.
type site struct {
	*testing.T
	store *memory.Store
	hooks *webhooks.Webhooks
	auth  *core.Auth
	host  *core.PluginHost
	url   string

	mu    sync.Mutex
	now   time.Time
	log   bytes.Buffer
	audit []audit.Name
}

// Attach implements [core.Plugin], for events of tests.
func (s *site) Attach(h *core.PluginHost) error { s.host = h; return nil }

func (s *site) Write(p []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.log.Write(p) }

func (s *site) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *site) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

// emit reports an event of a user.
func (s *site) emit(name audit.Name, user string) {
	s.host.Audit(s.Context(), audit.Event{
		Name: name, Outcome: audit.OK, UserID: user, Credential: "apikey:1", SessionID: "not sent",
		Agent: "not sent", Subject: "not sent", Reference: "not sent",
	})
}

func (s *site) flush() {
	s.Helper()
	for range 2 { // events become deliveries, and those are sent
		if err := s.hooks.Flush(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
}

// records returns the records of a kind.
func (s *site) records(kind string) []*store.Record {
	s.Helper()
	all, _, err := s.store.ListRecords(s.Context(), kind, "", "", 1000)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

func manager(_ context.Context, s *core.Session) error {
	if s.UserID != "ada" {
		return core.ErrForbidden
	}
	return nil
}

func newSite(t *testing.T, kept *memory.Store, options webhooks.Options, change ...func(*core.Config)) *site {
	t.Helper()
	s := &site{T: t, store: kept, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), hooks: webhooks.New(options)}
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept, Now: s.clock,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(s, nil)),
		Plugins: []core.Plugin{s.hooks, s}, CleanUp: core.False,
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, e.Name)
		},
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	if s.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	a, mux := authhttp.New(s.auth), http.NewServeMux()
	a.Mount(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// configured returns options with one endpoint in the own network.
func configured(r *receiver, events ...string) webhooks.Options {
	return webhooks.Options{Endpoints: []webhooks.Config{{
		ID: "own", URL: r.URL + "/hooks", Events: events, Secrets: r.secrets, Internal: true,
	}}}
}

// TestDelivery sends an event once, signed, with the documented body.
func TestDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	s := newSite(t, memory.New(), configured(r, "user.*", "signin"))
	r.now = s.clock
	for _, refused := range []audit.Outcome{audit.Refused, audit.Failed} {
		s.host.Audit(t.Context(), audit.Event{Name: audit.SignIn, Outcome: refused, UserID: "ada"})
	}
	s.emit(audit.PasskeyAdded, "ada") // not in the filter
	s.emit(audit.UserCreated, "ada")
	s.flush()
	got := r.take()
	const want = `{"type":"user.created","timestamp":"2030-01-02T03:04:05Z",` +
		`"data":{"user_id":"ada","credential":"apikey:1"}}`
	if len(got) != 1 || got[0].body != want || !strings.HasPrefix(got[0].id, "msg_") {
		t.Fatalf("got %+v, want one request with %s", got, want)
	}
	for _, kind := range []string{"webhook-event", "webhook-delivery", "webhook-failed"} {
		if left := s.records(kind); len(left) > 0 {
			t.Errorf("%d records %s are left", len(left), kind)
		}
	}
	if strings.Contains(s.log.String(), "webhooks:") {
		t.Errorf("the log is %s", s.log.String())
	}
}

// TestEvents checks that each event of package audit is sent, or is on the list of those that are not.
func TestEvents(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../core/audit/audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	unsent := []string{ // refusals, steps of a sign-in, and operations that no user did
		"config", "csrf", "limit", "gate.held", "mail.asked", "email.failed", "logout.backchannel", "account.refused",
		"password.reset.asked", "email.change.asked", "factor.checked", "challenge", "impersonation.refused",
	}
	known := webhooks.Events()
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Type == nil || fmt.Sprint(v.Type) != "Name" {
			return true
		}
		name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil || slices.Contains(known, name) == slices.Contains(unsent, name) {
			t.Errorf("%s must be in events or in the list of this test", name)
		}
		return true
	})
	for _, row := range []struct {
		filter, event string
		want          bool
	}{
		{"*", "user.created", true}, {"user.*", "user.created", true}, {"user.*", "user.deletion.scheduled", true},
		{"user.created", "user.created", true}, {"user", "user.created", false}, {"user*", "user.created", false},
		{"user.created", "user.deleted", false}, {"sign*", "signin", false},
	} {
		if got := webhooks.Wants([]string{row.filter}, row.event); got != row.want {
			t.Errorf("%s of %s is %v", row.filter, row.event, got)
		}
	}
}

// TestRetries sends an event again for three days, always with the same ID and body, and then lists it as failed. It
// can be sent again.
func TestRetries(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	s := newSite(t, memory.New(), configured(r))
	for _, status := range []int{500, 302, 404, 429} {
		r.respond(status)
		s.emit(audit.UserCreated, "ada")
		s.flush()
		first := r.take()
		if len(first) != 1 {
			t.Fatalf("%d: %d requests", status, len(first))
		}
		sent, begin := 1, s.clock()
		for len(s.records("webhook-failed")) == 0 && sent < 20 {
			s.wait(5 * time.Minute)
			if s.clock().Sub(begin) > 4*24*time.Hour {
				t.Fatalf("%d: %d requests in four days, and no end", status, sent)
			}
			s.flush()
			for _, again := range r.take() {
				if again != first[0] {
					t.Fatalf("%d: got %+v, want %+v", status, again, first[0])
				}
				sent++
			}
		}
		took := s.clock().Sub(begin)
		if sent != 10 || took < 71*time.Hour || took > 81*time.Hour {
			t.Errorf("%d: %d requests in %v", status, sent, took)
		}
		failed, err := s.hooks.Failed(t.Context(), "own", 10)
		if err != nil || len(failed) != 1 || failed[0].ID != first[0].id || failed[0].Attempts != 10 ||
			failed[0].Error != "status "+strconv.Itoa(status) || failed[0].Type != "user.created" {
			t.Fatalf("%d: the failed deliveries are %+v, %v", status, failed, err)
		}
		r.respond(204)
		if err := s.hooks.Replay(t.Context(), "own", first[0].id); err != nil {
			t.Fatal(err)
		}
		s.flush()
		if again := r.take(); len(again) != 1 || again[0] != first[0] {
			t.Errorf("%d: sent again as %+v", status, again)
		}
		if err := s.hooks.Replay(t.Context(), "own", first[0].id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%d: a second replay: %v", status, err)
		}
	}
}

// TestKilled ends a process after it has stored an event, and while it sends one. Another process sends both, after the
// claim has ended and not before, with the same ID.
func TestKilled(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	kept := memory.New()
	s := newSite(t, kept, configured(r))
	dead := make(chan struct{})
	r.hold = dead
	s.emit(audit.UserCreated, "ada")
	for held := 0; held == 0; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		held = r.held
		r.mu.Unlock()
	}
	s.wait(time.Minute)
	other := newSite(t, kept, configured(r), func(c *core.Config) { c.Now = s.clock })
	r.mu.Lock()
	r.hold = nil
	r.mu.Unlock()
	other.flush()
	if n := len(r.take()); n != 0 {
		t.Errorf("%d requests while the delivery is claimed", n)
	}
	s.wait(2 * time.Minute)
	other.flush()
	first := r.take()
	if len(first) != 1 {
		t.Fatalf("%d requests after the claim", len(first))
	}
	close(dead) // it was not dead, only slow
	s.flush()
	if again := r.take(); len(again) != 1 || again[0] != first[0] || len(s.records("webhook-delivery")) > 0 {
		t.Errorf("the slow process sent %+v, the other one %+v", again, first)
	}

	// A process that ends before it has assigned the event to endpoints.
	const id = "msg_0123456789012345678901"
	event, err := json.Marshal(map[string]any{"due": s.clock().UnixMilli(), "data": map[string]any{
		"type": "user.created", "body": map[string]any{"type": "user.created"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	stored := &store.Record{Kind: "webhook-event", Key: id, Value: event, Expires: s.clock().Add(24 * time.Hour)}
	if err := kept.CreateRecord(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	other.flush()
	if got := r.take(); len(got) != 1 || got[0].id != id {
		t.Errorf("got %+v of the process that ended early", got)
	}
}

// TestDisabled disables an endpoint that accepts nothing for five days, or is gone. Events are not sent to it, and wait
// in the list of failed deliveries if they had been stored before.
func TestDisabled(t *testing.T) {
	t.Parallel()
	for status, wait := range map[int]time.Duration{500: 5 * 24 * time.Hour, 410: 0} {
		r := newReceiver(t, httptest.NewServer)
		s := newSite(t, memory.New(), configured(r))
		disabled := func() bool {
			all, err := s.hooks.List(t.Context())
			return err == nil && !all[0].Disabled.IsZero()
		}
		r.respond(status)
		s.emit(audit.UserCreated, "ada")
		s.flush()
		if wait > 0 {
			s.wait(wait - time.Hour)
			s.emit(audit.UserDeleted, "ada")
			s.flush()
			if disabled() {
				t.Fatalf("%d: disabled too early", status)
			}
			s.wait(time.Hour)
			s.emit(audit.UserDeleted, "eve")
			s.flush()
		}
		if !disabled() || !slices.Contains(s.audit, audit.WebhookDisabled) {
			t.Fatalf("%d: not disabled, events %v", status, s.audit)
		}
		r.take()
		s.wait(24 * time.Hour)
		s.emit(audit.UserCreated, "bob")
		s.flush()
		if got := r.take(); len(got) > 0 {
			t.Errorf("%d: a disabled endpoint got %+v", status, got)
		}
		failed, err := s.hooks.Failed(t.Context(), "own", 10)
		if err != nil || len(failed) == 0 {
			t.Errorf("%d: the failed deliveries are %+v, %v", status, failed, err)
		}
		if err := s.hooks.Replay(t.Context(), "own", failed[0].ID); err == nil {
			t.Errorf("%d: a disabled endpoint replays", status)
		}
		r.respond(200)
		if _, err := s.hooks.SetDisabled(t.Context(), "own", false); err != nil {
			t.Fatal(err)
		}
		s.emit(audit.UserCreated, "cid")
		s.flush()
		if got := r.take(); len(got) != 1 || disabled() {
			t.Errorf("%d: after it was enabled, got %+v", status, got)
		}
	}
}

// TestSlowEndpoint: an endpoint that does not respond delays no other one.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	slow, fast := newReceiver(t, httptest.NewServer), newReceiver(t, httptest.NewServer)
	slow.hold = make(chan struct{})
	options := configured(slow)
	options.Endpoints = append(options.Endpoints, configured(fast).Endpoints...)
	options.Endpoints[0].ID = "slow"
	s := newSite(t, memory.New(), options)
	const sent = 40
	for i := range sent {
		s.emit(audit.UserCreated, strconv.Itoa(i))
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		fast.mu.Lock()
		n := len(fast.got)
		fast.mu.Unlock()
		if n == sent {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the fast endpoint got %d", n)
		}
	}
	close(slow.hold)
	s.flush()
	if n := len(slow.take()); n != sent {
		t.Errorf("the slow endpoint got %d", n)
	}
}

// client returns a client with a session of a user.
func (s *site) as(id string) *http.Client {
	s.Helper()
	user := &core.User{ID: id, Name: id, Email: id + "@example.com"}
	if _, err := s.store.User(s.Context(), id); err != nil {
		if _, err := s.store.CreateUser(s.Context(), user); err != nil {
			s.Fatal(err)
		}
	}
	return authtest.SignIn(s.T, s.auth, s.url, user)
}

// program returns a client that sends the session of another client as a bearer token, and the client's
// cookies, so that it has a CSRF token.
func (s *site) program(c *http.Client) *http.Client {
	s.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	for _, cookie := range c.Jar.Cookies(at) {
		if strings.HasSuffix(cookie.Name, "session-token") {
			program := authtest.WithKey(s.T, s.url, core.Secret(cookie.Value))
			program.Jar = c.Jar
			return program
		}
	}
	s.Fatal("the client has no session")
	return nil
}

// call sends JSON to an action, and decodes the response into v.
func (s *site) call(c *http.Client, method, action string, body map[string]any, v any) int {
	s.Helper()
	get := func(method, path string, body io.Reader) (int, []byte) {
		r, err := http.NewRequestWithContext(s.Context(), method, s.url+"/auth/"+path, body)
		if err != nil {
			s.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json")
		res, err := c.Do(r)
		if err != nil {
			s.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			s.Fatal(err)
		}
		return res.StatusCode, text
	}
	var send io.Reader
	if method == http.MethodPost {
		_, text := get(http.MethodGet, "csrf", nil)
		var token struct{ CSRFToken string }
		if err := json.Unmarshal(text, &token); err != nil {
			s.Fatal(err)
		}
		body["csrfToken"] = token.CSRFToken
		encoded, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		send = bytes.NewReader(encoded)
	}
	status, text := get(method, action, send)
	if v != nil {
		if err := json.Unmarshal(text, v); err != nil {
			s.Fatalf("%s %s: %d %s", method, action, status, text)
		}
	}
	return status
}

// to returns a transport that connects to a test server, whatever the host is.
func to(r *receiver) http.RoundTripper {
	t := r.Client().Transport.(*http.Transport).Clone()
	at, _ := url.Parse(r.URL)
	t.TLSClientConfig.ServerName = "example.com"
	t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at.Host)
	}
	return t
}

// TestManagement creates, tests, rotates, changes and deletes an endpoint with the JSON API, under both strategies and
// with a second process.
func TestManagement(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			options := webhooks.Options{Managers: []core.Guard{manager}, MaxEndpoints: 1}
			change := func(c *core.Config) { c.Session.Strategy, c.Session.Bearer = strategy, true }
			s := newSite(t, memory.New(), options, change)
			other := newSite(t, s.store, options, change, func(c *core.Config) { c.Now = s.clock })
			r := newReceiver(t, httptest.NewTLSServer)
			s.hooks.Through(to(r))
			other.hooks.Through(to(r))
			ada, eve := s.as("ada"), s.as("eve")

			if got := s.call(eve, "GET", "webhooks", nil, nil); got != 403 {
				t.Errorf("the list of another user: %d", got)
			}
			body := func() map[string]any {
				return map[string]any{"url": "https://example.com/x", "events": []string{"user.*"}, "description": "Billing"}
			}
			if got := s.call(eve, "POST", "webhooks", body(), nil); got != 403 {
				t.Errorf("an endpoint of another user: %d", got)
			}
			var made struct {
				Endpoint webhooks.Endpoint
				Secret   core.Secret
				Code     string
			}
			if got := s.call(ada, "POST", "webhooks", body(), &made); got != 200 || made.Secret == "" {
				t.Fatalf("create: %d %+v", got, made)
			}
			var refused struct{ Code string }
			if s.call(s.program(ada), "POST", "webhooks", body(), &refused); refused.Code != "browser_required" {
				t.Errorf("an endpoint of a program: %s", refused.Code)
			}
			r.secrets = []core.Secret{made.Secret}
			id := made.Endpoint.ID
			if got := s.call(ada, "POST", "webhooks", body(), &made); got != 409 || made.Code != "too_many_endpoints" {
				t.Errorf("one too many: %d %s", got, made.Code)
			}
			for _, stored := range s.records("webhook-endpoint") {
				if strings.Contains(string(stored.Value), strings.TrimPrefix(string(made.Secret), "whsec_")) {
					t.Error("the secret is stored in plain text")
				}
			}
			var list struct{ Endpoints []webhooks.Endpoint }
			if s.call(ada, "GET", "webhooks", nil, &list); len(list.Endpoints) != 1 || list.Endpoints[0].ID != id {
				t.Errorf("the list is %+v", list)
			}
			var tested struct {
				OK    bool
				Error string
			}
			if s.call(ada, "POST", "webhooks/test", map[string]any{"id": id}, &tested); !tested.OK {
				t.Errorf("the test is %+v", tested)
			}
			if got := r.take(); len(got) != 1 || got[0].kind != "webhook.test" {
				t.Errorf("the test sent %+v", got)
			}
			r.respond(503)
			if s.call(ada, "POST", "webhooks/test", map[string]any{"id": id}, &tested); tested.Error != "status 503" {
				t.Errorf("the test of an endpoint that fails is %+v", tested)
			}
			r.take()
			r.respond(200)

			// After a rotation both secrets sign for a day. The other process learns it within ten seconds.
			if got := s.call(ada, "POST", "webhooks/rotate", map[string]any{"id": id}, &made); got != 200 {
				t.Fatalf("rotate: %d", got)
			}
			s.wait(10 * time.Second)
			other.emit(audit.UserCreated, "bob")
			other.flush()
			if used := r.used; len(used) != 1 || used[0] != 2 {
				t.Errorf("signatures during the rotation: %v", used)
			}
			r.take()
			r.secrets = []core.Secret{made.Secret}
			s.wait(24 * time.Hour)
			other.emit(audit.UserCreated, "bob")
			other.flush()
			if used := r.used; len(used) != 1 || used[0] != 1 {
				t.Errorf("signatures after the rotation: %v", used)
			}
			r.take()

			// The sign-in is a day old now.
			if got := s.call(ada, "POST", "webhooks/delete", map[string]any{"id": id}, nil); got != 403 && got != 401 {
				t.Errorf("a change a day after the sign-in: %d", got)
			}
			ada = s.as("ada")
			r.respond(500)
			s.emit(audit.UserDeleted, "bob")
			s.flush()
			changed := body()
			changed["id"], changed["events"] = id, []string{"nothing"}
			if got := s.call(ada, "POST", "webhooks/update", changed, &made); got != 422 || made.Code != "events_invalid" {
				t.Errorf("a filter without events: %d %s", got, made.Code)
			}
			if got := s.call(ada, "POST", "webhooks/delete", map[string]any{"id": id}, nil); got != 200 {
				t.Errorf("delete: %d", got)
			}
			s.wait(10 * time.Second)
			r.take()
			other.emit(audit.UserDeleted, "ada")
			other.flush()
			if got := r.take(); len(got) > 0 || len(s.records("webhook-delivery")) > 0 {
				t.Errorf("a deleted endpoint got %+v", got)
			}
		})
	}
}

// TestAddresses refuses endpoints outside of the internet: as the address in the URL, and as the result of a lookup.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://10.0.0.1/", "https://192.168.0.1/",
		"https://169.254.169.254/latest", "https://[::ffff:169.254.169.254]/", "https://[64:ff9b::a9fe:a9fe]/",
		"https://[64:ff9b:1::a00:1]/", "https://[fd00:ec2::254]/", "https://[fe80::1%25eth0]/", "https://0.0.0.0/",
		"https://100.100.100.200/", "https://user@example.com/", "https://example.com/#x", "https:///x", "file:///etc",
		"https:example.com", "//example.com", "https://[2002:7f00:1::]/", "https://[::127.0.0.1]/",
	} {
		if webhooks.CheckURL(address, false) == nil {
			t.Errorf("%s is accepted", address)
		}
	}
	reached := newReceiver(t, httptest.NewTLSServer)
	_, port, _ := net.SplitHostPort(reached.Listener.Addr().String())
	s := newSite(t, memory.New(), webhooks.Options{Managers: []core.Guard{manager}})
	for _, host := range []string{"localhost", "2130706433", "0x7f.1", "127.1", "localhost."} { // names of this machine
		made, _, err := s.hooks.Create(t.Context(), webhooks.NewEndpoint{URL: "https://" + net.JoinHostPort(host, port)})
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		err = s.hooks.Test(t.Context(), made.ID)
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") ||
			host == "localhost" && !strings.Contains(err.Error(), "not on the internet") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if got := reached.take(); len(got) > 0 {
		t.Errorf("a server on this machine got %+v", got)
	}
	// An endpoint of the configuration may be in the own network, but not at a metadata service.
	own := newSite(t, memory.New(), webhooks.Options{Endpoints: []webhooks.Config{
		{ID: "meta", URL: "http://169.254.169.254/", Internal: true, Secrets: []core.Secret{secret}},
	}})
	if err := own.hooks.Test(t.Context(), "meta"); err == nil || !strings.Contains(err.Error(), "not on the internet") {
		t.Errorf("a metadata service: %v", err)
	}
}

// TestHugeResponse does not read a response that never ends.
func TestHugeResponse(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		megabytes := 0
		for err := error(nil); err == nil && megabytes < 256; megabytes++ {
			_, err = w.Write(make([]byte, 1<<20))
		}
		written <- megabytes
	}))
	t.Cleanup(server.Close)
	s := newSite(t, memory.New(), webhooks.Options{Endpoints: []webhooks.Config{
		{ID: "own", URL: server.URL, Internal: true, Secrets: []core.Secret{secret}},
	}})
	if err := s.hooks.Test(t.Context(), "own"); err != nil {
		t.Error(err)
	}
	if n := <-written; n > 64 {
		t.Errorf("the server wrote %d MiB", n)
	}
}

// TestConfig names each configuration error.
func TestConfig(t *testing.T) {
	t.Parallel()
	valid := webhooks.Config{ID: "a", URL: "https://example.com", Secrets: []core.Secret{webhooks.NewSecret()}}
	with := func(change func(*webhooks.Config)) webhooks.Options {
		c := valid
		change(&c)
		return webhooks.Options{Endpoints: []webhooks.Config{c}}
	}
	for want, options := range map[string]webhooks.Options{
		"list an endpoint":       {},
		"Endpoints[0].ID":        with(func(c *webhooks.Config) { c.ID = "A" }),
		"Endpoints[1].ID":        {Endpoints: []webhooks.Config{valid, valid}},
		"Endpoints[0].URL":       with(func(c *webhooks.Config) { c.URL = "http://example.com" }),
		`contains "user.create"`: with(func(c *webhooks.Config) { c.Events = []string{"user.create"} }),
		"Secrets has 0 entries":  with(func(c *webhooks.Config) { c.Secrets = nil }),
		"Secrets[0] is malformed": with(func(c *webhooks.Config) {
			c.Secrets = []core.Secret{"whsec_c2hvcnQ="}
		}),
		"Managers contains nil":                      {Managers: []core.Guard{nil}},
		"Options.Overlap is -1ns: it must not be":    {Managers: []core.Guard{manager}, Overlap: -1},
		"Options.MaxEndpoints is -1: it must not be": {Managers: []core.Guard{manager}, MaxEndpoints: -1},
		"Options.Fresh is -1ns: it must not be":      {Managers: []core.Guard{manager}, Fresh: -1},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
			Plugins: []core.Plugin{webhooks.New(options)}, Getenv: func(string) string { return "" },
		})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c2hvcnQ") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
