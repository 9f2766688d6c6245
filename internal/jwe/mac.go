package jwe

import (
	"bytes"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"hash"
)

// macKey is an HMAC-SHA-512 key (RFC 2104), stored as the states of SHA-512 after the two padded keys, so that they are
// not hashed for every token (RFC 2104 section 4). Package crypto/hmac does the same. In addition, macKey stores the
// state after the header, which is the same for almost all tokens of a key and a third of the hashed bytes.
type macKey struct {
	header       []byte
	inner, outer []byte
	named        []byte // the state of inner after the header
}

func newMACKey(key, header []byte) *macKey {
	inner := pad(key, 0x36)
	return &macKey{
		header: header, inner: saved(inner), outer: saved(pad(key, 0x5c)), named: saved(append(inner, header...)),
	}
}

// pad returns a block of one byte, XORed with the key.
func pad(key []byte, with byte) []byte {
	block := bytes.Repeat([]byte{with}, sha512.BlockSize)
	subtle.XORBytes(block, block, key)
	return block
}

// savedHash is a hash whose state can be restored, as for all hashes of the standard library.
type savedHash interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

func newHash() savedHash { return sha512.New().(savedHash) }

// saved returns the state of SHA-512 after a text.
func saved(text []byte) []byte {
	h := newHash()
	h.Write(text)
	state, err := h.AppendBinary(nil)
	never(err)
	return state
}

// never panics. It is for errors of SHA-512 about states that it returned itself.
func never(err error) {
	if err != nil {
		panic("jwe: SHA-512 does not go on from where it was: " + err.Error())
	}
}

// mac computes tags, one at a time.
type mac struct {
	*macKey
	hash   savedHash
	length [8]byte
	sum    [sha512.Size]byte
}

// tag returns the tag of a token (RFC 7518 section 5.2.2.1). It is valid until the next call.
func (m *mac) tag(header, ivAndCiphertext []byte) []byte {
	if bytes.Equal(header, m.header) {
		never(m.hash.UnmarshalBinary(m.named))
	} else {
		never(m.hash.UnmarshalBinary(m.inner))
		m.hash.Write(header)
	}
	m.hash.Write(ivAndCiphertext)
	binary.BigEndian.PutUint64(m.length[:], uint64(len(header))*8)
	m.hash.Write(m.length[:])
	inner := m.hash.Sum(m.sum[:0])
	never(m.hash.UnmarshalBinary(m.outer))
	m.hash.Write(inner)
	return m.hash.Sum(m.sum[:0])[:cbcTag]
}
