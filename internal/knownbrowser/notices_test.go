package knownbrowser_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/knownbrowser"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// row is a store with at most one record.
type row struct {
	recordstore.Store
	record *recordstore.Record
	err    error
}

func (s *row) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.record == nil || s.record.Kind != kind || s.record.Key != key:
		return nil, recordstore.ErrNotFound
	}
	found := *s.record
	return &found, nil
}

func (s *row) CreateRecord(_ context.Context, r *recordstore.Record) error {
	s.record = r
	return r.Check()
}

func (s *row) UpdateRecord(_ context.Context, r *recordstore.Record) error {
	if r.Version != s.record.Version {
		return recordstore.ErrConflict
	}
	updated := *r
	updated.Version++
	s.record = &updated
	return nil
}

// TestNotices checks which sign-ins of a user are reported.
func TestNotices(t *testing.T) {
	t.Parallel()
	s, now := &row{}, time.Unix(1_000_000, 0)
	n := &knownbrowser.Notices{Records: s, Now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		known bool
		want  bool
	}{
		{0, false, false}, // the first sign-in
		{23 * time.Hour, false, false},
		{time.Hour, true, false},
		{0, false, true},
		{59 * time.Minute, false, false},
		{time.Minute, false, true},
	} {
		now = now.Add(step.after)
		change, err := n.Due(t.Context(), "ada", "key", step.known)
		if err != nil || (change != nil) != step.want {
			t.Errorf("%v: %t, %v", now, change != nil, err)
		}
		if change == nil {
			continue
		}
		concurrent, err := n.Due(t.Context(), "ada", "key", false)
		if err != nil || change(t.Context()) != nil || !errors.Is(concurrent(t.Context()), recordstore.ErrConflict) {
			t.Error("two emails about the same time", err)
		}
	}
	if s.record.UserID != "ada" {
		t.Error("record of", s.record.UserID)
	}
	s.record.Value = []byte("{")
	if change, err := n.Due(t.Context(), "ada", "key", false); change != nil || err == nil {
		t.Error("a malformed record", err)
	}
	if s.err = recordstore.ErrUnavailable; !errors.Is(func() error {
		_, err := n.Due(t.Context(), "ada", "key", false)
		return err
	}(), s.err) {
		t.Error("an unavailable store")
	}
}
