package verify_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify/verifytest"
)

const orders = "https://orders.example"

// issuer is an issuer whose responses and clock tests set.
type issuer struct {
	*testing.T
	url string
	ed  ed25519.PrivateKey
	ec  *ecdsa.PrivateKey

	mu       sync.Mutex
	now      time.Time
	keys     []any // of the JWKS
	header   string
	status   int
	requests int
	wait     chan struct{} // if not nil, responses wait until it is closed
	active   string        // the body of the introspection
	asked    url.Values    // the last introspection
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), status: 200, header: "public, max-age=600"}
	var err error
	if _, i.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	if i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	i.keys = []any{edKey("ed", i.ed), ecKey(t, "ec", i.ec)}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

func edKey(kid string, key ed25519.PrivateKey) map[string]any {
	return map[string]any{
		"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid,
		"x": encode(key.Public().(ed25519.PublicKey)),
	}
}

func ecKey(t *testing.T, kid string, key *ecdsa.PrivateKey) map[string]any {
	t.Helper()
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": kid,
		"x": encode(point[1:33]), "y": encode(point[33:]),
	}
}

// ServeHTTP serves the JWKS and the introspection.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.requests++
	body, status, header, wait := object{"keys": i.keys}.json(), i.status, i.header, i.wait
	if r.URL.Path == "/introspect" {
		_ = r.ParseForm()
		user, password, _ := r.BasicAuth()
		i.asked, body = r.PostForm, []byte(i.active)
		i.asked.Set("by", user+" "+password)
	}
	i.mu.Unlock()
	if wait != nil {
		<-wait
	}
	if r.URL.Path == "/moved" {
		http.Redirect(w, r, "/.well-known/jwks.json", http.StatusFound)
		return
	}
	w.Header().Set("Cache-Control", header)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// set changes the issuer.
func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) clock() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now
}

func (i *issuer) add(d time.Duration) { i.set(func() { i.now = i.now.Add(d) }) }

// count returns the number of requests since the last call.
func (i *issuer) count() (n int) {
	i.set(func() { n, i.requests = i.requests, 0 })
	return n
}

func (i *issuer) options() verify.Options {
	return verify.Options{Issuer: i.url, Audience: orders, Now: i.clock}
}

func (i *issuer) verifier(change ...func(*verify.Options)) *verify.Verifier {
	i.Helper()
	o := i.options()
	for _, f := range change {
		f(&o)
	}
	v, err := verify.New(o)
	if err != nil {
		i.Fatal(err)
	}
	return v
}

// object is a JSON object.
type object map[string]any

func (o object) json() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}

// with returns a copy with other members. A nil value removes one.
func (o object) with(other object) object {
	all := maps.Clone(o)
	maps.Copy(all, other)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// claims are those of a valid token.
func (i *issuer) claims() object {
	now := i.clock().Unix()
	return object{
		"iss": i.url, "aud": orders, "sub": "ada", "client_id": "cli", "jti": "1", "iat": now, "exp": now + 300,
		"scope": "orders:read orders:write", "sid": "s1", "auth_time": now - 60, "amr": []string{"pwd", "otp"},
		"acr": "urn:gold", "act": object{"sub": "root"},
	}
}

var header = object{"alg": "EdDSA", "kid": "ed", "typ": "at+jwt"}

// sign returns a token with a signature by key.
func sign(t *testing.T, header, claims object, key crypto.Signer) string {
	t.Helper()
	text := encode(header.json()) + "." + encode(claims.json())
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return text + "." + encode(ed25519.Sign(k, []byte(text)))
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return text + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	}
	return text + "."
}

// token returns a valid token with other claims.
func (i *issuer) token(other object) string {
	i.Helper()
	return sign(i.T, header, i.claims().with(other), i.ed)
}

// TestVerify compares the content of tokens.
func TestVerify(t *testing.T) {
	i := newIssuer(t)
	v, at := i.verifier(), i.clock()
	for name, token := range map[string]string{
		"EdDSA": i.token(nil),
		"ES256": sign(t, header.with(object{"alg": "ES256", "kid": "ec"}), i.claims(), i.ec),
		"a list of audiences, and the full type": sign(t, header.with(object{"typ": "Application/AT+JWT"}),
			i.claims().with(object{"aud": []string{"https://other.example", orders}}), i.ed),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := v.Verify(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			if got.Issuer != i.url || got.Subject != "ada" || got.ClientID != "cli" || got.ID != "1" ||
				got.SessionID != "s1" || got.ACR != "urn:gold" || got.Actor != "root" ||
				!slices.Equal(got.Scopes, []string{"orders:read", "orders:write"}) ||
				!slices.Equal(got.Methods, []string{"pwd", "otp"}) || !slices.Contains(got.Audience, orders) ||
				!got.IssuedAt.Equal(at) || !got.Expires.Equal(at.Add(5*time.Minute)) ||
				!got.AuthTime.Equal(at.Add(-time.Minute)) || string(got.Claims["jti"]) != `"1"` {
				t.Errorf("the token is %+v", got)
			}
			if !got.Allows() || !got.Allows("orders:read", "orders:write") || got.Allows("orders:read", "orders") ||
				got.Allows("") {
				t.Error("Allows compares the scopes wrongly")
			}
		})
	}
	if n := i.count(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestAttacks sends tokens that an attacker can make.
func TestAttacks(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	_, own, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ownEC, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := i.token(nil)
	parts := strings.Split(good, ".")
	hmacWith := func(secret []byte) string {
		text := encode(header.with(object{"alg": "HS256"}).json()) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	}
	es256 := header.with(object{"alg": "ES256", "kid": "ec"})
	der := func() string {
		text := encode(es256.json()) + "." + parts[1]
		sum := sha256.Sum256([]byte(text))
		signature, err := ecdsa.SignASN1(rand.Reader, i.ec, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return text + "." + encode(signature)
	}
	halves := func(r, s *big.Int) string {
		return encode(es256.json()) + "." + parts[1] + "." +
			encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	}
	for _, row := range []struct {
		name, token string
		want        error
	}{
		{"none", encode(header.with(object{"alg": "none"}).json()) + "." + parts[1] + ".", verify.ErrAlgorithm},
		{"None", encode(header.with(object{"alg": "None"}).json()) + "." + parts[1] + "." + parts[2], verify.ErrAlgorithm},
		{"no algorithm", encode(header.with(object{"alg": nil}).json()) + "." + parts[1] + "." + parts[2],
			verify.ErrAlgorithm},
		{"a list of algorithms", encode(header.with(object{"alg": []string{"EdDSA"}}).json()) + "." + parts[1] + "." +
			parts[2], verify.ErrAlgorithm},
		{"HMAC with the public key", hmacWith(i.ed.Public().(ed25519.PublicKey)), verify.ErrAlgorithm},
		{"RS256", sign(t, header.with(object{"alg": "RS256"}), i.claims(), i.ed), verify.ErrAlgorithm},
		{"the algorithm of another key", sign(t, header.with(object{"alg": "ES256"}), i.claims(), i.ed), verify.ErrAlgorithm},
		{"the ID of a key for another algorithm", sign(t, header.with(object{"kid": "ec"}), i.claims(), i.ed),
			verify.ErrAlgorithm},
		{"without a signature", parts[0] + "." + parts[1] + ".", verify.ErrSignature},
		{"another key with the ID of the issuer's", sign(t, header, i.claims(), own), verify.ErrSignature},
		{"another EC key", sign(t, es256, i.claims(), ownEC), verify.ErrSignature},
		{"its own key in jwk", sign(t, header.with(object{"jwk": edKey("ed", own)}), i.claims(), own), verify.ErrSignature},
		{"its own key at jku", sign(t, header.with(object{"jku": "https://evil.example/keys", "kid": "evil"}), i.claims(),
			own), verify.ErrUnknownKey},
		{"a path as key ID", sign(t, header.with(object{"kid": "../../dev/null"}), i.claims(), own), verify.ErrUnknownKey},
		{"SQL as key ID", sign(t, header.with(object{"kid": "x' UNION SELECT 'ed"}), i.claims(), own), verify.ErrUnknownKey},
		{"no key ID", sign(t, header.with(object{"kid": nil}), i.claims(), i.ed), verify.ErrUnknownKey},
		{"a number as key ID", sign(t, header.with(object{"kid": 1}), i.claims(), i.ed), verify.ErrUnknownKey},
		{"another payload", parts[0] + "." + encode(i.claims().with(object{"sub": "root"}).json()) + "." + parts[2],
			verify.ErrSignature},
		{"another header", encode(header.with(object{"x": 1}).json()) + "." + parts[1] + "." + parts[2], verify.ErrSignature},
		{"a DER signature", der(), verify.ErrSignature},
		{"zeros as signature", halves(new(big.Int), new(big.Int)), verify.ErrSignature},
		{"the order as signature", halves(elliptic.P256().Params().N, elliptic.P256().Params().N), verify.ErrSignature},
		{"an ID token", sign(t, header.with(object{"typ": "JWT"}), i.claims(), i.ed), verify.ErrMalformed},
		{"no type", sign(t, header.with(object{"typ": nil}), i.claims(), i.ed), verify.ErrMalformed},
		{"a logout token", sign(t, header.with(object{"typ": "logout+jwt"}), i.claims(), i.ed), verify.ErrMalformed},
		{"a critical extension", sign(t, header.with(object{"crit": []string{"b64"}, "b64": false}), i.claims(), i.ed),
			verify.ErrMalformed},
		{"upper case names", sign(t, object{"ALG": "EdDSA", "KID": "ed", "TYP": "at+jwt"}, i.claims(), i.ed),
			verify.ErrAlgorithm},
		{"encrypted", good + ".x.y", verify.ErrMalformed},
		{"two parts", parts[0] + "." + parts[1], verify.ErrMalformed},
		{"empty", "", verify.ErrMalformed},
		{"dots", "..", verify.ErrMalformed},
		{"padding", parts[0] + "=." + parts[1] + "." + parts[2], verify.ErrMalformed},
		{"a line break", parts[0] + "." + parts[1] + "\n." + parts[2], verify.ErrMalformed},
		{"a line break at the end", good + "\n", verify.ErrMalformed},
		{"bits after the signature", good[:len(good)-1] + string(good[len(good)-1]+1), verify.ErrMalformed},
		{"standard base64", parts[0] + "." + parts[1] + "." + parts[2][:85] + "+", verify.ErrMalformed},
		{"null as header", encode([]byte("null")) + "." + parts[1] + "." + parts[2], verify.ErrMalformed},
		{"a list as header", encode([]byte("[]")) + "." + parts[1] + "." + parts[2], verify.ErrMalformed},
		{"oversized", i.token(object{"x": strings.Repeat("x", 8<<10)}), verify.ErrMalformed},
		{"for another service", i.token(object{"aud": "https://billing.example"}), verify.ErrAudience},
		{"for a prefix", i.token(object{"aud": orders + ".evil.example"}), verify.ErrAudience},
		{"for nobody", i.token(object{"aud": []string{}}), verify.ErrAudience},
		{"without an audience", i.token(object{"aud": nil}), verify.ErrAudience},
		{"upper case audience", i.token(object{"aud": nil, "AUD": orders}), verify.ErrAudience},
		{"another issuer", i.token(object{"iss": "https://evil.example"}), verify.ErrIssuer},
		{"the issuer with a slash", i.token(object{"iss": i.url + "/"}), verify.ErrIssuer},
		{"without an issuer", i.token(object{"iss": nil}), verify.ErrIssuer},
		{"expired", i.token(object{"exp": i.clock().Unix() - 30}), verify.ErrExpired},
		{"of the future", i.token(object{"iat": i.clock().Unix() + 31}), verify.ErrNotYetValid},
		{"not yet valid", i.token(object{"nbf": i.clock().Unix() + 31}), verify.ErrNotYetValid},
		{"without exp", i.token(object{"exp": nil}), verify.ErrMalformed},
		{"a text as exp", i.token(object{"exp": "9999999999"}), verify.ErrMalformed},
		{"a huge exp", i.token(object{"exp": 1e300}), verify.ErrMalformed},
		{"a negative exp", i.token(object{"exp": -1}), verify.ErrMalformed},
		{"without iat", i.token(object{"iat": nil}), verify.ErrMalformed},
		{"without sub", i.token(object{"sub": nil}), verify.ErrMalformed},
		{"without jti", i.token(object{"jti": nil}), verify.ErrMalformed},
		{"without client_id", i.token(object{"client_id": nil}), verify.ErrMalformed},
		{"a list as sub", i.token(object{"sub": []string{"ada"}}), verify.ErrMalformed},
		{"a list as scope", i.token(object{"scope": []string{"orders:read"}}), verify.ErrMalformed},
		{"an object as aud", i.token(object{"aud": object{"x": 1}}), verify.ErrMalformed},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := v.Verify(t.Context(), row.token)
			if got != nil || !errors.Is(err, row.want) {
				t.Fatalf("%+v, error %v, want %v", got, err, row.want)
			}
			if len(row.token) > 2 && strings.Contains(err.Error(), row.token) || strings.Contains(err.Error(), "evil") {
				t.Errorf("the error contains the token: %v", err)
			}
		})
	}
	for name, other := range map[string]object{
		"expired within the clock skew":   {"exp": i.clock().Unix() - 29},
		"issued within the clock skew":    {"iat": i.clock().Unix() + 30},
		"valid soon, in the clock skew":   {"nbf": i.clock().Unix() + 30},
		"times with fractions of seconds": {"exp": float64(i.clock().Unix()) + 0.5},
	} {
		if _, err := v.Verify(t.Context(), i.token(other)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("the token without a change: %v", err)
	}
	if n := i.count(); n != 1 {
		t.Errorf("the attacks caused %d requests", n)
	}
}

// TestKeysOfOtherKinds publishes keys that must not verify tokens.
func TestKeysOfOtherKinds(t *testing.T) {
	i := newIssuer(t)
	with := func(other object) object { return object(edKey("ed", i.ed)).with(other) }
	ec := func(other object) object { return object(ecKey(t, "ed", i.ec)).with(other) }
	es256 := header.with(object{"alg": "ES256"})
	for name, row := range map[string]struct {
		keys   []any
		header object
		key    crypto.Signer
	}{
		"for encryption":           {[]any{with(object{"use": "enc"})}, header, i.ed},
		"private":                  {[]any{with(object{"d": encode(i.ed.Seed())})}, header, i.ed},
		"for another algorithm":    {[]any{with(object{"alg": "ES256"})}, header, i.ed},
		"another curve":            {[]any{with(object{"crv": "X25519"})}, header, i.ed},
		"another type":             {[]any{with(object{"kty": "EC"})}, header, i.ed},
		"a short key":              {[]any{with(object{"x": "AAAA"})}, header, i.ed},
		"no ID":                    {[]any{with(object{"kid": nil})}, header, i.ed},
		"no object":                {[]any{1, "x", nil, []int{1}}, header, i.ed},
		"a point not on the curve": {[]any{ec(object{"y": encode(make([]byte, 32))})}, es256, i.ec},
		"a long coordinate":        {[]any{ec(object{"x": encode(make([]byte, 33))})}, es256, i.ec},
		"after 100 keys":           {append(slices.Repeat([]any{with(object{"kid": "x"})}, 100), with(nil)), header, i.ed},
	} {
		t.Run(name, func(t *testing.T) {
			i.set(func() { i.keys = row.keys })
			if _, err := i.verifier().Verify(t.Context(), sign(t, row.header, i.claims(), row.key)); !errors.Is(err,
				verify.ErrUnknownKey) {
				t.Errorf("error %v", err)
			}
		})
	}
	i.set(func() { i.keys = []any{with(object{"use": nil, "alg": nil}), ec(nil)} })
	if _, err := i.verifier().Verify(t.Context(), i.token(nil)); err != nil {
		t.Errorf("a key without use and alg: %v", err)
	}
}

// TestManyRequestsShareOneFetch verifies tokens at the same time, before the keys are known.
func TestManyRequestsShareOneFetch(t *testing.T) {
	i := newIssuer(t)
	i.wait = make(chan struct{})
	v, token := i.verifier(), i.token(nil)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Verify(gone, token); !errors.Is(err, context.Canceled) {
		t.Fatalf("a client that left: %v", err)
	}
	errs := make(chan error)
	for range 50 {
		go func() {
			_, err := v.Verify(t.Context(), token)
			errs <- err
		}()
	}
	close(i.wait)
	for range 50 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := i.count(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestUnknownKeysAreLimited sends tokens with made-up key IDs.
func TestUnknownKeysAreLimited(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	storm := func() {
		t.Helper()
		for n := range 100 {
			forged := sign(t, header.with(object{"kid": fmt.Sprint("made-up-", n)}), i.claims(), i.ed)
			if _, err := v.Verify(t.Context(), forged); !errors.Is(err, verify.ErrUnknownKey) {
				t.Fatal(err)
			}
		}
	}
	storm()
	if n := i.count(); n != 1 {
		t.Fatalf("%d requests for the first keys", n)
	}
	i.add(29 * time.Second)
	storm()
	if n := i.count(); n != 0 {
		t.Fatalf("%d requests within 30 seconds", n)
	}
	i.set(func() { i.keys = append(i.keys, edKey("new", i.ed)) })
	i.add(time.Second)
	if _, err := v.Verify(t.Context(), sign(t, header.with(object{"kid": "new"}), i.claims(), i.ed)); err != nil {
		t.Fatalf("a new key: %v", err)
	}
	storm()
	if n := i.count(); n != 1 {
		t.Fatalf("%d requests for a new key", n)
	}
}

// TestKeysAreStored waits for the end of max-age, with an issuer that responds and one that does not.
func TestKeysAreStored(t *testing.T) {
	for _, row := range []struct {
		header string
		age    time.Duration
	}{
		{"public, max-age=1200", 20 * time.Minute}, {"", 10 * time.Minute}, {"no-store", 10 * time.Minute},
		{"max-age=0", time.Minute}, {"max-age=-5", time.Minute}, {"max-age=x", 10 * time.Minute},
		{"Max-Age=99999999999999", 24 * time.Hour},
	} {
		t.Run(row.header, func(t *testing.T) {
			i := newIssuer(t)
			i.header = row.header
			v := i.verifier()
			ask := func(want int) error {
				t.Helper()
				_, err := v.Verify(t.Context(), i.token(nil))
				if n := i.count(); n != want {
					t.Fatalf("%d requests, want %d", n, want)
				}
				return err
			}
			good := func(want int) {
				t.Helper()
				if err := ask(want); err != nil {
					t.Fatal(err)
				}
			}
			good(1)
			i.add(row.age - time.Second)
			good(0)
			i.add(time.Second)
			good(1)
			i.set(func() { i.status = 500 })
			i.add(row.age)
			good(1) // the issuer fails: the stored keys are used
			i.add(4 * time.Second)
			good(0)
			i.add(time.Second)
			good(1)
			i.add(time.Hour - 6*time.Second)
			good(1)
			i.add(time.Second) // an hour after the keys expired
			if err := ask(0); !errors.Is(err, verify.ErrUnavailable) {
				t.Fatalf("old keys: %v", err)
			}
			i.set(func() { i.status, i.keys = 200, nil })
			i.add(5 * time.Second)
			if err := ask(1); !errors.Is(err, verify.ErrUnknownKey) && !errors.Is(err, verify.ErrUnavailable) {
				t.Fatalf("a removed key: %v", err)
			}
		})
	}
}

// TestRemovedKey removes a key from the JWKS.
func TestRemovedKey(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	if _, err := v.Verify(t.Context(), i.token(nil)); err != nil {
		t.Fatal(err)
	}
	i.set(func() { i.keys = []any{ecKey(t, "ec", i.ec)} })
	i.add(10 * time.Minute)
	if _, err := v.Verify(t.Context(), i.token(nil)); !errors.Is(err, verify.ErrUnknownKey) {
		t.Errorf("error %v", err)
	}
}

// TestBadIssuers gets keys from an issuer that does not respond as expected.
func TestBadIssuers(t *testing.T) {
	i := newIssuer(t)
	keys := func(body string, err error) func(*verify.Options) {
		return func(o *verify.Options) {
			o.Keys = func(context.Context) ([]byte, error) { return []byte(body), err }
		}
	}
	for name, change := range map[string]func(*verify.Options){
		"a redirect":  func(o *verify.Options) { o.JWKSURL = i.url + "/moved" },
		"no host":     func(o *verify.Options) { o.JWKSURL = "http://127.0.0.1:1/" },
		"no JSON":     keys("<html>", nil),
		"no keys":     keys("{}", nil),
		"a failure":   keys("", errors.New("x")),
		"a panic":     func(o *verify.Options) { o.Keys = func(context.Context) ([]byte, error) { panic("x") } },
		"a large set": func(o *verify.Options) { o.HTTPClient = &http.Client{Transport: endless{}} },
	} {
		if _, err := i.verifier(change).Verify(t.Context(), i.token(nil)); !errors.Is(err, verify.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := keys(string(object{"keys": i.keys}.json()), nil)
	if _, err := i.verifier(own).Verify(t.Context(), i.token(nil)); err != nil {
		t.Errorf("Options.Keys: %v", err)
	}
}

// endless is a transport whose responses do not end.
type endless struct{}

func (endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(zeros{}), Request: r}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestRequire sends requests to a protected handler.
func TestRequire(t *testing.T) {
	i := newIssuer(t)
	var refused error
	v := i.verifier(func(o *verify.Options) {
		o.ResourceMetadata = orders + "/.well-known/oauth-protected-resource"
		o.Refused = func(_ context.Context, err error) { refused = err }
	})
	handler := v.Require("orders:read")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, verify.FromContext(r.Context()).Subject)
	}))
	const end = `, resource_metadata="https://orders.example/.well-known/oauth-protected-resource"`
	const begin = `Bearer realm="https://orders.example"`
	const malformed = begin + `, error="invalid_request", ` +
		`error_description="The Authorization header is not a single bearer token."` + end
	for _, row := range []struct {
		name          string
		authorization []string
		status        int
		body          string
		challenge     string
	}{
		{"a token", []string{"Bearer " + i.token(nil)}, 200, "ada", ""},
		{"a lower-case scheme", []string{"bearer " + i.token(nil)}, 200, "ada", ""},
		{"no token", nil, 401, `"status":401`, begin + `, scope="orders:read"` + end},
		{"another scheme", []string{"Basic eDp5"}, 401, `"status":401`, begin + `, scope="orders:read"` + end},
		{"two headers", []string{"Bearer " + i.token(nil), "Bearer " + i.token(nil)}, 400, "invalid_request", malformed},
		{"two tokens in one header", []string{"Bearer a, Bearer b"}, 400, "invalid_request", malformed},
		{"no token after the scheme", []string{"Bearer"}, 400, "invalid_request", malformed},
		{"an expired token", []string{"Bearer " + i.token(object{"exp": 1})}, 401, "The token has expired.",
			begin + `, error="invalid_token", error_description="The token has expired."` + end},
		{"garbage", []string{"Bearer <script>"}, 401, "The token is not valid.",
			begin + `, error="invalid_token", error_description="The token is not valid."` + end},
		{"no scope", []string{"Bearer " + i.token(object{"scope": "orders:write orders:readx"})}, 403, "insufficient_scope",
			begin + `, error="insufficient_scope", error_description="The token lacks a scope.", scope="orders:read"` + end},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header["Authorization"] = row.authorization
			w := httptest.NewRecorder()
			refused = nil
			handler.ServeHTTP(w, r)
			if invalid := strings.Contains(row.challenge, "invalid_token"); invalid != (refused != nil) {
				t.Errorf("Refused got %v", refused)
			}
			if w.Code != row.status || !strings.Contains(w.Body.String(), row.body) ||
				w.Header().Get("WWW-Authenticate") != row.challenge {
				t.Errorf("%d %s %s", w.Code, w.Header().Get("WWW-Authenticate"), w.Body)
			}
			if row.status != 200 && (w.Header().Get("Cache-Control") != "no-store" || strings.Contains(w.Body.String(), "<")) {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
		})
	}
	i.set(func() { i.status = 500 })
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+i.token(nil))
	w := httptest.NewRecorder()
	i.verifier().Require()(handler).ServeHTTP(w, r)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("without an issuer: %d %v", w.Code, w.Header())
	}
	if verify.FromContext(t.Context()) != nil {
		t.Error("a context without a token has one")
	}
}

// TestIntrospection asks the issuer about tokens.
func TestIntrospection(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier(func(o *verify.Options) {
		o.Introspection = &verify.Introspection{URL: i.url + "/introspect", Secret: "s:1%"}
	})
	token := i.token(nil)
	for _, row := range []struct {
		body   string
		status int
		want   error
	}{
		{`{"active":true}`, 200, nil},
		{`{"active":false}`, 200, verify.ErrRevoked},
		{`{"active":"true"}`, 200, verify.ErrUnavailable},
		{`{"active":null}`, 200, verify.ErrUnavailable},
		{`{"ACTIVE":true}`, 200, verify.ErrUnavailable},
		{`{}`, 200, verify.ErrUnavailable},
		{`true`, 200, verify.ErrUnavailable},
		{`{"active":true}`, 401, verify.ErrUnavailable},
		{`{"active":true}`, 302, verify.ErrUnavailable},
	} {
		i.set(func() { i.status = 200 })
		_, _ = v.Verify(t.Context(), "x.y.z")
		if _, err := i.verifier().Verify(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		i.set(func() { i.active, i.status = `{"active":true}`, 200 })
		if _, err := v.Verify(t.Context(), token); err != nil { // reads the keys
			t.Fatal(err)
		}
		i.set(func() { i.active, i.status = row.body, row.status })
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, row.want) {
			t.Errorf("%d %s: %v", row.status, row.body, err)
		}
	}
	if i.asked.Get("token") != token || i.asked.Get("by") != "https%3A%2F%2Forders.example s%3A1%25" {
		t.Errorf("the issuer was asked %v", i.asked)
	}
	i.count()
	_, err := v.Verify(t.Context(), i.token(object{"aud": "x"}))
	if !errors.Is(err, verify.ErrAudience) || i.count() != 0 {
		t.Errorf("a token for another service was sent to the issuer: %v", err)
	}
}

// TestOptions makes each error of the options.
func TestOptions(t *testing.T) {
	i := newIssuer(t)
	for want, change := range map[string]func(*verify.Options){
		"Issuer":           func(o *verify.Options) { o.Issuer = "" },
		"Audience":         func(o *verify.Options) { o.Audience = "" },
		"Options.Audience": func(o *verify.Options) { o.Audience = `a"b` },
		"ClockSkew":        func(o *verify.Options) { o.ClockSkew = 6 * time.Minute },
		"JWKSURL":          func(o *verify.Options) { o.JWKSURL = "http://app.example/jwks.json" },
		"ResourceMetadata": func(o *verify.Options) { o.ResourceMetadata = "a b" },
		"Introspection": func(o *verify.Options) {
			o.Introspection = &verify.Introspection{URL: "http://app.example", Secret: "x"}
		},
		"set Secret": func(o *verify.Options) { o.Introspection = &verify.Introspection{URL: i.url} },
	} {
		o := i.options()
		change(&o)
		if _, err := verify.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	o := i.options()
	o.Issuer = "http://app.example"
	if _, err := verify.New(o); err == nil {
		t.Error("keys over http are accepted")
	}
}

// TestIssuerForTests uses package verifytest as a service would.
func TestIssuerForTests(t *testing.T) {
	i := verifytest.New(t)
	v := i.Verifier(orders)
	got, err := v.Verify(t.Context(), i.Token(orders, map[string]any{"sub": "ada", "scope": "orders:read"}))
	if err != nil || got.Subject != "ada" || !got.Allows("orders:read") {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := v.Verify(t.Context(), i.Token("https://other.example", nil)); !errors.Is(err, verify.ErrAudience) {
		t.Error(err)
	}
	if _, err := v.Verify(t.Context(), i.Token(orders, map[string]any{"sub": nil})); !errors.Is(err, verify.ErrMalformed) {
		t.Error(err)
	}
	response, err := http.Get(i.URL)
	if err != nil || response.StatusCode != 404 {
		t.Errorf("another path: %v %v", response, err)
	}
	_ = response.Body.Close()
}

// BenchmarkVerify verifies a token of a stored key.
func BenchmarkVerify(b *testing.B) {
	i := verifytest.New(b)
	v, token := i.Verifier(orders), i.Token(orders, nil)
	if _, err := v.Verify(b.Context(), token); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = v.Verify(b.Context(), token)
	}
}
