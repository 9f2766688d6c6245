package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// badge is an ID token or logout token that a payload describes.
type badge struct {
	ID, Want, Why, Key, Flow, Raw, OIDF string
	Header, Claims                      map[string]any
	Config                              struct {
		MaxAge json.Number `json:"max_age"`
	}
	// JWKS is a list of keys, or the change of the key set during the flow.
	JWKS any
	// AcceptAs is the user who may be signed in although the token is invalid.
	AcceptAs string `json:"accept_as"`

	nonceOfB, previous string
	now                time.Time
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// idTokens signs in with ID tokens, refreshes with them, and logs out with logout tokens (docs/protocol.md §8.6, §8.12,
// §8.13).
func idTokens(a *attack) {
	var p badge
	a.read(&p)
	p.known(a)
	x := a.open(func(c *core.Config) {
		c.Session.Strategy = core.StrategyDatabase
		c.Providers = c.Providers[:4] // database sessions cannot use the password form
		if p.Config.MaxAge != "" {
			c.Providers[1].(*core.OAuthProvider).Authorization.Params = url.Values{"max_age": {p.Config.MaxAge.String()}}
		}
	})
	p.now = x.clock()
	b := x.browser("u1")
	rotate := p.keySet(x)
	switch p.Flow {
	case "":
		p.signIn(a, x, b, rotate)
	case "refresh":
		p.refresh(a, x, b, rotate)
	case "backchannel-logout":
		p.logOut(a, x, b, rotate)
	default:
		a.failf("the flow %q is not known", p.Flow)
	}
	if x.op.collected > 0 {
		a.failf("the collector was asked")
	}
	x.alive()
}

// signIn signs in with the ID token. rotate makes the provider publish its next keys.
func (p *badge) signIn(a *attack, x *app, b *browser, rotate func()) {
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
	start := b.submit("/auth/signin/b").Header.Get("Location")
	_, code := x.op.authorize(start, b.subject)
	rotate()
	answer := b.get("/auth/callback/b?" + query(code))
	if p.AcceptAs != "" && b.who() != "" && x.owner("b", "u1") == "" && x.owner("b", p.AcceptAs) != "" {
		return // the payload allows it
	}
	p.verdict(a, b.who() == "u1@op.example" && x.owner("b", "u1") == "u1@op.example",
		b.who() == "" && x.owner("b", "u1") == "" && x.owner("b", "u2") == "")
	if e := errorIn(answer); b.who() == "" && e != "Configuration" && e != "OAuthCallbackError" {
		a.failf("answered %d to %q", answer.Status, answer.Header.Get("Location"))
	}
}

// refresh refreshes an account's tokens and receives the ID token.
func (p *badge) refresh(a *attack, x *app, b *browser, rotate func()) {
	x.op.sign(a.goodBadge)
	x.signIn(b)
	account, err := x.store.Account(a, "b", "u1")
	a.must(err)
	x.op.sign(func(claims map[string]any) string { delete(claims, "nonce"); return p.make(a, claims) })
	x.wait(2 * time.Hour)
	p.now = x.clock()
	rotate()
	fresh, err := x.Refresh(a, account)
	p.verdict(a, err == nil && fresh.AccessToken != "", err != nil && !errors.Is(err, core.ErrNotFound))
}

// logOut sends the token as a logout token.
func (p *badge) logOut(a *attack, x *app, b *browser, rotate func()) {
	x.op.sign(a.goodBadge)
	x.signIn(b)
	token := x.op.previous
	if p.Raw != "send-id-token" {
		token = p.make(a, map[string]any{
			"iss": issuer, "aud": clientID, "sub": "u1", "iat": p.now.Unix(), "exp": p.now.Unix() + 120,
			"jti": "logout-1", "events": map[string]any{logoutEvent: map[string]any{}},
		})
	}
	if p.Raw == "replay-previous" {
		x.logout(token)
		x.signIn(b)
	}
	rotate()
	status, noStore := x.logout(token)
	p.verdict(a, status == 200 && b.who() == "", status/100 == 4 && b.who() == "u1@op.example")
	if !noStore {
		a.failf("the answer may be stored")
	}
}

// verdict compares the result with the expected result.
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

// logout posts a logout token as the provider would. It returns the status and whether the response forbids storing.
func (x *app) logout(token string) (status int, noStore bool) {
	body := url.Values{"logout_token": {token}}.Encode()
	answer, err := x.send(wire.Request{
		Method: "POST", Target: "/auth/backchannel-logout/b", Body: &body,
		Header: [][2]string{{"Host", "app.example"}, {"Content-Type", formType}},
	})
	x.must(err)
	return answer.Status, strings.Contains(answer.Header.Get("Cache-Control"), "no-store")
}
