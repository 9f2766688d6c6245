package core

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// TestWrongHashes tries tens of thousands of wrong hashes and tokens, including some with a single wrong digit in any
// place. The constant time of the comparison is guaranteed by subtle.ConstantTimeCompare.
func TestWrongHashes(t *testing.T) {
	t.Parallel()
	x := &csrfGuard{secrets: []string{"one-secret-of-more-than-thirty-two-bytes", "another-secret-of-more-than-32-bytes"}}
	token := strings.Repeat("0123456789abcdef", 4)
	good := hashed(token, x.secrets[0])
	for _, known := range hashes(token, x.secrets) {
		if !x.hashOK(token, known) {
			t.Fatal("a good hash is refused")
		}
	}
	refused := func(token, hash string) {
		t.Helper()
		if x.hashOK(token, hash) {
			t.Fatalf("%q passes for the hash of %q", hash, token)
		}
	}
	for i := range good {
		for _, digit := range "0123456789abcdefABCDEF|g\x00" {
			if wrong := good[:i] + string(digit) + good[i+1:]; wrong != good {
				refused(token, wrong)
			}
			if wrong := token[:i] + string(digit) + token[i+1:]; wrong != token {
				refused(wrong, good)
			}
		}
		refused(token, good[:i])
		refused(token[:i], good)
	}
	for i := range uint64(10_000) {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		wrong := hex.EncodeToString(sum[:])
		if i%2 == 0 {
			wrong = good[:2] + wrong[2:] // the first byte is right
		}
		refused(token, wrong)
		refused(wrong, good)
	}
}

// TestCSRFPair reads cookie values in the encodings that occur: as core writes them, with an unencoded bar, with
// further escape sequences, and some that only look like the first.
func TestCSRFPair(t *testing.T) {
	t.Parallel()
	token, hash := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4)
	for _, tt := range []struct {
		name, raw, token, hash string
		ok                     bool
	}{
		{"as we write it", token + "%7C" + hash, token, hash, true},
		{"in small letters", token + "%7c" + hash, token, hash, true},
		{"with the bar", token + "|" + hash, token, hash, true},
		{"escaped throughout", "%30" + token[1:] + "%7C" + hash[:63] + "%30", token, hash, true},
		{"an escape in the token", "%30" + token[1:] + "%7C" + hash, token, hash, true},
		{"an escape in the hash", token + "%7C%66" + hash[1:], token, hash, true},
		{"a token with an escape, as long as one without", "%30" + token[3:] + "%7C" + hash, "%30" + token[3:], hash, true},
		{"two bars", token[:32] + "%7C" + token[32:] + "%7C" + hash, token[:32], token[32:] + "|" + hash, true},
		{"a broken escape", token + "%G7C" + hash, token + "%G7C" + hash, "", false},
		{"no bar", token, token, "", false},
		{"empty", "", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if token, hash, ok := csrfPair(tt.raw); token != tt.token || hash != tt.hash || ok != tt.ok {
				t.Errorf("%q, %q, %v", token, hash, ok)
			}
		})
	}
}
