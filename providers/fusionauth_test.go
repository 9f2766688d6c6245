package providers_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// TestFusionAuthTenant: the flow with its signatures is tested in conformance/proof/peers.
func TestFusionAuthTenant(t *testing.T) {
	p := providers.FusionAuth(providers.FusionAuthOptions{
		Options:  providers.Options{Issuer: "https://fusion.example", AuthorizationParams: url.Values{"idp_hint": {"x"}}},
		TenantID: "tenant-1",
	})
	if p.Authorization.Params.Get("tenantId") != "tenant-1" || p.Authorization.Params.Get("idp_hint") != "x" {
		t.Errorf("params %v", p.Authorization.Params)
	}
	for tid, good := range map[string]bool{"tenant-1": true, "": true, "tenant-2": false} {
		profile := core.Profile{"sub": "1", "email": "jane@example.com", "given_name": "Jane", "family_name": "Doe"}
		if tid != "" {
			profile["tid"] = tid
		}
		u, err := p.Profile(t.Context(), profile, nil)
		if (err == nil) != good || good && (u.AccountID != "1" || u.Name != "Jane Doe") {
			t.Errorf("tenant %q: %v, %v", tid, u, err)
		}
	}
	if p := providers.FusionAuth(); p.Authorization.Params.Has("tenantId") {
		t.Error("a tenant that is not configured")
	}
}

// TestFusionAuthCallback: the callback URL ends with the provider's ID.
func TestFusionAuthCallback(t *testing.T) {
	for id, want := range map[string]string{"": "fusionauth", "work": "work"} {
		auth, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.example",
			Getenv: func(string) string { return "" },
			Providers: []core.Provider{providers.FusionAuth(providers.FusionAuthOptions{Options: providers.Options{
				ID: id, ClientID: "id", ClientSecret: "s", Issuer: "https://fusion.example",
			}})},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := auth.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "/auth/providers", Hosts: []string{"app.example"}, Scheme: "https",
		})
		if !strings.Contains(string(r.Body), `"callbackUrl":"https://app.example/auth/callback/`+want+`"`) {
			t.Errorf("ID %q: %s", id, r.Body)
		}
	}
}

func TestTwitterVersions(t *testing.T) {
	for version, want := range map[string]string{"": "2.0", "2.0": "2.0", "1.0": "1.0a", "1.0a": "1.0a", "3": ""} {
		p := providers.Twitter(providers.TwitterOptions{
			Options: providers.Options{ClientID: "id", ClientSecret: "s"}, Version: version,
		})
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.example",
			Providers: []core.Provider{p}, Getenv: func(string) string { return "" },
		})
		got := "2.0"
		if p.RequestToken.URL != "" {
			got = "1.0a"
		}
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("version %q is %q, error %v", version, got, err)
		}
		var faults *core.ConfigError
		if errors.As(err, &faults) &&
			(len(faults.Problems) != 1 || !strings.Contains(err.Error(), `TwitterOptions.Version is "3"`)) {
			t.Errorf("reported as %v", err)
		}
	}
}
