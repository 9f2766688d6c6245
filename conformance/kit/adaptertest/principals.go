package adaptertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// keys is a plugin with credentials of the form "toy_<name>". The name is the only scope, and "wrong" is not valid.
type keys struct{}

// Attach implements [core.Plugin].
func (keys) Attach(h *core.PluginHost) error {
	h.AddCredential(core.Credential{
		Matches: func(token string) bool { return strings.HasPrefix(token, "toy_") },
		Verify: func(_ context.Context, token string, _ netip.Prefix) (*core.Principal, error) {
			name := strings.TrimPrefix(token, "toy_")
			if name == "wrong" {
				return nil, nil
			}
			return &core.Principal{UserID: "1", Credential: "toy:" + name, Name: name, Scopes: []string{name}}, nil
		},
	})
	return nil
}

// principals requests a route for programs and users, and one for users, with each combination of credentials.
func principals(t *testing.T, start Start) {
	change := func(c *core.Config) { c.Plugins = []core.Plugin{keys{}} }
	k := newKit(t, start, change)
	k.addr = start(t, Site{Auth: k.auth, Routes: []Route{
		{Method: "GET", Path: "/api", Before: []Step{{
			Auth: k.auth, Kind: RequirePrincipal, PrincipalGuards: []core.PrincipalGuard{core.Scopes("read")},
		}}, Do: func(c Call) {
			p, err := core.PrincipalFrom(c.Context())
			session, _ := c.Session()
			_, _ = fmt.Fprintf(c, "%s %t %v", p.Credential, session != nil, err)
		}},
		{Method: "GET", Path: "/people", Before: []Step{{Auth: k.auth, Kind: RequireSession}}, Do: func(c Call) {
			_, _ = io.WriteString(c, "hello")
		}},
	}})
	for _, row := range []struct {
		name, path string
		user       bool
		header     []string
		status     int
		body       string
		challenge  string
	}{
		{"nothing", "/api", false, nil, 401, "", `Bearer realm="http://HOST"`},
		{"a key", "/api", false, []string{"Bearer toy_read"}, 200, "toy:read false <nil>", ""},
		{"a wrong key", "/api", false, []string{"Bearer toy_wrong"}, 401, "",
			`Bearer realm="http://HOST", error="invalid_token"`},
		{"a key without the scope", "/api", false, []string{"Bearer toy_write"}, 403, "",
			`Bearer realm="http://HOST", error="insufficient_scope", scope="read"`},
		{"two keys", "/api", false, []string{"Bearer toy_read", "Bearer toy_read"}, 400, "",
			`Bearer realm="http://HOST", error="invalid_request"`},
		{"a key on a route for users", "/people", false, []string{"Bearer toy_read"}, 401, "",
			`Bearer realm="http://HOST", error="invalid_token"`},
		{"a session", "/api", true, nil, 200, " true <nil>", ""},
		{"a session and a key", "/api", true, []string{"Bearer toy_read"}, 200, "toy:read false <nil>", ""},
		{"a session and a wrong key", "/api", true, []string{"Bearer toy_wrong"}, 401, "",
			`Bearer realm="http://HOST", error="invalid_token"`},
		{"a session and a key on a route for users", "/people", true, []string{"Bearer toy_read"}, 401, "",
			`Bearer realm="http://HOST", error="invalid_token"`},
		{"a session and another token", "/api", true, []string{"Bearer other"}, 200, " true <nil>", ""},
		{"a session and the password of a proxy", "/api", true, []string{"Basic YTpi"}, 200, " true <nil>", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			own := *k
			own.T, own.http = t, newClient(t)
			if row.user {
				own.signIn(0)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+k.addr+row.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = row.header
			a := own.do(r)
			challenge := strings.ReplaceAll(row.challenge, "HOST", k.addr)
			if a.status != row.status || row.body != "" && a.body != row.body ||
				a.header.Get("Www-Authenticate") != challenge {
				t.Errorf("%d %q, challenge %s", a.status, a.body, a.header.Get("Www-Authenticate"))
			}
			if len(row.header) > 0 && !row.user && len(a.header["Set-Cookie"]) > 0 {
				t.Errorf("cookies %q", a.header["Set-Cookie"])
			}
			if vary := strings.Join(a.header["Vary"], ","); !strings.Contains(vary, "Authorization") {
				t.Errorf("Vary is %q", vary)
			}
		})
	}
}
