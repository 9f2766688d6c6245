package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/wire"
	"github.com/latchkey-go/latchkey/core"
)

// badge is an ID token, or a logout token, as a payload describes it.
type badge struct {
	ID, Want, Why, Key, Flow, Raw, OIDF string
	Header, Claims                      map[string]any
	Config                              struct {
		MaxAge json.Number `json:"max_age"`
	}
	JWKS []any

	nonceOfB, previous string
	now                time.Time
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// idTokens signs in with ID tokens, refreshes with them, and logs out with logout tokens (ID1, ID3 to ID7).
func (a *attack) idTokens() {
	var p badge
	a.read(&p)
	x := a.open(func(c *core.Config) {
		c.Session.Strategy = core.StrategyDatabase
		c.Providers = c.Providers[:4] // a database session needs no password form
		if p.Config.MaxAge != "" {
			c.Providers[1].(*core.OAuthProvider).Authorization.Params = url.Values{"max_age": {p.Config.MaxAge.String()}}
		}
	})
	if p.JWKS != nil {
		x.op.publish(p.JWKS...)
	}
	p.now = x.clock()
	b := x.browser("u1")
	switch p.Flow {
	case "":
		if p.Raw == "replay-previous" {
			x.op.sign(a.goodBadge)
			x.signIn(x.browser("u1"))
			p.previous = x.op.previous
			a.must(x.store.DeleteUser(a, a.userOf(x, "u1")))
		}
		x.op.sign(func(claims map[string]any) string { return p.make(a, claims) })
		location := x.browser("u9").submit("/auth/signin/b").Header.Get("Location")
		u, err := url.Parse(location)
		a.must(err)
		p.nonceOfB = u.Query().Get("nonce")
		answer := x.signIn(b)
		p.verdict(a, b.who() == "u1@op.example" && x.owner("b", "u1") == "u1@op.example", b.who() == "" && x.owner("b", "u1") == "" && x.owner("b", "u2") == "")
		if e := errorIn(answer); p.Want == "reject" && e != "Configuration" && e != "OAuthCallbackError" {
			a.failf("answered %d to %q", answer.Status, answer.Header.Get("Location"))
		}
	case "refresh":
		x.op.sign(a.goodBadge)
		x.signIn(b)
		account, err := x.store.Account(a, "b", "u1")
		a.must(err)
		x.op.sign(func(claims map[string]any) string { delete(claims, "nonce"); return p.make(a, claims) })
		x.wait(2 * time.Hour)
		p.now = x.clock()
		fresh, err := x.RefreshAccount(a, account)
		p.verdict(a, err == nil && fresh.AccessToken != "", err != nil && !errors.Is(err, core.ErrNotFound))
	case "backchannel-logout":
		x.op.sign(a.goodBadge)
		x.signIn(b)
		token := x.op.previous
		if p.Raw != "send-id-token" {
			token = p.make(a, map[string]any{"iss": issuer, "aud": clientID, "sub": "u1", "iat": p.now.Unix(), "exp": p.now.Unix() + 120, "jti": "logout-1", "events": map[string]any{logoutEvent: map[string]any{}}})
		}
		if p.Raw == "replay-previous" {
			x.logout(token)
			x.signIn(b)
		}
		status, noStore := x.logout(token)
		p.verdict(a, status == 200 && b.who() == "", status == 400 && b.who() == "u1@op.example")
		if !noStore {
			a.failf("the answer may be stored")
		}
	default:
		a.failf("the flow %q is not known", p.Flow)
	}
	if x.op.collected > 0 {
		a.failf("the collector was asked")
	}
	x.alive()
}

// verdict holds what happened against what is wanted.
func (p *badge) verdict(a *attack, accepted, refused bool) {
	switch {
	case p.Want == "accept" && !accepted || p.Want == "reject" && !refused || p.Want == "either" && !accepted && !refused:
		a.failf("accepted: %v, refused: %v, want %s", accepted, refused, p.Want)
	case p.Want != "accept" && p.Want != "reject" && p.Want != "either":
		a.failf("want %q is not known", p.Want)
	}
}

func (*attack) goodBadge(claims map[string]any) string {
	return signed(map[string]any{"alg": "RS256", "kid": "rs1"}, claims, "rs1")
}

func (a *attack) userOf(x *app, subject string) string {
	u, err := x.store.UserByAccount(a, "b", subject)
	a.must(err)
	return u.ID
}

// make makes the token.
func (p *badge) make(a *attack, claims map[string]any) string {
	header := map[string]any{"alg": "RS256", "kid": "rs1"}
	if p.Flow == "backchannel-logout" {
		header["typ"] = "logout+jwt"
	}
	patch(header, p.filled(a, p.Header, claims))
	if header["alg"] == "EdDSA" { // whose at_hash is of another hash
		delete(claims, "at_hash")
	}
	patch(claims, p.filled(a, p.Claims, claims))
	raw := signed(header, claims, p.key())
	last := strings.LastIndexByte(raw, '.') + 1
	switch p.Raw {
	case "sig=zeros64":
		return raw[:last] + base64.RawURLEncoding.EncodeToString(make([]byte, 64))
	case "sig=der":
		return raw[:last] + base64.RawURLEncoding.EncodeToString(derSignature(must(base64.RawURLEncoding.DecodeString(raw[last:]))))
	case "strip-signature":
		return raw[:last]
	case "flip-signature":
		return flipped(raw, last+10)
	case "flip-payload":
		return flipped(raw, strings.IndexByte(raw, '.')+10)
	case "jwe":
		return "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AAAA.AAAA.AAAA.AAAA"
	case "replay-previous":
		if p.previous != "" {
			return p.previous
		}
	case "":
	default:
		a.failf("raw %q is not known", p.Raw)
	}
	return raw
}

func (p *badge) key() string {
	rs1 := signers()["rs1"].(*rsa.PrivateKey)
	switch p.Key {
	case "":
		return "rs1"
	case "hmac:pem(rs1)":
		return "hmac:" + string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(rs1.Public()))}))
	case "hmac:n(rs1)":
		return "hmac:" + string(rs1.N.Bytes())
	case "hmac:empty":
		return "hmac:"
	}
	return p.Key
}

// filled puts values in the places that a payload leaves open.
func (p *badge) filled(a *attack, members, claims map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range members {
		out[name] = p.fill(a, name, v, claims)
	}
	return out
}

func (p *badge) fill(a *attack, name string, v any, claims map[string]any) any {
	if list, ok := v.([]any); ok {
		filled := make([]any, len(list))
		for i := range list {
			filled[i] = p.fill(a, name, list[i], claims)
		}
		return filled
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	if offset, found := strings.CutPrefix(text, "now"); found && (offset == "" || strings.ContainsAny(offset[:1], "+-")) {
		n := 0
		if offset != "" {
			var err error
			n, err = strconv.Atoi(offset)
			a.must(err)
		}
		return p.now.Unix() + int64(n)
	}
	if name != "iss" && name != "aud" { // the payloads' issuer is ours
		text = strings.ReplaceAll(text, "{collector}", collector)
	}
	switch text {
	case "{nonce}":
		return claims["nonce"]
	case "{nonce of provider b}":
		return p.nonceOfB
	case "{evil}":
		return jwk("evil")
	case "{evil cert}":
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: p.now.AddDate(1, 0, 0)}
		return base64.StdEncoding.EncodeToString(must(x509.CreateCertificate(rand.Reader, template, template, signers()["evil"].Public(), signers()["evil"])))
	}
	if strings.HasPrefix(text, "{") {
		a.failf("%q is not known", text)
	}
	return text
}

// logout posts a logout token, as the provider would, and tells whether the answer may be stored.
func (x *app) logout(token string) (status int, noStore bool) {
	body := url.Values{"logout_token": {token}}.Encode()
	answer, err := x.send(wire.Request{Method: "POST", Target: "/auth/backchannel-logout/b", Body: &body, Header: [][2]string{{"Host", "app.example"}, {"Content-Type", formType}}})
	x.must(err)
	return answer.Status, strings.Contains(answer.Header.Get("Cache-Control"), "no-store")
}
