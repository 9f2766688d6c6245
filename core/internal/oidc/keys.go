package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

const (
	maxKeys = 100
	// refetchAfter is the least time between two fetches of a key set for the sake of an unknown key: a flood of tokens with
	// made-up key ids reaches the provider as a trickle.
	refetchAfter = 30 * time.Second
)

// keySet holds the usable keys of an issuer.
type keySet struct{ keys []jose.JSONWebKey }

func (d *Discovery) loadKeys(ctx context.Context, address string) (*keySet, error) {
	body, err := d.fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	return parseKeys(body)
}

// parseKeys reads a key set (RFC 7517 section 5). Keys that cannot verify anything here are left out; they harm nobody.
func parseKeys(body []byte) (*keySet, error) {
	document, err := exactjson.DecodeObject(body)
	if err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	list, ok := document["keys"].([]any)
	if !ok {
		return nil, errors.New("key set: it has no keys")
	}
	set := &keySet{}
	for _, v := range list[:min(len(list), maxKeys)] {
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && usable(&key) {
			set.keys = append(set.keys, key)
		}
	}
	return set, nil
}

// usable tells whether a key is a public one for signatures, of a strength that is neither broken nor a burden.
func usable(key *jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || !key.IsPublic() {
		return false
	}
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= 2048 && k.N.BitLen() <= 8192 && k.E >= 3 && k.E <= 1<<31-1
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// candidates are the keys that may have signed with an algorithm: those of the key id, or all of the kind without one.
func (s *keySet) candidates(kid, alg string) (found []*jose.JSONWebKey) {
	for i := range s.keys {
		key := &s.keys[i]
		if (kid == "" || key.KeyID == kid) && (key.Algorithm == "" || key.Algorithm == alg) && fits(key.Key, alg) {
			found = append(found, key)
		}
	}
	return found
}

// fits tells whether a kind of key signs with an algorithm (RFC 7518 section 3.1).
func fits(key any, alg string) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return alg[:2] == "RS" || alg[:2] == "PS"
	case ed25519.PublicKey:
		return alg == "EdDSA"
	case *ecdsa.PublicKey:
		switch alg {
		case "ES256":
			return k.Curve == elliptic.P256()
		case "ES384":
			return k.Curve == elliptic.P384()
		case "ES512":
			return k.Curve == elliptic.P521()
		}
	}
	return false
}
