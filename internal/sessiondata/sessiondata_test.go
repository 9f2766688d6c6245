package sessiondata

import (
	"context"
	"encoding/json"
	"errors"
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

// TestShow checks which data the browser receives.
func TestShow(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	public := func(raw json.RawMessage) (json.RawMessage, error) { return append(raw[:len(raw):len(raw)], '0'), nil }
	for name, row := range map[string]struct {
		load   error
		public func(json.RawMessage) (json.RawMessage, error)
		extra  map[string]json.RawMessage
		want   string
		err    error
	}{
		"shown":       {nil, public, nil, `{"data":10}`, nil},
		"with others": {nil, public, map[string]json.RawMessage{"a": []byte("2")}, `{"a":2,"data":10}`, nil},
		"taken":       {failed, public, map[string]json.RawMessage{"data": []byte("2")}, `{"data":2}`, nil},
		"not public":  {failed, nil, nil, `null`, nil},
		"not loaded":  {failed, public, nil, `null`, failed},
		"not converted": {
			nil, func(json.RawMessage) (json.RawMessage, error) { return nil, failed }, nil, `null`, failed,
		},
	} {
		k := New(Options{Now: time.Now, Public: row.public, Load: func(context.Context, any) (json.RawMessage, error) {
			return json.RawMessage(`1`), row.load
		}})
		before := fmt.Sprint(row.extra)
		got, err := k.Of("u1", nil).Show(t.Context(), row.extra)
		text, _ := json.Marshal(got)
		if string(text) != row.want || !errors.Is(err, row.err) || fmt.Sprint(row.extra) != before {
			t.Errorf("%s: %s, %v, the members before are %v", name, text, err, row.extra)
		}
	}
	var none *Loaded
	if got, err := none.Show(t.Context(), nil); got != nil || err != nil {
		t.Errorf("without data: %v, %v", got, err)
	}
}
