package providersessions

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSIDsAreBounded checks that only the newest provider sessions are stored, and the newest local sessions of each.
func TestSIDsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(time.Now)
	for i := range 2*maxSessions + 5 {
		s.Add("op", fmt.Sprint(i), "token")
	}
	const most = maxSessions
	for sid, there := range map[int]bool{0: false, most + 4: false, most + 5: true, 2*most + 4: true} {
		if got := s.Of("op", fmt.Sprint(sid)) != nil; got != there {
			t.Errorf("sid %d is stored: %t", sid, got)
		}
	}
	for i := range 10 {
		s.Add("op", "same", fmt.Sprint(i))
		s.Add("op", "same", fmt.Sprint(i))
	}
	if got := fmt.Sprint(s.Of("op", "same")); got != "[6 7 8 9]" {
		t.Errorf("stored sessions of one sid: %s", got)
	}
	for length, there := range map[int]bool{maxSID: true, maxSID + 1: false} {
		sid := strings.Repeat("x", length)
		s.Add("op", sid, "token")
		if got := s.Of("op", sid) != nil; got != there {
			t.Errorf("a sid of %d bytes is stored: %t", length, got)
		}
	}
	if s.Of("other", "same") != nil {
		t.Error("a sid is accepted from another provider")
	}
}

// TestSIDsFollowASession checks that a session is found under its new token, and that others stay unchanged.
func TestSIDsFollowASession(t *testing.T) {
	t.Parallel()
	s := New(time.Now)
	s.Add("op", "sid", "first")
	s.Add("op", "sid", "other")
	s.Move("first", "second")
	s.Move("second", "third")
	s.Move("", "nobody's")
	if got := fmt.Sprint(s.Of("op", "sid")); got != "[third other]" {
		t.Errorf("sessions of the sid: %s", got)
	}
}
