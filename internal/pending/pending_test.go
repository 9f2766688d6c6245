package pending_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/pending"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// rows are records in memory. Their user is ada.
type rows struct {
	recordstore.Store
	all map[string]*recordstore.Record
	// read is called after the next read of a record. It may be nil.
	read func()
}

func (s *rows) CreateRecord(_ context.Context, r *recordstore.Record) error {
	if r.UserID != "" && r.UserID != "ada" {
		return recordstore.ErrNotFound
	}
	s.all[r.Kind+"/"+r.Key] = r
	return r.Check()
}

func (s *rows) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	if r := s.all[kind+"/"+key]; r != nil {
		found := *r
		if read := s.read; read != nil {
			s.read = nil
			read()
		}
		return &found, nil
	}
	return nil, recordstore.ErrNotFound
}

func (s *rows) UpdateRecord(_ context.Context, r *recordstore.Record) error {
	before := s.all[r.Kind+"/"+r.Key]
	switch {
	case before == nil:
		return recordstore.ErrNotFound
	case before.Version != r.Version:
		return recordstore.ErrConflict
	}
	r.Version++
	after := *r
	s.all[r.Kind+"/"+r.Key] = &after
	return r.Check()
}

func (s *rows) DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.Record(ctx, kind, key)
	delete(s.all, kind+"/"+key)
	return r, err
}

// TestStore checks that a value needs the key, expires, and can be taken once.
func TestStore(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	kept := &rows{all: map[string]*recordstore.Record{}}
	s := &pending.Store{Records: kept, Keys: &purposekey.Keys{
		Secrets: []string{strings.Repeat("s", 32)}, Rand: rand.Reader, Now: func() time.Time { return now },
	}}
	long := strings.Repeat("a profile ", 1500)
	name, err := s.Save(t.Context(), "the key", "ada", long, now.Add(time.Minute))
	if err != nil || name.Pieces < 2 {
		t.Fatalf("got %+v, error %v", name, err)
	}
	for key, r := range kept.all {
		encoded := base64.RawURLEncoding.EncodeToString([]byte("the key"))
		if strings.Contains(key, "the key") || strings.Contains(key, encoded) ||
			strings.Contains(string(r.Value), "profile") || r.UserID != "ada" {
			t.Errorf("record %s reveals the key or the value", key)
		}
	}
	var got string
	if found, err := s.Read(t.Context(), name, &got); !found || err != nil || got != long {
		t.Errorf("found %t, error %v", found, err)
	}
	if found, err := s.Read(t.Context(), pending.Name{Key: "another", Pieces: 1}, &got); found || err != nil {
		t.Errorf("another key: found %t, error %v", found, err)
	}
	now = now.Add(time.Hour)
	if found, err := s.Read(t.Context(), name, &got); found || err != nil {
		t.Errorf("expired: found %t, error %v", found, err)
	}
	if _, err := s.Save(t.Context(), "k", "eve", "x", now); err != recordstore.ErrNotFound { //nolint:errorlint // itself
		t.Errorf("an absent user: %v", err)
	}
	if _, err := s.Save(t.Context(), "k", "ada", strings.Repeat("x", 64<<10), now); err == nil {
		t.Error("a value of 64 KiB is stored")
	}
}

// TestTake checks that one request takes a sign-in. It can give it back after a failure, unless the sign-in was deleted
// in the meantime.
func TestTake(t *testing.T) {
	t.Parallel()
	kept := &rows{all: map[string]*recordstore.Record{}}
	s := &pending.Store{Records: kept, Keys: &purposekey.Keys{
		Secrets: []string{strings.Repeat("s", 32)}, Rand: rand.Reader, Now: time.Now,
	}}
	value := strings.Repeat("a profile ", 1500)
	name, err := s.Save(t.Context(), "the key", "ada", value, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	read := func(want bool) {
		t.Helper()
		var got string
		if found, err := s.Read(t.Context(), name, &got); found != want || err != nil || found && got != value {
			t.Errorf("found %t, error %v, want %t", found, err, want)
		}
	}
	take := func(want bool) *pending.Taken {
		t.Helper()
		took, err := s.Take(t.Context(), name)
		if (took != nil) != want || err != nil {
			t.Fatalf("took %t, error %v, want %t", took != nil, err, want)
		}
		return took
	}
	first := take(true)
	read(false)
	take(false)
	if err := first.Restore(t.Context()); err != nil {
		t.Error(err)
	}
	read(true)
	second := take(true)
	clear(kept.all) // the end of the user's sessions
	if err := second.Restore(t.Context()); err != nil || len(kept.all) != 0 {
		t.Errorf("error %v, %d records are back", err, len(kept.all))
	}
	if name, err = s.Save(t.Context(), "the key", "ada", value, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	kept.read = func() { take(true) } // another request is faster
	take(false)
	clear(kept.all)
	if name, err = s.Save(t.Context(), "the key", "ada", value, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := take(true).Done(t.Context()); err != nil || len(kept.all) != 0 {
		t.Errorf("error %v, %d records are left", err, len(kept.all))
	}
	take(false)
}
