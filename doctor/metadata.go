package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// document is what is compared of what an issuer says of itself (OpenID Connect Discovery section 3, RFC 8414
// section 2).
type document struct {
	Keys           string   `json:"jwks_uri"`
	Authentication []string `json:"token_endpoint_auth_methods_supported"`
	IDTokenAlgs    []string `json:"id_token_signing_alg_values_supported"`
	Challenges     []string `json:"code_challenge_methods_supported"`
	Scopes         []string `json:"scopes_supported"`
	ResponseTypes  []string `json:"response_types_supported"`
}

// reading is the clock of a server, and ours when it answered.
type reading struct {
	host       string
	here, away time.Time
}

// mostDocument bounds a document of an issuer.
const mostDocument = 1 << 20

// read gets a public JSON document.
func (e *exam) read(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	e.noteClock(answer)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, mostDocument))
	return errors.Join(err, json.Unmarshal(raw, into))
}

// noteClock remembers the Date of an answer, which servers write to the second (RFC 9110 section 6.6.1).
func (e *exam) noteClock(answer *http.Response) {
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err == nil && answer.Request != nil {
		e.clocks = append(e.clocks, reading{answer.Request.URL.Host, e.now(), at})
	}
}

// metadata compares a provider with what its issuer says. That it can be read, and speaks of itself, the sign-in has
// found out.
func (e *exam) metadata(ctx context.Context, check string, p *core.OAuthProvider) {
	if p.Issuer == "" || p.Type != core.TypeOIDC || strings.Contains(p.Issuer, "{") {
		return
	}
	var d document
	err := e.read(ctx, strings.TrimSuffix(p.Issuer, "/")+"/.well-known/openid-configuration", &d)
	if err != nil {
		return // through a client of the provider's own it could be read
	}
	auth := d.Authentication
	if len(auth) == 0 {
		auth = []string{string(core.ClientSecretBasic)} // the default of the specification
	}
	if p.ClientAuth != core.ClientAuthNone && !slices.Contains(auth, string(p.ClientAuth)) {
		e.report.add(check, Wrong, fmt.Sprintf("ClientAuth is %s, and the issuer takes %s", p.ClientAuth, listed(auth)),
			"set ClientAuth to one of them")
	}
	algs := p.IDTokenAlgs
	if len(algs) > 0 && len(d.IDTokenAlgs) > 0 && !overlap(algs, d.IDTokenAlgs) {
		e.report.add(check, Wrong, fmt.Sprintf("IDTokenAlgs is %s, and the issuer signs with %s", listed(algs),
			listed(d.IDTokenAlgs)), "leave IDTokenAlgs nil, or list one of them")
	}
	if slices.Contains(p.Checks, core.CheckPKCE) && len(d.Challenges) > 0 && !slices.Contains(d.Challenges, "S256") {
		e.report.add(check, Unknown, "the issuer says that it knows no S256: it may ignore or refuse PKCE",
			"leave pkce among Checks if sign-ins work; else set Checks to state and nonce")
	}
	if len(d.ResponseTypes) > 0 && !slices.Contains(d.ResponseTypes, "code") {
		e.report.add(check, Wrong, "the issuer knows no authorization code flow (response_types_supported)",
			"switch it on at the provider")
	}
	e.keys(ctx, check, d)
}

// keys looks whether the issuer publishes a key that its ID tokens can be signed with.
func (e *exam) keys(ctx context.Context, check string, d document) {
	var set struct {
		Keys []struct {
			Type string `json:"kty"`
			Use  string `json:"use"`
			Alg  string `json:"alg"`
		} `json:"keys"`
	}
	if err := e.read(ctx, d.Keys, &set); err != nil {
		e.report.add(check, Wrong, "the keys of the issuer cannot be read: "+brief(err),
			"look at jwks_uri in its discovery document: ID tokens cannot be verified without")
		return
	}
	for _, k := range set.Keys {
		named := k.Alg != "" && len(d.IDTokenAlgs) > 0
		if k.Use != "enc" && k.Type != "oct" && (!named || slices.Contains(d.IDTokenAlgs, k.Alg)) {
			return
		}
	}
	e.report.add(check, Wrong, fmt.Sprintf("the issuer publishes %s, none for signatures with %s",
		many(len(set.Keys), "key"), listed(d.IDTokenAlgs)), "add a signing key at the provider")
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func listed(all []string) string { return cmp.Or(strings.Join(all, ", "), "nothing") }

// apart is how far two clocks may differ: ID tokens and one-time codes are good for little more.
const apart = 30 * time.Second

// clock compares the clock of this machine with those of up to three servers.
func (e *exam) clock() {
	hosts := map[string]time.Duration{}
	for _, c := range e.clocks {
		if _, known := hosts[c.host]; !known && len(hosts) < 3 {
			hosts[c.host] = c.here.Sub(c.away)
		}
	}
	if len(hosts) == 0 {
		return
	}
	off, far := 0, time.Duration(0)
	for _, by := range hosts {
		if by.Abs() > apart {
			off++
		}
		if by.Abs() > far.Abs() {
			far = by
		}
	}
	switch {
	case off == 0:
		e.report.ok("clock", "within %v of %s", apart, many(len(hosts), "server"))
	case off == len(hosts):
		e.report.add("clock", Wrong, fmt.Sprintf("this machine is %s of %s: tokens look expired or not yet valid",
			ahead(far), many(len(hosts), "server")), "set the clock by NTP")
	default:
		e.report.add("clock", Unknown, fmt.Sprintf("this machine is %s of one of %s, and agrees with others", ahead(far),
			many(len(hosts), "server")), "one of these servers has a wrong clock")
	}
}

func ahead(by time.Duration) string {
	by = by.Round(time.Second)
	if by < 0 {
		return (-by).String() + " behind"
	}
	return by.String() + " ahead"
}
