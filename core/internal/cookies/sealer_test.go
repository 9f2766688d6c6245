package cookies_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

// TestSealsNeverRepeat encrypts the same claims ten thousand times. Each time IV and ID must differ. A counter, a clock
// or a source that is read once would repeat a value.
func TestSealsNeverRepeat(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &cookies.Sealer{Rand: rand.Reader, Now: func() time.Time { return now }}
	keys, err := jwe.NewKeyring([]string{"a-secret-of-more-than-thirty-two-bytes"}, "salt")
	if err != nil {
		t.Fatal(err)
	}
	const times = 2_000
	ivs, ids := make(map[string]bool, times), make(map[string]bool, times)
	for range times {
		sealed, err := a.Seal(keys, &token.Token{Subject: "1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := a.Open(keys, sealed)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(sealed, "..")
		iv, _, _ := strings.Cut(rest, ".")
		if len(iv) != 22 || len(opened.ID) != 36 {
			t.Fatalf("IV %q, ID %q", iv, opened.ID)
		}
		ivs[iv], ids[opened.ID] = true, true
	}
	if len(ivs) != times || len(ids) != times {
		t.Errorf("%d different IVs and %d IDs of %d", len(ivs), len(ids), times)
	}
}

// TestTokensShareNoMemory decrypts the tokens of several users one after the other. The fields and Extra of the first
// token must not be overwritten.
func TestTokensShareNoMemory(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &cookies.Sealer{Rand: rand.Reader, Now: func() time.Time { return now }}
	keys, err := jwe.NewKeyring([]string{"a-secret-of-more-than-thirty-two-bytes"}, "salt")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Ann", "Ben", "Eve"}
	opened := make([]*token.Token, len(names))
	for i, name := range names {
		extra := store.Members{"role": []byte(`"` + name + `"`), "team": []byte(`["` + name + `"]`)}
		sealed, err := a.Seal(keys, &token.Token{Subject: name, Name: name, Email: name + "@example.com", Extra: extra}, time.Hour)
		if err == nil {
			opened[i], err = a.Open(keys, sealed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		got := opened[i]
		if got.Subject != name || got.Name != name || got.Email != name+"@example.com" || len(got.Extra) != 2 ||
			string(got.Extra["role"]) != `"`+name+`"` || string(got.Extra["team"]) != `["`+name+`"]` {
			t.Errorf("the token of %s has %+v, %q", name, *got, got.Extra)
		}
		_ = append(got.Extra["role"], strings.Repeat("x", 20)...) // the slice must have no spare capacity
		if string(got.Extra["team"]) != `["`+name+`"]` {
			t.Errorf("a value appended to one claim is in the next claim: %s", got.Extra["team"])
		}
	}
}
