package jwe

import (
	"bytes"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"hash"
)

// macKey is a key of HMAC-SHA-512 (RFC 2104) as what SHA-512 holds behind the key's two pads: they need not be hashed
// for every token then (RFC 2104 section 4). Package crypto/hmac keeps the same, but not what SHA-512 holds behind the
// header part, which nearly all tokens of a key have in common and which is a third of what there is to hash.
type macKey struct {
	header       []byte
	inner, outer []byte
	named        []byte // inner, and the header behind it
}

func newMACKey(key, header []byte) *macKey {
	inner := pad(key, 0x36)
	return &macKey{
		header: header, inner: saved(inner), outer: saved(pad(key, 0x5c)), named: saved(append(inner, header...)),
	}
}

// pad is a block of one byte, combined with the key.
func pad(key []byte, with byte) []byte {
	block := bytes.Repeat([]byte{with}, sha512.BlockSize)
	subtle.XORBytes(block, block, key)
	return block
}

// savedHash is a hash that goes on from where another one was, as all of the standard library do.
type savedHash interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

func newHash() savedHash { return sha512.New().(savedHash) }

// saved returns where SHA-512 is after a text.
func saved(text []byte) []byte {
	h := newHash()
	h.Write(text)
	state, err := h.AppendBinary(nil)
	never(err)
	return state
}

// never is for errors of SHA-512 about its own states.
func never(err error) {
	if err != nil {
		panic("jwe: SHA-512 does not go on from where it was: " + err.Error())
	}
}

// mac makes tags, one at a time.
type mac struct {
	*macKey
	hash   savedHash
	length [8]byte
	sum    [sha512.Size]byte
}

// tag returns the tag of a token (RFC 7518 section 5.2.2.1), good until the next.
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
