package core

import (
	"fmt"
	"testing"
	"time"
)

// TestSIDsAreBounded keeps the newest sessions at providers, and the newest of each.
func TestSIDsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSIDs(time.Now)
	for i := range 2*maxSIDs + 5 {
		s.add("op", fmt.Sprint(i), "token")
	}
	for sid, there := range map[int]bool{0: false, maxSIDs + 4: false, maxSIDs + 5: true, 2*maxSIDs + 4: true} {
		if got := s.of("op", fmt.Sprint(sid)) != nil; got != there {
			t.Errorf("sid %d is kept: %t", sid, got)
		}
	}
	for i := range 10 {
		s.add("op", "same", fmt.Sprint(i))
		s.add("op", "same", fmt.Sprint(i))
	}
	if got := fmt.Sprint(s.of("op", "same")); got != "[6 7 8 9]" {
		t.Errorf("of one sid %s are kept", got)
	}
	if s.of("other", "same") != nil {
		t.Error("a sid counts at another provider")
	}
}

// TestSIDsFollowASession finds a session that goes on under another token, and the others as they were.
func TestSIDsFollowASession(t *testing.T) {
	t.Parallel()
	s := newSIDs(time.Now)
	s.add("op", "sid", "first")
	s.add("op", "sid", "other")
	s.move("first", "second")
	s.move("second", "third")
	s.move("", "nobody's")
	if got := fmt.Sprint(s.of("op", "sid")); got != "[third other]" {
		t.Errorf("of the sid %s are known", got)
	}
}
