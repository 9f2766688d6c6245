package sessionrecord_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
)

// records is a store of records in memory. Calls fail while down is set. updated receives each updated record.
type records struct {
	recordstore.Store
	rows    map[string]recordstore.Record
	down    error
	updated chan recordstore.Record
}

func (r *records) Record(_ context.Context, _, key string) (*recordstore.Record, error) {
	row, there := r.rows[key]
	switch {
	case r.down != nil:
		return nil, r.down
	case !there:
		return nil, recordstore.ErrNotFound
	}
	return &row, nil
}

func (r *records) CreateRecord(_ context.Context, row *recordstore.Record) error {
	r.rows[row.Key] = *row
	return r.down
}

func (r *records) UpdateRecord(_ context.Context, row *recordstore.Record) error {
	r.updated <- *row
	return nil
}

func (r *records) DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	row, err := r.Record(ctx, kind, key)
	delete(r.rows, key)
	return row, err
}

func (r *records) UserRecords(_ context.Context, userID, _ string) (list []*recordstore.Record, err error) {
	for _, row := range r.rows {
		if row.UserID == userID {
			list = append(list, &row)
		}
	}
	return list, r.down
}

func (r *records) DeleteUserRecords(_ context.Context, userID, _ string) (int, error) {
	maps.DeleteFunc(r.rows, func(_ string, row recordstore.Record) bool { return row.UserID == userID })
	return 0, r.down
}

func TestRecords(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Unix(1_900_000_000, 0)
	kept := &records{rows: map[string]recordstore.Record{}, updated: make(chan recordstore.Record)}
	var failed error
	r := sessionrecord.New(sessionrecord.Options{
		Records: kept, Now: func() time.Time { return now }, Failed: func(_ context.Context, err error) { failed = err },
	})
	ends := now.Add(24 * time.Hour)
	note := sessionrecord.Note{Ends: ends.Unix(), Agent: "agent", Methods: []string{"pwd"}}
	for id, user := range map[string]string{"s1": "u1", "s2": "u1", "s3": "u2"} {
		if err := r.Add(ctx, id, user, note); err != nil {
			t.Fatal(err)
		}
	}
	note.Made, note.Seen = now.Unix(), now.Unix()
	if got := r.Read(ctx, "s1"); got.Made != note.Made || got.Seen != note.Seen || got.Agent != note.Agent ||
		!slices.Equal(got.Methods, note.Methods) {
		t.Errorf("got %+v, want %+v", got, note)
	}
	if row := kept.rows["s1"]; !row.Expires.After(ends) || row.UserID != "u1" {
		t.Errorf("record %+v", row)
	}

	r.Use(ctx, "s1", ends) // within the hour: nothing is written
	now = now.Add(time.Hour + time.Second)
	r.Use(ctx, "s1", ends.Add(time.Hour))
	if row := <-kept.updated; row.Key != "s1" || !row.Expires.After(ends.Add(time.Hour)) {
		t.Errorf("the last use is in %+v", row)
	}

	if user := r.Remove(ctx, "s3"); user != "u2" || r.Remove(ctx, "s3") != "" || failed != nil {
		t.Errorf("the session of %q was removed, %v", user, failed)
	}
	if err := r.RemoveAll(ctx, "u1", "s1"); err != nil || len(kept.rows) != 1 {
		t.Errorf("%d records are left, %v", len(kept.rows), err)
	}
	if all, err := r.OfUser(ctx, "u1"); err != nil || len(all) != 1 || all["s1"].Agent != "agent" {
		t.Errorf("got %v, %v", all, err)
	}
	kept.down = errors.New("unavailable")
	if got := r.Read(ctx, "s1"); got.Made != 0 || !errors.Is(failed, kept.down) {
		t.Errorf("got %+v, %v", got, failed)
	}
	if err := r.Add(ctx, "s4", "u1", note); !errors.Is(err, kept.down) {
		t.Errorf("got %v", err)
	}
	kept.down = recordstore.ErrNotFound
	if err := r.Add(ctx, "s5", "nobody", note); err != nil {
		t.Errorf("a user who is not in the store: %v", err)
	}
}

// TestNoRecords: without a store for records nothing happens.
func TestNoRecords(t *testing.T) {
	t.Parallel()
	r := sessionrecord.New(sessionrecord.Options{})
	r.Use(t.Context(), "s1", time.Time{})
	all, err := r.OfUser(t.Context(), "u1")
	if r.Add(t.Context(), "s1", "u1", sessionrecord.Note{}) != nil || r.Read(t.Context(), "s1").Made != 0 ||
		r.Remove(t.Context(), "s1") != "" || r.RemoveAll(t.Context(), "u1", "") != nil || err != nil || len(all) > 0 {
		t.Error("nil has records")
	}
}
