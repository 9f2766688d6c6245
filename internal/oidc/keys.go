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
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

const (
	maxKeys  = 100 // maximum number of keys in a set; others are not read
	maxTries = 10  // maximum number of keys tried for each token
)

// keySet contains the usable keys of an issuer.
type keySet struct {
	keys    []jose.JSONWebKey
	omitted omissions
}

// omissions counts the keys of a set that are not used, by reason. They are part of the error when no key fits: without
// them an operator cannot tell an unknown key from one that was published and ignored.
type omissions struct{ malformed, otherUse, private, strength, tooMany int }

// String returns ": N keys not used (…)", or "" if every key is used.
func (o omissions) String() string {
	var reasons []string
	total := 0
	for _, each := range []struct {
		n   int
		why string
	}{
		{o.malformed, "malformed, or of an unknown type or curve"}, {o.otherUse, "not published for signatures"},
		{o.private, "private or symmetric"}, {o.strength, "too weak or too large"},
		{o.tooMany, fmt.Sprintf("after the first %d", maxKeys)},
	} {
		if each.n > 0 {
			total += each.n
			reasons = append(reasons, fmt.Sprintf("%d %s", each.n, each.why))
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf(": %d of the published keys not used (%s)", total, strings.Join(reasons, ", "))
}

func (d *Discovery) loadKeys(ctx context.Context, address string) (*keySet, error) {
	body, err := d.fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	return parseKeys(body)
}

// parseKeys reads a key set (RFC 7517 section 5). It omits keys that cannot verify a signature here.
func parseKeys(body []byte) (*keySet, error) {
	document, err := exactjson.DecodeObjectTolerant(body, Trusted)
	if err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	list, ok := document["keys"].([]any)
	if !ok {
		return nil, errors.New("key set: it has no keys")
	}
	set := &keySet{}
	set.omitted.tooMany = max(len(list)-maxKeys, 0)
	for _, v := range list[:min(len(list), maxKeys)] {
		members, _ := v.(map[string]any)
		set.add(members)
	}
	return set, nil
}

// keyMembers are the members of a key that are used (RFC 7517 section 4, RFC 7518 section 6, RFC 8037 section 2). The
// others do not affect the signature. go-jose would parse the certificates in x5c, compare their thumbprints, and
// reject a valid key because of a certificate that it cannot read.
var keyMembers = []string{"kty", "use", "key_ops", "alg", "kid", "n", "e", "crv", "x", "y"}

// add adds a key to the set, or counts why it is omitted.
func (s *keySet) add(members map[string]any) {
	switch {
	case len(members) == 0:
		s.omitted.malformed++
		return
	case members["d"] != nil || members["k"] != nil:
		s.omitted.private++
		return
	case !forVerifying(members):
		s.omitted.otherUse++
		return
	}
	used := make(map[string]any, len(keyMembers))
	for _, name := range keyMembers {
		if v, ok := members[name]; ok {
			used[name] = v
		}
	}
	raw, err := json.Marshal(used)
	var key jose.JSONWebKey
	switch {
	case err != nil || key.UnmarshalJSON(raw) != nil:
		s.omitted.malformed++
	case !usable(&key):
		s.omitted.strength++
	default:
		s.keys = append(s.keys, key)
	}
}

// forVerifying reports whether a key may be used to verify signatures (RFC 7517 sections 4.2 and 4.3). Both members are
// optional.
func forVerifying(members map[string]any) bool {
	if use := members["use"]; use != nil && use != "sig" {
		return false
	}
	if operations := members["key_ops"]; operations != nil {
		list, _ := operations.([]any)
		return slices.Contains(list, any("verify"))
	}
	return true
}

// usable reports whether a key is a public key of a strength that is neither broken nor too expensive to use.
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

// verifies reports whether a key of the set made a token's signature. It tries the keys with the token's key ID, or all
// if the token has none.
func (s *keySet) verifies(t *compact) bool {
	tries := 0
	for i := range s.keys {
		key := &s.keys[i]
		if t.kid != "" && key.KeyID != t.kid || key.Algorithm != "" && byOneName(key.Algorithm) != t.alg {
			continue
		}
		if !fits(t.alg, key.Key) {
			continue
		}
		if t.verifies(key.Key) {
			return true
		}
		if tries++; tries == maxTries {
			return false
		}
	}
	return false
}
