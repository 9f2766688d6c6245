package core_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
)

// trail collects audit events.
type trail struct {
	mu     sync.Mutex
	events []audit.Event
}

func (t *trail) note(_ context.Context, e audit.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
}

// take returns the events since the last call, by name, outcome and reason: "signin/refused/credentials".
func (t *trail) take() (lines []string) {
	for _, e := range t.all() {
		lines = append(lines, line(e))
	}
	return lines
}

func (t *trail) all() []audit.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.events
	t.events = nil
	return events
}

func line(e audit.Event) string {
	return strings.TrimSuffix(fmt.Sprintf("%s/%s/%s", e.Name, e.Outcome, e.Reason), "/")
}

// noPatience is a Limit callback that refuses every attempt.
func noPatience(context.Context, core.LimitParams) (time.Duration, error) { return time.Second, nil }

// TestAuditEventNamesTheUser checks which properties of the request an event contains, and which it omits.
func TestAuditEventNamesTheUser(t *testing.T) {
	t.Parallel()
	var trail trail
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Audit: trail.note, Audience: "shop",
		Callbacks: core.Callbacks{Limit: noPatience},
	})
	b := visit(t, a)
	b.header.Set("User-Agent", "Browser/1\r\n\x1b[31m \"evil\\"+strings.Repeat("\xff", 300))
	form := url.Values{"email": {" Ada@example.com"}, "password": {"engine"}}
	b.submit("/auth/callback/credentials", form)
	events := trail.all()
	if len(events) == 0 || line(events[len(events)-1]) != "limit/refused" {
		t.Fatalf("%+v", events)
	}
	e := events[len(events)-1]
	if e.Attempt != "credentials" || e.Provider != "credentials" || e.Tenant != "shop" || e.Count != 1 ||
		e.Peer != netip.MustParsePrefix("192.0.2.1/32") || !e.Time.Equal(a.clock.Now()) || len(e.Reference) != 8 {
		t.Errorf("%+v", e)
	}
	if want := `Browser/1\r\n\x1b[31m \"evil\\\xff`; !strings.HasPrefix(e.Agent, want) || len(e.Agent) > 256 ||
		!strings.HasSuffix(e.Agent, `\xff`) {
		t.Errorf("agent %q", e.Agent)
	}
	if len(e.Subject) != 22 || strings.Contains(fmt.Sprintf("%+v", e), "example.com") {
		t.Errorf("subject %q of %+v", e.Subject, e)
	}
	if !strings.Contains(a.log.String(), "reference="+e.Reference) {
		t.Errorf("no line of the log has the reference %s:\n%s", e.Reference, a.log)
	}
	a.clock.Advance(2 * time.Minute)
	form.Set("email", "ada@EXAMPLE.com")
	b.submit("/auth/callback/credentials", form)
	if again := trail.all(); len(again) != 1 || again[0].Subject != e.Subject {
		t.Errorf("the same address is another subject: %+v", again)
	}
}

// TestAuditGuards checks the events of requests that are refused before an action runs.
func TestAuditGuards(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		header http.Header
		origin string
		want   string
	}{
		{name: "a POST without a token", want: "csrf/refused/no_token"},
		{
			name: "a POST of another site", want: "csrf/refused/cross_site",
			header: http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
		},
		{name: "a host that is not ours", origin: "https://evil.example", want: "config/refused/host"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var trail trail
			a := newApp(t, core.Config{
				Providers: []core.Provider{passwords()}, TrustedHosts: []string{"app.test"}, Audit: trail.note,
			})
			trail.take()
			b := visit(t, a)
			b.header, b.origin = row.header, cmp.Or(row.origin, b.origin)
			if b.header == nil {
				b.header = http.Header{}
			}
			b.post("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}})
			if got := trail.take(); !slices.Equal(got, []string{row.want}) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestAuditFoldsRefusals checks that an attacker cannot flood the log.
func TestAuditFoldsRefusals(t *testing.T) {
	t.Parallel()
	var trail trail
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Audit: trail.note, Callbacks: core.Callbacks{Limit: noPatience},
	})
	trail.take()
	b := visit(t, a)
	try := func(name string) {
		b.submit("/auth/callback/credentials", url.Values{"email": {name}})
	}
	counts := func() (out []int) {
		for _, e := range trail.all() {
			out = append(out, e.Count)
		}
		return out
	}
	for range 100 {
		try("ada@example.com")
		a.clock.Advance(100 * time.Millisecond)
	}
	try("eve@example.com")
	if got := counts(); !slices.Equal(got, []int{1, 1}) {
		t.Errorf("a hundred refusals of one subject and one of another: got %v", got)
	}
	a.clock.Advance(time.Minute)
	try("ada@example.com")
	if got := counts(); !slices.Equal(got, []int{100}) {
		t.Errorf("the next one a minute later: got %v", got)
	}
	for range 5 {
		try("ada@example.com")
	}
	a.clock.Advance(2 * time.Minute)
	try("bob@example.com")
	if got := counts(); !slices.Equal(got, []int{5, 1}) {
		t.Errorf("the remaining count of a subject without further refusals: %v", got)
	}
	try("bob@example.com")
	a.clock.Advance(-time.Hour)
	try("bob@example.com")
	if got := counts(); !slices.Equal(got, []int{2}) {
		t.Errorf("after the clock went back: got %v", got)
	}
	a.clock.Advance(2 * time.Hour)
	for i := range 5000 {
		try(fmt.Sprintf("%d@example.com", i))
	}
	if got := len(trail.all()); got > 4200 {
		t.Errorf("five thousand made-up names in a minute: %d events", got)
	}
}

// TestAuditPanics checks that a panic in Config.Audit does not affect the response.
func TestAuditPanics(t *testing.T) {
	t.Parallel()
	for _, v := range []any{"boom", http.ErrAbortHandler} {
		a := newApp(t, core.Config{
			Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{Limit: noPatience},
			Audit: func(context.Context, audit.Event) { panic(v) },
		})
		r := visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}})
		if r.Status != 429 || !strings.Contains(a.log.String(), "panic in Audit") {
			t.Errorf("%v: status %d, log:\n%s", v, r.Status, a.log)
		}
	}
}

// TestAuditOutlivesTheRequest checks that a client that disconnects cannot suppress the event.
func TestAuditOutlivesTheRequest(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	var heard []error
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Callbacks: core.Callbacks{Limit: func(context.Context, core.LimitParams) (time.Duration, error) {
			cancel()
			return time.Second, nil
		}},
		Audit: func(ctx context.Context, e audit.Event) {
			if e.Name == audit.Limit {
				heard = append(heard, ctx.Err())
			}
		},
	})
	b := visit(t, a)
	body := url.Values{"csrfToken": {b.csrf()}}.Encode()
	a.Handle(gone, b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", body))
	if gone.Err() == nil || len(heard) != 1 || heard[0] != nil {
		t.Errorf("the request: %v; the audit heard %v", gone.Err(), heard)
	}
}

func TestAuditTo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: untimed}))
	write := audit.LogTo(logger)
	full := audit.Event{
		Time: time.Unix(1, 0), Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.ReasonCredentials,
		UserID: "1", ActorID: "2", SessionID: "3", Credential: "apikey:4", Provider: "credentials", Tenant: "shop",
		Reference: "abcdefgh",
		Methods:   []string{"pwd"}, Peer: netip.MustParsePrefix("2001:db8::/64"), Agent: "Browser/1",
		Subject: "xyz", Attempt: string(limit.AttemptCredentials), Count: 7,
	}
	write(t.Context(), full)
	write(t.Context(), audit.Event{Name: audit.SignOut, Outcome: audit.OK, Count: 1})
	write(t.Context(), audit.Event{Name: audit.MailAsked, Outcome: audit.Failed, Reason: audit.ReasonMail})
	want := `level=WARN msg="audit: signin" outcome=refused reason=credentials user_id=1 actor_id=2 session_id=3 ` +
		"credential=apikey:4 provider=credentials tenant=shop reference=abcdefgh attempt=credentials subject=xyz agent=Browser/1 " +
		"methods=[pwd] peer=2001:db8::/64 count=7\n" +
		"level=INFO msg=\"audit: signout\" outcome=ok\n" +
		"level=ERROR msg=\"audit: mail.asked\" outcome=failed reason=mail\n"
	if got := out.String(); got != want {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
	out.Reset()
	logger.InfoContext(t.Context(), "x", "event", full)
	if got := out.String(); !strings.Contains(got, "event.name=signin event.outcome=refused") {
		t.Errorf("wrote %s", got)
	}
}

// TestRefusal checks that the log contains the cause, and that the additional fields are for the audit event only.
func TestRefusal(t *testing.T) {
	t.Parallel()
	cause := context.DeadlineExceeded
	r := &audit.Denial{Reason: audit.ReasonCredentials, UserID: "1", Err: cause}
	if r.Error() != cause.Error() || r.Unwrap() != cause { //nolint:errorlint // the very same
		t.Errorf("%v, %v", r, r.Unwrap())
	}
	if r := (&audit.Denial{Reason: audit.ReasonCredentials}); r.Error() != "credentials" || r.Unwrap() != nil {
		t.Errorf("%v, %v", r, r.Unwrap())
	}
}

// TestAuditOfMethods checks that the event of a sign-in contains the authentication methods.
func TestAuditOfMethods(t *testing.T) {
	t.Parallel()
	var trail trail
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Audit: trail.note})
	trail.take()
	signIn(t, visit(t, a))
	events := trail.all()
	if len(events) != 1 || !slices.Equal(events[0].Methods, []string{"pwd"}) ||
		events[0].UserID != "1" || events[0].Provider != "credentials" {
		t.Errorf("got %+v", events)
	}
}

// TestAuditNamesSessions checks that all events of one session, from its sign-in to its end, contain its public ID.
func TestAuditNamesSessions(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var trail trail
			w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
				c.Audit, c.Plugins = trail.note, []core.Plugin{careful(time.Minute)}
			})
			w.users["u1"] = core.User{ID: "u1", Email: victim}
			id := func(name audit.Name, reason audit.Reason) string {
				t.Helper()
				for _, e := range trail.all() {
					if e.Name == name && e.Reason == reason {
						return e.SessionID
					}
				}
				t.Errorf("no event %s %s", name, reason)
				return ""
			}
			b := w.browser()
			signIn := func() string {
				w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
				return b.cookies[sessionCookie]
			}
			token := signIn()
			first := id(audit.SignIn, "")
			signIn()
			if strategy == core.StrategyDatabase {
				events := trail.events
				if replaced := id(audit.SessionEnded, audit.ReasonReplaced); replaced != first {
					t.Errorf("%q was replaced, want %q", replaced, first)
				}
				trail.events = events
			}
			second := id(audit.SignIn, "")
			b.submit("/auth/signout", nil)
			if out := id(audit.SignOut, ""); out != second {
				t.Errorf("signed out of %q, want %q", out, second)
			}
			if len(first) != 22 || len(second) != 22 || first == second || first == token {
				t.Errorf("the sessions are %q and %q", first, second)
			}
		})
	}
}

// listener is a plugin that receives audit events.
type listener struct {
	receive func(ctx context.Context, e audit.Event)
	host    *core.PluginHost
}

func (l *listener) Attach(h *core.PluginHost) error {
	l.host = h
	h.OnAudit(l.receive)
	return nil
}

// TestOnAudit passes each event to Config.Audit and to the plugins, in this order. A panic of one is logged, and the
// others get the event.
func TestOnAudit(t *testing.T) {
	t.Parallel()
	for _, configured := range []bool{true, false} {
		var got []string
		receive := func(who string) func(context.Context, audit.Event) {
			return func(_ context.Context, e audit.Event) {
				if e.Name == audit.SessionsEnded {
					got = append(got, who+" "+e.UserID+" "+e.Tenant)
				}
			}
		}
		first := &listener{receive: receive("first")}
		config := core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Audience: "acme",
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Plugins: []core.Plugin{
				&listener{receive: func(context.Context, audit.Event) { panic("a plugin") }}, first,
				&listener{receive: receive("second")},
			},
		}
		want := "first ada acme, second ada acme"
		if configured {
			config.Audit, want = receive("config"), "config ada acme, "+want
		}
		if _, err := core.New(config); err != nil {
			t.Fatal(err)
		}
		first.host.Audit(t.Context(), audit.Event{Name: audit.SessionsEnded, Outcome: audit.OK, UserID: "ada"})
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("with Config.Audit %t: %s, want %s", configured, all, want)
		}
	}
}
