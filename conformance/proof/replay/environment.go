package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// environment checks what a configuration reads from its environment, if the effect is visible.
func environment(c *call) {
	x := environmentCase{call: c, config: c.object("config"), result: c.object("result"), getenv: c.getenv()}
	c.get("suppressBasePathWarning")
	warnings := []any{}
	a, err := c.auth(func(out *core.Config) {
		x.configure(out)
		out.Logger = slog.New(codes{of: "env-url-basepath-redundant", all: &warnings})
	})
	if err != nil {
		c.diff("result: want %s, got %v", show(x.result), err)
		return
	}
	// The same configuration with a known host, under each trust setting, to see the providers.
	known, err := c.auth(func(out *core.Config) {
		x.configure(out)
		out.TrustedHosts, out.Logger = []string{"app.test"}, slog.New(slog.DiscardHandler)
	})
	if err != nil {
		c.diff("result: %v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(x.result)) {
		x.compare(name, a, known)
	}
	if want := c.get("warnings"); want != nil || len(warnings) > 0 {
		c.same("warnings", warnings)
	}
}

// environmentCase is a configuration with an environment, and Auth.js's result.
type environmentCase struct {
	*call
	config, result object
	getenv         func(string) string
}

func (c environmentCase) configure(out *core.Config) {
	config, result := c.config, c.result
	out.Getenv = c.getenv
	out.Secrets, out.TrustHost = secretList(config["secret"]), core.Default
	out.BasePath, _ = config["basePath"].(string)
	out.RedirectProxyURL, _ = config["redirectProxyUrl"].(string)
	if v, there := config["trustHost"]; there {
		out.TrustHost = toggle(v)
	}
	if len(out.Secrets) == 1 && out.Secrets[0] == "" {
		out.Secrets = nil
	}
	providers, _ := config["providers"].([]any)
	if c.get("callableProvider") == true {
		providers = []any{object{"id": "github", "type": "oauth", "name": "G"}}
	}
	for _, v := range providers {
		out.Providers = append(out.Providers, declared(v.(object)))
	}
	if result["redirectProxyUrl"] != nil {
		out.TrustedHosts = []string{"app.test"}
		out.Providers = append(out.Providers,
			declared(object{"id": "proxied", "type": "oauth", "clientId": "i", "clientSecret": "s"}))
	}
	noSecret, _ := result["secret"].([]any)
	// Latchkey does not start without a secret. The other members can still be checked.
	if _, list := result["secret"].([]any); list && len(noSecret) == 0 {
		out.Secrets = []core.Secret{"test-secret"}
	}
	out.Store, out.Session.Strategy = newMemory(&recorder{}, c.now).without(nil), core.StrategyJWT
}

// compare compares one member of the result. The providers are visible if the host is known.
func (c environmentCase) compare(name string, a, known *core.Auth) {
	want, got := c.result[name], any(nil)
	switch name {
	case "basePath":
		got = a.BasePath()
	case "secret":
		if list, ok := want.([]any); ok && len(list) == 0 {
			return
		}
		got = acceptedSecrets(c.call, a, want)
	case "trustHost":
		if c.result["redirectProxyUrl"] != nil {
			return // a redirect proxy requires listed hosts, and only those are trusted
		}
		want = c.trusts(want)
		got = ask(a, "GET", a.BasePath()+"/session", "anything.test", "https", nil, nil).Status == http.StatusOK
	case "redirectProxyUrl":
		got = strings.TrimSuffix(begun(known, "proxied").Get("redirect_uri"), "/callback/proxied")
	case "providers":
		got = observed(known, want.([]any))
	default:
		c.diff("result.%s is not known", name)
		return
	}
	if text(got) != text(want) {
		c.diff("result.%s: want %s, got %s", name, show(want), show(got))
	}
}

// trusts returns whether Latchkey trusts every host. Outside of production Auth.js trusts all hosts by default, and
// Latchkey trusts only configured hosts.
func (c environmentCase) trusts(want any) any {
	names := []string{"AUTH_URL", "NEXTAUTH_URL", "AUTH_TRUST_HOST", "VERCEL", "CF_PAGES"}
	configured := slices.ContainsFunc(names, func(name string) bool { return c.getenv(name) != "" })
	if want == true && c.config["trustHost"] == nil && !configured && c.getenv("NODE_ENV") != "production" {
		return false
	}
	return want
}

// declared returns a provider of an Auth.js configuration, with its own endpoints.
func declared(p object) core.Provider {
	id, kind := fmt.Sprint(p["id"]), fmt.Sprint(p["type"])
	switch kind {
	case "email":
		return &core.EmailProvider{ID: id, Configure: nil, Send: func(context.Context, core.Email) error { return nil }}
	case "credentials":
		return &core.CredentialsProvider{
			ID:        id,
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}
	}
	o := &core.OAuthProvider{
		ID: id, Type: core.ProviderType(kind), Authorization: core.Endpoint{URL: "https://op.test/authorize"},
		Token: core.Endpoint{URL: "https://op.test/token"}, Userinfo: core.Endpoint{URL: "https://op.test/userinfo"},
	}
	o.ClientID, _ = p["clientId"].(string)
	if s, ok := p["clientSecret"].(string); ok {
		o.ClientSecret = core.Secret(s)
	}
	if o.Type == core.TypeOIDC {
		o.ClientAuth = core.ClientAuthNone
	}
	return o
}

// begun returns the parameters of an authorization request.
func begun(a *core.Auth, provider string) url.Values {
	first := ask(a, "GET", a.BasePath()+"/csrf", "app.test", "https", nil, nil)
	var body struct{ CSRFToken string }
	_ = json.Unmarshal(first.Body, &body)
	answer := ask(a, "POST", a.BasePath()+"/signin/"+provider, "app.test", "https",
		cookieHeader(first.Cookies), url.Values{"csrfToken": {body.CSRFToken}})
	u, err := url.Parse(answer.Redirect)
	if err != nil {
		return nil
	}
	return u.Query()
}

func cookieHeader(cookies []core.Cookie) http.Header {
	var pairs []string
	for _, c := range cookies {
		pair, _, _ := strings.Cut(c.String(), ";")
		pairs = append(pairs, pair)
	}
	return http.Header{"Cookie": {strings.Join(pairs, "; ")}}
}

// observed returns the visible members of the providers: the client ID in the authorization request. The recorded
// sign-ins check what only the token endpoint sees.
func observed(a *core.Auth, want []any) []any {
	got := []any{}
	for _, v := range want {
		p := maps.Clone(v.(object))
		if p["clientId"] != nil {
			p["clientId"] = begun(a, fmt.Sprint(p["id"])).Get("client_id")
		}
		got = append(got, p)
	}
	return got
}

// acceptedSecrets returns the secrets in want under which a token is accepted, starting with the one that encrypts.
func acceptedSecrets(c *call, a *core.Auth, want any) any {
	const salt = "salt"
	sealed, err := a.EncodeToken(&core.Token{Subject: "1"}, salt, time.Hour)
	if err != nil {
		return err.Error()
	}
	var got []any
	for i, s := range secretList(want) {
		one, err := c.auth(func(config *core.Config) { config.Secrets = []core.Secret{s} })
		if err != nil {
			return err.Error()
		}
		theirs, err := one.EncodeToken(&core.Token{Subject: "1"}, salt, time.Hour)
		if err != nil {
			return err.Error()
		}
		if _, err := a.DecodeToken(theirs, salt); err != nil {
			continue
		}
		if _, err := one.DecodeToken(sealed, salt); (err == nil) != (i == 0) {
			continue
		}
		got = append(got, string(s))
	}
	if _, list := want.([]any); !list && len(got) == 1 {
		return got[0]
	}
	return got
}
