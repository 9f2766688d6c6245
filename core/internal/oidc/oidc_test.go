package oidc_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// issuer is a provider on loopback whose documents tests change.
type issuer struct {
	*httptest.Server
	mu        sync.Mutex
	keys      map[string]crypto.Signer
	published []jose.JSONWebKey
	document  map[string]any
	status    int
	documents atomic.Int64
	keySets   atomic.Int64
	hold      chan struct{} // discovery waits for it when it is there
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	op := &issuer{keys: map[string]crypto.Signer{}, status: http.StatusOK}
	for _, id := range []string{"rs1", "rs2", "evil"} {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		op.keys[id] = key
	}
	for _, id := range []string{"es1", "evil-ec"} {
		op.keys[id], _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	_, op.keys["ed1"], _ = ed25519.GenerateKey(rand.Reader)
	op.publish("rs1", "es1", "ed1")
	op.Server = httptest.NewServer(op)
	t.Cleanup(op.Close)
	op.document = map[string]any{
		"issuer": op.URL, "authorization_endpoint": op.URL + "/authorize", "token_endpoint": op.URL + "/token", "jwks_uri": op.URL + "/jwks",
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "EdDSA", "none", "HS256"},
	}
	return op
}

func (op *issuer) publish(ids ...string) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.published = nil
	for _, id := range ids {
		op.published = append(op.published, jose.JSONWebKey{Key: op.keys[id].Public(), KeyID: id, Use: "sig"})
	}
}

func (op *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op.mu.Lock()
	defer op.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/jwks" {
		op.keySets.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": op.published})
		return
	}
	op.documents.Add(1)
	if op.hold != nil {
		<-op.hold
	}
	w.WriteHeader(op.status)
	_ = json.NewEncoder(w).Encode(op.document)
}

func (op *issuer) set(status int) { op.mu.Lock(); defer op.mu.Unlock(); op.status = status }

// client is a Discovery with a clock.
type client struct {
	*oidc.Discovery
	now time.Time
}

func newClient() *client {
	c := &client{now: now}
	c.Discovery = oidc.New(oidc.Options{Client: upstream.New(upstream.Options{}), Now: func() time.Time { return c.now }})
	return c
}

func (op *issuer) token(t testing.TB, header, claims map[string]any, key string) string {
	t.Helper()
	h := map[string]any{"alg": "RS256", "kid": "rs1"}
	patch(h, header)
	hash := sha256.Sum256([]byte("at-1"))
	c := map[string]any{
		"iss": op.URL, "aud": "client-1", "sub": "u1", "iat": now.Unix(), "exp": now.Unix() + 300, "nonce": "n-1",
		"at_hash": base64.RawURLEncoding.EncodeToString(hash[:16]),
	}
	if h["alg"] == "EdDSA" {
		delete(c, "at_hash")
	}
	patch(c, claims)
	head, _ := json.Marshal(h)
	body, _ := json.Marshal(c)
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	return text + "." + base64.RawURLEncoding.EncodeToString(op.sign(t, text, key))
}

func patch(into, changes map[string]any) {
	for name, v := range changes {
		if v == "$del" {
			delete(into, name)
			continue
		}
		into[name] = v
	}
}

// sign signs by hand: the tests need signatures that a library would refuse to make.
func (op *issuer) sign(t testing.TB, text, key string) []byte {
	sum := sha256.Sum256([]byte(text))
	secret, isHMAC := strings.CutPrefix(key, "hmac:")
	if isHMAC || key == "client_secret" {
		mac := hmac.New(sha256.New, []byte(secret))
		if key == "client_secret" {
			mac = hmac.New(sha256.New, []byte("secret-1"))
		}
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	if key == "none" {
		return nil
	}
	switch k := op.keys[key].(type) {
	case *rsa.PrivateKey:
		sig, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return sig
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(text))
	}
	t.Fatalf("no key %q", key)
	return nil
}

func (c *client) verify(t testing.TB, op *issuer, raw string, algs ...string) (map[string]any, error) {
	t.Helper()
	m, err := c.Metadata(t.Context(), op.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c.VerifyIDToken(t.Context(), raw, oidc.Expect{Metadata: m, ClientID: "client-1", ClientSecret: "secret-1", Nonce: "n-1", AccessToken: "at-1", Algs: algs})
}

// TestAttacks runs the hostile ID tokens of a sign-in. Other flows, and those that need a whole sign-in, are not decided here.
func TestAttacks(t *testing.T) {
	raw, err := os.ReadFile("testdata/idtoken.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Payloads []struct {
			ID, Want, Why, Key, Flow, Raw string
			Header, Claims, Config        map[string]any
			JWKS                          []any
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{"IT-033", "IT-036", "IT-037", "IT-052", "IT-053", "IT-054", "IT-064"} // see the tests below, or core's
	ran := 0
	op := newIssuer(t)
	for _, p := range file.Payloads {
		if p.Flow != "" || slices.Contains(elsewhere, p.ID) {
			continue
		}
		ran++
		t.Run(p.ID, func(t *testing.T) {
			op.publish("rs1", "es1", "ed1")
			if p.JWKS != nil {
				if _, isText := p.JWKS[0].(string); isText {
					var ids []string
					for _, id := range p.JWKS {
						ids = append(ids, id.(string))
					}
					op.publish(ids...)
				} else {
					op.published[0].Use = "enc"
				}
			}
			claims := maps.Clone(p.Claims)
			for name, v := range claims {
				switch text, _ := v.(string); {
				case strings.HasPrefix(text, "now"):
					var offset int64
					_, _ = fmt.Sscanf(text[3:], "%d", &offset)
					claims[name] = now.Unix() + offset
				}
			}
			if list, ok := claims["nonce"].([]any); ok {
				list[0] = "n-1"
			}
			key := p.Key
			if key == "" {
				key = "rs1"
			}
			token := op.token(t, p.Header, claims, key)
			switch p.Raw {
			case "sig=zeros64":
				token = token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString(make([]byte, 64))
			case "sig=der":
				token = token[:strings.LastIndexByte(token, '.')+1] + base64.RawURLEncoding.EncodeToString([]byte{0x30, 6, 2, 1, 1, 2, 1, 1})
			case "strip-signature":
				token = token[:strings.LastIndexByte(token, '.')+1]
			case "flip-signature":
				token = flip(token, strings.LastIndexByte(token, '.')+10)
			case "flip-payload":
				token = flip(token, strings.IndexByte(token, '.')+10)
			case "jwe":
				token = "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AAAA.AAAA.AAAA.AAAA"
			}
			got, err := newClient().verify(t, op, token)
			switch p.Want {
			case "accept":
				if err != nil || got["sub"] != "u1" {
					t.Errorf("%s: %v, %v", p.Why, got["sub"], err)
				}
			case "reject":
				if err == nil {
					t.Errorf("%s: accepted", p.Why)
				}
			}
		})
	}
	if ran < 50 {
		t.Fatalf("only %d payloads", ran)
	}
}

func flip(token string, at int) string {
	c := byte('A')
	if token[at] == c {
		c = 'B'
	}
	return token[:at] + string(c) + token[at+1:]
}

func TestHS256OnlyWhenConfigured(t *testing.T) {
	op := newIssuer(t)
	token := op.token(t, map[string]any{"alg": "HS256", "kid": "$del"}, nil, "client_secret")
	if _, err := newClient().verify(t, op, token); err == nil {
		t.Error("accepted on the word of the provider's metadata")
	}
	if _, err := newClient().verify(t, op, token, "HS256"); err != nil {
		t.Errorf("configured, and refused: %v", err)
	}
}

func TestColdStart(t *testing.T) {
	op := newIssuer(t)
	op.hold = make(chan struct{})
	c := newClient()
	impatient, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			ctx := t.Context()
			if i%10 == 0 {
				ctx = impatient
			}
			if _, err := c.Metadata(ctx, op.URL); err != nil && ctx != impatient {
				t.Errorf("a waiter got %v", err)
			}
		})
	}
	leave()
	close(op.hold)
	all.Wait()
	if n := op.documents.Load(); n != 1 {
		t.Errorf("%d fetches for 1000 waiters", n)
	}
}

func TestOutageAndRecovery(t *testing.T) {
	op, c := newIssuer(t), newClient()
	op.set(http.StatusInternalServerError)
	for range 5 {
		if _, err := c.Metadata(t.Context(), op.URL); err == nil {
			t.Fatal("an outage went unnoticed")
		}
	}
	if n := op.documents.Load(); n != 1 {
		t.Errorf("%d fetches within the time a failure is believed", n)
	}
	op.set(http.StatusOK)
	c.now = c.now.Add(5 * time.Second)
	if _, err := c.Metadata(t.Context(), op.URL); err != nil {
		t.Errorf("did not recover: %v", err)
	}
	op.set(http.StatusInternalServerError)
	c.now = c.now.Add(2 * time.Hour)
	if _, err := c.Metadata(t.Context(), op.URL); err != nil {
		t.Errorf("an old document does not bridge an outage: %v", err)
	}
}

func TestKeysRotate(t *testing.T) {
	op, c := newIssuer(t), newClient()
	if _, err := c.verify(t, op, op.token(t, nil, nil, "rs1")); err != nil {
		t.Fatal(err)
	}
	op.publish("rs2")
	fresh := op.token(t, map[string]any{"kid": "rs2"}, map[string]any{"exp": now.Unix() + 9000}, "rs2")
	c.now = c.now.Add(time.Minute)
	if _, err := c.verify(t, op, fresh); err != nil {
		t.Errorf("a new key is not found: %v", err)
	}
	if _, err := c.verify(t, op, op.token(t, nil, nil, "rs1")); err == nil {
		t.Error("a removed key still signs")
	}
}

func TestFloodOfUnknownKeys(t *testing.T) {
	op, c := newIssuer(t), newClient()
	for i := range 200 {
		if _, err := c.verify(t, op, op.token(t, map[string]any{"kid": fmt.Sprint("made-up-", i)}, nil, "evil")); err == nil {
			t.Fatal("accepted")
		}
	}
	if n := op.keySets.Load(); n > 2 {
		t.Errorf("%d fetches of the key set", n)
	}
}

func TestMetadataIsHeldToItsIssuer(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"another issuer":          {"issuer": "https://evil.example"},
		"no issuer":               {"issuer": nil},
		"endpoint on plain http":  {"token_endpoint": "http://op.example/token"},
		"endpoint with a user":    {"token_endpoint": "https://op.example@evil.example/token"},
		"endpoint that is a path": {"jwks_uri": "/jwks"},
		"endpoint of a type":      {"token_endpoint": 7},
	} {
		t.Run(name, func(t *testing.T) {
			op := newIssuer(t)
			maps.Copy(op.document, change)
			if _, err := newClient().Metadata(t.Context(), op.URL); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestCheckIss(t *testing.T) {
	const op = "https://op.example"
	for _, row := range []struct {
		name       string
		got        []string
		issuer     string
		advertised bool
		ok         bool
	}{
		{"not advertised, not there", nil, op, false, true},
		{"not advertised, right", []string{op}, op, false, true},
		{"not advertised, wrong", []string{"https://evil.example"}, op, false, false},
		{"advertised, not there", nil, op, true, false},
		{"advertised, right", []string{op}, op, true, true},
		{"advertised, wrong", []string{"https://evil.example"}, op, true, false},
		{"a slash more", []string{op + "/"}, op, true, false},
		{"empty", []string{""}, op, false, false},
		{"twice", []string{op, op}, op, true, false},
		{"no known issuer, there", []string{"https://any.example"}, "", false, true},
		{"no known issuer, not there", nil, "", false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := oidc.CheckIss(row.got, row.issuer, row.advertised); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func BenchmarkVerifyIDToken(b *testing.B) {
	op, c := newIssuer(b), newClient()
	for _, alg := range []struct{ name, key string }{{"RS256", "rs1"}, {"ES256", "es1"}} {
		token := op.token(b, map[string]any{"alg": alg.name, "kid": alg.key}, nil, alg.key)
		b.Run(alg.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.verify(b, op, token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
