package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// signers are the provider's keys by kid, and the attacker's keys. The weak key has 512 bits. Its numbers are fixed
// because crypto/rsa no longer generates or uses such keys.
var signers = sync.OnceValue(func() map[string]crypto.Signer {
	all := map[string]crypto.Signer{}
	for _, name := range []string{"rs1", "rs2", "evil"} {
		all[name] = must(rsa.GenerateKey(rand.Reader, 2048))
	}
	for _, name := range []string{"es1", "es2", "evil-ec"} {
		all[name] = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	}
	for _, name := range []string{"ed1", "evil-ed"} {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		all[name] = must(key, err)
	}
	p, q := must(rand.Prime(rand.Reader, 256)), must(rand.Prime(rand.Reader, 256))
	one := big.NewInt(1)
	phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	d := new(big.Int).ModInverse(big.NewInt(65537), phi)
	all["weak"] = &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, D: d, Primes: []*big.Int{p, q},
	}
	return all
})

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// jwk returns the public key in the form of a key set.
func jwk(name string) map[string]any {
	signer, ok := signers()[name]
	if !ok {
		panic(fmt.Sprintf("there is no key %q", name))
	}
	raw := must(json.Marshal(jose.JSONWebKey{Key: signer.Public(), KeyID: name, Use: "sig"}))
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		panic(err)
	}
	return members
}

// published returns a key set from names of keys, or from key members with changes.
func published(keys []any) []any {
	list := []any{}
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			switch found := keyed(strings.Trim(key, "{}")).(type) {
			case nil:
				panic(fmt.Sprintf("the key %q is not known", key))
			case []any:
				list = append(list, found...)
			default:
				list = append(list, found)
			}
		case map[string]any:
			if name, ok := key["kid"].(string); ok && signers()[name] != nil {
				members := jwk(name)
				patch(members, key)
				list = append(list, members)
				continue
			}
			list = append(list, key)
		default:
			list = append(list, key)
		}
	}
	return list
}

// patch changes members. The value "$del" removes a member.
func patch(into, changes map[string]any) {
	for name, v := range changes {
		if v == "$del" {
			delete(into, name)
			continue
		}
		into[name] = v
	}
}

// encoded returns base64url without padding.
func encoded(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// bigEndian returns a number in a key's encoding (RFC 7518 section 2, Base64urlUInt).
func bigEndian(n uint64) string { return encoded(new(big.Int).SetUint64(n).Bytes()) }

// signed creates a token.
func signed(header, claims map[string]any, key string) string {
	return signedText(string(marshal(header)), string(marshal(claims)), key)
}

// signedText creates a token from any two texts. key is the name of a key, optionally followed by a slash and an
// algorithm, or "none", "client_secret" or "hmac:" followed by the secret.
func signedText(header, claims, key string) string {
	text := encoded([]byte(header)) + "." + encoded([]byte(claims))
	return text + "." + encoded(sign(text, key))
}

// sign signs without a JWT library, because a library would refuse to create most of these tokens.
func sign(text, key string) []byte {
	secret, symmetric := strings.CutPrefix(key, "hmac:") // the secret may contain a slash
	alg := ""
	if !symmetric {
		key, alg, _ = strings.Cut(key, "/")
	}
	hash := crypto.SHA256
	switch {
	case strings.HasSuffix(alg, "384"):
		hash = crypto.SHA384
	case strings.HasSuffix(alg, "512"):
		hash = crypto.SHA512
	}
	switch key {
	case "none":
		return nil
	case "client_secret":
		secret, symmetric = clientSecret, true
	}
	if symmetric {
		mac := hmac.New(hash.New, []byte(secret))
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	h := hash.New()
	h.Write([]byte(text))
	digest := h.Sum(nil)
	switch signer := signers()[key].(type) {
	case *rsa.PrivateKey:
		switch {
		case signer.N.BitLen() < 1024:
			return signWeakly(signer, digest)
		case strings.HasPrefix(alg, "PS"):
			return must(rsa.SignPSS(rand.Reader, signer, hash, digest, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}))
		}
		return must(rsa.SignPKCS1v15(rand.Reader, signer, hash, digest))
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, signer, digest)
		if err != nil {
			panic(err)
		}
		size := (signer.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(signer, []byte(text))
	}
	panic(fmt.Sprintf("there is no key %q", key))
}

// signWeakly signs with PKCS #1 v1.5 and SHA-256 under a key that is too short for crypto/rsa.
func signWeakly(key *rsa.PrivateKey, digest []byte) []byte {
	prefix := []byte{
		0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
	}
	size := (key.N.BitLen() + 7) / 8
	padded := make([]byte, size)
	padded[1] = 1
	tail := append(prefix, digest...)
	for i := 2; i < size-len(tail)-1; i++ {
		padded[i] = 0xff
	}
	copy(padded[size-len(tail):], tail)
	return new(big.Int).Exp(new(big.Int).SetBytes(padded), key.D, key.N).FillBytes(make([]byte, size))
}

// derSignature converts an ECDSA signature to DER.
func derSignature(raw []byte) []byte {
	half := len(raw) / 2
	r, s := new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:])
	return must(asn1.Marshal(struct{ R, S *big.Int }{r, s}))
}
