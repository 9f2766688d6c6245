package doctor_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const secret = core.Secret("canary+Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8")

// config returns a configuration without problems.
func config() core.Config {
	return core.Config{
		URL: "http://localhost:3000", Secrets: []core.Secret{secret}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{acme()},
	}
}

func acme() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "acme", Name: "Acme", Type: core.TypeOAuth, ClientID: "app-4711", ClientSecret: "canary-Tz3kQ8vB1nW6xM0p",
		Authorization: core.Endpoint{URL: "https://acme.test/authorize"},
		Token:         core.Endpoint{URL: "https://acme.test/token"}, Userinfo: core.Endpoint{URL: "https://acme.test/me"},
	}
}

func lines(t *testing.T, r *doctor.Report, state doctor.State) (found []string) {
	t.Helper()
	for _, l := range r.Lines {
		if l.State == state {
			found = append(found, l.Check)
		}
	}
	return found
}

func TestSound(t *testing.T) {
	c := config()
	c.Store = memory.New()
	report := doctor.Run(t.Context(), c, doctor.Options{})
	if report.Wrong() || len(lines(t, report, doctor.Unknown)) > 0 || len(report.Lines) < 6 {
		t.Errorf("got\n%s", report)
	}
}

// mailing is a plugin with a mailer.
type mailing struct{ mailer core.Mailer }

func (mailing) Attach(*core.PluginHost) error { return nil }

func (m mailing) Mailer() core.Mailer { return m.mailer }

// catcher is a development mailer.
type catcher struct{ plainMailer }

func (catcher) Development() {}

type plainMailer struct{}

func (plainMailer) Send(context.Context, core.Email) error { return nil }

// TestDevelopmentMailbox: doctor reports a mailer that delivers nothing if the site is on https.
func TestDevelopmentMailbox(t *testing.T) {
	for name, row := range map[string]struct {
		url    string
		mailer core.Mailer
		wrong  bool
	}{
		"a public site": {"https://app.example.org", catcher{}, true}, "development": {"http://localhost:3000", catcher{},
			false},
		"development on https": {"https://localhost:3000", catcher{}, false},
		"another mailer":       {"https://app.example.org", plainMailer{}, false},
	} {
		c := config()
		c.URL, c.Store, c.Plugins = row.url, memory.New(), []core.Plugin{mailing{row.mailer}}
		report := doctor.Run(t.Context(), c, doctor.Options{})
		if strings.Contains(report.String(), "wrong    mail           emails go to the development mailbox") != row.wrong {
			t.Errorf("%s: got\n%s", name, report)
		}
	}
}

// TestJSON compares the JSON document with the documented format of its version.
func TestJSON(t *testing.T) {
	c := config()
	c.Secrets = nil
	var document struct {
		Version int
		Lines   []map[string]string
	}
	if err := json.Unmarshal(doctor.Run(t.Context(), c, doctor.Options{}).JSON(), &document); err != nil {
		t.Fatal(err)
	}
	if document.Version != doctor.Version || len(document.Lines) == 0 {
		t.Fatalf("%+v", document)
	}
	l := document.Lines[0]
	if l["check"] != "secrets" || l["state"] != "wrong" || l["what"] == "" || l["fix"] == "" {
		t.Errorf("%v", l)
	}
}

// panics is a store that panics.
type panics struct{ core.Store }

func (panics) User(context.Context, string) (*core.User, error) { panic("canary+panic") }

func TestPanicOfTheApplication(t *testing.T) {
	c := config()
	c.Store = panics{}
	report := doctor.Run(t.Context(), c, doctor.Options{})
	if got := lines(t, report, doctor.Wrong); len(got) != 1 || got[0] != "store" ||
		strings.Contains(report.String(), "canary") {
		t.Errorf("got\n%s", report)
	}
}

// refuses is a store whose error repeats the connection string.
type refuses struct{ core.Store }

func (refuses) User(context.Context, string) (*core.User, error) {
	return nil, core.NewError(core.ErrStore, &core.InvalidInputError{})
}

func (refuses) Ping(context.Context) error {
	return core.NewError(core.ErrStore, errText("dial "+string(secret)+"\r\nforged: line"))
}

type errText string

func (e errText) Error() string { return string(e) }

// TestHidden: the report contains no secret and no line break from an error of another program.
func TestHidden(t *testing.T) {
	c := config()
	c.Store = refuses{}
	report := doctor.Run(t.Context(), c, doctor.Options{})
	for _, text := range []string{report.String(), string(report.JSON())} {
		if strings.Contains(text, string(secret)) || strings.Contains(text, "\nforged") ||
			!strings.Contains(text, "[hidden]") {
			t.Errorf("got\n%s", text)
		}
	}
}

func TestMerge(t *testing.T) {
	sum := &doctor.Report{Version: doctor.Version}
	sum.Merge(&doctor.Report{Lines: []doctor.Line{{Check: "clock", State: doctor.OK, What: "fine"}}})
	if sum.Wrong() || !strings.Contains(sum.String(), "1 ok, 0 wrong, 0 unknown") {
		t.Errorf("got\n%s", sum)
	}
}

// guarded is a plugin with two actions. One requires a session and is rate-limited.
type guarded struct{}

func (guarded) Attach(h *core.PluginHost) error {
	answer := func(context.Context, *core.ActionRequest) (*core.Response, error) { return &core.Response{}, nil }
	h.AddAction(core.Action{Method: http.MethodGet, Name: "team", Handle: answer})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: "team", Verb: "leave", Handle: answer, Attempt: limit.AttemptCredentials,
		Require: []core.Guard{func(context.Context, *core.Session) error { return nil }},
	})
	return nil
}

func TestRoutes(t *testing.T) {
	c := config()
	c.Plugins = []core.Plugin{guarded{}}
	routes, err := doctor.Routes(c)
	if err != nil {
		t.Fatal(err)
	}
	table := doctor.Table(routes)
	for _, want := range []string{
		"GET /auth/csrf ", "POST /auth/signin/acme csrf ", "GET /auth/callback/acme ", "GET /auth/team ",
		"POST /auth/team/leave csrf, session, 1 guard, limit credentials",
	} {
		if !strings.Contains(squeeze(table), want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "POST  /auth/callback") || strings.Contains(table, "webauthn") {
		t.Errorf("what no provider answers is listed:\n%s", table)
	}
	c.Secrets = nil
	if _, err := doctor.Routes(c); err == nil {
		t.Error("a faulty configuration has routes")
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// broken is a store that fails when users are read.
type broken struct{ core.Store }

func (broken) User(context.Context, string) (*core.User, error) {
	return nil, errText("no such table: users" + strings.Repeat(", or so", 200))
}

func TestBrokenStore(t *testing.T) {
	c := config()
	c.Store = broken{memory.New()}
	report := doctor.Run(t.Context(), c, doctor.Options{})
	if got := lines(t, report, doctor.Wrong); len(got) != 1 || got[0] != "store" {
		t.Errorf("got\n%s", report)
	}
	for _, l := range report.Lines {
		if len(l.What) > 700 {
			t.Errorf("%d bytes of somebody else's error", len(l.What))
		}
	}
}

// TestCallbackIsNotOpened: doctor reads a provider's redirect to the callback URL and does not follow it.
func TestCallbackIsNotOpened(t *testing.T) {
	opened := 0
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { opened++ }))
	t.Cleanup(app.Close)
	op := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/authorize" {
			http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?error=invalid_scope", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(op.Close)
	p := acme()
	p.Authorization.URL, p.Token.URL, p.Userinfo.URL = op.URL+"/authorize", op.URL+"/token", op.URL+"/me"
	c := config()
	c.URL, c.Providers = app.URL, []core.Provider{p}
	report := doctor.Run(t.Context(), c, doctor.Options{Probe: true})
	if opened > 0 || !strings.Contains(report.String(), "rejects the scope") {
		t.Errorf("opened %d times\n%s", opened, report)
	}
}

// TestProbesNothingByDefault: doctor starts a sign-in at the provider only if Probe is set.
func TestProbesNothingByDefault(t *testing.T) {
	for _, probe := range []bool{false, true} {
		asked := false
		op := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = asked || r.URL.Path == "/authorize" || r.URL.Path == "/token"
			w.WriteHeader(http.StatusBadRequest)
		}))
		p := acme()
		p.Authorization.URL, p.Token.URL, p.Userinfo.URL = op.URL+"/authorize", op.URL+"/token", op.URL+"/me"
		c := config()
		c.Providers = []core.Provider{p}
		doctor.Run(t.Context(), c, doctor.Options{Probe: probe})
		op.Close()
		if asked != probe {
			t.Errorf("with Probe %v the provider was asked: %v", probe, asked)
		}
	}
}
