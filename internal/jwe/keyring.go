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
)

// Names of content encryptions (RFC 7518 section 5.1).
const (
	encCBC = "A256CBC-HS512"
	encGCM = "A256GCM"
)

// Keyring encrypts and decrypts the tokens of one purpose. Its keys are derived at the first use, so that an
// application with one configuration for each of many tenants starts quickly. It is safe for concurrent use. The zero
// value has no keys: use [NewKeyring].
type Keyring struct {
	derived func() (*keys, error)
	recent  cache // of OpenAgain
}

// keys contains the derived keys, one for each secret, in the same order.
type keys struct {
	cbc []*cbcKey
	gcm []*gcmKey
}

// identity is the key ID of a key and the header that contains it.
type identity struct {
	kid string
	// header is the encoded header of tokens encrypted with the key.
	header []byte
}

// NewKeyring returns a Keyring with a key for each secret. salt is the name of the cookie or parameter that contains
// the tokens. The first secret encrypts; all secrets decrypt. It returns an error if there are no secrets, or if a
// secret or salt is empty. The caller must check the length of the secrets.
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
	return &Keyring{derived: derived}, nil
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

// deriveKeys derives the 64 bytes of A256CBC-HS512 and the 32 bytes of A256GCM with HKDF-SHA256 (RFC 5869). Both have
// the same secret, salt and info, so the short key is a prefix of the long one. The info contains the salt too, as in
// Auth.js.
func deriveKeys(secret, salt string) (long, short []byte, err error) {
	long, err = hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", 64)
	if err != nil {
		return nil, nil, fmt.Errorf("jwe: derive key: %w", err)
	}
	return long, long[:32], nil
}

// thumbprintInput returns the text that RFC 7638 hashes for a symmetric key. As in Auth.js, the hash is SHA-512 for 64
// bytes and SHA-256 for 32.
func thumbprintInput(key []byte) []byte {
	return []byte(`{"k":"` + base64.RawURLEncoding.EncodeToString(key) + `","kty":"oct"}`)
}

func newIdentity(enc string, thumbprint []byte) identity {
	kid := base64.RawURLEncoding.EncodeToString(thumbprint)
	header := `{"alg":"dir","enc":"` + enc + `","kid":"` + kid + `"}`
	return identity{kid: kid, header: base64.RawURLEncoding.AppendEncode(nil, []byte(header))}
}

// same compares in a time that depends only on the lengths.
func same[T string | []byte](a string, b T) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
