package keyvalue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// sessions returns a store with live sessions, and some that expired at noon.
func sessions(t *testing.T, live, ended int) (*keyvalue.Store, *engine) {
	t.Helper()
	e := newEngine()
	s := keyvalue.New("memory", e)
	_, err := s.CreateUser(t.Context(), &core.User{ID: "u1"})
	must(t, err)
	create := func(token string, expires time.Time) {
		must(t, s.CreateSession(t.Context(), &store.Session{Token: core.Secret(token), UserID: "u1", Expires: expires}))
	}
	for i := range live {
		create(fmt.Sprintf("live%06d", i), noon.Add(time.Duration(i+1)*time.Second))
	}
	for i := range ended {
		create(fmt.Sprintf("old%06d", i), noon.Add(-time.Duration(i+1)*time.Second))
	}
	return s, e
}

// forget deletes the names with this text from the set of ends, as if an earlier version had created the records.
func forget(e *engine, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name := range e.names {
		if name.Set == "ends" && strings.Contains(name.Name, text) {
			delete(e.names, name)
		}
	}
}

func clean(t *testing.T, s *keyvalue.Store, at time.Time, want int) {
	t.Helper()
	n, err := s.DeleteExpired(t.Context(), at)
	must(t, err)
	if n != want {
		t.Errorf("%d went at %v, want %d", n, at, want)
	}
}

// TestCleaningReadsLittle checks that DeleteExpired reads little if little has expired, regardless of the size of the
// store.
func TestCleaningReadsLittle(t *testing.T) {
	s, e := sessions(t, 3000, 5)
	clean(t, s, noon, 5)
	for _, want := range []int{0, 0, 0, 0} {
		before := e.reads
		clean(t, s, noon, want)
		if reads := e.reads - before; reads > 30 {
			t.Errorf("%d requests, and there was nothing to do", reads)
		}
	}
}

// TestCleaningFindsWhatEarlierVersionsMade checks records without an end: the first round adds all ends, and later
// rounds find records that were added afterwards.
func TestCleaningFindsWhatEarlierVersionsMade(t *testing.T) {
	s, e := sessions(t, 2500, 40)
	forget(e, "")
	clean(t, s, noon, 40)
	if n := e.count("ends"); n != 2500 {
		t.Errorf("%d ends, want one for each live session", n)
	}
	clean(t, s, noon.Add(11*time.Second), 10)

	session := &store.Session{Token: "live002400x", UserID: "u1", Expires: noon.Add(-time.Hour)}
	must(t, s.CreateSession(t.Context(), session))
	forget(e, "live002400x")
	gone := 0
	for range 3 {
		n, err := s.DeleteExpired(t.Context(), noon)
		must(t, err)
		gone += n
	}
	if gone != 1 {
		t.Errorf("%d went in a round, want the one that has no end", gone)
	}
}

// TestFirstRoundContinues checks that an interrupted first round continues at the same place.
func TestFirstRoundContinues(t *testing.T) {
	s, e := sessions(t, 1000, 0)
	forget(e, "")
	ctx, cancel := context.WithCancel(t.Context())
	pages := []string{}
	e.reading = func(q keyvalue.Query) {
		for _, page := range q.Sets {
			if page.Set == "sessions" {
				if pages = append(pages, page.After); len(pages) == 4 {
					cancel()
				}
			}
		}
	}
	if _, err := s.DeleteExpired(ctx, noon); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	clean(t, s, noon, 0)
	if len(pages) < 5 || pages[4] != pages[3] || pages[4] == "" {
		t.Errorf("pages after %v: the second call must go on with the one that the first did not finish", pages)
	}
	if n := e.count("ends"); n != 1000 {
		t.Errorf("%d ends of 1000", n)
	}
}

// TestCleaningFollowsEnds checks that expired sessions are deleted before a round reaches them.
func TestCleaningFollowsEnds(t *testing.T) {
	s, _ := sessions(t, 3500, 0)
	clean(t, s, noon.Add(-time.Hour), 0)
	const last = "live003400x"
	expires := noon.Add(-50 * time.Minute)
	must(t, s.CreateSession(t.Context(), &store.Session{Token: last, UserID: "u1", Expires: expires}))
	must(t, s.UpdateSession(t.Context(), last, noon.Add(-30*time.Minute)))
	must(t, s.CreateSession(t.Context(), &store.Session{Token: last + "x", UserID: "u1", Expires: expires}))
	clean(t, s, noon.Add(-40*time.Minute), 1) // the second one; the first gets another end
	clean(t, s, noon.Add(-20*time.Minute), 1)
	token := &store.VerificationToken{Identifier: "a", Token: "t", Expires: noon.Add(-time.Minute)}
	must(t, s.CreateVerificationToken(t.Context(), token))
	clean(t, s, noon.Add(-2*time.Minute), 0)
	clean(t, s, noon, 1)
}

// TestCleaningFollowsEndsOfRecords checks that expired records are deleted before a round reaches them.
func TestCleaningFollowsEndsOfRecords(t *testing.T) {
	s, e := sessions(t, 0, 0)
	for i := range 2500 {
		must(t, s.CreateRecord(t.Context(), note(fmt.Sprint(i), noon.Add(time.Hour))))
	}
	clean(t, s, noon.Add(-time.Hour), 0)
	for _, row := range []struct {
		key      string
		from, to time.Time
	}{
		{"z never, then an end", time.Time{}, noon.Add(-50 * time.Minute)},
		{"z an earlier end", noon.Add(2 * time.Hour), noon.Add(-30 * time.Minute)},
		{"z a later end", noon.Add(-50 * time.Minute), noon.Add(-10 * time.Minute)},
		{"z an end, then never", noon.Add(-50 * time.Minute), time.Time{}},
	} {
		r := note(row.key, row.from)
		must(t, s.CreateRecord(t.Context(), r))
		r.Expires = row.to
		must(t, s.UpdateRecord(t.Context(), r))
	}
	clean(t, s, noon.Add(-40*time.Minute), 1)
	clean(t, s, noon.Add(-20*time.Minute), 1)
	clean(t, s, noon, 1)
	clean(t, s, noon.Add(30*time.Minute), 0)
	if n := e.count("records"); n != 2500 {
		t.Errorf("%d records that end, want 2500", n)
	}
}

// TestCleaningFindsWhatEarlierVersionsPassedOver checks records whose ends were deleted by an earlier version, which
// does not know records.
func TestCleaningFindsWhatEarlierVersionsPassedOver(t *testing.T) {
	s, e := sessions(t, 0, 0)
	clean(t, s, noon, 0)
	must(t, s.CreateRecord(t.Context(), note("ended", noon.Add(-time.Hour))))
	must(t, s.CreateRecord(t.Context(), note("live", noon.Add(time.Hour))))
	forget(e, "record")
	clean(t, s, noon, 1)
	clean(t, s, noon.Add(2*time.Hour), 1)
}
