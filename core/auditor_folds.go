package core

import (
	"container/list"
	"sync"
	"time"
)

// foldFor is how long refusals of one subject are folded into the event that is told next.
const foldFor = time.Minute

// maxFolds is how many subjects are told apart at a time. The refusals of further ones are folded by name and reason
// alone, so that visitors who make up subjects fill neither memory nor log.
const maxFolds = 4096

// folds keeps a log of refusals from being the attack: of one subject, one a minute is told, with how many it stands
// for. The first is told at once. What was counted of a subject that came no more is told beside the refusal of
// another.
type folds struct {
	mu    sync.Mutex
	bySub map[foldKey]*list.Element // of *fold
	order list.List                 // the oldest in front
}

// foldKey is what makes refusals the same.
type foldKey struct {
	name    AuditName
	outcome Outcome
	reason  Reason
	attempt Attempt
	subject string // user, hidden identifier, or network; empty for those beyond maxFolds
}

type fold struct {
	key   foldKey
	since time.Time
	// last is the refusal that was counted last; its Count is how many were not told yet.
	last AuditEvent
}

// over reports whether the minute is over; a clock that was set back ends it.
func (f *fold) over(now time.Time) bool { return now.Sub(f.since) >= foldFor || now.Before(f.since) }

// add counts a refusal, and returns what is to be told now.
func (s *folds) add(e AuditEvent) (told []AuditEvent) {
	key := foldKey{name: e.Name, outcome: e.Outcome, reason: e.Reason, attempt: e.Attempt, subject: e.subject()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySub == nil {
		s.bySub = map[foldKey]*list.Element{}
	}
	if len(s.bySub) >= maxFolds && s.bySub[key] == nil {
		key.subject = ""
	}
	if known := s.bySub[key]; known != nil {
		f := known.Value.(*fold) //nolint:forcetypeassert // nothing else is in the list
		e.Count += f.last.Count
		if !f.over(e.Time) {
			f.last = e
			return s.sweep(e.Time)
		}
		s.forget(known)
	}
	told = append(s.sweep(e.Time), e)
	e.Count = 0
	s.bySub[key] = s.order.PushBack(&fold{key: key, since: e.Time, last: e})
	return told
}

// sweep forgets subjects whose minute is over, and returns what was counted of them.
func (s *folds) sweep(now time.Time) (told []AuditEvent) {
	const atOnce = 16 // this request tells them
	for front := s.order.Front(); front != nil && len(told) < atOnce; front = s.order.Front() {
		f := front.Value.(*fold) //nolint:forcetypeassert // nothing else is in the list
		if !f.over(now) {
			break
		}
		if f.last.Count > 0 {
			told = append(told, f.last)
		}
		s.forget(front)
	}
	return told
}

func (s *folds) forget(e *list.Element) {
	delete(s.bySub, e.Value.(*fold).key) //nolint:forcetypeassert // nothing else is in the list
	s.order.Remove(e)
}

// subject is whose refusals are folded: the user's, else the identifier's, else the network's.
func (e *AuditEvent) subject() string {
	switch {
	case e.UserID != "":
		return "user " + e.UserID
	case e.Subject != "":
		return "subject " + e.Subject
	}
	return "peer " + e.Peer.String()
}
