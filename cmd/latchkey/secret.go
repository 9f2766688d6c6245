package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
)

// secret prints a new secret.
func secret(out io.Writer) error {
	_, err := fmt.Fprintln(out, newSecret())
	return err
}

// newSecret returns 33 random bytes, which base64 writes without padding.
func newSecret() string {
	random := make([]byte, 33)
	_, _ = rand.Read(random) // crypto/rand.Read never fails
	return base64.StdEncoding.EncodeToString(random)
}
