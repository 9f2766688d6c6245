package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// checkCookies decrypts the check cookies of a sign-in, and creates the same.
func checkCookies(c *call) {
	name, salt := c.text("cookieName"), c.text("salt")
	a, err := c.auth(func(config *core.Config) {
		config.Secrets = secretList(c.get("secret"))
		config.Providers = []core.Provider{&core.OAuthProvider{
			ID: c.text("provider"), Type: core.TypeOAuth, ClientID: "i", ClientSecret: "s",
			Checks:        []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce},
			Authorization: core.Endpoint{URL: "https://op.test/authorize"},
			Token:         core.Endpoint{URL: "https://op.test/token"},
			Userinfo:      core.Endpoint{URL: "https://op.test/userinfo"},
		}}
	})
	if err != nil {
		c.diff("secret: %v", err)
		return
	}
	c.same("issuedAt", json.Number(fmt.Sprint(c.now.Unix())))
	token, err := a.DecodeToken(c.text("cookieToken"), salt)
	if err != nil {
		c.diff("cookieToken: %v", err)
		return
	}
	raw, _ := token.MarshalJSON()
	var claims object
	_ = decodeExact(raw, &claims)
	c.same("claims", claims)

	sent := map[string]string{"state": "state", "pkce": "code_challenge", "nonce": "nonce"}[c.text("check")]
	if sent == "" {
		c.diff("check %q is not known", c.text("check"))
		return
	}
	answer := submit(a, "/auth/signin/"+c.text("provider"), url.Values{})
	u, _ := url.Parse(answer.Redirect)
	i := slices.IndexFunc(answer.Cookies, func(c core.Cookie) bool { return c.Name == name })
	if i < 0 {
		c.diff("ours sets no cookie %s", name)
		return
	}
	made, err := a.DecodeToken(answer.Cookies[i].Value, salt)
	if err != nil {
		c.diff("our cookie: %v", err)
		return
	}
	ownCheck(c, made, sent, u.Query())
}

// ownCheck checks a check cookie that Latchkey created, and the parameter that was sent to the provider.
func ownCheck(c *call, made *core.Token, sent string, query url.Values) {
	if ttl := made.Expires.Sub(c.now); int(ttl.Seconds()) != c.number("expectedTTLSeconds") {
		c.diff("expectedTTLSeconds: ours lives %v", ttl)
	}
	kept, value := made.Extra.Text("value"), query.Get(sent)
	if sent != "code_challenge" {
		if kept != value {
			c.diff("our cookie keeps %q, and %q was sent", kept, value)
		}
	} else {
		c.same("challengeMethod", query.Get("code_challenge_method"))
		if len(kept) != 43 || len(value) != 43 || kept == value {
			c.diff("our verifier %q, challenge %q", kept, value)
		}
	}
	c.get("sentToProvider") // random
	if c.get("stateClaims") != nil && !plainState.MatchString(value) {
		c.diff("stateClaims: our state is no random text: %q", value)
	}
}

// defaultCookies runs flows that set each of the cookies.
func defaultCookies(c *call) {
	secure := c.get("useSecureCookies") == true
	store := newMemory(&recorder{}, c.now)
	a, err := c.auth(func(config *core.Config) {
		config.UseSecureCookies, config.EnableWebAuthn = toggle(secure), true
		config.Store, config.Session.Strategy = store.without(nil), core.StrategyJWT
		config.Providers = []core.Provider{
			&core.OAuthProvider{
				ID: "op", Type: core.TypeOAuth, ClientID: "i", ClientSecret: "s",
				Checks:        []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce},
				Authorization: core.Endpoint{URL: "https://op.test/authorize"},
				Token:         core.Endpoint{URL: "https://op.test/token"},
				Userinfo:      core.Endpoint{URL: "https://op.test/userinfo"},
			},
			&core.CredentialsProvider{Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: "1"}, nil
			}},
			webauthn.Passkey(),
		}
	})
	if err != nil {
		c.diff("%v", err)
		return
	}
	set := map[string]core.Cookie{}
	for _, answer := range []*core.Response{
		ask(a, "GET", "/auth/csrf", "app.test", "https", nil, nil), submit(a, "/auth/signin/op", url.Values{}),
		submit(a, "/auth/callback/credentials", url.Values{}),
		ask(a, "GET", "/auth/webauthn-options/passkey", "app.test", "https", nil, nil),
	} {
		for _, cookie := range answer.Cookies {
			set[cookie.Name] = cookie
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.object("cookies"))) {
		want := c.object("cookies")[kind].(object)
		cookie, there := set[fmt.Sprint(want["name"])]
		if !there {
			c.diff("cookies.%s: %v is not set", kind, want["name"])
			continue
		}
		got := object{
			"httpOnly": cookie.HTTPOnly, "sameSite": strings.ToLower(cookie.SameSite),
			"path": cookie.Path, "secure": cookie.Secure,
		}
		if cookie.HasMaxAge {
			got["maxAge"] = json.Number(fmt.Sprint(cookie.MaxAge))
		}
		if text(got) != text(want["options"]) {
			c.diff("cookies.%s.options: want %s, got %s", kind, show(want["options"]), show(got))
		}
	}
}

// cookieChunks reissues a session token of this length.
func cookieChunks(c *call) {
	a, err := c.auth(func(config *core.Config) {
		config.UseSecureCookies, config.Cookies.SessionToken.Name = core.False, c.text("cookieName")
		config.JWT.Encode = func(context.Context, core.EncodeParams) (string, error) {
			return strings.Repeat("x", c.number("valueLength")), nil
		}
		config.JWT.Decode = func(context.Context, core.DecodeParams) (*core.Token, error) {
			return &core.Token{Subject: "1"}, nil
		}
	})
	if err != nil {
		c.diff("%v", err)
		return
	}
	present := c.object("presentCookies")
	var pairs []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(present)) {
		n, _ := present[name].(json.Number).Int64()
		total += int(n)
		pairs = append(pairs, name+"="+strings.Repeat("y", int(n)))
	}
	c.same("joinedLengthBefore", json.Number(fmt.Sprint(total)))
	header := http.Header{"Cookie": {strings.Join(pairs, "; ")}}
	if len(pairs) == 0 {
		// There must be a session. Its value does not matter, because it is replaced.
		header = http.Header{"Cookie": {c.text("cookieName") + "=y"}}
	}
	got := []any{}
	for _, cookie := range ask(a, "GET", "/auth/session", "app.test", "https", header, nil).Cookies {
		if !strings.HasPrefix(cookie.Name, c.text("cookieName")) {
			continue
		}
		row := object{"name": cookie.Name, "length": json.Number(fmt.Sprint(len(cookie.Value)))}
		if cookie.Value == "" {
			row["cleared"] = true
		}
		if len(pairs) > 0 || cookie.Value != "" {
			got = append(got, row)
		}
	}
	c.same("result", got)
}

// raw reads one cookie of a header.
func (c *call) raw(name, header string) (value string, err error) {
	a, err := c.auth(func(config *core.Config) {
		config.UseSecureCookies, config.Cookies.SessionToken.Name = core.False, name
	})
	if err != nil {
		return "", err
	}
	return a.RawToken(context.Background(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "http", Header: http.Header{"Cookie": {header}},
	})
}

func cookieJoin(c *call) {
	var pairs []string
	for name, value := range c.object("presentCookies") {
		pairs = append(pairs, name+"="+fmt.Sprint(value))
	}
	got, err := c.raw("sess", strings.Join(pairs, "; "))
	if err != nil {
		c.diff("%v", err)
	}
	c.same("value", got)
}

func cookieParse(c *call) {
	header := c.text("header")
	want := c.object("result")
	names := append(slices.Collect(maps.Keys(want)), "a", "b", "c")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if name == "" {
			continue // no request can contain it
		}
		got, err := c.raw(name, header)
		if s, _ := want[name].(string); err != nil || got != s {
			c.diff("result.%s: want %q, got %q, %v", name, s, got, err)
		}
	}
}

func cookieSerialize(c *call) {
	o := c.object("options")
	a := core.Cookie{Name: c.text("name"), Value: c.text("value")}
	config := core.CookieOptions{Name: a.Name}
	for name, v := range o {
		text, _ := v.(string)
		switch name {
		case "httpOnly":
			a.HTTPOnly = v == true
		case "secure":
			a.Secure = v == true
		case "partitioned":
			a.Partitioned = v == true
		case "path":
			a.Path, config.Path = text, text
		case "domain":
			a.Domain, config.Domain = text, text
		case "maxAge":
			n, err := v.(json.Number).Int64()
			if err != nil {
				c.get("throws") // whole seconds, by type
				return
			}
			a.MaxAge, a.HasMaxAge = int(n), true
		case "expires":
			a.Expires, _ = time.Parse(time.RFC3339, text)
		case "sameSite":
			if v == true {
				text = "strict"
			}
			config.SameSite = text
			if text != "" {
				a.SameSite = strings.ToUpper(text[:1]) + text[1:]
			}
		case "priority":
			a.Priority = strings.ToUpper(text[:1]) + text[1:]
		default:
			c.diff("options.%s is not known", name)
		}
	}
	// An invalid cookie is rejected when the application starts.
	_, err := c.auth(func(out *core.Config) {
		config.Name = a.Name
		out.UseSecureCookies, out.Cookies.CallbackURL = core.False, config
		if config.SameSite == "none" {
			out.Cookies.CallbackURL.Secure = core.True
		}
	})
	if !c.threw(err) {
		c.same("result", a.String())
	}
}
