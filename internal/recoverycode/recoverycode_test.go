package recoverycode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestCodes makes the codes of a set from known bytes.
func TestCodes(t *testing.T) {
	t.Parallel()
	for number := range Count {
		code, err := New(bytes.NewReader([]byte{0, 1, 2, 3, 4, 5, 6, 31, 32, 63, 64, 255, 17, 18, 19}), number)
		if want := alphabet[number:number+1] + "0123456Z0Z0ZHJK"; err != nil || code != want {
			t.Fatalf("code %q, want %q: %v", code, want, err)
		}
		if got := Number(code); got != number {
			t.Errorf("the number of %s is %d", code, got)
		}
		shown := Format(code)
		for _, typed := range []string{
			shown, strings.ToLower(shown), " " + shown + " ", strings.ReplaceAll(shown, "-", " "),
			strings.NewReplacer("0", "o", "1", "l").Replace(shown), strings.NewReplacer("0", "O", "1", "I").Replace(shown),
		} {
			if Clean(typed) != code {
				t.Errorf("%q is cleaned to %q", typed, Clean(typed))
			}
		}
	}
	if len(alphabet) != 32 || strings.ContainsAny(alphabet, "ILOU") {
		t.Error("the alphabet is not Crockford's")
	}
}

// TestNotCodes: other texts have no number.
func TestNotCodes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "3", "3AAAAAAAAAAAAAA", "3AAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA", "\xff23456789ABCDEF",
	} {
		if n := Number(text); n != -1 {
			t.Errorf("%q has the number %d", text, n)
		}
	}
}

// TestRounds: a hash is slow, unless a program of tests changes Rounds.
func TestRounds(t *testing.T) {
	t.Parallel()
	if Rounds < 10_000 {
		t.Errorf("%d rounds", Rounds)
	}
}

// TestHash: a hash matches its code only, and has its own salt.
func TestHash(t *testing.T) {
	t.Parallel()
	random := bytes.NewReader([]byte(strings.Repeat("salt", 4) + strings.Repeat("Salt", 4)))
	first, err := NewHash(random, Rounds)
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewHash(random, Rounds)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(h Hash, code string) []byte {
		t.Helper()
		s, err := h.Compute(code)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first.Hash = sum(first, "3AAAAAAAAAAAAAAA")
	second.Hash = sum(second, "3AAAAAAAAAAAAAAA")
	switch {
	case !first.Matches(sum(first, "3AAAAAAAAAAAAAAA")):
		t.Error("a hash does not match its code")
	case first.Matches(sum(first, "3AAAAAAAAAAAAAAB")):
		t.Error("a hash matches another code")
	case bytes.Equal(first.Hash, second.Hash):
		t.Error("two hashes of one code are equal")
	case (&Hash{}).Matches(sum(first, "")):
		t.Error("an empty hash matches")
	}
}

// TestRandomFails: without randomness there is neither a code nor a hash.
func TestRandomFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no randomness")
	if code, err := New(iotest.ErrReader(broken), 0); code != "" || !errors.Is(err, broken) {
		t.Errorf("code %q, %v", code, err)
	}
	if _, err := NewHash(io.LimitReader(strings.NewReader("short"), 5), Rounds); err == nil {
		t.Error("a hash with a short salt")
	}
}
