package sessiondata

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"time"
)

// TestKeepers checks that Refresh reaches all keepers, and that a keeper that is no longer used is not kept.
func TestKeepers(t *testing.T) {
	t.Parallel()
	var all Keepers
	made := func(loads *int) *Keeper {
		k := New(Options{Now: func() time.Time { return time.Unix(1, 0) }, Load: func(
			context.Context, any,
		) (json.RawMessage, error) {
			*loads++
			return json.RawMessage(`1`), nil
		}})
		all.Add(k)
		return k
	}
	var one, two, gone int
	made(&gone)
	first, second := made(&one), made(&two)
	for all.all[0].Value() != nil {
		runtime.GC()
	}
	made(&gone)
	if len(all.all) != 3 {
		t.Error(len(all.all), "keepers")
	}
	for want := 1; want <= 2; want++ {
		for _, k := range []*Keeper{first, second} {
			for range 2 {
				if _, err := k.of(t.Context(), "ada", nil, userCopy{}); err != nil {
					t.Error(err)
				}
			}
		}
		if one != want || two != want {
			t.Errorf("loaded %d and %d times, want %d", one, two, want)
		}
		if err := all.Refresh(t.Context(), "ada"); err != nil {
			t.Error(err)
		}
	}
}
