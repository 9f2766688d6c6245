package jwe_test

import (
	"bytes"
	"testing"
)

// FuzzOpen compares Open with go-jose: go-jose must decrypt each accepted token with the same key to the same payload.
func FuzzOpen(f *testing.F) {
	for _, a := range attacks(f) {
		f.Add(a.Token)
	}
	k := keyring(f, secretOne, secretTwo)
	keys := [][]byte{
		derive(f, secretOne, salt, 64), derive(f, secretTwo, salt, 64), derive(f, secretOne, salt, 32),
		derive(f, secretTwo, salt, 32),
	}
	f.Fuzz(func(t *testing.T, token string) {
		payload, err := k.Open(token)
		if err != nil {
			wantRefused(t, token, payload, err)
			return
		}
		for _, key := range keys {
			if got, err := joseOpen(token, key); err == nil && string(got) == payload {
				return
			}
		}
		t.Fatalf("go-jose does not open %q to %q", token, payload)
	})
}

// FuzzForged adds a valid tag to arbitrary headers and ciphertexts, so that the code after the tag check is reached.
func FuzzForged(f *testing.F) {
	f.Add(noKidHeader, []byte("0123456789abcdef"))
	f.Add(`{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, []byte("0123456789abcdef"))
	f.Add(`{"alg":"dir","alg":"dir","enc":"A256CBC-HS512"}`, []byte{})
	f.Add(`{"typ":"\u0061","alg":"dir","enc":"A256CBC-HS512"}`, pad(claims))
	f.Add(`{"alg":"dir","enc":"A256GCM"}`, []byte{})
	k, key := keyring(f, secretOne), derive(f, secretOne, salt, 64)
	f.Fuzz(func(t *testing.T, header string, plaintext []byte) {
		token := forgeCBC(t, key, header, make([]byte, 16), plaintext)
		payload, err := k.Open(token)
		if err != nil {
			wantRefused(t, token, payload, err)
			return
		}
		if got, err := joseOpen(token, key); err != nil || string(got) != payload {
			t.Fatalf("got %q, go-jose %q, %v", payload, got, err)
		}
	})
}

// FuzzSeal compares Seal with go-jose and Open.
func FuzzSeal(f *testing.F) {
	f.Add([]byte(claims))
	f.Add([]byte{})
	k, key := keyring(f, secretOne), derive(f, secretOne, salt, 64)
	f.Fuzz(func(t *testing.T, payload []byte) {
		token, err := k.Seal(fresh(), payload)
		if err != nil {
			if len(payload) < 40_000 {
				t.Fatal(err)
			}
			return
		}
		if got, err := k.Open(token); err != nil || got != string(payload) {
			t.Fatalf("Open: %q, %v", got, err)
		}
		if got, err := joseOpen(token, key); err != nil || !bytes.Equal(got, payload) {
			t.Fatalf("go-jose: %q, %v", got, err)
		}
	})
}
