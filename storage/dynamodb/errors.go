package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/smithy-go"

	"github.com/latchkey-go/latchkey/core/store"
)

// failed names the operation and turns errors into those of the contract.
func failed(ctx context.Context, operation string, err error) error {
	var answer smithy.APIError
	if errors.As(err, &answer) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
		err = refused{err, answer.ErrorCode()}
		if answer.ErrorCode() == "ResourceNotFoundException" {
			err = fmt.Errorf("the table or its index is missing: call store.Migrate(ctx) at start-up: %w", err)
		}
	}
	return store.OpError(ctx, "dynamodb", operation, err)
}

// refused is an answer of the engine that is no success. Its message may repeat values, such as tokens: it is found
// with errors.As and not shown.
type refused struct {
	err  error
	code string
}

func (r refused) Error() string { return "the engine refused: " + r.code }
func (r refused) Unwrap() error { return r.err }

// storable refuses texts that are not UTF-8: the engine has no other.
func storable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errors.New("a text is not valid UTF-8, which cannot be stored: validate it before")
		}
	}
	return nil
}
