package core

import (
	"io"

	"github.com/latchkey-go/latchkey/internal/random"
)

// randomBytes returns n random bytes from the configured source.
func randomBytes(source io.Reader, n int) ([]byte, error) {
	b, err := random.Bytes(source, n)
	return b, sourceError(err)
}

// fillRandom fills b with random bytes from the configured source.
func fillRandom(source io.Reader, b []byte) error { return sourceError(random.Fill(source, b)) }

// randomHex returns n random bytes as 2n hex digits.
func randomHex(source io.Reader, n int) (string, error) {
	s, err := random.Hex(source, n)
	return s, sourceError(err)
}

// randomText returns 256 random bits as text, for a code verifier or a nonce.
func randomText(source io.Reader) (string, error) {
	s, err := random.Text(source)
	return s, sourceError(err)
}

// uuid returns a random UUID.
func uuid(source io.Reader) (string, error) {
	id, err := random.UUID(source)
	return id, sourceError(err)
}

// sourceError adds the type ErrAuth to an error of the random source.
func sourceError(err error) error {
	if err == nil {
		return nil
	}
	return errorf(ErrAuth, "%w", err)
}
