package accounts

import (
	"crypto/sha256"
	"io"

	"github.com/latchkey-go/latchkey/internal/random"
)

// UserIDs returns a function that makes the ID of a new user. If a store keeps users, it is a random UUID. Otherwise it
// is derived from the account (UUID version 8), so that a user has the same ID at every sign-in.
func UserIDs(kept bool, source io.Reader) func(provider, accountID string) (string, error) {
	if kept {
		return func(string, string) (string, error) { return random.UUID(source) }
	}
	return func(provider, accountID string) (string, error) {
		sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
		return random.UUIDOf([16]byte(sum[:16]), 8), nil
	}
}
