package main

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/conformance/wire"
	"github.com/latchkey-go/latchkey/core"
)

// sessionTokens presents tokens as the session cookie and as a bearer token, to the adapter and to GetToken (JW1 to JW7).
func (a *attack) sessionTokens() {
	var p struct {
		ID, Want, Why, Token, Authjs string
		Secrets                      []string
		Claims                       map[string]any
		Gen                          *tokenRecipe
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
	token := p.Token
	if p.Gen != nil {
		token = p.Gen.make(a, string(secrets[0]), x.clock())
	}
	escaped := url.PathEscape(token)

	request := func(header http.Header) *core.Token {
		token, err := x.GetToken(a, &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", Header: header})
		a.must(err)
		return token
	}
	byCookie := request(http.Header{"Cookie": {sessionCookie + "=" + escaped}})
	byBearer := request(http.Header{"Authorization": {"Bearer " + escaped}})
	x.logged()
	answer, err := x.send(wire.Request{Method: "GET", Target: "/auth/session", Header: [][2]string{{"Host", "app.example"}, {"Cookie", sessionCookie + "=" + escaped}}})
	log := x.logged()
	refusedByRouter := err != nil || answer.Status != 200 // too much for its header
	who, signedIn := "", false
	if !refusedByRouter {
		who = whoIn(answer.Body)
		signedIn = string(answer.Body) != "null"
	}
	switch p.Want {
	case "accept":
		if byCookie == nil || byBearer == nil || !signedIn {
			a.failf("by GetToken %v, as a bearer %v, by GET session %v: want accepted", byCookie != nil, byBearer != nil, signedIn)
			break
		}
		for name, want := range p.Claims {
			for _, got := range []*core.Token{byCookie, byBearer} {
				raw, err := got.MarshalJSON()
				a.must(err)
				var claims map[string]any
				a.must(json.Unmarshal(raw, &claims))
				if fmt.Sprint(claims[name]) != fmt.Sprint(want) {
					a.failf("claim %s is %v, want %v", name, claims[name], want)
				}
			}
			if name == "email" && who != want {
				a.failf("the session is of %q, want %v", who, want)
			}
		}
	case "reject":
		if byCookie != nil || byBearer != nil || signedIn {
			a.failf("by GetToken %v, as a bearer %v, by GET session %v: want refused", byCookie != nil, byBearer != nil, signedIn)
			break
		}
		const mostOfACookie = 16 * 4096 // in sixteen chunks: no browser holds more
		if refusedByRouter || token == "" || len(escaped) > mostOfACookie {
			break
		}
		cleared := false
		for _, line := range answer.Cookies {
			name, _, gone := setCookie(line)
			cleared = cleared || gone && name == sessionCookie
		}
		if lines := strings.Count(log, "\n"); !cleared || lines != 1 {
			a.failf("the cookie was cleared: %v; log lines: %d", cleared, lines)
		}
		if len(token) > 40 && strings.Contains(log, token[len(token)-30:]) {
			a.failf("the log shows the token")
		}
	case "either":
		if (byCookie != nil) != (byBearer != nil) || !refusedByRouter && (byCookie != nil) != signedIn {
			a.failf("by GetToken %v, as a bearer %v, by GET session %v: the layers do not agree", byCookie != nil, byBearer != nil, signedIn)
		}
	default:
		a.failf("want %q is not known", p.Want)
	}
	x.alive()
}

// tokenRecipe says how a token is made at test time.
type tokenRecipe struct {
	Seal, Plaintext, Text, Claims string
	Repeat                        int
	ExpOffset                     *int64 `json:"exp_offset_s"`
	NbfOffset                     *int64 `json:"nbf_offset_s"`
}

func (g *tokenRecipe) make(a *attack, secret string, now time.Time) string {
	claims := map[string]any{"name": "Ada", "email": "ada@example.com", "sub": "user-1", "iat": now.Unix() - 60, "exp": now.Unix() + 3600, "jti": "j1"}
	switch {
	case g.Repeat > 0:
		return strings.Repeat(g.Text, g.Repeat)
	case g.Seal == "good header plus zip DEF" && strings.HasPrefix(g.Plaintext, "deflate of"):
		var mb int
		_, err := fmt.Sscanf(g.Plaintext, "deflate of %d MB", &mb)
		a.must(err)
		claims["pad"] = strings.Repeat("0", mb<<20)
		return seal(a, secret, claims, jose.DEFLATE)
	case g.Claims == "good":
		if g.ExpOffset != nil {
			claims["exp"] = now.Unix() + *g.ExpOffset
		}
		if g.NbfOffset != nil {
			claims["nbf"] = now.Unix() + *g.NbfOffset
		}
		return seal(a, secret, claims, jose.NONE)
	}
	a.failf("the recipe %+v is not understood", *g)
	return ""
}

// seal encrypts claims as the reference does, by another library than ours.
func seal(a *attack, secret string, claims map[string]any, zip jose.CompressionAlgorithm) string {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(sessionCookie), "Auth.js Generated Encryption Key ("+sessionCookie+")", 64)
	a.must(err)
	e, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, &jose.EncrypterOptions{Compression: zip})
	a.must(err)
	raw, err := json.Marshal(claims)
	a.must(err)
	sealed, err := e.Encrypt(raw)
	a.must(err)
	text, err := sealed.CompactSerialize()
	a.must(err)
	return text
}
