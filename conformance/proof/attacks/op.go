package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
)

const (
	issuer = "https://op.example"
	// formIssuer is the same server under another name, for provider f.
	formIssuer = "https://form.op.example"
	collector  = "https://collector.example"
	clientID   = "client-1"
	// clientSecret contains a canary that must not appear in any output.
	clientSecret = "client-secret-canary-0123456789abcdef"
)

// op is the identity provider of all configured providers, on its own TLS server. It also is the collector, a host that
// must not receive requests.
type op struct {
	*attack
	address, elsewhere string
	now                func() time.Time

	mu        sync.Mutex
	grants    map[string]grant // by code, by refresh token, and by request token of OAuth 1.0a
	spent     map[string]bool
	requests  map[string]int // counts by path
	collected int
	odd       *oddAnswer
	badge     func(claims map[string]any) string // creates the ID token
	keys      []any
	previous  string // the last ID token
	people    map[string]map[string]any
}

// grant is the data of a code.
type grant struct{ challenge, nonce, redirectURI, subject, verifier string }

func startOP(a *attack) *op {
	o := &op{
		attack: a, grants: map[string]grant{}, spent: map[string]bool{},
		requests: map[string]int{}, keys: []any{"rs1", "es1", "ed1"},
	}
	// By default ID tokens are signed with a fast algorithm. RS256 would take a sixth of the time of all attacks.
	o.badge = func(claims map[string]any) string {
		return signed(map[string]any{"alg": "ES256", "kid": "es1"}, claims, "es1")
	}
	o.address = serveTLS(a, o)
	o.elsewhere = serveTLS(a, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { o.collect() }))
	return o
}

func (o *op) collect() { o.mu.Lock(); defer o.mu.Unlock(); o.collected++ }

// sign sets the function that creates ID tokens.
func (o *op) sign(badge func(claims map[string]any) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.badge = badge
}

// describe sets members of a person's profile and ID token. They are added to the default members or replace them. A
// member with the value absent is removed.
func (o *op) describe(subject string, members map[string]any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.people == nil {
		o.people = map[string]map[string]any{}
	}
	o.people[subject] = members
}

// absent removes a member from a profile.
var absent = new(struct{ _ byte })

// said merges a person's members into the default members. The caller holds the lock.
func (o *op) said(subject string, members map[string]any) map[string]any {
	for name, value := range o.people[subject] {
		if members[name] = value; value == absent {
			delete(members, name)
		}
	}
	return members
}

// publish sets the key set.
func (o *op) publish(keys ...any) { o.mu.Lock(); defer o.mu.Unlock(); o.keys = keys }

// count returns the number of requests to a path.
func (o *op) count(path string) int { o.mu.Lock(); defer o.mu.Unlock(); return o.requests[path] }

// all returns the number of all requests.
func (o *op) all() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.requests {
		n += k
	}
	return n + o.collected
}

// authority signs the certificates of op.example and related names.
var authority = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"op.example", "*.op.example", "collector.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
})

func serveTLS(a *attack, h http.Handler) string {
	certificate, err := authority()
	a.must(err)
	l, err := engines.Listen(a)
	a.must(err)
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: wire.TLS(&tls.Config{Certificates: []tls.Certificate{certificate}}),
	}
	go func() { _ = server.ServeTLS(l, "", "") }()
	a.closers = append(a.closers, func() { _ = server.Close() })
	return l.Addr().String()
}

// client returns a client that reaches the provider by its public names. Requests to other hosts count as requests to
// the collector.
func (o *op) client() *http.Client {
	certificate, err := authority()
	o.must(err)
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Leaf)
	transport := &http.Transport{
		TLSClientConfig:     wire.TLS(&tls.Config{RootCAs: roots}),
		MaxIdleConnsPerHost: 4,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			switch {
			case host == "op.example" || strings.HasSuffix(host, ".op.example"):
				address = o.address
			case host == "collector.example":
				address = o.elsewhere
			default:
				o.collect()
				return nil, errors.New("there is no such host")
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	o.closers = append(o.closers, transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// providers returns the providers of the payloads: a (OAuth 2, state and PKCE), b (OpenID Connect, all checks), p (only
// PKCE) and f (OpenID Connect with form_post).
func (o *op) providers() []core.Provider {
	plain := func(id string, checks ...core.Check) *core.OAuthProvider {
		return &core.OAuthProvider{
			ID: id, Type: core.TypeOAuth, ClientID: clientID, ClientSecret: clientSecret, Checks: checks, Scope: "profile",
			Authorization: core.Endpoint{URL: issuer + "/authorize"}, Token: core.Endpoint{URL: issuer + "/token"},
			Userinfo: core.Endpoint{URL: issuer + "/user"},
		}
	}
	connect := func(id, issuer string) *core.OAuthProvider {
		return &core.OAuthProvider{
			ID: id, Type: core.TypeOIDC, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret,
			Checks: []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		}
	}
	f := connect("f", formIssuer)
	f.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	return []core.Provider{
		plain("a", core.CheckState, core.CheckPKCE), connect("b", issuer),
		plain("p", core.CheckPKCE), f,
	}
}

// atOP reports whether a URL is on the provider, under any of its names.
func atOP(location string) bool {
	u, err := url.Parse(location)
	return err == nil && (u.Host == "op.example" || strings.HasSuffix(u.Host, ".op.example"))
}

// authorize authorizes a person and returns the parameters of the authorization response.
func (o *op) authorize(location, subject string) (redirectURI string, answer [][2]string) {
	u, err := url.Parse(location)
	o.must(err)
	q := u.Query()
	code := "code-" + strings.ToLower(rand.Text())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.grants[code] = grant{
		challenge: q.Get("code_challenge"), nonce: q.Get("nonce"),
		redirectURI: q.Get("redirect_uri"), subject: subject,
	}
	answer = [][2]string{{"code", code}}
	if state := q.Get("state"); state != "" {
		answer = append(answer, [2]string{"state", state})
	}
	if u.Host != "form.op.example" && u.Host != "c.op.example" && strings.Contains(q.Get("scope"), "openid") {
		answer = append(answer, [2]string{"iss", issuer})
	}
	return q.Get("redirect_uri"), answer
}

func (o *op) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	o.mu.Lock()
	o.requests[r.URL.Path]++
	o.mu.Unlock()
	switch r.URL.Path {
	case oauth1Path + "request", oauth1Path + "access", oauth1Path + "user":
		o.serve1(w, r)
	case "/.well-known/openid-configuration":
		issuer := "https://" + r.Host
		o.answer(w, r, "discovery", http.StatusOK, map[string]any{
			"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
			"userinfo_endpoint": issuer + "/userinfo", "jwks_uri": issuer + "/jwks",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported":          []string{"RS256", "ES256", "EdDSA"},
			"authorization_response_iss_parameter_supported": r.Host == "op.example",
		})
	case "/jwks":
		o.mu.Lock()
		keys := o.keys
		o.mu.Unlock()
		o.answer(w, r, "jwks", http.StatusOK, map[string]any{"keys": published(keys)})
	case "/token":
		status, body := o.redeem(r)
		o.answer(w, r, "token", status, body)
	case "/userinfo", "/user":
		id := map[string]string{"/userinfo": "sub", "/user": "id"}[r.URL.Path]
		_, subject, _ := strings.Cut(r.Header.Get("Authorization"), "Bearer at-")
		o.mu.Lock()
		profile := o.said(subject, map[string]any{
			id: subject, "name": subject, "email": subject + "@op.example", "email_verified": true,
		})
		o.mu.Unlock()
		o.answer(w, r, "userinfo", http.StatusOK, profile)
	default:
		http.NotFound(w, r)
	}
}

// redeem exchanges a code (once) or a refresh token for tokens.
func (o *op) redeem(r *http.Request) (int, map[string]any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	refused := map[string]any{"error": "invalid_grant"}
	key := r.PostForm.Get("code")
	if r.PostForm.Get("grant_type") == "refresh_token" {
		key = r.PostForm.Get("refresh_token")
	}
	g, known := o.grants[key]
	if id, password, ok := r.BasicAuth(); !ok || id != clientID || password != clientSecret {
		return http.StatusUnauthorized, map[string]any{"error": "invalid_client"}
	}
	if !known || o.spent[key] {
		return http.StatusBadRequest, refused
	}
	o.spent[key] = true
	if r.PostForm.Get("grant_type") == "authorization_code" {
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		challenge := base64.RawURLEncoding.EncodeToString(sum[:])
		if g.challenge != "" && g.challenge != challenge || g.redirectURI != r.PostForm.Get("redirect_uri") {
			return http.StatusBadRequest, refused
		}
	}
	refresh := "refresh-" + rand.Text()
	o.grants[refresh] = grant{subject: g.subject, nonce: g.nonce}
	now := o.now().Unix()
	token := o.badge(o.said(g.subject, map[string]any{
		"iss": "https://" + r.Host, "aud": clientID, "sub": g.subject, "iat": now, "exp": now + 300, "nonce": g.nonce,
		"at_hash": accessHash("at-" + g.subject), "email": g.subject + "@op.example",
		"email_verified": true, "name": g.subject,
	}))
	o.previous = token
	return http.StatusOK, map[string]any{
		"access_token": "at-" + g.subject, "token_type": "Bearer", "expires_in": 3600,
		"id_token": token, "refresh_token": refresh,
	}
}

// accessHash returns the at_hash of an access token for a 256-bit algorithm.
func accessHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// answer writes the response of an endpoint, or the payload's replacement.
func (o *op) answer(w http.ResponseWriter, r *http.Request, endpoint string, status int, good map[string]any) {
	o.mu.Lock()
	odd := o.odd
	o.mu.Unlock()
	if odd != nil && odd.Endpoint == endpoint && odd.write(o, w, r, good) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	raw, err := json.Marshal(good)
	if err != nil {
		panic(fmt.Sprintf("op: %v", err))
	}
	_, _ = w.Write(raw)
}
