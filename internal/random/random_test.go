package random_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latchkey-go/latchkey/internal/random"
)

// counting returns a source of the bytes 0x00, 0x11, 0x22 and so on, one at a time.
func counting() io.Reader {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i * 0x11)
	}
	return iotest.OneByteReader(bytes.NewReader(b))
}

func TestSpellings(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		read func(io.Reader) (string, error)
		want string
	}{
		{"bytes", func(r io.Reader) (string, error) { b, err := random.Bytes(r, 3); return string(b), err }, "\x00\x11\x22"},
		{"no bytes", func(r io.Reader) (string, error) { b, err := random.Bytes(r, 0); return string(b), err }, ""},
		{"hexadecimal", func(r io.Reader) (string, error) { return random.Hex(r, 4) }, "00112233"},
		{"text", random.Text, "ABEiM0RVZneImaq7zN3u_xAhMkNUZXaHmKm6y9zt_g8"},
		{"UUID", random.UUID, "00112233-4455-4677-8899-aabbccddeeff"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got, err := row.read(counting()); err != nil || got != row.want {
				t.Errorf("%q, %v, want %q", got, err, row.want)
			}
		})
	}
}

// TestSystem reads from the system's source, which has a separate code path.
func TestSystem(t *testing.T) {
	t.Parallel()
	var first, second [32]byte
	for _, b := range []*[32]byte{&first, &second} {
		if err := random.Fill(rand.Reader, b[:]); err != nil {
			t.Fatal(err)
		}
	}
	if first == second || first == [32]byte{} {
		t.Errorf("%x, then %x", first, second)
	}
}

func TestUUIDOf(t *testing.T) {
	t.Parallel()
	var ones [16]byte
	for i := range ones {
		ones[i] = 0xff
	}
	want := map[byte]string{4: "ffffffff-ffff-4fff-bfff-ffffffffffff", 8: "ffffffff-ffff-8fff-bfff-ffffffffffff"}
	for version, want := range want {
		if got := random.UUIDOf(ones, version); got != want {
			t.Errorf("version %d: %s", version, got)
		}
	}
}

// TestSourceFails expects an error and an empty result.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("no entropy")
	readers := map[string]func(io.Reader) (string, error){
		"bytes":       func(r io.Reader) (string, error) { b, err := random.Bytes(r, 16); return string(b), err },
		"hexadecimal": func(r io.Reader) (string, error) { return random.Hex(r, 16) },
		"text":        random.Text,
		"UUID":        random.UUID,
	}
	for name, read := range readers {
		sources := map[string]io.Reader{"fails": iotest.ErrReader(failure), "ends early": strings.NewReader("0123456789")}
		for how, source := range sources {
			got, err := read(source)
			if got != "" || err == nil || !strings.HasPrefix(err.Error(), "random source: ") {
				t.Errorf("%s of a source that %s: %q, %v", name, how, got, err)
			}
			if how == "fails" && !errors.Is(err, failure) {
				t.Errorf("%s hides the cause: %v", name, err)
			}
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	type secret string
	rows := []struct {
		name string
		a, b string
		want bool
	}{
		{"equal", "abc", "abc", true},
		{"empty", "", "", true},
		{"another end", "abc", "abd", false},
		{"a prefix", "abc", "ab", false},
		{"nothing", "abc", "", false},
	}
	for _, row := range rows {
		if random.Same(row.a, row.b) != row.want || random.Same(secret(row.a), []byte(row.b)) != row.want {
			t.Errorf("%s: want %t", row.name, row.want)
		}
	}
}

// TestSameTakesConstantTime reads the code, because a comparison that ends early has the same result.
func TestSameTakesConstantTime(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("random.go")
	const comparison = "\n\treturn subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1\n"
	if err != nil || !strings.Contains(string(code), comparison) {
		t.Errorf("Same compares by other means: %v", err)
	}
}
