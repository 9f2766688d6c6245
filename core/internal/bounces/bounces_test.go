package bounces_test

import (
	"context"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/bounces"
	"github.com/latchkey-go/latchkey/core/store"
)

// shelf is a store with records by key.
type shelf struct {
	store.RecordStore
	records map[string]*store.Record
}

func (s *shelf) CreateRecord(_ context.Context, r *store.Record) error {
	s.records[r.Key] = r
	return nil
}

func (s *shelf) UpdateRecord(ctx context.Context, r *store.Record) error {
	return s.CreateRecord(ctx, r)
}

func (s *shelf) Record(_ context.Context, _, key string) (*store.Record, error) {
	if r := s.records[key]; r != nil {
		return r, nil
	}
	return nil, store.ErrNotFound
}

func (s *shelf) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	r, err := s.Record(ctx, kind, key)
	delete(s.records, key)
	return r, err
}

// TestBounces checks for which addresses, users and times a report counts, before and after a rotation of the secret.
func TestBounces(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &shelf{records: map[string]*store.Record{}}
	b := &bounces.Bounces{Records: s, Secrets: []string{"s1"}, Now: func() time.Time { return now }}
	for _, userID := range []string{"u1", "u1", "u2"} { // again, and after the address has changed hands
		if err := b.Add(t.Context(), "ada@example.com", userID); err != nil || len(s.records) != 1 {
			t.Fatal(err, len(s.records))
		}
		b.Secrets = []string{"s2", "s1"}
	}
	var list []*store.Record
	for key, r := range s.records {
		if list = append(list, r); r.UserID != "u2" || key == "ada@example.com" {
			t.Errorf("record %+v", r)
		}
	}
	for name, row := range map[string]struct {
		address string
		at      time.Time
		since   bool // a report at or after the time
		in      bool // a report after the time
	}{
		"before":          {"ada@example.com", now.Add(-time.Second), true, true},
		"at":              {"ada@example.com", now, true, false},
		"after":           {"ada@example.com", now.Add(time.Second), false, false},
		"another address": {"eve@example.com", now.Add(-time.Second), false, false},
	} {
		if got := b.Since(t.Context(), row.address, row.at); got != row.since {
			t.Errorf("%s: since %v", name, got)
		}
		if got := b.In(list, row.address, row.at); got != row.in {
			t.Errorf("%s: in %v", name, got)
		}
	}
	now = now.Add(91 * 24 * time.Hour)
	if b.In(list, "ada@example.com", time.Time{}) {
		t.Error("a report that has expired")
	}
	if (&bounces.Bounces{}).Since(t.Context(), "ada@example.com", time.Time{}) {
		t.Error("a report without a store")
	}
}
