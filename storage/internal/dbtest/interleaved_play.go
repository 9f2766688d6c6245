package dbtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ending describes the crash of one of two processes. The zero value means that neither crashes.
type ending struct {
	first bool // before it gets the response to the request that the other preceded
	after int  // number of requests of the other
}

// String is part of the failure message of a scene.
func (e ending) String() string {
	switch {
	case e.first:
		return "which crashes"
	case e.after > 0:
		return fmt.Sprintf("which continues, and the other crashes after %d requests", e.after)
	}
	return "which continues"
}

// mostOfOther is the maximum number of requests before the other process crashes.
const mostOfOther = 10

// play runs all scenes of one act.
type play struct {
	testing.TB
	staged   Staged
	first    act
	every    bool               // also runs scenes that must be equivalent to others
	saw      func(s, as *scene) // for tests of this package: a scene was run; as is an equivalent scene or nil
	number   int                // of the current scene
	requests int                // of the act alone; 0 until it is known

	emptyAfter int // the number of scenes before the database is emptied
}

// all runs the scenes of the act with every other act.
func (p *play) all() {
	p.Helper()
	for _, second := range append([]act{{name: "nothing", about: p.first.about}}, allActs...) {
		p.with(second)
	}
}

// with runs the scenes with another act in between.
func (p *play) with(second act) {
	p.Helper()
	records, both := ofRecords(p.first, second)
	if !p.first.meets(second) || records && second.do != nil && !both {
		return
	}
	whole := p.goOn(second)
	if slices.Contains([]string{"nothing", "rename", "delete the user", "create a session"}, second.name) {
		p.firstEnds(second, whole)
	}
	copies := []string{"rename, rename", "create a session, rename", "create a session, delete the user"}
	if slices.Contains(copies, p.first.name+", "+second.name) {
		p.otherEnds(second, whole)
	}
}

// goOn runs the scenes in which both acts complete. For each request of the first act, it returns the scene in which
// the second act runs before that request, or an equivalent scene.
func (p *play) goOn(second act) (whole []*scene) {
	p.Helper()
	for at := 0; at == 0 || at < p.requests; at++ {
		if at > 0 && p.isAs(whole[at-1], at) {
			whole = append(whole, whole[at-1])
			continue
		}
		s := p.scene(second, ending{}, at, nil)
		if p.requests == 0 {
			p.requests = len(s.did)
		}
		whole = append(whole, s)
	}
	return whole
}

// firstEnds runs the scenes in which the first process crashes.
func (p *play) firstEnds(second act, whole []*scene) {
	p.Helper()
	var before *scene
	for at, s := range whole {
		var leaves *scene
		if at > 0 && len(s.did) > at && p.isAs(whole[at-1], at) && s.did[at].readsOnly() {
			leaves = before
		}
		before = p.scene(second, ending{first: true}, at, leaves)
	}
}

// otherEnds runs the scenes in which the first act completes, and the second does not.
func (p *play) otherEnds(second act, whole []*scene) {
	p.Helper()
	fewer := make([]*scene, len(whole))
	for after := 1; after <= mostOfOther; after++ {
		scenes := make([]*scene, len(whole))
		for at, s := range whole {
			var leaves *scene
			switch {
			case len(s.between) <= after: // it completes
				continue
			case at > 0 && scenes[at-1] != nil && p.isAs(scenes[at-1], at):
				scenes[at] = scenes[at-1]
				continue
			case s.between[after-1].readsOnly():
				leaves = fewer[at]
			}
			scenes[at] = p.scene(second, ending{after: after}, at, leaves)
		}
		fewer = scenes
	}
}

// isAs reports whether the scene with the second act before a request of the first is equivalent to the scene with it
// one request earlier. This is so if that request commutes with all requests of the second act.
func (p *play) isAs(s *scene, at int) bool {
	return !p.every && at <= len(s.did) && s.did[at-1].commutesWithAll(s.between)
}

// scene runs a scene and checks the result. leaves is a scene with the same stored result, or nil. If both processes
// return the same as in that scene, there is nothing further to check.
func (p *play) scene(second act, ends ending, at int, leaves *scene) *scene {
	p.Helper()
	if p.number++; p.number%p.emptyAfter == 0 && p.staged.Empty != nil {
		p.staged.Empty()
	}
	s := &scene{kit: kit{p.TB, p.staged.Other}, number: p.number, acted: map[string]error{}, abouts: map[string]bool{}}
	for _, a := range []act{p.first, second} {
		s.abouts[a.about] = true
		s.deletes = s.deletes || a.name == "delete the user"
	}
	s.prepare()
	s.play(p.staged, p.first, second, ends, at)
	if !s.reached {
		p.Fatalf("%q did %d requests before, and now %d", p.first.name, p.requests, len(s.did))
	}
	if leaves != nil && (p.every || !s.saysAs(leaves)) {
		leaves = nil
	}
	if p.saw != nil {
		p.saw(s, leaves)
	}
	if leaves != nil {
		return s
	}
	tell := func(when string) {
		p.Helper()
		if s.Failed() {
			p.Fatalf("%s%q between %q and itself, %s, at request %d; acknowledged: %v",
				when, second.name, p.first.name, ends, at, s.acted)
		}
	}
	left := aftermath{s}
	left.check()
	tell("")
	if ends == (ending{}) {
		left.tidy()
	} else {
		left.afterwards()
	}
	tell("afterwards: ")
	return s
}

// saysAs reports whether the same acts were acknowledged as in another scene.
func (s *scene) saysAs(other *scene) bool {
	for name, err := range s.acted {
		if (err == nil) != (other.acted[name] == nil) {
			return false
		}
	}
	return true
}

// Request describes one request of a store to its database: the rows that its result depends on (Reads), and the rows
// that it may change (Writes). Each entry is a prefix of keys, and "" means all rows. The zero Request may read and
// change everything.
type Request struct{ Reads, Writes []string }

// readsOnly reports whether a request changes nothing.
func (r Request) readsOnly() bool { return len(r.Writes) == 0 && len(r.Reads) > 0 }

// commutes reports whether the order of two requests makes no difference to their results and to the stored data.
func (r Request) commutes(other Request) bool {
	if r.isZero() || other.isZero() {
		return false
	}
	return !overlap(r.Writes, other.Writes) && !overlap(r.Writes, other.Reads) && !overlap(r.Reads, other.Writes)
}

func (r Request) isZero() bool { return len(r.Reads)+len(r.Writes) == 0 }

// commutesWithAll reports whether a request commutes with each of the others.
func (r Request) commutesWithAll(others []Request) bool {
	for _, other := range others {
		if !r.commutes(other) {
			return false
		}
	}
	return true
}

func overlap(rows, others []string) bool {
	for _, row := range rows {
		for _, other := range others {
			if strings.HasPrefix(row, other) || strings.HasPrefix(other, row) {
				return true
			}
		}
	}
	return false
}
