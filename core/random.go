package core

import (
	"io"

	"github.com/latchkey-go/latchkey/internal/random"
)

// The functions of package random. Their errors have the type ErrAuth.

func randomBytes(source io.Reader, n int) ([]byte, error) { return drawn(random.Bytes(source, n)) }

func randomText(source io.Reader) (string, error) { return drawn(random.Text(source)) }

func uuid(source io.Reader) (string, error) { return drawn(random.UUID(source)) }

func drawn[T any](v T, err error) (T, error) {
	if err != nil {
		return v, errorf(ErrAuth, "%w", err)
	}
	return v, nil
}
