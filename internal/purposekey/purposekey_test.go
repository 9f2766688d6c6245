package purposekey_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/latchkey-go/latchkey/internal/purposekey"
)

// TestKeys checks that a value can be decrypted only for its purpose, with a known secret and until it expires.
func TestKeys(t *testing.T) {
	t.Parallel()
	old, current := strings.Repeat("o", 32), strings.Repeat("n", 32)
	now := time.Unix(1_700_000_000, 0)
	made := &purposekey.Keys{Secrets: []string{old}, Rand: rand.Reader, Now: func() time.Time { return now }}
	text, err := made.Encrypt("totp", []string{"ada"}, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		secrets []string
		purpose string
		after   time.Duration
		text    string
		into    any
		want    bool
	}{
		"the same":         {[]string{old}, "totp", 0, text, new([]string), true},
		"after a rotation": {[]string{current, old}, "totp", 0, text, new([]string), true},
		"at the last time": {[]string{old}, "totp", 59 * time.Second, text, new([]string), true},
		"expired":          {[]string{old}, "totp", time.Minute, text, new([]string), false},
		"another purpose":  {[]string{old}, "mail", 0, text, new([]string), false},
		"another secret":   {[]string{current}, "totp", 0, text, new([]string), false},
		"changed":          {[]string{old}, "totp", 0, text[:len(text)-2] + "AA", new([]string), false},
		"another type":     {[]string{old}, "totp", 0, text, new(int), false},
	} {
		keys := &purposekey.Keys{Secrets: row.secrets, Now: func() time.Time { return now.Add(row.after) }}
		err := keys.Decrypt(row.purpose, row.text, row.into)
		if (err == nil) != row.want {
			t.Errorf("%s: error %v", name, err)
		}
		if got, ok := row.into.(*[]string); ok && row.want && (len(*got) != 1 || (*got)[0] != "ada") {
			t.Errorf("%s: got %v", name, *got)
		}
	}
}

// TestNoRandomness checks that nothing is encrypted without random bytes.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	keys := &purposekey.Keys{
		Secrets: []string{strings.Repeat("o", 32)}, Rand: iotest.ErrReader(errors.New("no entropy")), Now: time.Now,
	}
	if text, err := keys.Encrypt("totp", 1, time.Time{}); err == nil || text != "" {
		t.Errorf("got %q, error %v", text, err)
	}
}

// TestDigest checks that a digest depends on the secret, the purpose and the text.
func TestDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range [][3]string{{"s", "p", "t"}, {"S", "p", "t"}, {"s", "P", "t"}, {"s", "p", "T"}} {
		seen[purposekey.Digest(row[0], row[1], row[2])] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d different digests", len(seen))
	}
}
