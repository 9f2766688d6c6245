package storetest

import (
	"fmt"
	"slices"
	"testing"
)

// ending is which of two processes ends before its time; the zero ending: none.
type ending struct {
	first bool // before it has the answer to the request that the other came ahead of
	after int  // requests of the other
}

// String is what the failure of a scene says.
func (e ending) String() string {
	switch {
	case e.first:
		return "which ends"
	case e.after > 0:
		return fmt.Sprintf("which goes on, the other ends after %d requests", e.after)
	}
	return "which goes on"
}

// mostOfOther is after how many requests at most the other process ends.
const mostOfOther = 10

// play is all scenes of one act.
type play struct {
	testing.TB
	staged   Staged
	first    act
	every    bool               // plays also the scenes that cannot differ from others
	saw      func(s, as *scene) // for tests of the kit: a scene was played, and is like another one, unless that is nil
	number   int                // of the scene that is played
	requests int                // that the act does when nothing comes in between; 0: not known yet

	emptyAfter int // how many scenes the engine is emptied
}

// all plays the scenes of the act with every other one.
func (p *play) all() {
	p.Helper()
	for _, second := range append([]act{{name: "nothing", about: p.first.about}}, allActs...) {
		p.with(second)
	}
}

// with plays the scenes with another act in between.
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

// goOn plays the scenes in which both acts come to their end. It returns the scene, or one that it cannot differ from,
// of each request of the first act before which the second one is done.
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

// firstEnds plays the scenes in which the first process ends.
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

// otherEnds plays the scenes in which the first act comes to its end, and the second one does not.
func (p *play) otherEnds(second act, whole []*scene) {
	p.Helper()
	fewer := make([]*scene, len(whole))
	for after := 1; after <= mostOfOther; after++ {
		scenes := make([]*scene, len(whole))
		for at, s := range whole {
			var leaves *scene
			switch {
			case len(s.between) <= after: // it comes to its end
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

// isAs reports whether a scene in which the second act is done before a request of the first is like the one in which
// it is done before the request ahead of that: that one commutes with what the second act does.
func (p *play) isAs(s *scene, at int) bool {
	return !p.every && at <= len(s.did) && s.did[at-1].commutesWithAll(s.between)
}

// scene plays one scene and looks at what came of it. leaves is a scene that has left the same behind; nil: none is
// known. When both processes say the same as they did there, there is nothing else to be seen.
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
