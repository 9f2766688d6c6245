package core

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// ParseClientKey parses a private key for [PrivateKeyJWT]: PEM (PKCS #8, PKCS #1 or SEC 1) or a JSON Web Key, whose key
// ID it returns. Line breaks may be written as \n, which some environments require. Errors contain no part of the text.
func ParseClientKey(text Secret) (key crypto.Signer, keyID string, err error) {
	s := strings.TrimSpace(string(text))
	if strings.HasPrefix(s, "{") {
		key, keyID, err = parseJWK(s)
	} else {
		key, err = parsePEM(strings.ReplaceAll(s, `\n`, "\n"))
	}
	if err == nil {
		_, err = oauth.SignatureAlgorithm(key)
	}
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	return key, keyID, nil
}

// loadClientKey reads a file and parses it with [ParseClientKey].
func loadClientKey(path string) (key crypto.Signer, keyID string, err error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	return ParseClientKey(Secret(text))
}

func parseJWK(s string) (crypto.Signer, string, error) {
	var jwk jose.JSONWebKey
	if jwk.UnmarshalJSON([]byte(s)) != nil { // its error may quote the key
		return nil, "", errors.New("invalid JSON Web Key")
	}
	key, ok := jwk.Key.(crypto.Signer)
	if !ok || !jwk.Valid() {
		return nil, "", errors.New("the JSON Web Key is not a private key")
	}
	return key, jwk.KeyID, nil
}

func parsePEM(s string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(s))
	if block == nil {
		return nil, errors.New("it is neither PEM nor a JSON Web Key")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("the PEM block is a %.40q: provide an unencrypted private key", block.Type)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, fmt.Errorf("the PEM block %q contains no signing key", block.Type)
	}
	return signer, nil
}
