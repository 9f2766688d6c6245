package accesstoken_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	secretOne = "a-secret-of-more-than-thirty-two-bytes"
	secretTwo = "another-secret-of-more-than-thirty-two"
	orders    = "https://orders.example"
)

// faulty is a store whose records fail while broken is set.
type faulty struct {
	*memory.Store
	mu     sync.Mutex
	broken error
}

func (f *faulty) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Record(ctx, kind, key)
}

func (f *faulty) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

func (f *faulty) breaks(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = err
}

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// process is a process of an application with the plugin.
type process struct {
	*testing.T
	tokens *accesstoken.Tokens
	auth   *core.Auth
	log    *bytes.Buffer
}

// change modifies a configuration.
type change func(*core.Config, *accesstoken.Options)

func configOf(rows core.Store, now *clock) (core.Config, accesstoken.Options) {
	return core.Config{
			Secrets: []core.Secret{secretOne}, Store: rows, Now: now.read, URL: "https://app.example",
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		}, accesstoken.Options{
			Audiences: []accesstoken.Audience{{ID: orders, Scopes: []string{"orders:read", "orders:write"}}},
		}
}

// start starts a process.
func start(t *testing.T, rows core.Store, now *clock, changes ...change) *process {
	t.Helper()
	p := &process{T: t, log: &bytes.Buffer{}}
	config, options := configOf(rows, now)
	config.Logger = slog.New(slog.NewTextHandler(p.log, nil))
	for _, f := range changes {
		f(&config, &options)
	}
	p.tokens = accesstoken.New(options)
	config.Plugins = append(config.Plugins, p.tokens)
	var err error
	if p.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	return p
}

func secrets(all ...core.Secret) change {
	return func(c *core.Config, _ *accesstoken.Options) { c.Secrets = all }
}

func algorithm(alg accesstoken.Algorithm) change {
	return func(_ *core.Config, o *accesstoken.Options) { o.Algorithm = alg }
}

// issue returns a token for ada.
func (p *process) issue() string {
	p.Helper()
	token, _, err := p.tokens.Issue(p.Context(), accesstoken.Claims{UserID: "ada", Audience: orders})
	if err != nil {
		p.Fatal(err)
	}
	return string(token)
}

// get requests a document.
func (p *process) get(target string, header map[string][]string) *core.Response {
	return p.auth.Handle(p.Context(), &core.Request{
		Method: "GET", Target: target, Hosts: []string{"app.example"}, Scheme: "https", Header: header,
	})
}

// published returns the key IDs of the JWKS, and the JWKS.
func (p *process) published() (ids []string, set jose.JSONWebKeySet) {
	p.Helper()
	r := p.get("/.well-known/jwks.json", nil)
	if r.Status != 200 {
		p.Fatalf("the JWKS: %d %s", r.Status, r.Body)
	}
	if err := json.Unmarshal(r.Body, &set); err != nil {
		p.Fatal(err)
	}
	for _, k := range set.Keys {
		if !k.IsPublic() || !k.Valid() || k.Use != "sig" {
			p.Fatalf("the JWKS contains %s", r.Body)
		}
		sum, err := k.Thumbprint(crypto.SHA256)
		if want := k.KeyID; err != nil || encode(sum) != want {
			p.Errorf("the key ID %s is not the thumbprint %s", want, encode(sum))
		}
		ids = append(ids, k.KeyID)
	}
	return ids, set
}

// claims verifies a token with the JWKS and returns its claims.
func (p *process) claims(token string) (header jose.Header, claims map[string]any) {
	p.Helper()
	_, set := p.published()
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA, jose.ES256})
	if err != nil {
		p.Fatal(err)
	}
	header = parsed.Signatures[0].Header
	keys := set.Key(header.KeyID)
	if len(keys) != 1 {
		p.Fatalf("the JWKS has %d keys with the ID %s", len(keys), header.KeyID)
	}
	body, err := parsed.Verify(keys[0])
	if err != nil {
		p.Fatal(err)
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		p.Fatal(err)
	}
	return header, claims
}

// kid returns the key ID of a new token.
func (p *process) kid() string {
	p.Helper()
	header, _ := p.claims(p.issue())
	return header.KeyID
}

// TestIssue compares all claims of tokens.
func TestIssue(t *testing.T) {
	for _, alg := range []accesstoken.Algorithm{accesstoken.EdDSA, accesstoken.ES256} {
		t.Run(string(alg), func(t *testing.T) {
			now := newClock()
			p := start(t, memory.New(), now, algorithm(alg))
			at := now.read()
			for name, row := range map[string]struct {
				claims accesstoken.Claims
				ttl    time.Duration
				want   map[string]any
			}{
				"all": {accesstoken.Claims{
					UserID: "ada", Audience: orders, ClientID: "cli", Scopes: []string{"orders:read", "orders:write"},
					SessionID: "s1", AuthTime: at.Add(-time.Hour), Methods: []amr.Method{"pwd", "otp"}, ACR: "urn:gold",
					Actor: "root", TTL: time.Minute,
				}, time.Minute, map[string]any{
					"sub": "ada", "client_id": "cli", "scope": "orders:read orders:write", "sid": "s1",
					"auth_time": float64(at.Add(-time.Hour).Unix()), "amr": []any{"pwd", "otp"}, "acr": "urn:gold",
					"act": map[string]any{"sub": "root"},
				}},
				"the least": {accesstoken.Claims{UserID: "ada", Audience: orders}, 5 * time.Minute, map[string]any{
					"sub": "ada", "client_id": "https://app.example",
				}},
				"a service": {accesstoken.Claims{ClientID: "billing", Audience: orders, TTL: time.Hour}, 5 * time.Minute,
					map[string]any{"sub": "billing", "client_id": "billing"}},
			} {
				t.Run(name, func(t *testing.T) {
					token, expires, err := p.tokens.Issue(t.Context(), row.claims)
					if err != nil || !expires.Equal(at.Add(row.ttl)) {
						t.Fatalf("expires %v: %v", expires, err)
					}
					header, got := p.claims(string(token))
					if header.Algorithm != string(alg) || header.ExtraHeaders["typ"] != "at+jwt" {
						t.Errorf("the header is %+v", header)
					}
					row.want["iss"], row.want["aud"] = "https://app.example", orders
					row.want["iat"], row.want["exp"] = float64(at.Unix()), float64(expires.Unix())
					id, _ := got["jti"].(string)
					if row.want["jti"] = id; len(id) != 22 {
						t.Errorf("jti is %q", id)
					}
					if want, have := text(row.want), text(got); want != have {
						t.Errorf("the claims are %s, want %s", have, want)
					}
				})
			}
		})
	}
}

// text returns v as JSON, with sorted members.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestIssueRefuses requests tokens that must not exist.
func TestIssueRefuses(t *testing.T) {
	p := start(t, memory.New(), newClock())
	for name, row := range map[string]struct {
		claims accesstoken.Claims
		want   error
	}{
		"no audience":      {accesstoken.Claims{UserID: "ada"}, accesstoken.ErrAudience},
		"another audience": {accesstoken.Claims{UserID: "ada", Audience: orders + "/"}, accesstoken.ErrAudience},
		"another scope": {
			accesstoken.Claims{UserID: "ada", Audience: orders, Scopes: []string{"orders:read", "admin"}}, accesstoken.ErrScope,
		},
		"a wildcard": {accesstoken.Claims{UserID: "ada", Audience: orders, Scopes: []string{"*"}}, accesstoken.ErrScope},
		"two in one": {
			accesstoken.Claims{UserID: "ada", Audience: orders, Scopes: []string{"orders:read admin"}}, accesstoken.ErrScope,
		},
		"no subject":  {accesstoken.Claims{Audience: orders}, nil},
		"empty scope": {accesstoken.Claims{UserID: "ada", Audience: orders, Scopes: []string{""}}, accesstoken.ErrScope},
	} {
		token, _, err := p.tokens.Issue(t.Context(), row.claims)
		if err == nil || token != "" || row.want != nil && !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := accesstoken.New(accesstoken.Options{}).Issue(t.Context(), accesstoken.Claims{}); err == nil {
		t.Error("a plugin without an Auth issued a token")
	}
}

// TestProcessesShareKeys starts two processes at the same time.
func TestProcessesShareKeys(t *testing.T) {
	rows, now := memory.New(), newClock()
	one, two := start(t, rows, now), start(t, rows, now)
	var both [2]string
	var wait sync.WaitGroup
	for i, p := range []*process{one, two} {
		wait.Go(func() { both[i] = p.kid() })
	}
	wait.Wait()
	if both[0] != both[1] {
		t.Fatalf("the processes sign with %v", both)
	}
	if ids, _ := two.published(); len(ids) != 1 {
		t.Errorf("published %v", ids)
	}
	two.claims(one.issue())
}

// TestKeysAreReplaced goes through the life of a key.
func TestKeysAreReplaced(t *testing.T) {
	const day = 24 * time.Hour
	rows, now := memory.New(), newClock()
	p, idle := start(t, rows, now), start(t, rows, now)
	first := p.kid()
	if ids, _ := idle.published(); !slices.Equal(ids, []string{first}) {
		t.Fatalf("published %v", ids)
	}
	now.add(89*day - time.Minute)
	if ids, _ := p.published(); len(ids) != 1 {
		t.Fatalf("published a day too early: %v", ids)
	}
	now.add(time.Minute)
	ids, _ := p.published()
	if len(ids) != 2 || ids[0] != first || p.kid() != first {
		t.Fatalf("the next key: published %v, signed by %s", ids, p.kid())
	}
	second := ids[1]
	now.add(time.Minute)
	if ids, _ := idle.published(); len(ids) != 2 || ids[1] != second {
		t.Fatalf("the other process published %v", ids)
	}
	now.add(day - time.Minute - time.Second)
	if kid := p.kid(); kid != first {
		t.Fatalf("the next key signs before it was published for a day")
	}
	last := p.issue()
	now.add(time.Second)
	for _, process := range []*process{p, idle} {
		if kid := process.kid(); kid != second {
			t.Fatalf("signed by %s, not by the next key", kid)
		}
		process.claims(last)
	}
	now.add(time.Hour)
	if ids, _ := p.published(); len(ids) != 2 {
		t.Fatalf("the old key was removed while its tokens may be valid: %v", ids)
	}
	now.add(time.Minute)
	if ids, _ := p.published(); !slices.Equal(ids, []string{second}) {
		t.Fatalf("published %v", ids)
	}
	now.add(365 * day) // no process ran for a year
	ids, _ = p.published()
	if len(ids) != 2 || ids[0] != second || p.kid() != second {
		t.Fatalf("after a year: published %v, signed by %s", ids, p.kid())
	}
}

// TestAlgorithmChanges replaces the algorithm of the keys.
func TestAlgorithmChanges(t *testing.T) {
	rows, now := memory.New(), newClock()
	before := start(t, rows, now).kid()
	p := start(t, rows, now, algorithm(accesstoken.ES256))
	if header, _ := p.claims(p.issue()); header.Algorithm != "EdDSA" || header.KeyID != before {
		t.Fatalf("the new key signs before it was published: %+v", header)
	}
	if ids, _ := p.published(); len(ids) != 2 {
		t.Fatalf("published %v", ids)
	}
	now.add(24 * time.Hour)
	if header, _ := p.claims(p.issue()); header.Algorithm != "ES256" {
		t.Fatalf("signed with %+v", header)
	}
}

// TestSecrets rotates and loses Config.Secrets.
func TestSecrets(t *testing.T) {
	rows, now := memory.New(), newClock()
	kid := start(t, rows, now).kid()
	record := func() string {
		r, err := rows.Record(t.Context(), "access-token-keys", "https://app.example")
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Value)
	}
	one := record()
	if got := start(t, rows, now, secrets(secretTwo, secretOne)).kid(); got != kid {
		t.Fatal("a new secret replaced the keys")
	}
	two := record()
	if one == two {
		t.Fatal("the keys were not encrypted with the new secret")
	}
	if got := start(t, rows, now, secrets(secretTwo)).kid(); got != kid || record() != two {
		t.Fatal("the keys were not encrypted with the new secret alone, or again")
	}
	lost := start(t, rows, now, secrets("a-third-secret-of-more-than-32-bytes!!"))
	_, _, err := lost.tokens.Issue(t.Context(), accesstoken.Claims{UserID: "ada", Audience: orders})
	if err == nil || !strings.Contains(err.Error(), "add the secret that encrypted them to Config.Secrets") {
		t.Fatalf("a lost secret: %v", err)
	}
	if r := lost.get("/.well-known/jwks.json", nil); r.Status != 500 || record() != two {
		t.Fatalf("a lost secret: %d %s", r.Status, r.Body)
	}
	if got := advice(lost); !strings.Contains(got, "cannot be decrypted") || record() != two {
		t.Fatalf("the advice is %q", got)
	}
	if got := start(t, rows, now, secrets(secretTwo)).kid(); got != kid {
		t.Fatal("the keys were replaced")
	}
}

// advice returns what the plugin reports to package doctor.
func advice(p *process) (all string) {
	p.tokens.Advise(func(what, fix string) { all += what + ": " + fix + "\n" })
	return all
}

// TestAdvise checks a configuration without weaknesses, and one with another issuer. It stores no keys.
func TestAdvise(t *testing.T) {
	rows, now := memory.New(), newClock()
	if got := advice(start(t, rows, now)); got != "" {
		t.Errorf("the advice is %q", got)
	}
	other := start(t, rows, now, func(_ *core.Config, o *accesstoken.Options) { o.Issuer = "https://other.example" })
	if got := advice(other); !strings.Contains(got, "an issuer other than the origin") {
		t.Errorf("the advice is %q", got)
	}
	if _, err := rows.Record(t.Context(), "access-token-keys", "https://app.example"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the advice stored keys: %v", err)
	}
}

// TestRecordOfAnotherIssuer copies the record of another application that has the same secret.
func TestRecordOfAnotherIssuer(t *testing.T) {
	rows, now := memory.New(), newClock()
	start(t, rows, now).kid()
	r, err := rows.Record(t.Context(), "access-token-keys", "https://app.example")
	if err != nil {
		t.Fatal(err)
	}
	r.Key = "https://other.example"
	if err := rows.CreateRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	other := start(t, rows, now, func(_ *core.Config, o *accesstoken.Options) { o.Issuer = "https://other.example" })
	if _, _, err := other.tokens.Issue(t.Context(), accesstoken.Claims{UserID: "ada", Audience: orders}); err == nil {
		t.Error("the keys of another issuer were used")
	}
	r.Value = json.RawMessage(`{"sealed":"x"}`)
	if err := rows.UpdateRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.tokens.Issue(t.Context(), accesstoken.Claims{UserID: "ada", Audience: orders}); err == nil {
		t.Error("a forged record was used, or replaced")
	}
}

// TestStoreOutage lets the store fail before and after the keys were read.
func TestStoreOutage(t *testing.T) {
	rows, now := &faulty{Store: memory.New()}, newClock()
	rows.breaks(core.ErrStoreUnavailable)
	p := start(t, rows, now)
	if r := p.get("/.well-known/jwks.json", nil); r.Status != 503 {
		t.Fatalf("without keys: %d %s", r.Status, r.Body)
	}
	rows.breaks(nil)
	kid := p.kid()
	rows.breaks(errors.New("db-1.internal is down"))
	now.add(time.Hour)
	if p.kid() != kid {
		t.Error("the keys of the last read are not used")
	}
	if !strings.Contains(p.log.String(), "signing keys cannot be read") {
		t.Errorf("the log is %s", p.log)
	}
}

// TestJWKS requests the document again with its ETag.
func TestJWKS(t *testing.T) {
	p := start(t, memory.New(), newClock())
	r := p.get("/.well-known/jwks.json", nil)
	if r.Header.Get("Cache-Control") != "public, max-age=600" ||
		r.Header.Get("Content-Type") != "application/jwk-set+json" {
		t.Errorf("header %v", r.Header)
	}
	if strings.Contains(string(r.Body), `"d"`) {
		t.Errorf("a private key is published: %s", r.Body)
	}
	again := p.get("/.well-known/jwks.json", map[string][]string{"If-None-Match": {r.Header.Get("Etag")}})
	if again.Status != 304 || len(again.Body) > 0 {
		t.Errorf("the same document: %d %s", again.Status, again.Body)
	}
}

// brokenSigner returns a malformed signature.
type brokenSigner struct{ crypto.Signer }

func (brokenSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return []byte{0x30, 0}, nil
}

// TestSigner signs with keys of the application.
func TestSigner(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, signer := range map[string]crypto.Signer{"Ed25519": ed, "P-256": ec} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, newClock(), func(_ *core.Config, o *accesstoken.Options) {
				o.Signer, o.PublishedKeys = signer, []crypto.PublicKey{ed.Public(), ec.Public()}
			})
			if ids, _ := p.published(); len(ids) != 2 || p.kid() != ids[0] {
				t.Errorf("published %v", ids)
			}
		})
	}
	p := start(t, nil, newClock(), func(_ *core.Config, o *accesstoken.Options) { o.Signer = brokenSigner{ec} })
	if _, _, err := p.tokens.Issue(t.Context(), accesstoken.Claims{UserID: "ada", Audience: orders}); err == nil {
		t.Error("a malformed signature was used")
	}
}

// TestConfigErrors makes each configuration error.
func TestConfigErrors(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	audience := func(a ...accesstoken.Audience) change {
		return func(_ *core.Config, o *accesstoken.Options) { o.Audiences = a }
	}
	issuer := func(s string) change { return func(_ *core.Config, o *accesstoken.Options) { o.Issuer = s } }
	for name, row := range map[string]struct {
		change change
		want   string
	}{
		"no audience":       {audience(), "Options.Audiences is empty"},
		"an empty audience": {audience(accesstoken.Audience{}), "Audiences[0].ID"},
		"a blank":           {audience(accesstoken.Audience{ID: "a b"}), "Audiences[0].ID"},
		"a quotation mark":  {audience(accesstoken.Audience{ID: `a"b`}), "Audiences[0].ID"},
		"an audience twice": {audience(accesstoken.Audience{ID: "a"}, accesstoken.Audience{ID: "a"}), "in another entry"},
		"a wrong scope":     {audience(accesstoken.Audience{ID: "a", Scopes: []string{"a b"}}), "Scopes contains"},
		"a wildcard":        {audience(accesstoken.Audience{ID: "a", Scopes: []string{"*"}}), "Scopes contains"},
		"a long lifetime":   {func(_ *core.Config, o *accesstoken.Options) { o.TTL = 11 * time.Minute }, "Options.TTL"},
		"a negative one":    {func(_ *core.Config, o *accesstoken.Options) { o.TTL = -1 }, "Options.TTL"},
		"another algorithm": {algorithm("RS256"), "Options.Algorithm"},
		"no store":          {func(c *core.Config, _ *accesstoken.Options) { c.Store = nil }, "needs a Store"},
		"no URL":            {func(c *core.Config, _ *accesstoken.Options) { c.URL = "" }, "the issuer is unknown"},
		"an issuer by http": {issuer("http://app.example"), "Options.Issuer"},
		"an issuer's path":  {issuer("https://app.example/auth"), "Options.Issuer"},
		"a query":           {issuer("https://app.example?x"), "Options.Issuer"},
		"no host":           {issuer("https:"), "Options.Issuer"},
		"a user":            {issuer("https://me@app.example"), "Options.Issuer"},
		"an RSA key":        {func(_ *core.Config, o *accesstoken.Options) { o.Signer = weak }, "a *rsa.PublicKey"},
		"P-384":             {func(_ *core.Config, o *accesstoken.Options) { o.Signer = p384 }, "the curve P-256"},
		"keys without a key": {func(_ *core.Config, o *accesstoken.Options) {
			o.PublishedKeys = []crypto.PublicKey{1}
		}, "without Options.Signer"},
		"a wrong key": {func(_ *core.Config, o *accesstoken.Options) {
			o.Signer, o.PublishedKeys = ed, []crypto.PublicKey{1}
		}, "Options.PublishedKeys[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			config, options := configOf(memory.New(), newClock())
			row.change(&config, &options)
			config.Plugins = []core.Plugin{accesstoken.New(options)}
			if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	config, options := configOf(memory.New(), newClock())
	options.Issuer = "http://localhost:3000"
	tokens := accesstoken.New(options)
	config.Plugins = []core.Plugin{tokens}
	for _, want := range []string{"", "already attached"} {
		_, err := core.New(config)
		if got := errors.Join(err, errors.New("")).Error(); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
