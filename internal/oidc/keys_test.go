package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func newServer(t *testing.T, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// with returns a key with changes; "$del" removes a member.
func with(id string, changes map[string]any) map[string]any {
	key := jwk(id)
	patch(key, changes)
	return key
}

func private(id string) map[string]any {
	raw, _ := json.Marshal(jose.JSONWebKey{Key: signers()[id], KeyID: id})
	var members map[string]any
	_ = json.Unmarshal(raw, &members)
	return members
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		keys []any
		ok   bool
	}{
		{"the key", []any{"rs1"}, true},
		{"without use", []any{with("rs1", map[string]any{"use": "$del"})}, true},
		{"use is null", []any{with("rs1", map[string]any{"use": nil})}, true},
		{"for verifying", []any{with("rs1", map[string]any{"key_ops": []string{"sign", "verify"}})}, true},
		{"of the algorithm", []any{with("rs1", map[string]any{"alg": "RS256"})}, true},
		{"with unknown members", []any{with("rs1", map[string]any{"vendor": map[string]any{"y": 1}})}, true},
		{"behind unusable ones", []any{
			7, nil, true, []any{}, map[string]any{}, with("rs1", map[string]any{"kty": "XYZ"}),
			with("rs1", map[string]any{"n": "!"}), "rs1",
		}, true},
		{"behind another of its ID", []any{with("rs2", map[string]any{"kid": "rs1"}), "rs1"}, true},
		{"with a certificate that is none", []any{with("rs1", map[string]any{"x5c": []string{"AAAA"}})}, true},
		{"with a certificate of another key", []any{with("rs1", map[string]any{"x5c": []string{foreignCertificate(t)}})},
			true},
		{"with certificates that are text", []any{with("rs1", map[string]any{"x5c": "AAAA"})}, true},
		{"with a short thumbprint", []any{with("rs1", map[string]any{"x5t": "abc"})}, true},
		{"with a hexadecimal thumbprint",
			[]any{with("rs1", map[string]any{"x5t": "A94A8FE5CCB19BA61C4C0873D391E987982FBBD3"})}, true},
		{"with a thumbprint that is a number", []any{with("rs1", map[string]any{"x5t#S256": 7})}, true},
		{"with an address that is none", []any{with("rs1", map[string]any{"x5u": "://"})}, true},
		{"with half an emoji", []any{with("rs1", map[string]any{"name": json.RawMessage(`"\ud83d"`)})}, true},
		{"the hundredth", append(repeated(map[string]any{"kty": "XYZ"}, 99), "rs1"), true},

		{"none", []any{}, false},
		{"another", []any{"rs2"}, false},
		{"another of its ID", []any{with("rs2", map[string]any{"kid": "rs1"})}, false},
		{"without its ID", []any{with("rs1", map[string]any{"kid": "$del"})}, false},
		{"its ID is a number", []any{with("rs1", map[string]any{"kid": 1})}, false},
		{"its ID in capitals", []any{with("rs1", map[string]any{"kid": "RS1"})}, false},
		{"for encryption", []any{with("rs1", map[string]any{"use": "enc"})}, false},
		{"use is a list", []any{with("rs1", map[string]any{"use": []string{"sig"}})}, false},
		{"for encrypting", []any{with("rs1", map[string]any{"key_ops": []string{"encrypt"}})}, false},
		{"key_ops is text", []any{with("rs1", map[string]any{"key_ops": "verify"})}, false},
		{"of another algorithm", []any{with("rs1", map[string]any{"alg": "RS512"})}, false},
		{"with its private half", []any{private("rs1")}, false},
		{"symmetric", []any{map[string]any{"kty": "oct", "k": "c2VjcmV0", "kid": "rs1"}}, false},
		{"even exponent of nothing", []any{with("rs1", map[string]any{"e": "AQ"})}, false},
		{"the hundred and first", append(repeated(map[string]any{"kty": "XYZ"}, 100), "rs1"), false},
		{"behind ten others of its ID", append(repeated(with("rs2", map[string]any{"kid": "rs1"}), 10), "rs1"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := newIssuer()
			op.publish(row.keys...)
			if err := newClient(op).verify(t, token(t, nil, nil, "rs1")); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// foreignCertificate returns a certificate of the key evil in the format of x5c.
func foreignCertificate(t *testing.T) string {
	t.Helper()
	key := signers()["evil"]
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// TestOmittedKeysAreCounted: the error contains the number of published keys that are not used, by reason.
func TestOmittedKeysAreCounted(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		keys []any
		says string
	}{
		"every key is used": {[]any{"rs2"}, "the signature fits no key of the issuer"},
		"five kinds": {
			append(repeated("rs2", 95), "weak", private("rs1"), with("rs1", map[string]any{"use": "enc"}),
				with("rs1", map[string]any{"n": "!"}), 7, "rs1"),
			"the signature fits no key of the issuer: 6 of the published keys not used (2 malformed, or of an unknown type " +
				"or curve, 1 not published for signatures, 1 private or symmetric, 1 too weak or too large, 1 after the first 100)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := newIssuer()
			op.publish(row.keys...)
			if err := newClient(op).verify(t, token(t, nil, nil, "rs1")); err == nil || err.Error() != row.says {
				t.Errorf("got  %v\nwant %s", err, row.says)
			}
		})
	}
}

func repeated(key any, n int) (list []any) {
	for range n {
		list = append(list, key)
	}
	return list
}

func TestKeysOfOneIssuerOnly(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	op.document["jwks_uri"] = nil
	if err := newClient(op).verify(t, token(t, nil, nil, "rs1")); err == nil {
		t.Error("accepted without any key")
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	long := map[string]any{"exp": now.Unix() + 9000}
	for _, row := range []struct {
		name   string
		key    any
		header map[string]any
	}{
		{"a new ID", "rs2", map[string]any{"kid": "rs2"}},
		{"the same ID", with("rs2", map[string]any{"kid": "rs1"}), nil},
		{"no ID", with("rs2", map[string]any{"kid": "$del"}), map[string]any{"kid": "$del"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := newIssuer()
			c := newClient(op)
			before := token(t, nil, long, "rs1")
			if err := c.verify(t, before); err != nil {
				t.Fatal(err)
			}
			op.publish(row.key)
			if err := c.verify(t, token(t, row.header, long, "rs2")); err != nil {
				t.Errorf("the new key is not found, at once: %v", err)
			}
			if err := c.verify(t, before); err == nil {
				t.Error("a removed key still signs")
			}
		})
	}
}

func TestRemovedKeyDiesWithItsDocument(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	c := newClient(op)
	raw := token(t, nil, map[string]any{"exp": now.Unix() + 9000}, "rs1")
	if err := c.verify(t, raw); err != nil {
		t.Fatal(err)
	}
	op.publish("rs2")
	c.forward(time.Hour)
	if err := c.verify(t, raw); err == nil {
		t.Error("a removed key still signs after an hour")
	}
}

func TestFloodOfUnknownKeys(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	c := newClient(op)
	long := map[string]any{"exp": now.Unix() + 9000}
	for i := range 600 {
		if err := c.verify(t, token(t, map[string]any{"kid": fmt.Sprint("made-up-", i)}, long, "es1")); err == nil {
			t.Fatal("accepted")
		}
		c.forward(100 * time.Millisecond)
	}
	if n := op.keySets.Load(); n > 7 {
		t.Errorf("%d fetches of the key set in a minute", n)
	}
	op.publish("rs2")
	c.forward(10 * time.Second)
	if err := c.verify(t, token(t, map[string]any{"kid": "rs2"}, long, "rs2")); err != nil {
		t.Errorf("after the flood a new key is not found: %v", err)
	}
}

// TestFloodThatHangsUp leaves before the keys arrive: the only fetch that it starts must continue for other callers.
func TestFloodThatHangsUp(t *testing.T) {
	made := token(t, map[string]any{"kid": "made-up"}, nil, "es1")
	rotated := token(t, map[string]any{"kid": "rs2"}, nil, "rs2")
	synctest.Test(t, func(t *testing.T) {
		op := newIssuer()
		c := newClient(op)
		e := c.expect(t)
		if _, err := c.VerifyIDToken(t.Context(), token(t, nil, nil, "rs1"), e); err != nil {
			t.Fatal(err)
		}
		op.publish("rs2")
		hold, release := held()
		op.answer(keysPath, hold(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwk("rs2")}})
		}))
		ctx, hangUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = c.VerifyIDToken(ctx, made, e) })
		synctest.Wait()
		hangUp()
		all.Wait()
		all.Go(func() {
			if _, err := c.VerifyIDToken(t.Context(), rotated, e); err != nil {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		release()
		all.Wait()
		if n := op.keySets.Load(); n != 2 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestCachedKeysDuringAnOutage(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	c := newClient(op)
	long := map[string]any{"exp": now.Unix() + 9000}
	if err := c.verify(t, token(t, nil, long, "rs1")); err != nil {
		t.Fatal(err)
	}
	op.answer(keysPath, status(http.StatusInternalServerError))
	for range 3 {
		c.forward(31 * time.Minute)
		if err := c.verify(t, token(t, nil, long, "rs1")); err != nil {
			t.Errorf("got %v", err)
		}
		if err := c.verify(t, token(t, map[string]any{"kid": "rs2"}, long, "rs2")); err == nil {
			t.Error("accepted")
		}
	}
}
