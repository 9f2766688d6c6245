package jwe

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

// Sizes in bytes (RFC 7518 section 5.3).
const (
	gcmIV  = 12
	gcmTag = 16
)

// gcmKey is a key for A256GCM (RFC 7518 section 5.3).
type gcmKey struct {
	identity
	aead cipher.AEAD
}

// newGCMKey takes 32 bytes.
func newGCMKey(key []byte, id identity) (*gcmKey, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("jwe: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("jwe: %w", err)
	}
	return &gcmKey{identity: id, aead: aead}, nil
}

// decrypt returns the payload, in place of the ciphertext.
func (k *gcmKey) decrypt(header, iv, ciphertextAndTag []byte) ([]byte, error) {
	payload, err := k.aead.Open(ciphertextAndTag[:0], iv, ciphertextAndTag, header)
	if err != nil {
		return nil, refuseSeal
	}
	return payload, nil
}
