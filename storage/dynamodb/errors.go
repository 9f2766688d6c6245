package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/smithy-go"

	"github.com/latchkey-go/latchkey/core/store"
)

// failed adds the operation to an error, and converts errors to those of the contract.
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

// decoded reads the contents of an item that a request returned.
func decoded[T any](
	ctx context.Context, operation string, of item, err error, read func(item) (T, error),
) (contents T, _ error) {
	if err == nil {
		contents, err = read(of)
	}
	return contents, failed(ctx, operation, err)
}

// allDecoded is decoded for several items.
func allDecoded[T any](
	ctx context.Context, operation string, items []item, err error, read func(item) (T, error),
) (all []T, _ error) {
	for _, of := range items {
		contents, err := read(of)
		if err != nil {
			return nil, failed(ctx, operation, err)
		}
		all = append(all, contents)
	}
	return all, failed(ctx, operation, err)
}

// refused is an error response of DynamoDB. Its message may contain values, such as tokens, so it is not shown.
// errors.As finds it.
type refused struct {
	err  error
	code string
}

func (r refused) Error() string { return "request rejected: " + r.code }
func (r refused) Unwrap() error { return r.err }

// storable rejects texts that are not UTF-8, which DynamoDB does not support.
func storable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errors.New("a text is not valid UTF-8 and cannot be stored: validate it first")
		}
	}
	return nil
}
