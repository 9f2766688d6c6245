package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

const (
	maxKeys  = 100 // of a set; further ones are not read
	maxTries = 10  // of keys per token
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

// parseKeys reads a key set (RFC 7517 section 5). Keys that cannot verify anything here are left out; they do no harm.
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
		members, _ := v.(map[string]any)
		if !forVerifying(members) {
			continue
		}
		raw, err := json.Marshal(members)
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

// forVerifying reports whether a key is published for this use (RFC 7517 sections 4.2 and 4.3): a member that is there
// says so.
func forVerifying(members map[string]any) bool {
	if use := members["use"]; use != nil && use != "sig" {
		return false
	}
	if operations := members["key_ops"]; operations != nil {
		list, _ := operations.([]any)
		return slices.Contains(list, any("verify"))
	}
	return len(members) > 0
}

// usable reports whether a key is a public one, of a strength that is neither broken nor a burden.
func usable(key *jose.JSONWebKey) bool {
	if !key.IsPublic() {
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

// verifies reports whether a key of the set made a token's signature: one of those of its key ID, or of all when it
// names none.
func (s *keySet) verifies(t *compact) bool {
	tries := 0
	for i := range s.keys {
		key := &s.keys[i]
		if t.kid != "" && key.KeyID != t.kid || key.Algorithm != "" && byOneName(key.Algorithm) != t.alg {
			continue
		}
		fits, good := t.verifies(key.Key)
		if good {
			return true
		}
		if !fits {
			continue
		}
		if tries++; tries == maxTries {
			return false
		}
	}
	return false
}
