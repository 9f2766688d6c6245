package jwe

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"testing"
)

// TestTag compares tags with crypto/hmac: for the key's own header, which is hashed in advance, and for others, one
// after the other.
func TestTag(t *testing.T) {
	t.Parallel()
	key, named := make([]byte, 32), []byte("the header of the key's own tokens, longer than a block of SHA-512: "+
		"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIiwia2lkIjoiMTIzNDU2Nzg5MCJ9")
	_, _ = rand.Read(key)
	m := mac{macKey: newMACKey(key, named), hash: newHash()}
	headers := [][]byte{named, nil, unnamedHeader, named[:len(named)-1], bytes.ToUpper(named), named}
	for _, header := range headers {
		for _, n := range []int{0, 16, 95, 96, 111, 112, 128, 1000} {
			t.Run(fmt.Sprintf("%.6s %d", header, n), func(t *testing.T) {
				text := bytes.Repeat([]byte{7}, n)
				h := hmac.New(sha512.New, key)
				h.Write(header)
				h.Write(text)
				h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(header))*8))
				if got, want := m.tag(header, text), h.Sum(nil)[:32]; !bytes.Equal(got, want) {
					t.Errorf("tag %x, want %x", got, want)
				}
			})
		}
	}
}
