package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

var providerSetups = []setup{
	{name: "sound", probe: true, make: func(w *world) core.Config {
		o, issuer := w.real(here + "/auth/callback/dev")
		c := w.with(providers.OIDC("dev", issuer, o))
		c.Store = w.migrated()
		return c
	}},
	{name: "no-providers", make: func(w *world) core.Config { return w.with() }},
	{name: "client-id-missing", make: func(w *world) core.Config {
		p := w.plain()
		p.ClientID = ""
		return w.with(p)
	}},
	{name: "client-secret-missing", make: func(w *world) core.Config {
		p := w.plain()
		p.ClientSecret = ""
		return w.with(p)
	}},
	{name: "client-of-an-example", make: func(w *world) core.Config {
		w.env["AUTH_ACME_ID"], w.env["AUTH_ACME_SECRET"] = "your-client-id", `"`+string(clientSecret)+`"`
		p := w.plain()
		p.ClientID, p.ClientSecret = "", ""
		return w.with(p)
	}},
	{name: "client-id-as-secret", make: func(w *world) core.Config {
		p := w.plain()
		p.ClientID, p.ClientSecret = "app-4711", "app-4711"
		return w.with(p)
	}},
	{name: "google-id-cut-off", make: func(w *world) core.Config {
		c := w.with(providers.Google(providers.Options{ClientID: "1234-abc", ClientSecret: clientSecret}))
		c.HTTPClient = discovers("https://accounts.google.com", "accounts.google.com")
		return c
	}},
	{name: "microsoft-id-of-the-secret", make: func(w *world) core.Config {
		const guid = "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"
		const issuer = "https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555/v2.0"
		w.canaries = append(w.canaries, "9f8e7d6c-5b4a-4392-8170-615243342516")
		c := w.with(providers.MicrosoftEntraID(providers.Options{
			ClientID: guid, ClientSecret: "9f8e7d6c-5b4a-4392-8170-615243342516", Issuer: issuer,
		}))
		c.HTTPClient = discovers(issuer, issuer[len("https://"):])
		return c
	}},
	{name: "checks-switched-off", make: func(w *world) core.Config {
		p := w.plain()
		p.Checks = []core.Check{}
		return w.with(p)
	}},
	{name: "scope-without-openid", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.Scope = "profile email"
		return w.with(p)
	}},
	{name: "issuer-down", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.Issuer = "http://" + w.closed()
		return w.with(p)
	}},
	{name: "issuer-without-a-document", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.Issuer += "/realms/nobody"
		return w.with(p)
	}},
	{name: "issuer-is-another", make: func(w *world) core.Config {
		return w.with(w.op(op{says: map[string]any{"issuer": "https://op.example.org"}}).provider())
	}},
	{name: "issuer-by-http", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.Issuer = "http://op.example.org"
		return w.with(p)
	}},
	{name: "issuer-insecure", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.AllowInsecureHTTP = core.True
		return w.with(p)
	}},
	{name: "issuer-of-another-authority", make: func(w *world) core.Config {
		tls := httptest.NewUnstartedServer(http.NotFoundHandler())
		tls.Config.ErrorLog = quiet
		tls.StartTLS()
		w.Cleanup(tls.Close)
		return w.with((&op{Server: tls}).provider())
	}},
	{name: "issuer-silent", timeout: time.Second, make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.Issuer = "http://" + w.deaf()
		return w.with(p)
	}},
	{name: "client-auth-of-another", make: func(w *world) core.Config {
		return w.with(w.op(op{says: map[string]any{
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt"},
		}}).provider())
	}},
	{name: "algorithm-of-another", make: func(w *world) core.Config {
		p := w.op(op{}).provider()
		p.IDTokenAlgs = []string{"ES256"}
		return w.with(p)
	}},
	{name: "issuer-without-keys", make: func(w *world) core.Config {
		return w.with(w.op(op{keys: `{"keys":[]}`}).provider())
	}},
	{name: "issuer-without-s256", make: func(w *world) core.Config {
		return w.with(w.op(op{says: map[string]any{"code_challenge_methods_supported": []string{"plain"}}}).provider())
	}},
	{name: "clock-off", make: func(w *world) core.Config {
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		c := w.with(w.op(op{date: at}).provider())
		c.Now = func() time.Time { return at.Add(5 * time.Minute) }
		return c
	}},
	{name: "callback-not-registered", probe: true, make: func(w *world) core.Config {
		o, issuer := w.real(here + "/auth/callback/another")
		return w.with(providers.OIDC("dev", issuer, o))
	}},
	{name: "client-unknown", probe: true, make: func(w *world) core.Config {
		o, issuer := w.real(here + "/auth/callback/dev")
		o.ClientID = "somebody-else"
		return w.with(providers.OIDC("dev", issuer, o))
	}},
	{name: "client-secret-of-another", probe: true, make: func(w *world) core.Config {
		o, issuer := w.real(here + "/auth/callback/dev")
		o.ClientSecret = clientSecret
		return w.with(providers.OIDC("dev", issuer, o))
	}},
	{name: "page-not-known", probe: true, make: func(w *world) core.Config {
		return w.with(w.op(op{status: http.StatusServiceUnavailable, page: "back soon"}).provider())
	}},
}
