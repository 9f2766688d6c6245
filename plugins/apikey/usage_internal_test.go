package apikey

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// TestCountIsBounded counts requests with more keys than are remembered.
func TestCountIsBounded(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	u := &usage{now: func() time.Time { return now }, calls: map[string]*calls{}}
	u.change = func(context.Context, string, func(*keyRecord) bool) error { return nil }
	for i := range maxCounted + 10 { // they were used a moment ago, so nothing is written
		u.count(t.Context(), &keyRecord{Key: Key{ID: strconv.Itoa(i), Used: now}})
	}
	if len(u.calls) != maxCounted {
		t.Errorf("%d keys are counted", len(u.calls))
	}
}
