package main

import (
	"context"
	"encoding/json"
	"errors"
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

// function runs one recorded call of a function of Auth.js, through what we offer in its place, and returns the
// differences. Members that it does not use are errors.
type function func(c *call)

// functions are the recorded functions: by name, and the vectors by the scenario's id without its number.
var functions = map[string]function{
	"getToken":                        getToken,
	"createActionURL":                 actionURL,
	"setEnvDefaults":                  environment,
	"vectors.key-derivation":          keyDerivation,
	"vectors.session-tokens":          sessionTokens,
	"vectors.foreign-tokens":          sessionTokens,
	"vectors.csrf-cookie":             csrfCookie,
	"vectors.verification-token-hash": tokenHash,
	"vectors.check-cookies":           checkCookies,
	"vectors.default-cookies":         defaultCookies,
	"vectors.errors":                  errorClasses,
	"vectors.cookie-chunks":           cookieChunks,
	"vectors.cookie-join":             cookieJoin,
	"vectors.cookie-serialize":        cookieSerialize,
	"vectors.cookie-parse":            cookieParse,
	"vectors.email-normalize":         emailNormalize,
	"vectors.paths":                   paths,
	"vectors.callback-urls":           callbackURLs,
}

// call is one case.
type call struct {
	in    object
	used  map[string]bool
	now   time.Time
	diffs []string
}

// runCases runs the cases of a scenario.
func runCases(sc scenario, start time.Time) (diffs []string) {
	f := functions[sc.Function]
	if sc.Function == "" {
		f = functions[strings.TrimRight(sc.ID, "-0123456789")]
	}
	if f == nil {
		return []string{fmt.Sprintf("the function %q is not known", or(sc.Function, sc.ID))}
	}
	for i, v := range sc.Cases {
		in, ok := v.(object)
		if !ok {
			return append(diffs, fmt.Sprintf("case %d is no object", i+1))
		}
		c := &call{in: in, now: start, used: map[string]bool{"note": true}}
		func() {
			defer func() {
				if v := recover(); v != nil {
					c.diff("it panicked: %v", v)
				}
			}()
			f(c)
		}()
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !c.used[name] {
				c.diff("%s: the member was not looked at", name)
			}
		}
		for _, d := range c.diffs {
			diffs = append(diffs, fmt.Sprintf("case %d: %s", i+1, d))
		}
	}
	return diffs
}

func (c *call) diff(format string, args ...any) {
	c.diffs = append(c.diffs, fmt.Sprintf(format, args...))
}

// get returns a member, nil when it is not there.
func (c *call) get(name string) any { c.used[name] = true; return c.in[name] }

func (c *call) text(name string) string { s, _ := c.get(name).(string); return s }

func (c *call) object(name string) object { o, _ := c.get(name).(object); return o }

func (c *call) number(name string) int {
	n, _ := c.get(name).(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// same compares what came with a member.
func (c *call) same(name string, got any) {
	if want := c.get(name); text(want) != text(got) {
		c.diff("%s: want %s, got %s", name, show(want), show(got))
	}
}

// text is a value as JSON, members in order.
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// threw compares a failure with what was thrown; true: nothing more is to be compared.
func (c *call) threw(err error) bool {
	want := c.get("throws")
	if (want != nil) == (err != nil) {
		if o, ok := want.(object); ok && o["type"] != nil && !errors.Is(err, core.ErrorType(fmt.Sprint(o["type"]))) {
			c.diff("throws: want %v, got %v", o["type"], err)
		}
		return want != nil
	}
	c.diff("throws: want %s, got %v", show(want), err)
	return true
}

// auth makes an Auth with what a case needs; its faults are part of the answer.
func (c *call) auth(change func(*core.Config)) (*core.Auth, error) {
	config := core.Config{
		Secrets: []core.Secret{"test-secret"}, InsecureShortSecrets: true,
		TrustHost: core.On, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return c.now }, Getenv: func(string) string { return "" },
	}
	change(&config)
	return core.New(config)
}

func secretList(v any) (out []core.Secret) {
	switch v := v.(type) {
	case string:
		return []core.Secret{core.Secret(v)}
	case []any:
		for _, s := range v {
			out = append(out, core.Secret(fmt.Sprint(s)))
		}
	}
	return out
}

// ask sends a request to core and returns the answer.
func ask(a *core.Auth, method, target, host, scheme string, header http.Header, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{host}, Scheme: scheme,
		RemoteAddr: "192.0.2.1:1", Header: header.Clone(),
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	return a.Handle(context.Background(), r)
}

func headersOf(v object) (header http.Header, host string) {
	header = http.Header{}
	for name, value := range v {
		if name == "host" {
			host = fmt.Sprint(value)
			continue
		}
		header.Set(name, fmt.Sprint(value))
	}
	return header, or(host, "app.test")
}

// getToken reads the token of a request.
func getToken(c *call) {
	params, result := c.object("params"), c.get("result")
	header, _ := headersOf(c.object("headers"))
	name, _ := params["cookieName"].(string)
	salt, _ := params["salt"].(string)
	secrets := secretList(params["secret"])
	if params["raw"] == true {
		secrets = []core.Secret{"test-secret"}
	}
	reader, err := core.NewTokenReader(core.TokenOptions{
		Secrets: secrets, CookieName: name, Secure: toggle(params["secureCookie"]), Salt: salt,
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return c.now },
		Getenv: func(string) string { return "" },
	})
	if c.threw(err) {
		return
	}
	if params["raw"] == true {
		if raw := reader.RawToken(header); raw != "" || result != nil {
			c.same("result", raw)
		}
		return
	}
	token, err := reader.Token(context.Background(), header)
	if err != nil {
		c.diff("result: %v", err)
		return
	}
	c.sameToken(token)
}

// sameToken compares claims with the result.
func (c *call) sameToken(token *core.Token) {
	if token == nil {
		c.same("result", nil)
		return
	}
	raw, err := token.MarshalJSON()
	if err != nil {
		c.diff("result: %v", err)
		return
	}
	var claims object
	if err := decodeExact(raw, &claims); err != nil {
		c.diff("result: %v", err)
		return
	}
	if want := c.object("result"); want["jti"] == "{{uuid}}" && len(fmt.Sprint(claims["jti"])) == 36 {
		claims["jti"] = want["jti"]
	}
	c.same("result", claims)
}

func (c *call) getenv() func(string) string {
	env := c.object("env")
	return func(name string) string { s, _ := env[name].(string); return s }
}

// codes collects a warning code. New gives warnings that several functions of Auth.js give.
type codes struct {
	slog.Handler
	of  string
	all *[]any
}

func (h codes) Enabled(context.Context, slog.Level) bool { return true }

func (h codes) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "code" && r.Level == slog.LevelWarn && a.Value.String() == h.of {
			*h.all = append(*h.all, a.Value.String())
		}
		return true
	})
	return nil
}

// actionURL is where an action lies; the list of providers shows it.
func actionURL(c *call) {
	header, host := headersOf(c.object("headers"))
	warnings := []any{}
	base, _ := c.get("basePath").(string)
	a, err := c.auth(func(config *core.Config) {
		config.Getenv, config.Logger = c.getenv(), slog.New(codes{of: "env-url-basepath-mismatch", all: &warnings})
		if config.BasePath = base; base == "" && config.Getenv("AUTH_URL") == "" {
			config.BasePath = "/" // of the function; a configuration without one has the default
		}
		config.Providers = []core.Provider{&core.CredentialsProvider{
			ID:        "x",
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}}
	})
	if c.threw(err) {
		return
	}
	target := strings.TrimSuffix(a.BasePath(), "/") + "/providers"
	answer := ask(a, "GET", target, host, strings.TrimSuffix(or(c.text("protocol"), "https"), ":"), header, nil)
	var list map[string]struct{ SigninURL string }
	_ = json.Unmarshal(answer.Body, &list)
	c.same("result", strings.TrimSuffix(list["x"].SigninURL, "signin/x")+c.text("action"))
	if want := c.get("warnings"); want != nil || len(warnings) > 0 {
		c.same("warnings", warnings)
	}
}

// environment is what a configuration takes from its environment, as far as its effects show.
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
	// The same where the host is known, under each trust setting: providers are asked there.
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

// environmentCase is a configuration with an environment, and what Auth.js makes of both.
type environmentCase struct {
	*call
	config, result object
	getenv         func(string) string
}

func (c environmentCase) configure(out *core.Config) {
	config, result := c.config, c.result
	out.Getenv = c.getenv
	out.Secrets, out.TrustHost = secretList(config["secret"]), core.Auto
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
	// Ours refuses to start without: the rest can be looked at all the same.
	if _, list := result["secret"].([]any); list && len(noSecret) == 0 {
		out.Secrets = []core.Secret{"test-secret"}
	}
	out.Store, out.Session.Strategy = newMemory(&recorder{}, c.now).without(nil), core.StrategyJWT
}

// compare compares one member of the result. Those of providers are seen where the host is known.
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
			return // a redirect proxy needs hosts that are listed: they are all that is believed
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

// trusts is whether Latchkey trusts every host where Auth.js does as the result says: outside of production Auth.js
// does so unasked, and Latchkey trusts those that the configuration names.
func (c environmentCase) trusts(want any) any {
	names := []string{"AUTH_URL", "NEXTAUTH_URL", "AUTH_TRUST_HOST", "VERCEL", "CF_PAGES"}
	configured := slices.ContainsFunc(names, func(name string) bool { return c.getenv(name) != "" })
	if want == true && c.config["trustHost"] == nil && !configured && c.getenv("NODE_ENV") != "production" {
		return false
	}
	return want
}

// declared is a provider as a configuration of Auth.js declares it, with endpoints of its own.
func declared(p object) core.Provider {
	id, kind := fmt.Sprint(p["id"]), fmt.Sprint(p["type"])
	switch kind {
	case "email":
		return &core.EmailProvider{ID: id, Configure: nil, Send: func(context.Context, core.SignInMail) error { return nil }}
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

// begun are the parameters of an authorization request.
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

// observed is what of the providers' members shows: the client id in the authorization request. What only the token
// endpoint sees the recorded sign-ins of the providers compare.
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

// acceptedSecrets are those of want under which a token is accepted, the one that seals first.
func acceptedSecrets(c *call, a *core.Auth, want any) any {
	const salt = "salt"
	sealed, err := a.SealToken(&core.Token{Subject: "1"}, salt, time.Hour)
	if err != nil {
		return err.Error()
	}
	var got []any
	for i, s := range secretList(want) {
		one, err := c.auth(func(config *core.Config) { config.Secrets = []core.Secret{s} })
		if err != nil {
			return err.Error()
		}
		theirs, err := one.SealToken(&core.Token{Subject: "1"}, salt, time.Hour)
		if err != nil {
			return err.Error()
		}
		if _, err := a.OpenToken(theirs, salt); err != nil {
			continue
		}
		if _, err := one.OpenToken(sealed, salt); (err == nil) != (i == 0) {
			continue
		}
		got = append(got, string(s))
	}
	if _, list := want.([]any); !list && len(got) == 1 {
		return got[0]
	}
	return got
}
