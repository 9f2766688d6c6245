package peers_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestAccessTokens lets libraries of other languages verify access tokens with the keys that the application publishes.
func TestAccessTokens(t *testing.T) {
	const orders = "https://orders.example"
	for name, program := range map[string]func(*testing.T) []string{
		"jose": func(t *testing.T) []string {
			t.Helper()
			engines.Packages(t, "verifiers")
			return []string{"node", "verifiers/jose.mjs"}
		},
		"PyJWT": func(t *testing.T) []string {
			t.Helper()
			const python = "/usr/bin/python3" // the system's Python, because apt installs packages only for it
			if err := exec.CommandContext(t.Context(), python, "-c", "import jwt, cryptography").Run(); err != nil {
				engines.Absent(t, "PyJWT is missing: apt-get install -y --no-install-recommends python3-jwt "+
					"python3-cryptography")
			}
			return []string{python, "verifiers/pyjwt.py"}
		},
	} {
		for _, alg := range []accesstoken.Algorithm{accesstoken.EdDSA, accesstoken.ES256} {
			t.Run(name+"/"+string(alg), func(t *testing.T) {
				command := program(t)
				var ago time.Duration
				tokens := accesstoken.New(accesstoken.Options{
					Algorithm: alg, Audiences: []accesstoken.Audience{{ID: orders, Scopes: []string{"orders:read"}}, {ID: "other"}},
				})
				mux := http.NewServeMux()
				server := httptest.NewServer(mux)
				t.Cleanup(server.Close)
				auth, err := core.New(core.Config{
					Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(), URL: server.URL,
					Getenv: func(string) string { return "" }, Plugins: []core.Plugin{tokens}, Logger: slog.New(slog.DiscardHandler),
					Now: func() time.Time { return time.Now().Add(-ago) },
				})
				if err != nil {
					t.Fatal(err)
				}
				a := authhttp.New(auth)
				a.Mount(mux)
				a.MountWellKnown(mux)
				issue := func(audience string, scopes ...string) string {
					t.Helper()
					token, _, err := tokens.Issue(t.Context(), accesstoken.Claims{
						UserID: "ada", Audience: audience, Scopes: scopes,
					})
					if err != nil {
						t.Fatal(err)
					}
					return string(token)
				}
				good := issue(orders, "orders:read")
				parts := strings.Split(good, ".")
				forged := parts[0] + "." + strings.Split(issue("other"), ".")[1] + "." + parts[2]
				other := issue("other")
				ago = time.Hour
				expired := issue(orders)
				ago = 0
				input := strings.Join([]string{good, other, forged, expired, issue(orders, "orders:read")}, "\n") + "\n"
				run := exec.CommandContext(t.Context(), command[0], append(command[1:], server.URL+"/.well-known/jwks.json",
					server.URL, orders)...)
				run.Stdin = strings.NewReader(input)
				out, err := run.CombinedOutput()
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				if err != nil || len(lines) != 5 {
					t.Fatalf("%v: %s", err, out)
				}
				for i, want := range []string{
					"valid ada orders:read", "refused", "refused", "refused", "valid ada orders:read",
				} {
					if !strings.HasPrefix(lines[i], want) {
						t.Errorf("token %d: %s, want %s", i, lines[i], want)
					}
				}
			})
		}
	}
}
