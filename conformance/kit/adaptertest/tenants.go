package adaptertest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// perRequest selects the configuration by host.
func perRequest(t *testing.T, start Start) {
	auths := map[string]*core.Auth{}
	for _, name := range []string{"one", "two"} {
		auth, err := core.New(core.Config{
			URL: "https://" + name + ".test", Secrets: []core.Secret{secret}, Plugins: []core.Plugin{toy{}},
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
			Providers: []core.Provider{&core.CredentialsProvider{
				ID:        name,
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		auths[name+".test"] = auth
	}
	tenants := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		if auth := auths[r.Hosts[0]]; auth != nil {
			return auth, nil
		}
		return nil, fmt.Errorf("no tenant for this host")
	})
	app := &application{auth: tenants, office: tenants, data: &core.SessionData[staff]{Load: roles}}
	addr := start(t, Site{Auth: tenants, Routes: app.routes()})
	for _, row := range []struct{ host, path, want string }{
		{"one.test", "/auth/providers", "https://one.test/auth/signin/one"},
		{"two.test", "/auth/providers", "https://two.test/auth/signin/two"},
		{"three.test", "/auth/providers", "message"},
		{"two.test", "/.well-known/toy.json", "https://two.test/auth"},
		{"three.test", "/.well-known/toy.json", "message"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = row.host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !strings.Contains(string(raw), row.want) {
			t.Errorf("%s %s: %s", row.host, row.path, raw)
		}
	}
}
