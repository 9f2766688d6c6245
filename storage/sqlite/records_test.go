package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestRecordsTogether reads records of two kinds, and missing ones, in concurrent calls that form batches. Each call
// gets a copy of the requested record.
func TestRecordsTogether(t *testing.T) {
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "app.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		kind, key := []string{"one", "two"}[i%2], fmt.Sprint("key-", i/2)
		r := &store.Record{Kind: kind, Key: key, Value: json.RawMessage(fmt.Sprintf("%q", kind+key))}
		if err := s.CreateRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			kind, key := []string{"one", "two", "three"}[i%3], fmt.Sprint("key-", i%10)
			r, err := s.Record(t.Context(), kind, key)
			if kind == "three" || i%10 > 7 {
				if !errors.Is(err, store.ErrNotFound) || r != nil {
					t.Errorf("%s %s: %v, %v", kind, key, r, err)
				}
				return
			}
			if err != nil || r.Kind != kind || r.Key != key || string(r.Value) != fmt.Sprintf("%q", kind+key) {
				t.Errorf("%s %s: %v, %v", kind, key, r, err)
				return
			}
			r.Value[1] = 'x' // the caller may change its copy
		})
	}
	all.Wait()
}
