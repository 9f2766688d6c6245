package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/app/authenticator"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
)

// world is everything around the Auth under test: clock, store, provider, log.
type world struct {
	mu           sync.Mutex
	now          time.Time
	start        time.Time
	rec          *recorder
	binder       *binder
	store        *memory
	peer         *peer
	besides      besides
	keys         *keys
	clientSecret string
	generated    int
	raw          string // the scenario as recorded
	lengths      []string
	origin       string   // of the request under way
	hosts        []string // every host of the scenario
	credentials  map[string]*authenticator.Credential
	challenge    string // of the last options answer
	texts        *textGroups
	closers      []func() // end what the scenario started
	parts        bool     // what Auth.js has nothing of is switched on
	whole        bool     // passwords and the account page are there too
	records      records
}

func (w *world) clock() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }

func (w *world) setClock(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.binder.now = t, t
}

// config builds the configuration that a scenario declares, and wraps what is observed. An unknown key is an error.
func (w *world) config(c map[string]any, env map[string]string) (core.Config, error) {
	out := core.Config{
		Now: w.clock, Logger: slog.New(w.rec), InsecureShortSecrets: true,
		Getenv:     func(name string) string { return env[name] },
		HTTPClient: &http.Client{Transport: w.peer},
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if c[key] == nil {
			continue
		}
		if err := w.option(&out, key, c[key], c); err != nil {
			return out, fmt.Errorf("config.%s: %w", key, err)
		}
	}
	if w.whole = false; w.parts {
		w.besideReference(&out)
	}
	w.binder.secrets = nil
	for _, s := range out.Secrets {
		w.binder.secrets = append(w.binder.secrets, string(s))
	}
	if len(w.binder.secrets) == 0 {
		w.binder.secrets = []string{""}
	}
	w.observe(&out, c)
	if _, keeps := out.Store.(store.SessionStore); keeps && out.Session.Strategy == "" {
		// It never runs under the database strategy, and New refuses one that came to be there by default.
		out.Callbacks.JWT = nil
	}
	return out, nil
}

func (w *world) option(out *core.Config, key string, v any, all map[string]any) error {
	switch key {
	case "secret":
		out.Secrets = recordedSecrets(v)
	case "trustHost":
		out.TrustHost = toggle(v)
	case "basePath":
		out.BasePath = or(fmt.Sprint(v), "/")
	case "useSecureCookies":
		out.UseSecureCookies = toggle(v)
	case "debug":
		out.Debug = v == true
	case "raw", "recordDebug":
	case "experimental":
		for name, v := range v.(object) {
			if name != "enableWebAuthn" {
				return fmt.Errorf("unknown experiment %q", name)
			}
			out.EnableWebAuthn = v == true
		}
	case "skipCSRFCheck":
		if v == true {
			out.CSRF = core.InsecureSkipCSRFCheck()
		}
	case "redirectProxyUrl":
		out.RedirectProxyURL = fmt.Sprint(v)
		w.behindProxy(out)
	case "theme":
		return reshape(v, &out.Theme)
	case "pages":
		return reshape(v, &out.Pages)
	case "cookies":
		return w.cookieOptions(&out.Cookies, v.(object))
	case "session":
		return w.sessionOptions(&out.Session, v.(object))
	case "jwt":
		return w.jwtOptions(&out.JWT, v.(object))
	case "adapter":
		return w.adapter(out, v.(object))
	case "providers":
		return w.providers(out, v.([]any))
	case "callbacks", "events": // observe
	default:
		return errors.New("unknown key")
	}
	return nil
}

// recordedSecrets are one secret or several, nil for what is neither.
func recordedSecrets(v any) []core.Secret {
	switch v := v.(type) {
	case string:
		return []core.Secret{core.Secret(v)}
	case []any:
		secrets := []core.Secret{}
		for _, s := range v {
			secrets = append(secrets, core.Secret(fmt.Sprint(s)))
		}
		return secrets
	}
	return nil
}

func (w *world) providers(out *core.Config, list []any) error {
	for _, p := range list {
		provider, err := w.provider(p.(object))
		if err != nil {
			return err
		}
		out.Providers = append(out.Providers, provider)
		if p.(object)["redirectProxyUrl"] != nil {
			w.behindProxy(out)
		}
	}
	return nil
}

// behindProxy lists the scenario's hosts: a redirect proxy wants hosts that a request cannot make up.
func (w *world) behindProxy(out *core.Config) {
	out.TrustedHosts, out.RedirectProxyTargets = w.hosts, nil
	for _, host := range w.hosts {
		out.RedirectProxyTargets = append(out.RedirectProxyTargets, "https://"+host)
	}
}

func toggle(v any) core.Toggle {
	if v == true {
		return core.On
	}
	return core.Off
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// reshape fills a struct whose fields are named like the members, but for their first letter. A member without a field
// is an error.
func reshape(v any, into any) error {
	members := object{}
	for name, value := range v.(object) {
		members[strings.ToUpper(name[:1])+name[1:]] = value
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return decodeExact(raw, into)
}

func (w *world) cookieOptions(out *core.CookiesConfig, all object) error {
	fields := map[string]*core.CookieOptions{
		"sessionToken": &out.SessionToken, "callbackUrl": &out.CallbackURL, "csrfToken": &out.CSRFToken,
		"pkceCodeVerifier": &out.PKCECodeVerifier, "state": &out.State, "nonce": &out.Nonce,
		"webauthnChallenge": &out.WebAuthnChallenge,
	}
	for name, v := range all {
		o, ok := fields[name]
		if !ok {
			return fmt.Errorf("unknown cookie %q", name)
		}
		if err := cookieMembers(o, v.(object)); err != nil {
			return err
		}
	}
	return nil
}

func cookieMembers(o *core.CookieOptions, members object) (err error) {
	for key, value := range members {
		switch key {
		case "name":
			o.Name = value.(string)
		case "options":
			err = cookieAttributes(o, value.(object))
		default:
			err = fmt.Errorf("unknown member %q of a cookie", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func cookieAttributes(o *core.CookieOptions, options object) error {
	for option, value := range options {
		switch option {
		case "sameSite":
			o.SameSite = value.(string)
		case "domain":
			o.Domain = value.(string)
		case "path":
			o.Path = value.(string)
		case "secure":
			o.Secure = toggle(value)
		case "httpOnly":
			o.HTTPOnly = toggle(value)
		case "maxAge":
			o.MaxAge = seconds(value)
		case "partitioned":
			o.Partitioned = value == true
		case "priority":
			o.Priority = value.(string)
		default:
			return fmt.Errorf("unknown cookie option %q", option)
		}
	}
	return nil
}

func seconds(v any) time.Duration {
	n, _ := v.(json.Number).Int64()
	return time.Duration(n) * time.Second
}

func (w *world) sessionOptions(out *core.SessionConfig, all object) error {
	for key, v := range all {
		switch key {
		case "strategy":
			out.Strategy = core.Strategy(v.(string))
		case "maxAge":
			out.MaxAge = seconds(v)
		case "updateAge":
			if out.UpdateAge = seconds(v); out.UpdateAge == 0 {
				out.UpdateAge = core.Always
			}
		case "generateSessionToken":
			prefix := v.(object)["prefix"].(string)
			out.GenerateToken = func() (string, error) {
				w.generated++
				return fmt.Sprintf("%s-%d", prefix, w.generated), nil
			}
		default:
			return fmt.Errorf("unknown key session.%s", key)
		}
	}
	return nil
}

func (w *world) jwtOptions(out *core.JWTConfig, all object) error {
	for key, v := range all {
		switch {
		case key == "maxAge":
			out.MaxAge = seconds(v)
		case key == "codec" && v == "plain-json":
			out.Encode = func(_ context.Context, p core.EncodeParams) (string, error) {
				raw, err := json.Marshal(p.Token)
				return base64.RawURLEncoding.EncodeToString(raw), err
			}
			out.Decode = func(_ context.Context, p core.DecodeParams) (*core.Token, error) {
				raw, err := base64.RawURLEncoding.DecodeString(p.Token)
				if err != nil {
					return nil, err
				}
				t := &core.Token{}
				return t, t.UnmarshalJSON(raw)
			}
		default:
			return fmt.Errorf("unknown key jwt.%s", key)
		}
	}
	return nil
}

func (w *world) adapter(out *core.Config, all object) error {
	var omitted []string
	w.store.failing = nil
	for key, v := range all {
		switch key {
		case "kind":
			if v != "memory" {
				return fmt.Errorf("unknown adapter %v", v)
			}
		case "omit":
			omitted = texts(v)
		case "fail":
			w.store.failing = texts(v)
		case "tokenLookup":
			w.store.tokenOnly = v == "token-only"
		default:
			return fmt.Errorf("unknown key adapter.%s", key)
		}
	}
	out.Store = w.store.without(omitted)
	if out.Session.Strategy == "" && len(omitted) > 0 { // Auth.js chooses database whenever an adapter is set
		out.Session.Strategy = core.StrategyDatabase
	}
	return nil
}

func texts(v any) (out []string) {
	for _, s := range v.([]any) {
		out = append(out, s.(string))
	}
	return out
}

// provider builds one provider of a scenario.
func (w *world) provider(p object) (core.Provider, error) {
	switch p["kind"] {
	case "oauth", "oidc":
		return w.oauth(p)
	case "preset":
		return w.preset(p)
	case "email":
		return w.email(p)
	case "nodemailer":
		return w.nodemailer(p)
	case "credentials":
		return w.credentialsForm(p)
	case "webauthn", "passkey":
		return w.passkey(p)
	}
	return nil, fmt.Errorf("provider kind %v is not built yet", p["kind"])
}

func (w *world) oauth(p object) (core.Provider, error) {
	o := &core.OAuthProvider{Type: core.ProviderType(p["kind"].(string))}
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind":
		case "id":
			o.ID = v.(string)
		case "name":
			o.Name = v.(string)
		case "issuer":
			o.Issuer = v.(string)
		case "clientId":
			o.ClientID = v.(string)
		case "clientSecret":
			o.ClientSecret = core.Secret(v.(string))
			w.clientSecret = v.(string)
		case "checks":
			o.Checks = recordedChecks(v)
		case "authorization":
			o.Authorization = endpoint(v)
		case "token":
			o.Token = endpoint(v)
			if m, ok := v.(object); ok && m["clientPrivateKey"] != nil {
				o.ClientKey, o.ClientKeyID = w.keys.client, "client-key-1"
			}
		case "userinfo":
			o.Userinfo = endpoint(v)
		case "client":
			if method, ok := v.(object)["token_endpoint_auth_method"].(string); ok {
				o.ClientAuth = core.ClientAuth(method)
			}
		case "idToken":
			o.ProfileFromUserinfo = v == false
		case "allowDangerousEmailAccountLinking":
			o.AllowDangerousEmailAccountLinking = v == true
		case "redirectProxyUrl":
			o.RedirectProxyURL = v.(string)
		case "style":
		default:
			if !functionOf(o, key, v) {
				return nil, fmt.Errorf("unknown key %q of an oauth provider", key)
			}
		}
	}
	return o, nil
}

// recordedChecks are the checks of a provider; with "none" it has none.
func recordedChecks(v any) []core.Check {
	checks := []core.Check{}
	for _, c := range texts(v) {
		if c != "none" {
			checks = append(checks, core.Check(c))
		}
	}
	return checks
}

// functionOf sets what is a function in a declaration, and reports whether the key is one of those.
func functionOf(o *core.OAuthProvider, key string, v any) bool {
	switch key {
	case "profile":
		o.Profile = profileOp(v.(object))
	case "account":
		o.Account = accountOp(v.(object))
	case "userinfoRequest":
		answer := v.(object)["return"].(object)
		o.FetchUserinfo = func(context.Context, *core.UserinfoRequest) (core.Profile, error) {
			return core.Profile(answer), nil
		}
	case "tokenConform":
		member := v.(object)["unwrap"].(string)
		o.ConformToken = func(body []byte) ([]byte, error) {
			var outer object
			if err := decodeExact(body, &outer); err != nil {
				return nil, err
			}
			inner := outer[member].(object)
			inner["token_type"] = "bearer"
			return json.Marshal(inner)
		}
	default:
		return false
	}
	return true
}

func endpoint(v any) core.Endpoint {
	if s, ok := v.(string); ok {
		return core.Endpoint{URL: s}
	}
	e := core.Endpoint{}
	m := v.(object)
	e.URL, _ = m["url"].(string)
	if params, ok := m["params"].(object); ok {
		e.Params = url.Values{}
		for name, value := range params {
			text, ok := value.(string)
			if !ok {
				text = show(value)
			}
			e.Params.Set(name, text)
		}
	}
	return e
}

func profileOp(op object) func(context.Context, core.Profile, *core.TokenSet) (*core.Person, error) {
	return func(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
		switch {
		case op["throw"] != nil:
			return nil, errors.New("profile failure")
		case op["returnNull"] != nil:
			return nil, nil
		}
		u := &core.Person{}
		for field, claim := range op["map"].(object) {
			value := p.Text(claim.(string))
			switch field {
			case "id":
				u.AccountID = value
			case "name":
				u.Name = value
			case "email":
				u.Email = value
			case "image":
				u.Image = value
			default:
				if raw, there := p[claim.(string)]; there {
					_ = u.Extra.Set(field, raw)
				}
			}
		}
		return u, nil
	}
}

func accountOp(op object) func(*core.TokenSet) *core.Account {
	return func(t *core.TokenSet) *core.Account {
		if op["returnNothing"] != nil {
			return nil
		}
		a := &core.Account{}
		for _, name := range texts(op["pick"]) {
			switch name {
			case "access_token":
				a.AccessToken = t.AccessToken
			case "refresh_token":
				a.RefreshToken = t.RefreshToken
			case "id_token":
				a.IDToken = t.IDToken
			case "scope":
				a.Scope = t.Scope
			case "token_type":
				a.TokenType = t.TokenType
			case "expires_at":
				a.ExpiresAt = t.ExpiresAt
			default:
				if raw, ok := t.Extra[name]; ok {
					_ = a.Extra.Set(name, raw)
				}
			}
		}
		return a
	}
}

func (w *world) preset(p object) (core.Provider, error) {
	options := providers.Options{}
	if all, ok := p["options"].(object); ok {
		for key, v := range all {
			switch key {
			case "clientId":
				options.ClientID = v.(string)
			case "clientSecret":
				options.ClientSecret = core.Secret(v.(string))
			case "issuer":
				options.Issuer = v.(string)
			case "id":
				options.ID = v.(string)
			case "name":
				options.Name = v.(string)
			default:
				return nil, fmt.Errorf("unknown preset option %q", key)
			}
		}
	}
	if provider, ok := providers.ByID(fmt.Sprint(p["preset"]), options); ok {
		return provider, nil
	}
	return nil, fmt.Errorf("preset %v is not built yet", p["preset"])
}

func (w *world) email(p object) (core.Provider, error) {
	e := &core.EmailProvider{ConfirmLink: core.Off} // the recorded browsers open links anywhere
	throws := false
	w.binder.email = ""
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind":
		case "id":
			e.ID = v.(string)
		case "name":
			e.Name = v.(string)
		case "from":
			e.From = v.(string)
		case "maxAge":
			e.MaxAge = seconds(v)
		case "secret":
			e.Secret = core.Secret(v.(string))
			w.binder.email = v.(string)
		case "generateVerificationToken":
			fixed := v.(object)["fixed"].(string)
			e.GenerateToken = func(context.Context) (string, error) { return fixed, nil }
		case "normalizeIdentifier":
			if v == "identity" {
				e.NormalizeIdentifier = func(s string) (string, error) { return s, nil }
			} else {
				e.NormalizeIdentifier = func(string) (string, error) { return "", errors.New("refused") }
			}
		case "send":
			throws = true
		default:
			return nil, fmt.Errorf("unknown key %q of an e-mail provider", key)
		}
	}
	e.Send = func(_ context.Context, m core.SignInMail) error {
		entry := object{
			"kind": "email", "identifier": m.To, "token": string(m.Token), "url": string(m.URL), "expires": iso(m.Expires),
			"theme": object{
				"colorScheme": m.Theme.ColorScheme, "logo": m.Theme.Logo,
				"brandColor": m.Theme.BrandColor, "buttonText": m.Theme.ButtonText,
			},
			"provider": object{"id": m.ProviderID, "type": "email", "from": m.From},
		}
		w.rec.add(entry)
		if throws {
			entry["threw"] = "Error"
			return errors.New("delivery failure")
		}
		return nil
	}
	return e, nil
}

func (w *world) credentialsForm(p object) (core.Provider, error) {
	c := &core.CredentialsProvider{}
	var rules object
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind", "omitAuthorize", "raw":
		case "id":
			c.ID = v.(string)
		case "name":
			c.Name = v.(string)
		case "credentials":
			c.Fields = fields(v.(object), w.raw)
		case "authorize":
			rules = v.(object)
		default:
			return nil, fmt.Errorf("unknown key %q of a credentials provider", key)
		}
	}
	if p["omitAuthorize"] == true {
		return c, nil
	}
	id := or(c.ID, "credentials")
	c.Authorize = func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
		entry := object{"kind": "authorize", "provider": id, "credentials": plain(form)}
		w.rec.add(entry)
		then := any(object{"return": rules["else"]})
		if e, ok := rules["else"].(object); ok {
			then = e
		}
		if list, ok := rules["rules"].([]any); ok {
			for _, rule := range list {
				if matches(rule.(object)["when"].(object), form) {
					then = rule.(object)["then"]
					break
				}
			}
		}
		return w.authorized(entry, then.(object))
	}
	return c, nil
}

func matches(when object, form map[string]string) bool {
	for name, value := range when {
		if form[name] != value {
			return false
		}
	}
	return true
}

func (w *world) authorized(entry, then object) (*core.User, error) {
	if e, ok := then["throw"]; ok {
		name, message, code := thrown(e)
		entry["threw"] = name
		return nil, makeError(name, message, code)
	}
	if then["return"] == nil {
		return nil, nil
	}
	returned := then["return"].(object)
	entry["returned"] = returned
	user := object{}
	for name, v := range returned {
		if n, ok := v.(json.Number); ok && name == "id" {
			v = n.String()
		}
		user[name] = v
	}
	raw, err := json.Marshal(user)
	if err != nil {
		return nil, err
	}
	u := &core.User{}
	return u, u.UnmarshalJSON(raw)
}

// thrown reads what a recorded function throws: an error class by name, or a description of one.
func thrown(v any) (name, message, code string) {
	switch v := v.(type) {
	case string:
		return v, "", ""
	case object:
		name, _ = v["error"].(string)
		if name == "" {
			name, _ = v["name"].(string)
		}
		if name == "" {
			name, _ = v["type"].(string)
		}
		message, _ = v["message"].(string)
		code, _ = v["code"].(string)
	}
	return or(name, "Error"), message, code
}

func makeError(name, message, code string) error {
	switch name {
	case "Error", "plain":
		return errors.New(or(message, "plain error"))
	case "CustomCredentialsSignin", "Custom":
		return &core.Error{Type: core.ErrCredentialsSignin, Code: code}
	}
	return &core.Error{Type: core.ErrorType(name), Code: code, Cause: errors.New(or(message, "thrown"))}
}

// fields are the inputs of a credentials form, in the order of their names' first appearance in the recorded form.
func fields(all object, raw string) (out []core.Field) {
	_, form, _ := strings.Cut(raw, `"credentials": {`)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return strings.Index(form, `"`+a+`":`) - strings.Index(form, `"`+b+`":`)
	})
	for _, name := range names {
		f := core.Field{Name: name}
		for key, v := range all[name].(object) {
			text, isText := v.(string)
			switch {
			case key == "label":
				f.Label = text
			case key == "type":
				f.Type = text
			case key == "placeholder":
				f.Placeholder = text
			case key == "value":
				f.Value = text
			case key == "autocomplete":
				f.Autocomplete = text
			case key == "required":
				f.Required = v == true
			case isText:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: strings.ToLower(key), Value: text})
			case v == true:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: strings.ToLower(key)})
			default:
				f.Attributes = append(f.Attributes, ui.Attribute{Name: key, Value: fmt.Sprint(v)})
			}
		}
		slices.SortFunc(f.Attributes, func(a, b ui.Attribute) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, f)
	}
	return out
}
