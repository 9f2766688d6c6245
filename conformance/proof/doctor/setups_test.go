package doctor_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
)

var update = flag.Bool("update", false, "write testdata again")

// setup is a configuration with one problem.
type setup struct {
	name  string
	make  func(w *world) core.Config
	probe bool
	// timeout is the timeout of each examination. Zero means a long timeout.
	timeout time.Duration
}

// moves matches the parts of a report that differ in each run.
var moves = regexp.MustCompile(`127\.0\.0\.1:\d+|\[::1\]:\d+|` + regexp.QuoteMeta(os.TempDir()) +
	`/[^\s"]*/(app\.\w+|nothing[^\s"]*)`)

func allSetups() []setup {
	return slices.Concat(secretSetups, originSetups, cookieSetups, providerSetups, keptSetups)
}

// reports is the folder of the expected reports. It is absolute because a setup may change the working directory.
var reports, _ = filepath.Abs("testdata")

func TestSetups(t *testing.T) {
	all := allSetups()
	if len(all) < 41 { // one of them has no problem
		t.Fatalf("%d set-ups", len(all))
	}
	names := map[string]bool{}
	for _, s := range all {
		if names[s.name] {
			t.Fatalf("two set-ups are called %s", s.name)
		}
		names[s.name] = true
		t.Run(s.name, func(t *testing.T) { examine(t, s) })
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(all) {
		t.Errorf("%d reports in testdata for %d set-ups, %v", len(files), len(all), err)
	}
}

func examine(t *testing.T, s setup) {
	w := &world{T: t, env: map[string]string{}}
	config := s.make(w)
	report := doctor.Run(t.Context(), config, doctor.Options{Probe: s.probe, Timeout: s.timeout})
	text := report.String()
	canaries := append(w.canaries, string(secret), string(clientSecret), phrase, "canary")
	for _, out := range []string{text, string(report.JSON())} {
		if found := contains(out, canaries); found != "" {
			t.Errorf("the report has the secret %s:\n%s", found, out)
		}
	}
	text = moves.ReplaceAllStringFunc(text, func(found string) string {
		if at := strings.LastIndex(found, "/"); at >= 0 {
			return found[at+1:]
		}
		return found[:strings.LastIndex(found, ":")] + ":PORT"
	})
	path := filepath.Join(reports, s.name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

var secretSetups = []setup{
	{name: "no-secret", make: func(w *world) core.Config { c := w.sound(); c.Secrets = nil; return c }},
	{name: "short-secret", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets = []core.Secret{"canary7"}
		return c
	}},
	{name: "short-secret-allowed", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets, c.InsecureShortSecrets = []core.Secret{"canary7Kp2"}, true
		return c
	}},
	{name: "secret-of-an-example", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets = []core.Secret{"your-secret-goes-here-please-change-it"}
		return c
	}},
	{name: "secret-repeats", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets = []core.Secret{"starter starter starter starter starter"}
		return c
	}},
	{name: "secret-counts-up", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets = []core.Secret{"abcdefghijklmnopqrstuvwxyz{|}~ABCDEFGHIJ"}
		return c
	}},
	{name: "secret-in-quotes", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets, w.env["AUTH_SECRET"] = nil, `"`+string(secret)+`"`
		return c
	}},
	{name: "secret-twice", make: func(w *world) core.Config {
		c := w.sound()
		c.Secrets = []core.Secret{secret, secret}
		return c
	}},
	{name: "secret-in-example-file", make: func(w *world) core.Config {
		folder, err := os.Getwd()
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() {
			if err := os.Chdir(folder); err != nil {
				w.Fatal(err)
			}
		})
		there := w.TempDir()
		if err := os.WriteFile(there+"/.env.example", []byte("AUTH_SECRET="+string(secret)+"\n"), 0o600); err != nil {
			w.Fatal(err)
		}
		if err := os.Chdir(there); err != nil { //nolint:usetesting // it ends before the test does
			w.Fatal(err)
		}
		return w.sound()
	}},
}

var originSetups = []setup{
	{name: "no-origin", make: func(w *world) core.Config { c := w.sound(); c.URL = ""; return c }},
	{name: "url-is-none", make: func(w *world) core.Config { c := w.sound(); c.URL = "app.example.org"; return c }},
	{name: "url-is-http", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, w.env["AUTH_URL"] = "", "http://app.example.org"
		return c
	}},
	{name: "url-is-a-name-inside", make: func(w *world) core.Config { c := w.sound(); c.URL = "https://app"; return c }},
	{name: "url-twice", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, w.env["AUTH_URL"], w.env["NEXTAUTH_URL"] = "", here, site
		return c
	}},
	{name: "url-has-another-path", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.BasePath = here+"/api/auth", "/auth"
		return c
	}},
	{name: "trusts-every-host", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, w.env["AUTH_TRUST_HOST"] = "", "true"
		return c
	}},
	{name: "trusts-perhaps", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, w.env["AUTH_TRUST_HOST"] = "", "maybe"
		return c
	}},
}

var cookieSetups = []setup{
	{name: "cookie-of-another-domain", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.Cookies.SessionToken.Domain = site, "example.net"
		return c
	}},
	{name: "cookie-with-domain-and-host-prefix", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.Cookies.CSRFToken.Domain = site, "app.example.org"
		return c
	}},
	{name: "cookie-strict-for-a-flow", make: func(w *world) core.Config {
		c := w.sound()
		c.Cookies.State.SameSite, c.Cookies.PKCECodeVerifier.SameSite = "strict", "strict"
		return c
	}},
	{name: "cookie-for-scripts", make: func(w *world) core.Config {
		c := w.sound()
		c.Cookies.SessionToken.HTTPOnly = core.False
		return c
	}},
	{name: "cookie-of-another-path", make: func(w *world) core.Config {
		c := w.sound()
		c.Cookies.SessionToken.Path = "/members"
		return c
	}},
	{name: "cookie-for-seconds", make: func(w *world) core.Config {
		c := w.sound()
		c.Cookies.State.MaxAge = 5 * time.Second
		return c
	}},
	{name: "cookies-secure-on-http", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.UseSecureCookies = "http://app.example.org", core.True
		return c
	}},
	{name: "cookies-insecure-on-https", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.UseSecureCookies = site, core.False
		return c
	}},
}

// TestDeadline: an examination that reaches its timeout reports so in time, and reports no problem that it did not see.
func TestDeadline(t *testing.T) {
	w := &world{T: t, env: map[string]string{}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	report := doctor.Run(ctx, w.with((&op{Server: silent}).provider()), doctor.Options{Probe: true})
	if report.Wrong() || !strings.Contains(report.String(), "unknown  provider op") {
		t.Errorf("got\n%s", report)
	}
}

// finding matches a line that is not ok.
var finding = regexp.MustCompile(`(?m)^(?:wrong|unknown)  +(\S.*?)  +(.*)\n +→ (.*)$`)

// TestPageListsEachFinding: the documentation contains each finding and its fix.
func TestPageListsEachFinding(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/doctor-findings.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range allSetups() {
		report, err := os.ReadFile("testdata/" + s.name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range finding.FindAllStringSubmatch(string(report), -1) {
			found++
			row := "| " + strings.ReplaceAll(line[2], "<", "&lt;") + " | " + strings.ReplaceAll(line[3], "<", "&lt;") + " |"
			if !strings.Contains(string(raw), row) {
				t.Errorf("docs/doctor-findings.md lacks, of %s: %s", s.name, row)
			}
		}
	}
	if found < 60 {
		t.Errorf("%d findings", found)
	}
}
