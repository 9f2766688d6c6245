package sessiondata

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/revocation"
)

// TestDataLoadedConcurrently: a request that has found an outdated copy does not load the data if another request has
// loaded it in the meantime.
func TestDataLoadedConcurrently(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1_700_000_000, 0)
	loads := 0
	k := New(Options{Now: func() time.Time { return clock }, Load: func(
		context.Context, any,
	) (json.RawMessage, error) {
		loads++
		return json.RawMessage(`1`), nil
	}})
	var meanwhile func()
	k.Now = func() time.Time { // another request loads the data just after the first has found the outdated copy
		if do := meanwhile; do != nil {
			meanwhile = nil
			do()
		}
		return clock
	}
	visit := func() {
		if got, err := k.of(t.Context(), "ada", nil, userCopy{}); err != nil || string(got.Value) != "1" {
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

// TestDataOfManyUsers checks that copies are stored for a limited number of users.
func TestDataOfManyUsers(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := New(Options{Now: func() time.Time { return now }})
	const users, most = 20_000, 16_384
	copies, marks := 0, 0
	for i := range users {
		k.copies.Put(fmt.Sprint(i), userCopy{Value: []byte("1")}, now.Add(time.Minute))
		k.invalidate(fmt.Sprint(i))
	}
	for i := range users {
		if copied, _ := k.copies.Get(fmt.Sprint(i)); copied.Value != nil {
			copies++
		}
		if _, marked := k.outdated.Get(fmt.Sprint(i)); marked {
			marks++
		}
	}
	if copies > most || marks > most || copies == 0 || marks == 0 {
		t.Errorf("stored %d copies and %d marks", copies, marks)
	}
}
