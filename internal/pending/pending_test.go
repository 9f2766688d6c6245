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
		return r, nil
	}
	return nil, recordstore.ErrNotFound
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
		readable := strings.Contains(key, "the key") || strings.Contains(key, base64.RawURLEncoding.EncodeToString([]byte("the key")))
		if readable || strings.Contains(string(r.Value), "profile") || r.UserID != "ada" {
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
	for _, want := range []bool{true, false} {
		if took, err := s.Take(t.Context(), name); took != want || err != nil {
			t.Errorf("took %t, error %v, want %t", took, err, want)
		}
	}
	if _, err := s.Save(t.Context(), "k", "eve", "x", now); err != recordstore.ErrNotFound { //nolint:errorlint // itself
		t.Errorf("an absent user: %v", err)
	}
	if _, err := s.Save(t.Context(), "k", "ada", strings.Repeat("x", 64<<10), now); err == nil {
		t.Error("a value of 64 KiB is stored")
	}
}
