package jwe_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func BenchmarkSeal(b *testing.B) {
	k, payload := keyring(b, secretOne, secretTwo), []byte(claims)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Seal(fresh(), payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	k, iv := keyring(b, secretOne, secretTwo), make([]byte, 16)
	sealed, err := k.Seal(fresh(), []byte(claims))
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name, token string
		refused     bool
	}{
		{"sealed here", sealed, false},
		{"no kid", forgeCBC(b, derive(b, secretOne, salt, 64), noKidHeader, iv, pad(claims)), false},
		{"A256GCM", forgeGCM(b, derive(b, secretOne, salt, 32), noKidHeaderG, iv[:12], claims), false},
		{"wrong tag", sealed[:len(sealed)-4] + "AAAA", true},
		{"garbage", "not a token", true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Open(bb.token); (err != nil) != bb.refused {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenAgain opens a cached token, and tokens that are used once each.
func BenchmarkOpenAgain(b *testing.B) {
	k := keyring(b, secretOne)
	tokens := make([]string, 1<<14)
	for i := range tokens {
		var err error
		if tokens[i], err = k.Seal(fresh(), []byte(claims)); err != nil {
			b.Fatal(err)
		}
	}
	for name, several := range map[string]int{"remembered": 1, "once": len(tokens)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := k.OpenAgain(tokens[i%several]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRawCrypto is the baseline: the cipher and MAC of one token, without base64, copies or a new IV.
func BenchmarkRawCrypto(b *testing.B) {
	key := derive(b, secretOne, salt, 64)
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		b.Fatal(err)
	}
	mac := hmac.New(sha512.New, key[:32])
	header, iv, text := make([]byte, 174), make([]byte, 16), pad(claims)
	sum := make([]byte, 0, 64)
	for name, mode := range map[string]func(cipher.Block, []byte) cipher.BlockMode{
		"encrypt": cipher.NewCBCEncrypter, "decrypt": cipher.NewCBCDecrypter,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mode(block, iv).CryptBlocks(text, text)
				mac.Reset()
				mac.Write(header)
				mac.Write(iv)
				mac.Write(text)
				mac.Sum(sum)
			}
		})
	}
}

func BenchmarkGoJose(b *testing.B) {
	key := derive(b, secretOne, salt, 64)
	b.Run("seal", func(b *testing.B) {
		encrypter, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			object, err := encrypter.Encrypt([]byte(claims))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := object.CompactSerialize(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		token, err := keyring(b, secretOne).Seal(fresh(), []byte(claims))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := joseOpen(token, key); err != nil {
				b.Fatal(err)
			}
		}
	})
}
