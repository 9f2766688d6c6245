package jwe_test

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/internal/jwe"
)

func TestNewKeyringRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		secrets []string
		salt    string
	}{
		{"no secret", nil, salt},
		{"empty secret", []string{""}, salt},
		{"empty secret behind", []string{secretOne, ""}, salt},
		{"empty salt", []string{secretOne}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, err := jwe.NewKeyring(tt.secrets, tt.salt)
			if k != nil || err == nil || strings.Contains(err.Error(), secretOne) {
				t.Errorf("got %v, %v", k, err)
			}
		})
	}
}

func TestSealWritesTheFormOfAuthJS(t *testing.T) {
	t.Parallel()
	k, err := jwe.NewKeyring([]string{"test-secret"}, "authjs.session-token")
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.Seal(jwe.IV([]byte("0123456789abcdef")), []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	const header = `{"alg":"dir","enc":"A256CBC-HS512",` +
		`"kid":"LRkaLvvdyMfrwyOXl-3zHT7H-Q6fvXef2C5aGEC8TV6M1hn2lc4MqO31BO1cubMQEgVtP4rDe_5iqQ928ttC7w"}`
	want := forgeCBC(t, derive(t, "test-secret", "authjs.session-token", 64), header,
		[]byte("0123456789abcdef"), pad(claims))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSealOpensHereAndInGoJose(t *testing.T) {
	t.Parallel()
	k, key := keyring(t, secretOne, secretTwo), derive(t, secretOne, salt, 64)
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 240, 4096, 40_000} {
		payload := bytes.Repeat([]byte("p"), n)
		before := bytes.Clone(payload)
		token, err := k.Seal(fresh(), payload)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(payload, before) {
			t.Errorf("%d bytes: the payload was changed", n)
		}
		if got, err := k.Open(token); err != nil || got != string(payload) {
			t.Errorf("%d bytes: Open: %q, %v", n, got, err)
		}
		if got, err := joseOpen(token, key); err != nil || !bytes.Equal(got, payload) {
			t.Errorf("%d bytes: go-jose: %q, %v", n, got, err)
		}
	}
}

func TestSealedTokensCanBeOpened(t *testing.T) {
	t.Parallel()
	k := keyring(t, secretOne)
	longest := 0
	bound := sort.Search(49_200, func(n int) bool {
		_, err := k.Seal(fresh(), make([]byte, n))
		return err != nil
	})
	for n := bound - 50; n < bound+50; n++ { // three blocks of the cipher on each side
		token, err := k.Seal(fresh(), make([]byte, n))
		if err != nil {
			break
		}
		if _, err := k.Open(token); err != nil || len(token) > jwe.MaxLength {
			t.Fatalf("%d bytes: %v", n, err)
		}
		longest = n
	}
	if longest < 48_800 || longest > 49_100 {
		t.Errorf("longest payload %d", longest)
	}
	for _, n := range []int{longest + 1, jwe.MaxLength, 16 << 20} {
		if token, err := k.Seal(fresh(), make([]byte, n)); token != "" || err == nil {
			t.Errorf("%d bytes: %d, %v", n, len(token), err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	k := keyring(t, secretOne, secretTwo)
	older, err := keyring(t, secretTwo).Seal(fresh(), []byte(claims))
	if err != nil {
		t.Fatal(err)
	}
	gcm := forgeGCM(t, derive(t, secretOne, salt, 32), noKidHeaderG, make([]byte, 12), claims)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				payload := bytes.Repeat([]byte{byte(g)}, i)
				token, err := k.Seal(fresh(), payload)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := k.Open(token); err != nil || got != string(payload) {
					t.Errorf("got %q, %v; want %q", got, err, payload)
					return
				}
				for _, other := range []string{older, gcm} {
					if got, err := k.Open(other); err != nil || got != claims {
						t.Errorf("got %q, %v", got, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
