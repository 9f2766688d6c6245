package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// presented is a token and the result of sending it.
type presented struct {
	*attack
	app    *app
	want   string
	claims map[string]any
}

// sessionTokens sends tokens as the session cookie and as a bearer token, to the adapter and to Token (docs/protocol.md
// §4).
func sessionTokens(a *attack) {
	var p struct {
		ID, Want, Why, Token, Authjs string
		Secrets                      []string
		Claims                       map[string]any
		Gen                          tokenRecipe
		BareGoJose                   string `json:"bare_go_jose"`
	}
	a.read(&p)
	secrets := []core.Secret{core.Secret(a.file.Secret)}
	if p.Secrets != nil {
		secrets = nil
		for _, s := range p.Secrets {
			secrets = append(secrets, core.Secret(s))
		}
	}
	x := a.open(func(c *core.Config) { c.Secrets, c.InsecureShortSecrets = secrets, true })
	if a.file.Salt != sessionCookie {
		a.failf("the salt is %q, and the cookie's name %q", a.file.Salt, sessionCookie)
	}
	s := &presented{attack: a, app: x, want: p.Want, claims: p.Claims}
	if p.Gen == nil {
		s.present(p.Token)
	} else if base, variants := p.Gen.variants(a); variants != nil {
		s.presentAll(base, variants)
	} else {
		s.present(p.Gen.make(a, string(secrets[0]), x.clock()))
	}
	x.alive()
}

// byHand passes a token to core in a request: in the cookie and as a bearer token.
func (s *presented) byHand(escaped string) (byCookie, byBearer *core.Token) {
	request := func(name, value string) *core.Token {
		token, err := s.app.Token(s, &core.Request{
			Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https",
			Header: http.Header{name: {value}},
		})
		s.must(err)
		return token
	}
	return request("Cookie", sessionCookie+"="+escaped), request("Authorization", "Bearer "+escaped)
}

// overTheWire is the maximum number of a token's variants that are sent through the adapter. All variants are passed to
// core.
const overTheWire = 40

// presentAll sends the variants of a token that is itself valid.
func (s *presented) presentAll(base string, variants []string) {
	if byCookie, byBearer := s.byHand(url.PathEscape(base)); byCookie == nil || byBearer == nil {
		s.failf("the token of the variants is not good")
	}
	stride := len(variants)/overTheWire + 1
	for i, variant := range variants {
		before := len(s.problems)
		byCookie, byBearer := s.byHand(url.PathEscape(variant))
		if s.want == "reject" && (byCookie != nil || byBearer != nil) ||
			s.want != "reject" && (byCookie != nil) != (byBearer != nil) {
			s.failf("by Token %v, as a bearer %v", byCookie != nil, byBearer != nil)
		}
		if i%stride == 0 || i == len(variants)-1 {
			s.present(variant)
		}
		if len(s.problems) > before {
			s.failf("variant %d of %d: %.600q", i, len(variants), variant)
			return
		}
	}
}

// present sends a token and compares the result with the expected result.
func (s *presented) present(token string) {
	escaped := url.PathEscape(token)
	byCookie, byBearer := s.byHand(escaped)
	s.app.logged()
	answer, err := s.app.send(wire.Request{
		Method: "GET", Target: "/auth/session",
		Header: [][2]string{{"Host", "app.example"}, {"Cookie", sessionCookie + "=" + escaped}},
	})
	log := s.app.logged()
	refusedByRouter := err != nil || answer.Status != 200 // too large for its header limit
	who, signedIn := "", false
	if !refusedByRouter {
		who = whoIn(answer.Body)
		signedIn = string(answer.Body) != "null"
	}
	switch s.want {
	case "accept":
		if byCookie == nil || byBearer == nil || !signedIn {
			s.failf("by Token %v, as a bearer %v, by GET session %v: want accepted", byCookie != nil, byBearer != nil, signedIn)
			break
		}
		s.sameClaims(who, byCookie, byBearer)
	case "reject":
		if byCookie != nil || byBearer != nil || signedIn {
			s.failf("by Token %v, as a bearer %v, by GET session %v: want refused", byCookie != nil, byBearer != nil, signedIn)
			break
		}
		const mostOfACookie = 16 * 4096 // in sixteen chunks, more than a browser stores
		if !refusedByRouter && token != "" && len(escaped) <= mostOfACookie {
			s.clearedOnce(token, answer, log)
		}
	case "either":
		if (byCookie != nil) != (byBearer != nil) || !refusedByRouter && (byCookie != nil) != signedIn {
			s.failf("by Token %v, as a bearer %v, by GET session %v: the layers do not agree",
				byCookie != nil, byBearer != nil, signedIn)
		}
	default:
		s.failf("want %q is not known", s.want)
	}
}

// sameClaims compares the claims of a token, and the session's user, with the expected ones.
func (s *presented) sameClaims(who string, shown ...*core.Token) {
	for name, want := range s.claims {
		for _, got := range shown {
			if claim := s.claimOf(got, name); claim != fmt.Sprint(want) {
				s.failf("claim %s is %v, want %v", name, claim, want)
			}
		}
		if name == "email" && who != want {
			s.failf("the session is of %q, want %v", who, want)
		}
	}
}

func (s *presented) claimOf(t *core.Token, name string) string {
	raw, err := t.MarshalJSON()
	s.must(err)
	var claims map[string]any
	s.must(json.Unmarshal(raw, &claims))
	return fmt.Sprint(claims[name])
}

// clearedOnce checks the response to a rejected token: its cookie is cleared, and one log line reports it and
// does not contain the token.
func (s *presented) clearedOnce(token string, answer wire.Answer, log string) {
	cleared := false
	for _, line := range answer.Cookies {
		name, _, gone := setCookie(line)
		cleared = cleared || gone && name == sessionCookie
	}
	if lines := strings.Count(log, "\n"); !cleared || lines != 1 {
		s.failf("the cookie was cleared: %v; log lines: %d", cleared, lines)
	}
	if len(token) > 40 && strings.Contains(log, token[len(token)-30:]) {
		s.failf("the log shows the token")
	}
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
