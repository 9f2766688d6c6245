package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
)

// secret prints 33 random bytes, which base64 writes without padding.
func secret(out io.Writer) error {
	random := make([]byte, 33)
	_, _ = rand.Read(random) // crypto/rand.Read never fails
	_, err := fmt.Fprintln(out, base64.StdEncoding.EncodeToString(random))
	return err
}
