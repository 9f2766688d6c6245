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

// failed names the operation and turns the driver's errors into those of the contract.
func failed(ctx context.Context, operation string, err error) error {
	var answer mongo.ServerError
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		err = store.ErrNotFound
	case mongo.IsDuplicateKeyError(err):
		err = store.ErrConflict
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrConflict): // known already
	case errors.As(err, &answer) && answered(answer):
		err = refused{err, answer}
	}
	return store.OpError(ctx, "mongodb", operation, err)
}

// answered tells an answer of the engine from a connection that broke, for which the driver has the code 0.
func answered(answer mongo.ServerError) bool {
	return slices.ContainsFunc(answer.ErrorCodes(), func(code int) bool { return code != 0 })
}

// refused is an answer of the engine that is no success. Its message may repeat values, such as tokens: it is found
// with errors.As and not shown.
type refused struct {
	err    error
	answer mongo.ServerError
}

func (r refused) Error() string {
	var names []string
	if c := (mongo.CommandError{}); errors.As(r.err, &c) && c.Name != "" {
		names = append(names, c.Name)
	}
	return strings.Join(append(names, fmt.Sprintf("the engine refused with the code %v", r.answer.ErrorCodes())), ": ")
}

func (r refused) Unwrap() error { return r.err }

// storable refuses texts that are not UTF-8: BSON has no other.
func storable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errors.New("a text is not valid UTF-8, which cannot be stored: validate it before")
		}
	}
	return nil
}

// possible reports whether something can have these keys at all.
func possible(keys ...string) bool { return storable(keys...) == nil }

// objectID reads the ID of a user. A text of another form is the ID of none.
func objectID(id string) (bson.ObjectID, error) {
	o, err := bson.ObjectIDFromHex(id)
	if err != nil || o.Hex() != id {
		return o, store.ErrNotFound
	}
	return o, nil
}
