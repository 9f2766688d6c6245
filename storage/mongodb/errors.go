package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkey-go/latchkey/core/store"
)

// failed adds the operation to an error, and converts the driver's errors to those of the contract.
func failed(ctx context.Context, operation string, err error) error {
	var answer mongo.ServerError
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		err = store.ErrNotFound
	case mongo.IsDuplicateKeyError(err):
		err = store.ErrConflict
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrConflict): // already converted
	case errors.As(err, &answer) && isResponse(answer):
		err = refused{err, answer}
	}
	return store.OpError(ctx, "mongodb", operation, err)
}

// isResponse reports whether an error is a response of the database. The driver uses the code 0 for a broken
// connection.
func isResponse(answer mongo.ServerError) bool {
	return slices.ContainsFunc(answer.ErrorCodes(), func(code int) bool { return code != 0 })
}

// decoded reads the contents of a document that a query returned.
func decoded[T any](
	ctx context.Context, operation string, doc bson.Raw, err error, read func(bson.Raw) (T, error),
) (contents T, _ error) {
	if err == nil {
		contents, err = read(doc)
	}
	return contents, failed(ctx, operation, err)
}

// refused is an error response of the database. Its message may contain values, such as tokens, so it is not shown.
// errors.As finds it.
type refused struct {
	err    error
	answer mongo.ServerError
}

func (r refused) Error() string {
	var names []string
	if c := (mongo.CommandError{}); errors.As(r.err, &c) && c.Name != "" {
		names = append(names, c.Name)
	}
	return strings.Join(append(names, fmt.Sprintf("request rejected with code %v", r.answer.ErrorCodes())), ": ")
}

func (r refused) Unwrap() error { return r.err }

// storable rejects texts that are not UTF-8, which BSON does not support.
func storable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errors.New("a text is not valid UTF-8 and cannot be stored: validate it first")
		}
	}
	return nil
}

// possible reports whether a document can have these keys.
func possible(keys ...string) bool { return storable(keys...) == nil }

// objectID parses the ID of a user. It returns ErrNotFound for a text in another format.
func objectID(id string) (bson.ObjectID, error) {
	o, err := bson.ObjectIDFromHex(id)
	if err != nil || o.Hex() != id {
		return o, store.ErrNotFound
	}
	return o, nil
}
