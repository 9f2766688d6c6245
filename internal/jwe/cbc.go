package jwe

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
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
	workers sync.Pool // of *worker
}

// worker encrypts and decrypts with one key, one token at a time, and contains the buffers for it.
type worker struct {
	mac        hash.Hash // HMAC-SHA-512
	encrypter  blockMode
	decrypter  blockMode
	raw, token []byte // IV, ciphertext and tag; and their text
}

// newCBCKey returns a key of 64 bytes: the first half authenticates, the second encrypts.
func newCBCKey(key []byte, id identity) (*cbcKey, error) {
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		return nil, fmt.Errorf("jwe: %w", err)
	}
	k := &cbcKey{identity: id}
	k.workers.New = func() any {
		return &worker{
			mac:       hmac.New(sha512.New, key[:32]),
			encrypter: newMode(block, cipher.NewCBCEncrypter), decrypter: newMode(block, cipher.NewCBCDecrypter),
		}
	}
	return k, nil
}

// blockMode is a reusable CBC encrypter or decrypter. Each contains a copy of the expanded key.
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

// freshMode is a blockMode for AES implementations whose modes cannot be reused.
type freshMode struct {
	cipher.BlockMode
	block cipher.Block
	start func(cipher.Block, []byte) cipher.BlockMode
}

// SetIV creates a new mode.
func (m *freshMode) SetIV(iv []byte) { m.BlockMode = m.start(m.block, iv) }

// tag returns the tag of a token (RFC 7518 section 5.2.2.1).
func (w *worker) tag(header, ivAndCiphertext []byte) []byte {
	w.mac.Reset()
	w.mac.Write(header)
	w.mac.Write(ivAndCiphertext)
	w.mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(header))*8))
	return w.mac.Sum(nil)[:cbcTag]
}

// encrypt encrypts a buffer in place. The buffer contains the IV, the payload and space for the padding.
func (w *worker) encrypt(buf []byte, payload int) {
	text := buf[cbcIV:]
	padding := byte(len(text) - payload)
	for i := payload; i < len(text); i++ {
		text[i] = padding
	}
	w.encrypter.SetIV(buf[:cbcIV])
	w.encrypter.CryptBlocks(text, text)
}

// decrypt decrypts in place and returns the payload. It checks the tag before the padding, in constant time: otherwise
// a different response to wrong padding would let an attacker decrypt a token byte by byte (padding oracle). After that
// check, only the holder of the key can cause wrong padding.
func (w *worker) decrypt(header, ivAndCiphertext, tag []byte) ([]byte, error) {
	if !hmac.Equal(tag, w.tag(header, ivAndCiphertext)) {
		return nil, refuseSeal
	}
	text := ivAndCiphertext[cbcIV:]
	if len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, refuseSeal
	}
	w.decrypter.SetIV(ivAndCiphertext[:cbcIV])
	w.decrypter.CryptBlocks(text, text)
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
	return text[:end], nil
}
