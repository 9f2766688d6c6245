package jwe_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/jwe"
)

// TestFIPSOnly encrypts and decrypts in a process that allows only FIPS 140-3 algorithms. Only A256GCM is rejected,
// because its IVs are not chosen by the cipher.
func TestFIPSOnly(t *testing.T) {
	t.Parallel()
	const only = "fips140=only"
	if strings.Contains(os.Getenv("GODEBUG"), only) {
		k := keyring(t, secretOne)
		sealed, err := k.Seal(jwe.IV([]byte("0123456789abcdef")), []byte(claims))
		if err != nil {
			t.Fatal(err)
		}
		if payload, err := k.Open(sealed); err != nil || payload != claims {
			t.Errorf("got %q, %v", payload, err)
		}
		gcm := b64.EncodeToString([]byte(noKidHeaderG)) + ".." + strings.Repeat("A", 16) + ".AAAA." + strings.Repeat("A", 22)
		if payload, err := k.Open(gcm); payload != "" || !errors.Is(err, jwe.ErrInvalid) {
			t.Errorf("A256GCM: %q, %v", payload, err)
		}
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFIPSOnly$")
	again.Env = append(os.Environ(), "GODEBUG="+only)
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
