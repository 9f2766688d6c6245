package organization_test

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// toyKeys is a plugin with credentials "toy/<user or organization>/<scope>".
type toyKeys struct{}

func (toyKeys) Attach(h *core.PluginHost) error {
	h.AddCredential(core.Credential{
		Matches: func(token string) bool { return strings.HasPrefix(token, "toy/") },
		Verify: func(_ context.Context, token string, _ netip.Prefix) (*core.Principal, error) {
			parts := strings.Split(token, "/")
			p := &core.Principal{Credential: "toy:1", Name: "toy", Scopes: []string{"invoice:" + parts[2]}}
			if len(parts[1]) > 3 {
				p.Service = parts[1]
			} else {
				p.UserID = parts[1]
			}
			return p, nil
		},
	})
	return nil
}

// TestPrograms: a key acts in its own organization, with its scopes; a user's key in addition with the user's role.
func TestPrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *core.Config, _ *organization.Options) { c.Plugins = []core.Plugin{toyKeys{}} })
	ctx := t.Context()
	a := authhttp.New(s.auth)
	s.mux.Handle("GET /api", a.RequirePrincipal(s.orgs.PermissionOrScope("invoice:write"))(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			id, err := s.orgs.OrganizationID(r.Context())
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, id)
		})))
	id, other := s.found("bob accountant", "kim member"), s.found()
	if err := s.orgs.SetSlug(ctx, id, "acme"); err != nil {
		t.Fatal(err)
	}
	const right = "/write"
	call := func(key string, header ...string) reply {
		t.Helper()
		if key != "" {
			header = append(header, "Authorization", "Bearer toy/"+key)
		}
		return (&client{http.DefaultClient, s}).get("/api", header...)
	}
	is := func(name string, r reply, status int, organization string) {
		t.Helper()
		if r.status != status || status == 200 && r.body != organization {
			t.Errorf("%s: %d %s, want %d %s", name, r.status, r.body, status, organization)
		}
	}
	is("nothing", call(""), 401, "")
	is("a key", call(id+right), 200, id)
	is("a key of another organization", call(other+right), 200, other)
	is("a key without the scope", call(id+"/read"), 403, "")
	is("a key for its own organization", call(id+right, "X-Organization", id), 200, id)
	is("a key for its own organization by slug", call(id+right, "X-Organization", "acme"), 200, id)
	is("a key for another organization", call(id+right, "X-Organization", other), 403, "")
	is("a key for another organization by slug", call(other+right, "X-Organization", "acme"), 403, "")
	is("a key for an unknown organization", call(id+right, "X-Organization", "unknown"), 403, "")
	is("a key of another service", call("billing"+right), 403, "")
	is("a key of an organization that was made up", call("org_0000000000000000000000"+right), 403, "")
	is("the key of a member", call("bob"+right), 200, id)
	is("the key of a member without the scope", call("bob/read"), 403, "")
	is("the key of a member without the permission", call("kim"+right), 403, "")
	is("the key of another user", call("eve"+right, "X-Organization", id), 403, "")
	bob := s.as("bob")
	is("a session", bob.get("/api"), 200, id)
	is("a session without the permission", s.as("kim").get("/api"), 403, "")

	if err := s.orgs.RequireSecondFactor(ctx, id, true); err != nil {
		t.Fatal(err)
	}
	is("the key of a member, with a required second factor", call("bob"+right), 403, "")
	is("a key of the organization, with a required second factor", call(id+right), 200, id)
	if r := bob.get("/api"); r.status != http.StatusUnauthorized {
		t.Errorf("a session without a second factor: %d %s", r.status, r.body)
	}
	s.rows.failing("delete organization-member")
	if err := s.orgs.Delete(ctx, id); err == nil {
		t.Error("it succeeded")
	}
	s.rows.failing("")
	is("a key of a deleted organization", call(id+right), 403, "")
	s.wait(time.Minute)
	is("a key of a deleted organization, later", call(id+right), 403, "")
}
