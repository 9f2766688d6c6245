package core_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// understood lists the recorded options that core alone can configure.
var understood = map[string][]string{
	"config": {
		"providers", "secret", "trustHost", "basePath", "adapter", "pages", "session", "skipCSRFCheck", "callbacks", "debug",
		"useSecureCookies",
	},
	"adapter":   {"kind"},
	"session":   {"strategy", "maxAge"},
	"callbacks": {"signIn", "redirect"},
	"oauth": {
		"kind", "id", "name", "clientId", "clientSecret", "issuer", "authorization", "token", "userinfo", "checks", "client",
		"profile",
	},
	"email":       {"kind", "id", "name", "from", "maxAge"},
	"credentials": {"kind", "id", "name", "credentials", "authorize"},
}

// needsCoreAlone reports whether a recording contains only requests and responses and only options of core.
func needsCoreAlone(r recording) bool {
	ok := r.Steps != nil && r.Express == nil && r.Config["raw"] != true
	knows := func(part string, members any) {
		for name, v := range asObject(members) {
			ok = ok && (v == nil || slices.Contains(understood[part], name))
		}
	}
	for _, step := range r.Steps {
		config := maps.Clone(r.Config)
		if config == nil {
			config = map[string]any{}
		}
		maps.Copy(config, step.Config)
		ok = ok && !step.Response.Internal && step.Response.Threw == nil
		for _, d := range step.Derived {
			ok = ok && !strings.Contains(d.How, "hex digit") // depends on a value of this run
		}
		for _, part := range []string{"adapter", "session", "callbacks"} {
			knows(part, config[part])
		}
		knows("config", config)
		for name, v := range asObject(config["callbacks"]) {
			op := asObject(v)["op"]
			ok = ok && (op == nil || op == "default" || op == "return" && name == "signIn" || op == "identity")
		}
		for _, p := range asList(config["providers"]) {
			kind := strings.Replace(fmt.Sprint(asObject(p)["kind"]), "oidc", "oauth", 1)
			ok = ok && understood[kind] != nil
			knows(kind, p)
			ok = ok && !strings.Contains(fmt.Sprint(p), "clientPrivateKey") && !strings.Contains(fmt.Sprint(p), "throw:")
		}
	}
	return ok
}

func asObject(v any) map[string]any { m, _ := v.(map[string]any); return m }
func asList(v any) []any            { l, _ := v.([]any); return l }
func asText(v any) string           { s, _ := v.(string); return s }

// config returns the configuration of a step.
func (w *recordedWorld) config(r recording, step recordedStep) core.Config {
	c := maps.Clone(r.Config)
	maps.Copy(c, step.Config)
	out := core.Config{
		Now: w.clock.Now, Rand: w.random, Logger: slog.New(slog.DiscardHandler), InsecureShortSecrets: true,
		Getenv: func(name string) string { return r.Env[name] }, HTTPClient: &http.Client{Transport: w},
		BasePath: asText(c["basePath"]),
	}
	switch secret := c["secret"].(type) {
	case string:
		out.Secrets = []core.Secret{core.Secret(secret)}
	case []any:
		for _, s := range secret {
			out.Secrets = append(out.Secrets, core.Secret(asText(s)))
		}
	}
	out.TrustHost, out.UseSecureCookies = recordedToggle(c["trustHost"]), recordedToggle(c["useSecureCookies"])
	if c["basePath"] == "" {
		out.BasePath = "/"
	}
	if c["skipCSRFCheck"] == true {
		out.CSRF = core.InsecureSkipCSRFCheck()
	}
	pages := asObject(c["pages"])
	out.Pages = core.PagesConfig{
		SignIn: asText(pages["signIn"]), SignOut: asText(pages["signOut"]), Error: asText(pages["error"]),
		VerifyRequest: asText(pages["verifyRequest"]), NewUser: asText(pages["newUser"]),
	}
	session := asObject(c["session"])
	age, _ := session["maxAge"].(float64)
	out.Session.Strategy, out.Session.MaxAge = core.Strategy(asText(session["strategy"])), time.Duration(age)*time.Second
	if c["adapter"] != nil {
		out.Store = w.store.as(power{lists: true, ends: true})
	}
	if out.Session.Strategy == core.StrategyJWT || out.Session.Strategy == "" && out.Store == nil {
		out.Session.UpdateAge = core.UpdateAlways // Auth.js renews the session at each GET session (docs/differences.md)
	}
	w.steer(&out.Callbacks, asObject(c["callbacks"]))
	for _, p := range asList(c["providers"]) {
		out.Providers = append(out.Providers, w.provider(asObject(p)))
	}
	w.asked = nil
	for _, e := range step.Trace {
		if e["kind"] == "peer" {
			w.asked = append(w.asked, e)
		}
	}
	return out
}

func (w *recordedWorld) steer(out *core.Callbacks, recorded map[string]any) {
	if signIn := asObject(recorded["signIn"]); signIn["op"] == "return" {
		out.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
			switch v := signIn["value"].(type) {
			case bool:
				if v {
					return core.Allow(), nil
				}
			case string:
				return core.RedirectTo(v), nil
			}
			return core.Deny(), nil
		}
	}
	if asObject(recorded["redirect"])["op"] == "identity" {
		out.Redirect = func(_ context.Context, p core.RedirectParams) (string, error) { return p.URL, nil }
	}
}

func (w *recordedWorld) provider(p map[string]any) core.Provider {
	id, name := asText(p["id"]), asText(p["name"])
	switch kind := asText(p["kind"]); kind {
	case "email":
		age, _ := p["maxAge"].(float64)
		return &core.EmailProvider{
			ID: id, Name: name, From: asText(p["from"]), MaxAge: time.Duration(age) * time.Second,
			ConfirmLink: core.False, // the recorded browsers open links anywhere
			Send:        func(_ context.Context, m core.Email) error { w.mails = append(w.mails, m); return nil },
		}
	case "credentials":
		authorize := func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
			return recordedUser(asObject(p["authorize"]), form)
		}
		return &core.CredentialsProvider{ID: id, Name: name, Authorize: authorize}
	default:
		w.secret = asText(p["clientSecret"])
		o := &core.OAuthProvider{
			ID: id, Name: name, Type: core.ProviderType(kind), Issuer: asText(p["issuer"]),
			ClientID: asText(p["clientId"]), ClientSecret: core.Secret(w.secret),
			Authorization: recordedEndpoint(p["authorization"]), Token: recordedEndpoint(p["token"]),
			Userinfo:   recordedEndpoint(p["userinfo"]),
			Checks:     []core.Check{core.CheckPKCE}, // the default of Auth.js; core also checks the state by default
			ClientAuth: core.ClientAuth(asText(asObject(p["client"])["token_endpoint_auth_method"])),
		}
		if checks, said := p["checks"].([]any); said {
			o.Checks = []core.Check{}
			for _, c := range checks {
				if c != "none" {
					o.Checks = append(o.Checks, core.Check(asText(c)))
				}
			}
		}
		if profile := asObject(p["profile"]); profile != nil {
			o.Profile = func(_ context.Context, claims core.Profile, _ *core.TokenSet) (*core.Person, error) {
				return mappedPerson(profile, claims)
			}
		}
		return o
	}
}

func recordedToggle(v any) core.OptionalBool {
	switch v {
	case true:
		return core.True
	case false:
		return core.False
	}
	return core.Default
}

func recordedEndpoint(v any) core.Endpoint {
	e := core.Endpoint{URL: asText(v)}
	if m := asObject(v); m != nil {
		e.URL = asText(m["url"])
		for name, value := range asObject(m["params"]) {
			if e.Params == nil {
				e.Params = map[string][]string{}
			}
			text, isText := value.(string)
			if !isText {
				raw, _ := json.Marshal(value)
				text = string(raw)
			}
			e.Params.Set(name, text)
		}
	}
	return e
}

// mappedPerson applies a recorded profile mapping.
func mappedPerson(op map[string]any, claims core.Profile) (*core.Person, error) {
	if op["map"] == nil {
		return nil, errors.New("profile failure")
	}
	of := func(field string) string { return claims.Text(asText(asObject(op["map"])[field])) }
	return &core.Person{AccountID: of("id"), Name: of("name"), Email: of("email"), Image: of("image")}, nil
}

// recordedUser applies a recorded authorize function: the first rule with the fields of the form decides.
func recordedUser(authorize map[string]any, form map[string]string) (*core.User, error) {
	then := asObject(authorize["else"])
	for _, rule := range slices.Backward(asList(authorize["rules"])) {
		fits := true
		for name, value := range asObject(asObject(rule)["when"]) {
			fits = fits && form[name] == value
		}
		if fits {
			then = asObject(asObject(rule)["then"])
		}
	}
	if then["return"] == nil {
		return nil, nil
	}
	raw, err := json.Marshal(then["return"])
	if err != nil {
		return nil, err
	}
	u := &core.User{}
	return u, json.Unmarshal(raw, u)
}

// seed adds recorded rows to the store.
func (w *recordedWorld) seed(tables map[string][]map[string]any) {
	for _, row := range tables["users"] {
		u := core.User{
			ID: asText(row["id"]), Name: asText(row["name"]), Email: asText(row["email"]), Image: asText(row["image"]),
		}
		u.EmailVerified = w.when(row["emailVerified"])
		w.store.users[u.ID] = u
	}
	for _, row := range tables["accounts"] {
		w.store.keep(core.Account{
			UserID: asText(row["userId"]), Type: core.ProviderType(asText(row["type"])),
			Provider: asText(row["provider"]), ProviderAccountID: asText(row["providerAccountId"]),
		})
	}
	for _, row := range tables["sessions"] {
		token := asText(row["sessionToken"])
		w.store.sessions[token] = store.Session{
			Token: core.Secret(token), UserID: asText(row["userId"]), Expires: w.when(row["expires"]),
		}
	}
	for _, row := range tables["verificationTokens"] {
		v := store.VerificationToken{Identifier: asText(row["identifier"]), Token: asText(row["token"])}
		v.Expires = w.when(row["expires"])
		w.store.tokens[v.Identifier+" "+v.Token] = v
	}
}

// when returns a recorded time: a text, or seconds since the start.
func (w *recordedWorld) when(v any) time.Time {
	if in, ok := asObject(v)["$in"].(float64); ok {
		return start.Add(time.Duration(in) * time.Second)
	}
	at, _ := time.Parse(time.RFC3339, asText(v))
	return at
}

var providerKeys = sync.OnceValue(func() (keys struct{ published, unpublished *rsa.PrivateKey }) {
	keys.published, _ = rsa.GenerateKey(rand.Reader, 2048)
	keys.unpublished, _ = rsa.GenerateKey(rand.Reader, 2048)
	return keys
})

// RoundTrip returns the provider's recorded response. Any step may request the key set, which Auth.js does not use. A
// request that Latchkey repeats gets the earlier response.
func (w *recordedWorld) RoundTrip(r *http.Request) (*http.Response, error) {
	address, _, _ := strings.Cut(r.URL.String(), "?")
	key := r.Method + " " + strings.TrimSuffix(address, "/")
	for i, e := range w.asked {
		recorded, _, _ := strings.Cut(asText(asObject(e["request"])["url"]), "?")
		if key == fmt.Sprint(asObject(e["request"])["method"], " ", strings.TrimSuffix(recorded, "/")) {
			w.asked = slices.Delete(slices.Clone(w.asked), i, i+1)
			if w.answers == nil {
				w.answers = map[string]map[string]any{}
			}
			w.answers[key] = asObject(e["response"])
			return w.answer(r, w.answers[key])
		}
	}
	if strings.HasSuffix(address, "/jwks") {
		key := jose.JSONWebKey{Key: providerKeys().published.Public(), KeyID: "op-key-1", Algorithm: "RS256", Use: "sig"}
		raw, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
		return answered(r, http.StatusOK, string(raw)), err
	}
	if before, ok := w.answers[key]; ok && r.Method == http.MethodGet {
		return w.answer(r, before)
	}
	return nil, fmt.Errorf("no recorded response to %s", key)
}

func (w *recordedWorld) answer(r *http.Request, recorded map[string]any) (*http.Response, error) {
	if recorded["networkError"] != nil {
		return nil, errors.New("network error")
	}
	body, isText := recorded["text"].(string)
	if !isText {
		value, err := w.made(recorded["json"])
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		body = string(raw)
	}
	status, ok := recorded["status"].(float64)
	if !ok {
		status = http.StatusOK
	}
	response := answered(r, int(status), body)
	response.Header = http.Header{}
	for name, value := range asObject(recorded["headers"]) {
		response.Header.Set(name, asText(value))
	}
	return response, nil
}

// made returns a recorded value with placeholders replaced and with descriptions of signed tokens replaced by tokens.
func (w *recordedWorld) made(v any) (out any, err error) {
	switch v := v.(type) {
	case map[string]any:
		if jws := asObject(v["$jws"]); jws != nil {
			token, err := w.signed(jws)
			w.bound[asText(v["label"])] = token
			return token, err
		}
		all := map[string]any{}
		for name, member := range v {
			if all[name], err = w.made(member); err != nil {
				return nil, err
			}
		}
		return all, nil
	case []any:
		all := make([]any, len(v))
		for i := range v {
			if all[i], err = w.made(v[i]); err != nil {
				return nil, err
			}
		}
		return all, nil
	case string:
		if strings.HasPrefix(v, "{{unix:") {
			return json.Number(w.fill(v)), nil
		}
		return w.fill(v), nil
	}
	return v, nil
}

func (w *recordedWorld) signed(jws map[string]any) (string, error) {
	header, options := asObject(jws["header"]), &jose.SignerOptions{}
	for name, value := range header {
		if name != "alg" {
			options.WithHeader(jose.HeaderKey(name), value)
		}
	}
	key := any(providerKeys().published)
	if by := asText(jws["signedBy"]); strings.Contains(by, "not") || strings.Contains(by, "unpublished") {
		key = providerKeys().unpublished
	}
	if header["alg"] == "HS256" {
		key = []byte(w.secret)
	}
	claims, err := w.made(jws["claims"])
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	algorithm := jose.SignatureAlgorithm(asText(header["alg"]))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		return "", err
	}
	signature, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	token, err := signature.CompactSerialize()
	if jws["signature"] == "garbage" {
		token = token[:strings.LastIndexByte(token, '.')+1] + "AAAA"
	}
	return token, err
}
