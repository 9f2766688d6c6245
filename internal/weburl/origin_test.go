package weburl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// load reads one member of a recorded file into out.
func load(t testing.TB, file, member string, out any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members[member], out); err != nil {
		t.Fatalf("%s: member %s: %v", file, member, err)
	}
}

func TestResolveOriginRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Headers  map[string]string
		Protocol string
		Result   string
	}
	load(t, "vectors.json", "url-env.host", &vectors)
	values := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	for _, v := range vectors {
		scheme := strings.TrimSuffix(v.Protocol, ":")
		if scheme == "" {
			scheme = "https"
		}
		got, err := weburl.ResolveOrigin(weburl.Options{TrustHost: true, ForwardedTrusted: true}, scheme,
			values(v.Headers["host"]), values(v.Headers["x-forwarded-host"]), values(v.Headers["x-forwarded-proto"]))
		if err != nil || got.String()+"/signin" != v.Result {
			t.Errorf("%v: %q, %v, want %s", v.Headers, got, err, v.Result)
		}
	}
}

func TestResolveOriginTrust(t *testing.T) {
	t.Parallel()
	app, evil := []string{"app.example"}, []string{"evil.example"}
	tests := []struct {
		name                string
		opts                weburl.Options
		scheme              string
		host, fwHost, fwPro []string
		want                string
		err                 error
	}{
		{"zero options", weburl.Options{}, "https", app, nil, nil, "", weburl.ErrUntrusted},
		{"zero options, forwarded", weburl.Options{ForwardedTrusted: true}, "https", app, app, nil, "", weburl.ErrUntrusted},
		{"forwarded ignored", weburl.Options{TrustHost: true}, "http", app, evil,
			[]string{"https"}, "http://app.example", nil},
		{"broken forwarded ignored", weburl.Options{TrustHost: true}, "http", app, []string{"a/b"},
			nil, "http://app.example", nil},
		{"list implies trust", weburl.Options{TrustedHosts: []string{"app.example"}}, "https", app, nil,
			nil, "https://app.example", nil},
		{"list beats TrustHost", weburl.Options{TrustHost: true, TrustedHosts: []string{"app.example"}}, "https", evil, nil,
			nil, "", weburl.ErrUntrusted},
		{"listed port", weburl.Options{TrustedHosts: []string{"app.example:8443"}}, "https", []string{"app.example:8443"},
			nil, nil, "https://app.example:8443", nil},
		{"listed default port", weburl.Options{TrustedHosts: []string{"app.example:443"}}, "https", app, nil,
			nil, "https://app.example", nil},
		{"other scheme's default port", weburl.Options{TrustedHosts: []string{"app.example"}}, "http",
			[]string{"app.example:443"}, nil, nil, "", weburl.ErrUntrusted},
		{"wildcard with port", weburl.Options{TrustedHosts: []string{"*.app.example:8443"}}, "https",
			[]string{"x.app.example:8443"}, nil, nil, "https://x.app.example:8443", nil},
		{"wildcard needs a label", weburl.Options{TrustedHosts: []string{"*.app.example"}}, "https", app, nil,
			nil, "", weburl.ErrUntrusted},
		{"upper-case entry", weburl.Options{TrustedHosts: []string{"App.Example"}}, "https", app, nil,
			nil, "https://app.example", nil},

		{"no Host", weburl.Options{TrustHost: true}, "https", nil, nil, nil, "", weburl.ErrHost},
		{"two Hosts", weburl.Options{TrustHost: true}, "https", []string{"app.example", "app.example"},
			nil, nil, "", weburl.ErrHost},
		{"bad Host behind a good forwarded one", weburl.Options{TrustHost: true, ForwardedTrusted: true}, "https",
			[]string{"a@b"}, app, nil, "", weburl.ErrHost},
		{"first forwarded entry empty", weburl.Options{TrustHost: true, ForwardedTrusted: true}, "https", app,
			[]string{", app.example"}, nil, "", weburl.ErrHost},
		{"scheme of the connection", weburl.Options{TrustHost: true}, "ftp", app, nil, nil, "", weburl.ErrScheme},
		{"pinned needs nothing", weburl.Options{Pinned: weburl.Origin{Scheme: "https", Host: "app.example"}}, "", nil, nil,
			nil, "https://app.example", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := weburl.ResolveOrigin(tt.opts, tt.scheme, tt.host, tt.fwHost, tt.fwPro)
			if got.String() != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestParseHost(t *testing.T) {
	t.Parallel()
	tests := []struct{ raw, want string }{
		{"app.example", "app.example"},
		{"APP.Example:8443", "app.example:8443"},
		{"app.example:", "app.example"},
		{"localhost:3000", "localhost:3000"},
		{"my_service", "my_service"},
		{"xn--mnchen-3ya.example", "xn--mnchen-3ya.example"},
		{"127.0.0.1:80", "127.0.0.1:80"},
		{"[::1]:3000", "[::1]:3000"},
		{"[2001:DB8:0:0::1]", "[2001:db8::1]"},

		{"", ""}, {":80", ""}, {".", ""}, {"a..b", ""}, {"app.example.", ""}, {"-a.example", ""}, {"a-.example", ""},
		{"a@b", ""}, {"a/b", ""}, {"a?b", ""}, {"a#b", ""}, {`a\b`, ""}, {"a b", ""}, {"a,b", ""}, {"a%2eb", ""},
		{"a\tb", ""}, {"a\nb", ""}, {"a\x00", ""}, {"münchen.example", ""}, {"\u212aelvin.example", ""}, {"\xff", ""},
		{"a:0", ""}, {"a:080", ""}, {"a:65536", ""}, {"a:-1", ""}, {"a:80:80", ""}, {"a:8o", ""}, {"a:1234567890", ""},
		{"2130706433", ""}, {"0x7f000001", ""}, {"0x7f.1", ""}, {"127.1", ""}, {"127.0.0.01", ""}, {"a.1", ""}, {"a.0x", ""},
		{"[::1", ""}, {"[]", ""}, {"[::1]x", ""}, {"[::1%25eth0]", ""}, {"[::1%eth0]", ""}, {"[::ffff:127.0.0.1]", ""},
		{"[127.0.0.1]", ""}, {"::1", ""},
		{strings.Repeat("a", 64), ""}, {strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 126) + "a"},
		{strings.Repeat("a.", 127) + "a", ""},
	}
	for _, tt := range tests {
		got, err := weburl.ParseHost(tt.raw)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseHost(%q) = %q, %v, want %q", tt.raw, got, err, tt.want)
		}
	}
}

func TestParsePattern(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"app.example": "app.example", "APP.example:8443": "app.example:8443",
		"*.Preview.app.example": "*.preview.app.example",
		"*.localhost:3000":      "*.localhost:3000", "[::1]": "[::1]", "127.0.0.1": "127.0.0.1",
		"*": "", "*.": "", "*.com": "", "*.*.example": "", "a.*.example": "", "**.app.example": "", "*app.example": "",
		"*.127.0.0.1": "", "*.[::1]": "", "https://app.example": "", "app.example/": "", "": "",
	} {
		got, err := weburl.ParsePattern(raw)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParsePattern(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw, origin, path string
		err               error
	}{
		{"https://app.example", "https://app.example", "", nil},
		{"https://app.example/", "https://app.example", "/", nil},
		{"HTTPS://APP.example:443/auth", "https://app.example", "/auth", nil},
		{"http://localhost:3000/api/auth", "http://localhost:3000", "/api/auth", nil},

		{"not a url", "", "", weburl.ErrMalformed},
		{"/auth", "", "", weburl.ErrMalformed},
		{"app.example", "", "", weburl.ErrMalformed},
		{"//app.example", "", "", weburl.ErrMalformed},
		{"https://user@app.example", "", "", weburl.ErrMalformed},
		{"https://app.example?x", "", "", weburl.ErrMalformed},
		{"https://app.example#x", "", "", weburl.ErrMalformed},
		{"ftp://app.example", "", "", weburl.ErrScheme},
	}
	for _, tt := range tests {
		o, path, err := weburl.ParseOrigin(tt.raw)
		if o.String() != tt.origin || path != tt.path || !errors.Is(err, tt.err) {
			t.Errorf("ParseOrigin(%q) = %q, %q, %v", tt.raw, o, path, err)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"http://localhost:3000": true, "http://app.localhost": true, "http://127.0.0.1:8080": true, "http://127.9.9.9": true,
		"http://[::1]:3000": true, "http://[::1]": true,
		"http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false, "http://128.0.0.1": false,
		"http://[::2]": false, "http://notlocalhost": false,
	} {
		o, _, err := weburl.ParseOrigin(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.IsLoopback(); got != want {
			t.Errorf("%s: IsLoopback() = %v", raw, got)
		}
	}
}

// TestAuthURLRecorded tests the recorded AUTH_URL cases: the origin is that of the URL, whatever the headers are; the
// base path is the configured one, else the URL's path.
func TestAuthURLRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Env      map[string]string
		BasePath string
		Action   string
		Result   string
	}
	load(t, "vectors.json", "url-env.auth-url", &vectors)
	for _, v := range vectors {
		raw := v.Env["AUTH_URL"]
		if raw == "" {
			continue // the old variable name is tested in core
		}
		o, path, err := weburl.ParseOrigin(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if v.BasePath != "" {
			path = v.BasePath
		}
		base, err := weburl.CleanBasePath(path)
		if got := o.String() + base + "/" + v.Action; err != nil || got != v.Result {
			t.Errorf("%s: %s, %v, want %s", raw, got, err, v.Result)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:3000": true, "a.localhost": true, "127.0.0.1": true, "127.255.0.9:80": true,
		"[::1]": true, "[::1]:3000": true,

		"": false, "app.example": false, "notlocalhost": false, "localhost.example": false, "128.0.0.1": false,
		"0.0.0.0": false, "[::]": false,
		"[::ffff:127.0.0.1]": false, "127.0.0.1.example": false, "10.0.0.1": false,
	} {
		if got := (weburl.Origin{Scheme: "http", Host: host}).Loopback(); got != want {
			t.Errorf("%q: loopback %v", host, got)
		}
	}
}
