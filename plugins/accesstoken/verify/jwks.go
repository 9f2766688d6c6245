package verify

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The accepted algorithms. None of them uses a shared secret, so that a public key can never be used as one.
const (
	algEdDSA = "EdDSA"
	algES256 = "ES256"
)

const (
	// maxKeys is the maximum number of keys in a set. Others are not read.
	maxKeys = 100
	// maxJWKS is the maximum length of a set in bytes.
	maxJWKS = 256 << 10
	// coordinateLen is the length of the coordinates of a P-256 key, and of both halves of its signatures.
	coordinateLen = 32
)

// publicKey is a key with the only algorithm that it verifies.
type publicKey struct {
	kid, alg string
	key      crypto.PublicKey
}

// parseKeys reads a key set (RFC 7517 section 5). It leaves out keys of other types and for other uses.
func parseKeys(body []byte) (map[string]*publicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil || set.Keys == nil {
		return nil, errors.New("the key set is malformed")
	}
	keys := map[string]*publicKey{}
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		members, err := object(raw)
		if err != nil {
			continue
		}
		if k := parseKey(members); k != nil && keys[k.kid] == nil {
			keys[k.kid] = k
		}
	}
	return keys, nil
}

// parseKey returns nil for a key that cannot verify tokens.
func parseKey(members map[string]json.RawMessage) *publicKey {
	get := func(name string) string { return textOf(members[name]) }
	x, err := encoding.DecodeString(get("x"))
	if err != nil || get("kid") == "" || members["d"] != nil || members["use"] != nil && get("use") != "sig" {
		return nil
	}
	k := &publicKey{kid: get("kid")}
	switch get("kty") + " " + get("crv") {
	case "OKP Ed25519":
		if len(x) != ed25519.PublicKeySize {
			return nil
		}
		k.alg, k.key = algEdDSA, ed25519.PublicKey(x)
	case "EC P-256":
		y, err := encoding.DecodeString(get("y"))
		if err != nil || len(x) != coordinateLen || len(y) != coordinateLen {
			return nil
		}
		point := append(append([]byte{4}, x...), y...)
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point) // refuses a point that is not on the curve
		if err != nil {
			return nil
		}
		k.alg, k.key = algES256, key
	}
	if k.alg == "" || members["alg"] != nil && get("alg") != k.alg {
		return nil
	}
	return k
}

// verifies reports whether the key made the signature.
func (k *publicKey) verifies(s *signed) bool {
	switch key := k.key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, []byte(s.text), s.signature)
	case *ecdsa.PublicKey:
		if len(s.signature) != 2*coordinateLen {
			return false
		}
		sum := sha256.Sum256([]byte(s.text))
		r, t := new(big.Int).SetBytes(s.signature[:coordinateLen]), new(big.Int).SetBytes(s.signature[coordinateLen:])
		return ecdsa.Verify(key, sum[:], r, t)
	}
	return false
}

// fetchKeys requests the key set, and returns its keys and their max-age.
func (v *Verifier) fetchKeys(ctx context.Context) (map[string]*publicKey, time.Duration, error) {
	if v.options.Keys != nil {
		body, err := v.options.Keys(ctx)
		if err != nil {
			return nil, 0, err
		}
		keys, err := parseKeys(body)
		return keys, defaultAge, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.options.JWKSURL, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	header, body, err := v.send(r, maxJWKS)
	if err != nil {
		return nil, 0, fmt.Errorf("request the key set: %w", err)
	}
	keys, err := parseKeys(body)
	return keys, maxAge(header), err
}

// send sends a request to the issuer and reads the response, which must have status 200.
func (v *Verifier) send(r *http.Request, limit int64) (http.Header, []byte, error) {
	response, err := v.options.HTTPClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the response has status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errors.New("the response is too large")
	}
	return response.Header, body, err
}

// maxAge returns how long a response may be stored: max-age of Cache-Control within limits.
func maxAge(h http.Header) time.Duration {
	for _, line := range h["Cache-Control"] {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			seconds, err := strconv.Atoi(value)
			if strings.EqualFold(name, "max-age") && err == nil {
				return min(max(time.Duration(min(seconds, 1<<30))*time.Second, minAge), longestAge)
			}
		}
	}
	return defaultAge
}
