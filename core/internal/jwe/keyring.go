package jwe

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Names of content encryptions (RFC 7518 section 5.1).
const (
	encCBC = "A256CBC-HS512"
	encGCM = "A256GCM"
)

// Keyring seals and opens the tokens of one purpose. Everything that depends on the secrets is computed once, when it
// is first used: an application with a configuration for each of many tenants starts without waiting for the keys of
// all. It is safe for concurrent use. The zero value has no keys: use [NewKeyring].
type Keyring struct {
	derived func() (*keys, error)
	// number tells it from all others of the process. What is remembered by it keeps no keys alive.
	number uint64
}

// numbered is how many Keyrings were made.
var numbered atomic.Uint64

// keys are what a Keyring works with: one per secret, in the same order.
type keys struct {
	cbc []*cbcKey
	gcm []*gcmKey
}

// identity is what names a key in a token.
type identity struct {
	kid string
	// header is the header part of the tokens that are sealed with the key, base64url.
	header []byte
}

// NewKeyring makes the keys of all secrets for salt, the name of the cookie or parameter that the tokens are for. The
// first secret seals; the others open what was sealed with them. It fails without secrets and for an empty secret or
// salt; how long a secret should be is the configuration's to say.
func NewKeyring(secrets []string, salt string) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("jwe: no secret: give at least one")
	}
	if salt == "" {
		return nil, errors.New("jwe: salt is empty: give the name of the cookie")
	}
	for i, secret := range secrets {
		if secret == "" {
			return nil, fmt.Errorf("jwe: secret %d is empty: remove it or give it a value", i+1)
		}
	}
	secrets = slices.Clone(secrets)
	derived := sync.OnceValues(func() (*keys, error) { return newKeys(secrets, salt) })
	return &Keyring{derived: derived, number: numbered.Add(1)}, nil
}

func newKeys(secrets []string, salt string) (*keys, error) {
	k := &keys{}
	for _, secret := range secrets {
		long, short, err := deriveKeys(secret, salt)
		if err != nil {
			return nil, err
		}
		sum := sha512.Sum512(thumbprintInput(long))
		cbc, err := newCBCKey(long, newIdentity(encCBC, sum[:]))
		if err != nil {
			return nil, err
		}
		sum256 := sha256.Sum256(thumbprintInput(short))
		k.cbc = append(k.cbc, cbc)
		k.gcm = append(k.gcm, newGCMKey(short, newIdentity(encGCM, sum256[:])))
	}
	return k, nil
}

// deriveKeys is HKDF with SHA-256 (RFC 5869), for the 64 bytes of A256CBC-HS512 and the 32 of A256GCM: as both have the
// same secret, salt and info, the short key is the beginning of the long one. The salt stands in the info too because
// Auth.js puts it there.
func deriveKeys(secret, salt string) (long, short []byte, err error) {
	long, err = hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", 64)
	if err != nil {
		return nil, nil, fmt.Errorf("jwe: derive key: %w", err)
	}
	return long, long[:32], nil
}

// thumbprintInput is what RFC 7638 hashes of a symmetric key. The hash follows the length of the key, as in Auth.js:
// SHA-512 for 64 bytes, SHA-256 for 32.
func thumbprintInput(key []byte) []byte {
	return []byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`)
}

func newIdentity(enc string, thumbprint []byte) identity {
	kid := base64.RawURLEncoding.EncodeToString(thumbprint)
	header := `{"alg":"dir","enc":"` + enc + `","kid":"` + kid + `"}`
	return identity{kid: kid, header: base64.RawURLEncoding.AppendEncode(nil, []byte(header))}
}

// same compares in a time that depends on the lengths only.
func same[T string | []byte](a string, b T) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
