package emaillinks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

const address = "ada@example.com"

func browser(value string) emaillinks.Browser {
	spec := &cookies.Spec{Attributes: cookie.Cookie{Name: "asked"}}
	return emaillinks.Browser{Jar: cookie.Parse([]string{"asked=" + value}), Spec: spec}
}

// TestAsked checks which links a browser has requested: the last four, until they are used.
func TestAsked(t *testing.T) {
	t.Parallel()
	l := &emaillinks.Asked{Secrets: []string{"s1"}, Provider: "email", MaxAge: time.Hour}
	value := ""
	for _, link := range []string{"a", "b", "c", "d", "e"} {
		c := l.Remember(browser(value), link, address)
		if value = c.Value; c.MaxAge != 3600 || strings.Contains(value, address) {
			t.Errorf("cookie %s", c)
		}
	}
	for link, want := range map[string]bool{"a": false, "b": true, "e": true, "x": false} {
		if l.Has(browser(value), link, address) != want {
			t.Errorf("link %s: not %v", link, want)
		}
	}
	if l.Has(browser(value), "e", "eve@example.com") {
		t.Error("a link to another address")
	}
	for name, other := range map[string]*emaillinks.Asked{
		"another provider": {Secrets: []string{"s1"}, Provider: "other"},
		"another secret":   {Secrets: []string{"s2"}, Provider: "email"},
	} {
		if other.Has(browser(value), "e", address) {
			t.Error(name)
		}
	}
	rotated := &emaillinks.Asked{Secrets: []string{"s2", "s1"}, Provider: "email", MaxAge: time.Hour}
	if !rotated.Has(browser(value), "e", address) {
		t.Error("the link is unknown after a rotation of the secret")
	}
	for _, link := range []string{"e", "d", "c"} {
		value = l.Forget(browser(value), link, address)[0].Value
	}
	if l.Has(browser(value), "e", address) || !l.Has(browser(value), "b", address) {
		t.Error("the wrong link was removed")
	}
	if last := l.Forget(browser(value), "b", address); last[0].MaxAge != 0 || !last[0].HasMaxAge {
		t.Errorf("the last link: %v", last)
	}
	if none := l.Forget(browser(value), "x", address); none != nil {
		t.Errorf("an unknown link: %v", none)
	}
}

// TestHashes checks that hashes depend on the secret, and that those of earlier secrets and of Auth.js are accepted.
func TestHashes(t *testing.T) {
	t.Parallel()
	if emaillinks.Hash("token", "one") == emaillinks.Hash("token", "another") {
		t.Error("hashes do not depend on the secret")
	}
	all := emaillinks.Hashes("token", []string{"one", "two"})
	if len(all) != 3 || all[1] != emaillinks.Hash("token", "two") || all[2] != emaillinks.Hash("token", "one,two") {
		t.Errorf("%q", all)
	}
}

// memory is a store with one record.
type memory struct {
	store.RecordStore
	record *store.Record
	err    error
	update error // of UpdateRecord
}

func (s *memory) CreateRecord(_ context.Context, r *store.Record) error {
	if s.record != nil {
		return store.ErrConflict
	}
	s.record = r
	return s.err
}

func (s *memory) UpdateRecord(_ context.Context, r *store.Record) error {
	if s.update == nil {
		s.record = r
	}
	return s.update
}

func (s *memory) Record(_ context.Context, _, key string) (*store.Record, error) {
	if s.record == nil || s.record.Key != key {
		return nil, store.ErrNotFound
	}
	return s.record, nil
}

func (s *memory) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	r, err := s.Record(ctx, kind, key)
	if err == nil {
		s.record = nil
	}
	return r, err
}

// TestSent checks the lifetime and the origin of the entry of a link.
func TestSent(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const origin = "https://app.example"
	s := &memory{}
	l := &emaillinks.Sent{
		Records: s, Secret: "s1", Provider: "email", Life: time.Minute, Now: func() time.Time { return now },
	}
	for _, stored := range []string{"hash 1", "hash 2"} { // the second replaces an entry that has expired
		if err := l.Note(t.Context(), origin, address, stored); err != nil {
			t.Fatal(err)
		}
		if got := l.Recent(t.Context(), origin, address); got != stored {
			t.Errorf("stored %q", got)
		}
		for _, other := range [][2]string{{"https://other.example", address}, {origin, "eve@example.com"}} {
			if got := l.Recent(t.Context(), other[0], other[1]); got != "" {
				t.Errorf("%q: %q", other, got)
			}
		}
		if now = now.Add(time.Minute); l.Recent(t.Context(), origin, address) != "" {
			t.Error("an entry that has expired")
		}
	}
	for _, faster := range []error{store.ErrConflict, store.ErrNotFound} {
		if s.update = faster; l.Note(t.Context(), origin, address, "hash 3") != nil {
			t.Error("another request was faster:", faster)
		}
	}
	s.update = errors.New("unavailable")
	if err := l.Note(t.Context(), origin, address, "hash 3"); !errors.Is(err, s.update) {
		t.Error(err)
	}
	l.Forget(t.Context(), origin, address)
	if s.record != nil {
		t.Error("the entry of a used link")
	}
	s.err = errors.New("unavailable")
	if err := l.Note(t.Context(), origin, address, "hash"); !errors.Is(err, s.err) {
		t.Error(err)
	}
	var none *emaillinks.Sent
	if err := none.Note(t.Context(), origin, address, "x"); err != nil || none.Recent(t.Context(), origin, address) != "" {
		t.Error("entries without a store")
	}
	none.Forget(t.Context(), origin, address)
}
