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
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// declaration builds the configuration of a scenario.
type declaration struct{ *world }

// config builds the configuration of a scenario, and wraps what the trace observes. An unknown key is an error.
func (w declaration) config(c map[string]any, env map[string]string) (core.Config, error) {
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
	_, keeps := out.Store.(store.SessionStore)
	if out.Session.Strategy == core.StrategyJWT || out.Session.Strategy == "" && !keeps {
		// Auth.js ignores UpdateAge under this strategy. It renews the session at each GET session (docs/differences.md).
		out.Session.UpdateAge = core.UpdateAlways
	}
	if keeps && out.Session.Strategy == "" {
		// This callback never runs under the database strategy, and New rejects a configuration with it. The trace's
		// default callback is removed.
		out.Callbacks.JWT = nil
	}
	return out, nil
}

func (w declaration) option(out *core.Config, key string, v any, all map[string]any) error {
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
		return cookieOptions(&out.Cookies, v.(object))
	case "session":
		return w.sessionOptions(&out.Session, v.(object))
	case "jwt":
		return jwtOptions(&out.JWT, v.(object))
	case "adapter":
		return w.adapter(out, v.(object))
	case "providers":
		return w.providers(out, v.([]any))
	case "callbacks", "events": // see observe
	default:
		return errors.New("unknown key")
	}
	return nil
}

// recordedSecrets returns one secret or a list of secrets. It returns nil for any other value.
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

// behindProxy trusts the scenario's hosts, because a redirect proxy needs hosts that a request cannot forge.
func (w declaration) behindProxy(out *core.Config) {
	out.TrustedHosts, out.RedirectProxyTargets = w.hosts, nil
	for _, host := range w.hosts {
		out.RedirectProxyTargets = append(out.RedirectProxyTargets, "https://"+host)
	}
}

func cookieOptions(out *core.CookiesConfig, all object) error {
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

func (w declaration) sessionOptions(out *core.SessionConfig, all object) error {
	for key, v := range all {
		switch key {
		case "strategy":
			out.Strategy = core.Strategy(v.(string))
		case "maxAge":
			out.MaxAge = seconds(v)
		case "updateAge":
			if out.UpdateAge = seconds(v); out.UpdateAge == 0 {
				out.UpdateAge = core.UpdateAlways
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

func jwtOptions(out *core.JWTConfig, all object) error {
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

func (w declaration) adapter(out *core.Config, all object) error {
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
	if out.Session.Strategy == "" && len(omitted) > 0 { // Auth.js chooses database if an adapter is set
		out.Session.Strategy = core.StrategyDatabase
	}
	return nil
}
