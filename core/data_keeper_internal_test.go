package core

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/revocation"
)

// TestDataLoadedConcurrently: a request that has found an outdated copy does not load the data if another request has
// loaded it in the meantime.
func TestDataLoadedConcurrently(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1_700_000_000, 0)
	loads := 0
	k := &dataKeeper{
		maxAge: dataLasts,
		load: func(context.Context, *User) (json.RawMessage, error) {
			loads++
			return json.RawMessage(`1`), nil
		},
	}
	k.copies.Now = func() time.Time { return clock }
	k.outdated.Now = k.copies.Now
	var meanwhile func()
	k.now = func() time.Time { // another request loads the data just after the first has found the outdated copy
		if do := meanwhile; do != nil {
			meanwhile = nil
			do()
		}
		return clock
	}
	visit := func() {
		if got, err := k.of(t.Context(), &User{ID: "ada"}, dataCopy{}); err != nil || string(got.Value) != "1" {
			t.Errorf("got %s, %v", got.Value, err)
		}
	}
	visit()
	k.invalidate(revocation.UserKey("ada"))
	meanwhile = visit
	visit()
	if loads != 2 {
		t.Errorf("loaded %d times, once before it was old and %d times since", loads, loads-1)
	}
}
