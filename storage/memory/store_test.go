package memory_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

func TestLarge(t *testing.T) { storetest.Large(t, memory.New(), 100_000, 0) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) core.Store { return memory.New() })
	t.Logf("memory: %d cases", storetest.Count())
}

// TestSealed checks that an application cannot modify the internals of a store.
func TestSealed(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[memory.Store]()) {
		if field.IsExported() || field.Anonymous {
			t.Errorf("any package can use the field %s", field.Name)
		}
	}
}

// TestNestedTransaction checks that the writes of a nested transaction are part of the outer one.
func TestNestedTransaction(t *testing.T) {
	for name, outcome := range map[string]error{"kept": nil, "undone": errors.New("undone")} {
		s := memory.New()
		err := s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
			inner := func(ctx context.Context, tx store.Store) error {
				_, err := tx.CreateUser(ctx, &store.User{ID: "u1"})
				return err
			}
			if err := tx.(store.Transactor).InTransaction(ctx, inner); err != nil {
				return err
			}
			if _, err := tx.User(ctx, "u1"); err != nil {
				t.Errorf("%s: within the outer transaction: %v", name, err)
			}
			return outcome
		})
		if !errors.Is(err, outcome) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := s.User(t.Context(), "u1"); (err == nil) != (outcome == nil) {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}
