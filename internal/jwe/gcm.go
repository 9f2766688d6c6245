package jwe

import (
	"crypto/aes"
	"crypto/cipher"
	"sync"
)

// Sizes in bytes (RFC 7518 section 5.3).
const (
	gcmIV  = 12
	gcmTag = 16
)

// gcmKey is a key for A256GCM (RFC 7518 section 5.3). The cipher is created at the first use, because such tokens are
// rare. If GODEBUG contains fips140=only, there is no GCM cipher with an external IV.
type gcmKey struct {
	identity
	aead func() (cipher.AEAD, error)
}

// newGCMKey returns a key of 32 bytes.
func newGCMKey(key []byte, id identity) *gcmKey {
	return &gcmKey{id, sync.OnceValues(func() (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	})}
}

// decrypt decrypts in place and returns the payload.
func (k *gcmKey) decrypt(header, iv, ciphertextAndTag []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, refuseAlgorithm
	}
	payload, err := aead.Open(ciphertextAndTag[:0], iv, ciphertextAndTag, header)
	if err != nil {
		return nil, refuseSeal
	}
	return payload, nil
}
