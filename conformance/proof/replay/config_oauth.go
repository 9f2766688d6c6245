package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

func (w declaration) oauth(p object) (core.Provider, error) {
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

// recordedChecks returns the checks of a provider. "none" means no checks.
func recordedChecks(v any) []core.Check {
	checks := []core.Check{}
	for _, c := range texts(v) {
		if c != "none" {
			checks = append(checks, core.Check(c))
		}
	}
	return checks
}

// functionOf sets an option that is a function in Auth.js. It reports whether key is one.
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
