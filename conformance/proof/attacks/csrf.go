package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// crossSite posts with right and wrong CSRF pairs (docs/protocol.md §5).
func (a *attack) crossSite() {
	var p struct {
		ID, Want, Why, Cookie, Body, Query, Method, Action, Authjs string
		Type                                                       *string
		Headers                                                    [][2]string
	}
	a.read(&p)
	a.oneOf("want", p.Want, "verified", "refused", "either")
	actions := []string{p.Action}
	switch p.Action {
	case "":
		actions = []string{"signout"}
	case "signin/credentials-or-oauth":
		actions = []string{"signin/credentials", "signin/a"}
	}
	for _, action := range actions {
		x := a.open(func(c *core.Config) {
			c.EnableWebAuthn = true
			c.Providers = append(c.Providers, webauthn.WebAuthn())
		})
		b, other := x.browser("u1"), x.browser("u2")
		form := action == "callback/oauth-form-post"
		var code, state string
		if form {
			action = "callback/f"
			_, answer := x.op.authorize(b.submit("/auth/signin/f").Header.Get("Location"), "u1")
			code, state = answer[0][1], answer[1][1]
		} else {
			b.signIn("ada")
		}
		token, hash := b.pair()
		token2, hash2 := other.pair()
		sum := sha256.Sum256([]byte(token))
		fill := a.fill("{T}", token, "{H}", hash, "{T2}", token2, "{H2}", hash2,
			"{sha256:T}", hex.EncodeToString(sum[:]), "{H:-1}", hash[:len(hash)-1], "{T:upper}", strings.ToUpper(token),
			"{code}", url.QueryEscape(code), "{state}", url.QueryEscape(state))
		contentType, method, target := formType, "POST", "/auth/"+action
		if p.Type != nil {
			contentType = *p.Type
		}
		if p.Method != "" {
			method = p.Method
		}
		if p.Query != "" {
			target += "?" + fill(p.Query)
		}
		var lines [][2]string
		if !form {
			cookies := sessionCookie + "=" + b.cookies[sessionCookie]
			if p.Cookie != "" {
				cookies += "; " + fill(p.Cookie)
			}
			lines = append(lines, [2]string{"Cookie", cookies})
		}
		for _, h := range p.Headers {
			lines = append(lines, [2]string{h[0], fill(h[1])})
		}
		session := b.cookies[sessionCookie]
		answer := b.ask(method, target, contentType, fill(p.Body), lines...)
		done := false // the action happened
		switch action {
		case "signout":
			done = b.cookies[sessionCookie] == ""
		case "callback/f":
			done = b.who() == "u1@op.example"
		case "signin/a":
			done = atOP(answer.Header.Get("Location"))
		default:
			done = b.cookies[sessionCookie] != session
		}
		if p.Want == "verified" && !done || p.Want == "refused" && done {
			a.failf("%s: done %v, answered %d to %q", action, done, answer.Status, answer.Header.Get("Location"))
		}
		if p.Want != "refused" {
			continue
		}
		switch {
		case action == "session":
			if answer.Status != 400 || string(answer.Body) != "null" {
				a.failf("session: answered %d: %.100s, want 400 null", answer.Status, answer.Body)
			}
		case answer.Status == 400 && strings.HasPrefix(contentType, "application/json"):
			// what is not read as JSON has no token, and is refused as such
		case method == "POST" && errorIn(answer) != "MissingCSRF":
			a.failf("%s: answered %d to %q, want the MissingCSRF redirect", action, answer.Status, answer.Header.Get("Location"))
		}
		b.cookies[sessionCookie] = session
		if b.who() != "ada@app.example" {
			a.failf("%s: the session no longer lives", action)
		}
	}
}

// pair is the CSRF token and its hash that a browser holds.
func (b *browser) pair() (token, hash string) {
	b.csrf()
	value, err := url.PathUnescape(b.cookies[csrfCookie])
	b.must(err)
	token, hash, _ = strings.Cut(value, "|")
	return token, hash
}
