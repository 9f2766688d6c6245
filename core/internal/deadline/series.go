package deadline

import (
	"context"
	"time"
)

// Series is the context of calls that follow one another, each with a limit of its own. A call that begins when hardly
// any of the limit is gone has the rest of it: they share a timer and what enrols with it. What a slow call took is not
// taken from the next. A Series is its parent, and ends with it; it serves one goroutine.
type Series struct {
	context.Context
	shared context.Context
	end    context.CancelFunc // of shared; nil: there was no call yet
	limit  time.Duration
	until  time.Time // a call that begins later has a limit anew
}

// InSeries returns a Series, which the caller ends when the last call is over.
func InSeries(parent context.Context) *Series { return &Series{Context: parent} }

// Call is the context of the next call: it lasts as long as the limit, or a tenth less.
func (s *Series) Call(limit time.Duration) context.Context {
	begins := now()
	if s.end != nil && s.limit == limit && !begins.After(s.until) {
		return s.shared
	}
	s.End()
	s.limit, s.until = limit, begins.Add(limit/10)
	s.shared, s.end = context.WithTimeout(s.Context, limit)
	return s.shared
}

// End ends the last call's context.
func (s *Series) End() {
	if s.end != nil {
		s.end()
	}
}
