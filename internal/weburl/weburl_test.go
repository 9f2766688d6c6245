package weburl_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func TestActionRecorded(t *testing.T) {
	t.Parallel()
	var all map[string]json.RawMessage
	read(t, "vectors.json", &all)
	for _, group := range []string{"paths", "paths-2"} {
		var cases []struct {
			Path, Base string
			Result     *struct {
				Action     string
				ProviderID *string `json:"providerId"`
			}
			Quirk, Want any
		}
		if err := json.Unmarshal(all[group], &cases); err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Fatalf("no cases in %s", group)
		}
		for _, c := range cases {
			t.Run(c.Path+" under "+c.Base, func(t *testing.T) {
				base, err := weburl.CleanBasePath(c.Base)
				if err != nil {
					return // such a base path is rejected at startup
				}
				action, provider, ok := weburl.Action(c.Path, base)
				if c.Result == nil {
					if ok {
						t.Errorf("it is action %q", action)
					}
					return
				}
				want := ""
				if c.Result.ProviderID != nil {
					want = *c.Result.ProviderID
				}
				if !ok && !strings.HasPrefix(c.Path, base+"/") {
					return // the reference uses the base path as a regular expression that may end within a segment
				}
				if !ok || action != c.Result.Action || provider != want {
					t.Errorf("got %q, %q, %v, want %q, %q", action, provider, ok, c.Result.Action, want)
				}
			})
		}
	}
}

func TestActionAttacks(t *testing.T) {
	t.Parallel()
	var file struct {
		Payloads []struct{ ID, Target, Want, Method, Why string }
	}
	read(t, "paths.json", &file)
	ran := 0
	for _, p := range file.Payloads {
		if p.Method != "" || p.ID > "PA-034" { // methods and headers are tested elsewhere
			continue
		}
		ran++
		t.Run(p.ID, func(t *testing.T) {
			action, provider, ok := weburl.Action(p.Target, "/auth")
			want, isAction := strings.CutPrefix(p.Want, "action:")
			switch {
			case isAction && (!ok || action != want):
				t.Errorf("%s: got %q, %v", p.Target, action, ok)
			case p.Want == "refuse" && ok && (action != "callback" || provider != ""):
				t.Errorf("%s (%s): it is action %q, provider %q", p.Target, p.Why, action, provider)
			}
		})
	}
	if ran < 30 {
		t.Fatalf("only %d payloads", ran)
	}
}

func TestResolveAttacks(t *testing.T) {
	t.Parallel()
	var file struct {
		Payloads []struct {
			ID, Value, Want, Why string
			Build                [][2]any
		}
	}
	read(t, "redirects.json", &file)
	base := weburl.Origin{Scheme: "https", Host: "app.example"}
	for _, p := range file.Payloads {
		t.Run(p.ID, func(t *testing.T) {
			value := p.Value
			for _, part := range p.Build {
				value += strings.Repeat(part[0].(string), int(part[1].(float64)))
			}
			got, err := weburl.Resolve(value, base)
			class, want, _ := strings.Cut(p.Want, ":")
			switch class {
			case "exact":
				if strings.TrimSuffix(got, "/") != strings.TrimSuffix(want, "/") {
					t.Errorf("%s: got %q, %v, want %q", p.Why, got, err, want)
				}
			case "same":
				if err != nil && !strings.ContainsAny(value, "\r\n") {
					t.Errorf("%s: %v", p.Why, err)
				}
			}
			if err == nil {
				staysHome(t, got, base)
			}
		})
	}
	if len(file.Payloads) < 50 {
		t.Fatalf("only %d payloads", len(file.Payloads))
	}
}

// staysHome checks the properties of every result of Resolve.
func staysHome(t *testing.T, got string, base weburl.Origin) {
	t.Helper()
	u, err := url.Parse(got)
	if err != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil {
		t.Errorf("%q leaves the site: %v", got, err)
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r <= 0x20 || r > 0x7e || r == '\\' }) {
		t.Errorf("%q is not safe in a header", got)
	}
}

func TestOriginAttacks(t *testing.T) {
	t.Parallel()
	var file struct {
		Payloads []struct {
			ID, Listed, Open, Why string
			Headers               [][2]string
		}
	}
	read(t, "hosts.json", &file)
	pinned := weburl.Origin{Scheme: "https", Host: "app.example"}
	for _, p := range file.Payloads {
		var hosts, fwdHost, fwdProto []string
		for _, h := range p.Headers {
			switch strings.ToLower(h[0]) {
			case "host":
				hosts = append(hosts, h[1])
			case "x-forwarded-host":
				fwdHost = append(fwdHost, h[1])
			case "x-forwarded-proto":
				fwdProto = append(fwdProto, h[1])
			}
		}
		for _, rule := range []struct {
			name, want string
			options    weburl.Options
		}{
			{"pinned", "origin:https://app.example", weburl.Options{Pinned: pinned}},
			{"listed", p.Listed,
				weburl.Options{TrustedHosts: []string{"app.example", "*.preview.app.example"}, ForwardedTrusted: true}},
			{"open", p.Open, weburl.Options{TrustHost: true, ForwardedTrusted: true}},
		} {
			t.Run(p.ID+" "+rule.name, func(t *testing.T) {
				got, err := weburl.ResolveOrigin(rule.options, "https", hosts, fwdHost, fwdProto)
				class, want, _ := strings.Cut(rule.want, ":")
				switch {
				case class == "origin" && (err != nil || got.String() != want):
					t.Errorf("%s: got %v, %v, want %s", p.Why, got, err, want)
				case class == "refuse" && err == nil:
					t.Errorf("%s: accepted as %v", p.Why, got)
				case class == "origin-or-refuse" && err == nil && got.String() != want:
					t.Errorf("%s: got %v, only %s would do", p.Why, got, want)
				}
			})
		}
	}
	if len(file.Payloads) < 30 {
		t.Fatalf("only %d payloads", len(file.Payloads))
	}
}

func TestAddQuery(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, page, want string }{
		{"path", "/oops", "/oops?error=x%26admin%3D1%23y"},
		{"own query", "/oops?lang=en", "/oops?lang=en&error=x%26admin%3D1%23y"},
		{"own fragment", "/oops#top", "/oops?error=x%26admin%3D1%23y#top"},
		{"absolute", "https://login.example/oops?a=b#c", "https://login.example/oops?a=b&error=x%26admin%3D1%23y#c"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := weburl.AddQuery(row.page, "error", "x&admin=1#y"); got != row.want {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	list := []string{"https://app.example", "https://*.preview.example"}
	for origin, want := range map[string]bool{
		"https://app.example": true, "http://app.example": false, "https://a.preview.example": true,
		"https://a.b.preview.example": false, "https://preview.example": false, "https://app.example.evil.example": false,
	} {
		o, _, err := weburl.ParseOrigin(origin)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Listed(list); got != want {
			t.Errorf("%s: listed %v", origin, got)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{
		"/", "//evil.example", "/\\evil.example", "https://app.example@evil.example", "https:app.example", "/a?b#c",
		"blob:https://app.example/x",
	} {
		f.Add(s)
	}
	base := weburl.Origin{Scheme: "https", Host: "app.example"}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := weburl.Resolve(s, base)
		if err != nil {
			known := []error{weburl.ErrForeign, weburl.ErrMalformed, weburl.ErrScheme, weburl.ErrTooLong}
			if !slices.ContainsFunc(known, func(e error) bool { return errors.Is(err, e) }) {
				t.Fatalf("unknown error %v", err)
			}
			return
		}
		staysHome(t, got, base)
		if again, err := weburl.Resolve(got, base); err != nil || again != got {
			t.Fatalf("not idempotent: %q became %q, %v", got, again, err)
		}
	})
}

func FuzzAction(f *testing.F) {
	for _, s := range []string{
		"/auth/session", "/auth//signin/github/", "/auth/", "/auth/./callback/x/..", "http://h/auth/csrf",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		action, provider, ok := weburl.Action(target, "/auth")
		if !ok && (action != "" || provider != "") || ok && (action == "" || strings.Contains(provider, "/")) {
			t.Fatalf("%q: %q, %q, %v", target, action, provider, ok)
		}
	})
}

func BenchmarkAction(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		weburl.Action("/auth/callback/github?code=x&state=y", "/auth")
	}
}
