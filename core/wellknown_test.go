package core_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// document is a function for AddWellKnown.
type document = func(ctx context.Context, base string) (*core.Response, error)

// documents returns a plugin with well-known documents.
func documents(all map[string]document) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		for name, get := range all {
			h.AddWellKnown(name, get)
		}
		return nil
	})
}

// siteWith returns an Auth at https://app.example.
func siteWith(t *testing.T, change func(*core.Config)) *core.Auth {
	t.Helper()
	config := core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.example", Logger: slog.New(slog.DiscardHandler),
		Getenv: func(string) string { return "" },
	}
	change(&config)
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// TestWellKnown requests documents outside of the base path.
func TestWellKnown(t *testing.T) {
	auth := siteWith(t, func(c *core.Config) {
		c.PublicPath = "/shop"
		c.Plugins = []core.Plugin{documents(map[string]document{
			"keys.json": func(_ context.Context, base string) (*core.Response, error) {
				return &core.Response{Body: []byte(base), Header: http.Header{
					"Cache-Control": {"public, max-age=60"}, "Content-Type": {"text/plain"},
				}}, nil
			},
			"change": func(_ context.Context, base string) (*core.Response, error) {
				return &core.Response{Redirect: base + "/change"}, nil
			},
			"none": func(context.Context, string) (*core.Response, error) {
				return nil, &core.Problem{Status: http.StatusNotFound, Code: "not_found"}
			},
			"fails":  func(context.Context, string) (*core.Response, error) { return nil, errors.New("db-1.internal") },
			"empty":  func(context.Context, string) (*core.Response, error) { return nil, nil },
			"panics": func(context.Context, string) (*core.Response, error) { panic("db-1.internal") },
		})}
	})
	if got := strings.Join(auth.WellKnownPaths(), " "); got != "/.well-known/change /.well-known/empty "+
		"/.well-known/fails /.well-known/keys.json /.well-known/none /.well-known/panics" {
		t.Errorf("the paths are %s", got)
	}
	for _, row := range []struct {
		name, method, target string
		status               int
		body, location       string
	}{
		{"a document", "GET", "/.well-known/keys.json", 200, "https://app.example/shop/auth", ""},
		{"a query", "GET", "/.well-known/keys.json?x=1", 200, "https://app.example/shop/auth", ""},
		{"HEAD", "HEAD", "/.well-known/keys.json", 200, "https://app.example/shop/auth", ""}, // the adapter omits it
		{"a redirect", "GET", "/.well-known/change", 302, "", "https://app.example/shop/auth/change"},
		{"nothing to publish", "GET", "/.well-known/none", 404, "", ""},
		{"another method", "POST", "/.well-known/keys.json", 405, "", ""},
		{"unknown", "GET", "/.well-known/other", 404, "", ""},
		{"more segments", "GET", "/.well-known/keys.json/x", 404, "", ""},
		{"an error", "GET", "/.well-known/fails", 500, "", ""},
		{"neither a response nor an error", "GET", "/.well-known/empty", 500, "", ""},
		{"a panic", "GET", "/.well-known/panics", 500, "", ""},
		{"below the base path", "GET", "/auth/.well-known/keys.json", 400, "", ""},
		{"in a query", "GET", "/auth/csrf?x=/.well-known/keys.json", 200, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := auth.Handle(t.Context(), &core.Request{
				Method: row.method, Target: row.target, Hosts: []string{"app.example"}, Scheme: "https",
			})
			if r.Status != row.status || row.body != "" && string(r.Body) != row.body || r.Redirect != row.location {
				t.Errorf("%d to %q: %s", r.Status, r.Redirect, r.Body)
			}
			if strings.Contains(string(r.Body), "db-1.internal") {
				t.Errorf("the response contains the cause: %s", r.Body)
			}
			if row.status == 405 && r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow is %q", r.Header.Get("Allow"))
			}
			if public := row.body != ""; public && (r.Header.Get("Cache-Control") != "public, max-age=60" ||
				r.Header.Get("Access-Control-Allow-Origin") != "*" || len(r.Cookies) > 0) {
				t.Errorf("header %v, cookies %v", r.Header, r.Cookies)
			}
		})
	}
}

// TestWellKnownIsNotSentAgain sends the ETag of a document with the next request.
func TestWellKnownIsNotSentAgain(t *testing.T) {
	text := "one"
	auth := siteWith(t, func(c *core.Config) {
		c.Plugins = []core.Plugin{documents(map[string]document{
			"keys": func(context.Context, string) (*core.Response, error) { return &core.Response{Body: []byte(text)}, nil },
		})}
	})
	ask := func(etag string) *core.Response {
		return auth.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "/.well-known/keys", Hosts: []string{"app.example"}, Scheme: "https",
			Header: http.Header{"If-None-Match": {etag}},
		})
	}
	first := ask(`"x"`)
	if again := ask(`"x", ` + first.Header.Get("Etag")); again.Status != 304 || len(again.Body) > 0 {
		t.Errorf("the same document: %d %s", again.Status, again.Body)
	}
	text = "two"
	if again := ask(first.Header.Get("Etag")); again.Status != 200 || string(again.Body) != "two" {
		t.Errorf("a new document: %d %s", again.Status, again.Body)
	}
}

// TestWellKnownFaults configures documents that cannot be served.
func TestWellKnownFaults(t *testing.T) {
	one := func(context.Context, string) (*core.Response, error) { return &core.Response{}, nil }
	for _, row := range []struct {
		name    string
		plugins []core.Plugin
		want    string
	}{
		{"a name twice", []core.Plugin{
			documents(map[string]document{"keys": one}), documents(map[string]document{"keys": one}),
		}, `document "keys": Plugins[0]`},
		{"no function", []core.Plugin{documents(map[string]document{"keys": nil})}, "the function is nil"},
		{"a path", []core.Plugin{documents(map[string]document{"a/b": one})}, "the name must consist of"},
		{"a wildcard", []core.Plugin{documents(map[string]document{"*": one})}, "the name must consist of"},
		{"dots", []core.Plugin{documents(map[string]document{"..": one})}, "the name must consist of"},
		{"no name", []core.Plugin{documents(map[string]document{"": one})}, "the name must consist of"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.example", Plugins: row.plugins,
				Getenv: func(string) string { return "" },
			})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

// TestRelatedOrigins publishes the origins that may use the passkeys of the site.
func TestRelatedOrigins(t *testing.T) {
	for _, row := range []struct {
		name    string
		origins []string
		want    string
	}{
		{"no others", nil, ""},
		{"an app only", []string{"android:apk-key-hash:" + strings.Repeat("A", 43)}, ""},
		{"a related origin", []string{"https://app.example.de", "android:apk-key-hash:" + strings.Repeat("A", 43)},
			`{"origins":["https://app.example.de"]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			auth := siteWith(t, func(c *core.Config) {
				c.EnableWebAuthn, c.Store, c.Session.Strategy = true, passkeyRows{}, core.StrategyJWT
				c.Providers = append(c.Providers, &core.WebAuthnProvider{
					Verifier: anyPasskey{}, RelyingParty: core.RelyingParty{Origins: row.origins},
				})
			})
			r := auth.Handle(t.Context(), &core.Request{
				Method: "GET", Target: "/.well-known/webauthn", Hosts: []string{"app.example"}, Scheme: "https",
			})
			if published := r.Status == 200; published != (row.want != "") || published && string(r.Body) != row.want {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
	}
}

// TestAppDocuments publishes the apps that may use the passkeys of the site.
func TestAppDocuments(t *testing.T) {
	rp := appsOf("test.app", certificate)
	rp.AppleApps = []string{"ABCDE12345.test.app"}
	android := `[{"relation":["delegate_permission/common.handle_all_urls",` +
		`"delegate_permission/common.get_login_creds"],"target":{"namespace":"android_app","package_name":"test.app",` +
		`"sha256_cert_fingerprints":["` + certificate + `"]}}]`
	for _, row := range []struct {
		name, document string
		rp             core.RelyingParty
		want           string
	}{
		{"Android", "assetlinks.json", rp, android},
		{"Apple", "apple-app-site-association", rp, `{"webcredentials":{"apps":["ABCDE12345.test.app"]}}`},
		{"no Android apps", "assetlinks.json", core.RelyingParty{AppleApps: rp.AppleApps}, ""},
		{"no Apple apps", "apple-app-site-association", core.RelyingParty{AndroidApps: rp.AndroidApps}, ""},
		{"apps are no related origins", "webauthn", rp, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			auth := siteWith(t, func(c *core.Config) {
				c.EnableWebAuthn, c.Store, c.Session.Strategy = true, passkeyRows{}, core.StrategyJWT
				c.Providers = append(c.Providers, &core.WebAuthnProvider{Verifier: anyPasskey{}, RelyingParty: row.rp})
			})
			r := auth.Handle(t.Context(), &core.Request{
				Method: "GET", Target: "/.well-known/" + row.document, Hosts: []string{"app.example"}, Scheme: "https",
			})
			if published := r.Status == 200; published != (row.want != "") || published && string(r.Body) != row.want {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if row.want != "" && r.Header.Get("Content-Type") != "application/json" { // Apple and Google require it
				t.Errorf("Content-Type %q", r.Header.Get("Content-Type"))
			}
		})
	}
}
