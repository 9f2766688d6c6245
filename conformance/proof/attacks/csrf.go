package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// crossSite posts valid and invalid CSRF pairs (docs/protocol.md §5).
func crossSite(a *attack) {
	var p forgedPost
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
		p.post(a, action)
	}
}

// forgedPost is a request that another site could send, and the expected result.
type forgedPost struct {
	ID, Want, Why, Cookie, Body, Query, Method, Action, Authjs string
	Type                                                       *string
	Headers                                                    [][2]string
}

// post sends an action from a browser that is signed in, or a form_post callback of a provider.
func (p *forgedPost) post(a *attack, action string) {
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
	r := p.request(action, fill)
	if !form {
		cookies := sessionCookie + "=" + b.cookies[sessionCookie]
		if p.Cookie != "" {
			cookies += "; " + fill(p.Cookie)
		}
		r.lines = append([][2]string{{"Cookie", cookies}}, r.lines...)
	}
	session := b.cookies[sessionCookie]
	answer := b.ask(r.method, r.target, r.contentType, fill(p.Body), r.lines...)
	done := b.hasDone(action, answer, session)
	if p.Want == "verified" && !done || p.Want == "refused" && done {
		a.failf("%s: done %v, answered %d to %q", action, done, answer.Status, answer.Header.Get("Location"))
	}
	if p.Want != "refused" {
		return
	}
	r.refused(a, action, answer)
	b.cookies[sessionCookie] = session
	if b.who() != "ada@app.example" {
		a.failf("%s: the session no longer lives", action)
	}
}

// forgedRequest is a forgedPost that is ready to be sent.
type forgedRequest struct {
	contentType, method, target string
	lines                       [][2]string
}

func (p *forgedPost) request(action string, fill func(string) string) forgedRequest {
	r := forgedRequest{contentType: formType, method: "POST", target: "/auth/" + action}
	if p.Type != nil {
		r.contentType = *p.Type
	}
	if p.Method != "" {
		r.method = p.Method
	}
	if p.Query != "" {
		r.target += "?" + fill(p.Query)
	}
	for _, h := range p.Headers {
		r.lines = append(r.lines, [2]string{h[0], fill(h[1])})
	}
	return r
}

// hasDone reports whether the action was executed. session is the session cookie before the request.
func (b *browser) hasDone(action string, answer wire.Answer, session string) bool {
	switch action {
	case "signout":
		return b.cookies[sessionCookie] == ""
	case "callback/f":
		return b.who() == "u1@op.example"
	case "signin/a":
		return atOP(answer.Header.Get("Location"))
	}
	return b.cookies[sessionCookie] != session
}

// refused checks how an action was refused.
func (r forgedRequest) refused(a *attack, action string, answer wire.Answer) {
	switch {
	case action == "session":
		if answer.Status != 400 || string(answer.Body) != "null" {
			a.failf("session: answered %d: %.100s, want 400 null", answer.Status, answer.Body)
		}
	case answer.Status == 400 && strings.HasPrefix(r.contentType, "application/json"):
		// A body that is not read as JSON contains no token and must be refused for that reason.
	case r.method == "POST" && errorIn(answer) != "MissingCSRF":
		a.failf("%s: answered %d to %q, want the MissingCSRF redirect", action, answer.Status, answer.Header.Get("Location"))
	}
}

// pair returns the browser's CSRF token and its hash.
func (b *browser) pair() (token, hash string) {
	b.csrf()
	value, err := url.PathUnescape(b.cookies[csrfCookie])
	b.must(err)
	token, hash, _ = strings.Cut(value, "|")
	return token, hash
}
