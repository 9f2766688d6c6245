package jwe_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/jwe"
)

const (
	salt         = "__Secure-authjs.session-token"
	secretOne    = "latchkey-attack-secret-one-0123456789abcdef"
	secretTwo    = "latchkey-attack-secret-two-0123456789abcdef"
	noKidHeader  = `{"alg":"dir","enc":"A256CBC-HS512"}`
	noKidHeaderG = `{"alg":"dir","enc":"A256GCM"}`
)

// claims are those of a typical session token: 237 bytes.
const claims = `{"name":"Ada Lovelace","email":"ada@example.com",` +
	`"picture":"https://avatars.example.com/u/583231?v=4","sub":"7c9e6679-7425-40de-944b-e07fc1f90ae7",` +
	`"iat":1893456000,"exp":1896048000,"jti":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","role":"a"}`

func keyring(t testing.TB, secrets ...string) *jwe.Keyring {
	t.Helper()
	k, err := jwe.NewKeyring(secrets, salt)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// fresh returns an IV for one token.
func fresh() (iv jwe.IV) { rand.Read(iv[:]); return iv }

func derive(t testing.TB, secret, salt string, length int) []byte {
	t.Helper()
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), "Auth.js Generated Encryption Key ("+salt+")", length)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var b64 = base64.RawURLEncoding

// forgeCBC encrypts with any header, as an attacker who knows the key could. It follows RFC 7518 appendix B and shares
// no code with the package.
func forgeCBC(t testing.TB, key []byte, header string, iv, padded []byte) string {
	t.Helper()
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		t.Fatal(err)
	}
	ciphertext := make([]byte, len(padded))
	if len(padded)%aes.BlockSize == 0 {
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(ciphertext, padded)
	}
	return sealParts(key, header, iv, ciphertext)
}

func sealParts(key []byte, header string, iv, ciphertext []byte) string {
	part := b64.EncodeToString([]byte(header))
	h := hmac.New(sha512.New, key[:32])
	h.Write([]byte(part))
	h.Write(iv)
	h.Write(ciphertext)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))*8))
	return strings.Join([]string{
		part, "", b64.EncodeToString(iv), b64.EncodeToString(ciphertext), b64.EncodeToString(h.Sum(nil)[:32]),
	}, ".")
}

func pad(payload string) []byte {
	n := aes.BlockSize - len(payload)%aes.BlockSize
	return append([]byte(payload), strings.Repeat(string(rune(n)), n)...)
}

func forgeGCM(t testing.TB, key []byte, header string, iv []byte, payload string) string {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	part := b64.EncodeToString([]byte(header))
	sealed := aead.Seal(nil, iv, []byte(payload), []byte(part))
	n := len(sealed) - aead.Overhead()
	return strings.Join([]string{
		part, "", b64.EncodeToString(iv), b64.EncodeToString(sealed[:n]), b64.EncodeToString(sealed[n:]),
	}, ".")
}

// joseOpen decrypts a token with go-jose, for comparison.
func joseOpen(token string, key []byte) ([]byte, error) {
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT},
		[]jose.ContentEncryption{jose.A256CBC_HS512, jose.A256GCM})
	if err != nil {
		return nil, err
	}
	return object.Decrypt(key)
}
