package core

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// TestWrongHashes tries tens of thousands of hashes and tokens, near misses among them: right but for one digit,
// wherever it stands. That they all take the same time is subtle.ConstantTimeCompare's to say.
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
