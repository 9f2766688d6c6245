package jwe

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"sync"
)

// Sizes in bytes (RFC 7518 section 5.2.5).
const (
	cbcIV  = aes.BlockSize
	cbcTag = sha512.Size / 2
)

// cbcKey is a key for A256CBC-HS512 (RFC 7518 section 5.2): AES-256-CBC with PKCS #7 padding, then HMAC-SHA-512 over
// header part, IV, ciphertext and the header part's length in bits.
type cbcKey struct {
	identity
	macs       sync.Pool // of *mac, each keyed
	sealers    sync.Pool // of *sealer
	decrypters sync.Pool // of blockMode
}

// mac is an HMAC whose key is hashed already, with room for what goes in and out of it.
type mac struct {
	hash.Hash
	length [8]byte
	sum    [sha512.Size]byte
}

// newCBCKey takes 64 bytes: the first half authenticates, the second encrypts.
func newCBCKey(key []byte, id identity) (*cbcKey, error) {
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		return nil, fmt.Errorf("jwe: %w", err)
	}
	macKey := key[:32:32]
	k := &cbcKey{identity: id}
	k.macs.New = func() any { return &mac{Hash: hmac.New(sha512.New, macKey)} }
	k.sealers.New = func() any { return &sealer{mode: newMode(block, cipher.NewCBCEncrypter)} }
	k.decrypters.New = func() any { return newMode(block, cipher.NewCBCDecrypter) }
	return k, nil
}

// sealer is an encrypter with room for a token on its way: IV, ciphertext and tag, and their text.
type sealer struct {
	mode      blockMode
	raw, text []byte
}

// blockMode is a CBC encrypter or decrypter that can start again: each holds a copy of the expanded key.
type blockMode interface {
	cipher.BlockMode
	SetIV(iv []byte)
}

func newMode(block cipher.Block, start func(cipher.Block, []byte) cipher.BlockMode) blockMode {
	if m, ok := start(block, make([]byte, cbcIV)).(blockMode); ok {
		return m
	}
	return &freshMode{block: block, start: start}
}

// freshMode is for implementations of AES whose modes start once.
type freshMode struct {
	cipher.BlockMode
	block cipher.Block
	start func(cipher.Block, []byte) cipher.BlockMode
}

// SetIV makes a new mode.
func (m *freshMode) SetIV(iv []byte) { m.BlockMode = m.start(m.block, iv) }

// appendTag appends the tag of a token to dst.
func (k *cbcKey) appendTag(dst, header, ivAndCiphertext []byte) []byte {
	m := k.macs.Get().(*mac)
	dst = append(dst, m.tag(header, ivAndCiphertext)...)
	k.macs.Put(m)
	return dst
}

// hasTag reports whether tag is right, in a time that does not depend on where it is wrong.
func (k *cbcKey) hasTag(tag, header, ivAndCiphertext []byte) bool {
	m := k.macs.Get().(*mac)
	ok := subtle.ConstantTimeCompare(tag, m.tag(header, ivAndCiphertext)) == 1
	k.macs.Put(m)
	return ok
}

func (m *mac) tag(header, ivAndCiphertext []byte) []byte {
	m.Reset()
	m.Write(header)
	m.Write(ivAndCiphertext)
	binary.BigEndian.PutUint64(m.length[:], uint64(len(header))*8)
	m.Write(m.length[:])
	return m.Sum(m.sum[:0])[:cbcTag]
}

// encrypt turns a buffer that holds the IV, payload and room for padding into IV and ciphertext.
func (s *sealer) encrypt(buf []byte, payload int) {
	text := buf[cbcIV:]
	padding := byte(len(text) - payload)
	for i := payload; i < len(text); i++ {
		text[i] = padding
	}
	s.mode.SetIV(buf[:cbcIV])
	s.mode.CryptBlocks(text, text)
}

// decrypt returns the payload, in place of the ciphertext. The tag comes first: without it an answer to wrong padding
// would decrypt the token byte by byte for a client that asks often enough. After it, only the holder of the key can
// have made the padding wrong.
func (k *cbcKey) decrypt(header, ivAndCiphertext, tag []byte) ([]byte, error) {
	if !k.hasTag(tag, header, ivAndCiphertext) {
		return nil, refuseSeal
	}
	text := ivAndCiphertext[cbcIV:]
	if len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, refuseSeal
	}
	d := k.decrypters.Get().(blockMode)
	d.SetIV(ivAndCiphertext[:cbcIV])
	d.CryptBlocks(text, text)
	k.decrypters.Put(d)
	padding := int(text[len(text)-1])
	if padding == 0 || padding > aes.BlockSize {
		return nil, refuseSeal
	}
	end := len(text) - padding
	for _, c := range text[end:] {
		if int(c) != padding {
			return nil, refuseSeal
		}
	}
	return text[:end:end], nil
}
