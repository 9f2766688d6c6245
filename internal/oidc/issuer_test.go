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
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

const opURL = "https://op.example"

// signers are created once, because generating RSA keys is slow.
var signers = sync.OnceValue(func() map[string]crypto.Signer {
	keys := map[string]crypto.Signer{}
	for _, id := range []string{"rs1", "rs2", "evil"} {
		keys[id], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	for _, id := range []string{"es1", "evil-ec"} {
		keys[id], _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	keys["es384"], _ = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	keys["es512"], _ = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	_, keys["ed1"], _ = ed25519.GenerateKey(rand.Reader)
	keys["weak"] = weakKey()
	return keys
})

// weakKey returns a key with a modulus of 512 bits, which crypto/rsa neither generates nor signs with.
func weakKey() *rsa.PrivateKey {
	for {
		p, _ := rand.Prime(rand.Reader, 256)
		q, _ := rand.Prime(rand.Reader, 256)
		one, e := big.NewInt(1), big.NewInt(65537)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		if d := new(big.Int).ModInverse(e, phi); d != nil {
			return &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, D: d}
		}
	}
}

// issuer is a provider in memory: a transport that serves only op.example. Tests change its documents.
type issuer struct {
	mu       sync.Mutex
	document map[string]any
	keys     any // the member keys of the key set
	// answers replace valid documents, by path.
	answers map[string]http.HandlerFunc

	documents, keySets, elsewhere atomic.Int64
}

const (
	documentPath = "/.well-known/openid-configuration"
	keysPath     = "/jwks"
)

func newIssuer() *issuer {
	op := &issuer{answers: map[string]http.HandlerFunc{}}
	op.document = map[string]any{
		"issuer": opURL, "authorization_endpoint": opURL + "/authorize",
		"token_endpoint": opURL + "/token", "jwks_uri": opURL + keysPath,
		"userinfo_endpoint":                     opURL + "/userinfo",
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "EdDSA", "none", "HS256"},
	}
	op.publish("rs1", "es1", "ed1")
	return op
}

func jwk(id string) map[string]any {
	raw, _ := json.Marshal(jose.JSONWebKey{Key: signers()[id].Public(), KeyID: id, Use: "sig"})
	var members map[string]any
	_ = json.Unmarshal(raw, &members)
	return members
}

// publish sets the key set. keys are names of signers, or keys in the format of the document.
func (op *issuer) publish(keys ...any) {
	list := []any{}
	for _, key := range keys {
		if id, ok := key.(string); ok {
			key = jwk(id)
		}
		list = append(list, key)
	}
	op.mu.Lock()
	defer op.mu.Unlock()
	op.keys = list
}

// answer replaces the response for a path. A nil handler restores the valid document.
func (op *issuer) answer(path string, h http.HandlerFunc) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.answers[path] = h
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func (op *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op.mu.Lock()
	document, _ := json.Marshal(op.document)
	keys, _ := json.Marshal(map[string]any{"keys": op.keys})
	own := op.answers[r.URL.Path]
	op.mu.Unlock()
	if r.URL.Path == keysPath {
		op.keySets.Add(1)
		document = keys
	} else {
		op.documents.Add(1)
	}
	if own != nil {
		own(w, r)
		return
	}
	_, _ = w.Write(document)
}

// RoundTrip implements [http.RoundTripper].
func (op *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "op.example" || r.URL.Scheme != "https" {
		op.elsewhere.Add(1)
		return answering(r, status(http.StatusTeapot))
	}
	return answering(r, op.ServeHTTP)
}

// clock is a clock that tests set, also during a fetch.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) forward(d time.Duration) { c.at.Add(int64(d)) }

// client is a Discovery with a clock.
type client struct {
	*oidc.Discovery
	clock
}

func newClient(transport http.RoundTripper, handler ...slog.Handler) *client {
	c := &client{}
	c.at.Store(now.UnixNano())
	o := oidc.Options{Client: upstream.New(upstream.Options{HTTP: &http.Client{Transport: transport}}), Now: c.Now}
	if len(handler) > 0 {
		o.Logger = slog.New(handler[0])
	}
	c.Discovery = oidc.New(o)
	return c
}

func (c *client) expect(t testing.TB) oidc.Expect {
	t.Helper()
	m, err := c.Metadata(t.Context(), opURL)
	if err != nil {
		t.Fatal(err)
	}
	return oidc.Expect{Metadata: m, ClientID: "client-1", ClientSecret: "secret-1", Nonce: "n-1", AccessToken: "at-1"}
}

func (c *client) verify(t testing.TB, raw string) error {
	t.Helper()
	_, err := c.VerifyIDToken(context.WithoutCancel(t.Context()), raw, c.expect(t))
	return err
}

// token returns a valid ID token with changes; "$del" removes a member. key is a signer's name, optionally with a slash
// and an algorithm, "none", "client_secret", or "hmac:" and the secret.
func token(t testing.TB, header, claims map[string]any, key string) string {
	t.Helper()
	h := map[string]any{"alg": "RS256", "kid": "rs1"}
	patch(h, header)
	c := map[string]any{
		"iss": opURL, "aud": "client-1", "sub": "u1", "iat": now.Unix(), "exp": now.Unix() + 300, "nonce": "n-1",
	}
	sum := sha256.Sum256([]byte("at-1"))
	c["at_hash"] = base64.RawURLEncoding.EncodeToString(sum[:16])
	if h["alg"] == "EdDSA" || h["alg"] == "Ed25519" {
		sum := sha512.Sum512([]byte("at-1"))
		c["at_hash"] = base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	patch(c, claims)
	head, _ := json.Marshal(h)
	body, _ := json.Marshal(c)
	return signed(t, string(head), string(body), key)
}

func signed(t testing.TB, header, claims, key string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(claims))
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(t, text, key))
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

// sign signs without a library, because the tests need signatures that a library would refuse to make.
func sign(t testing.TB, text, key string) []byte {
	t.Helper()
	key, alg, _ := strings.Cut(key, "/")
	if key == "client_secret" {
		key = "hmac:secret-1"
	}
	if secret, ok := strings.CutPrefix(key, "hmac:"); ok {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	if key == "none" {
		return nil
	}
	hash := crypto.SHA256
	if strings.HasSuffix(alg, "384") {
		hash = crypto.SHA384
	} else if strings.HasSuffix(alg, "512") {
		hash = crypto.SHA512
	}
	h := hash.New()
	h.Write([]byte(text))
	digest := h.Sum(nil)
	switch k := signers()[key].(type) {
	case *rsa.PrivateKey:
		if k.N.BitLen() == 512 {
			return signWeakly(k, digest)
		}
		var opts crypto.SignerOpts = hash
		if strings.HasPrefix(alg, "PS") {
			opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
		}
		signature, err := k.Sign(rand.Reader, digest, opts)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, k, digest)
		if err != nil {
			t.Fatal(err)
		}
		size := (k.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(text))
	}
	t.Fatalf("no key %q", key)
	return nil
}

// signWeakly is RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2.1) without a check of the key size.
func signWeakly(k *rsa.PrivateKey, digest []byte) []byte {
	tail := append([]byte{0, 0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20},
		digest...)
	message := []byte{0, 1}
	for len(message)+len(tail) < 64 {
		message = append(message, 0xff)
	}
	message = append(message, tail...)
	return new(big.Int).Exp(new(big.Int).SetBytes(message), k.D, k.N).FillBytes(make([]byte, 64))
}
