package dbtest

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCommutes checks that requests commute if they touch different rows or only read, and that unknown requests do
// not.
func TestCommutes(t *testing.T) {
	read := func(rows ...string) Request { return Request{Reads: rows} }
	write := func(rows ...string) Request { return Request{Writes: rows} }
	for _, c := range []struct {
		name     string
		one, two Request
		want     bool
	}{
		{"two reads of a row", read("a$"), read("a$"), true},
		{"a read and a write of a row", read("a$"), write("a$"), false},
		{"two writes of a row", write("a$"), write("a$"), false},
		{"two writes of two rows", write("a$"), write("b$"), true},
		{"a read and a write of two rows", read("a$"), write("b$"), true},
		{"a list and a write of what is listed", read("a/"), write("a/1$"), false},
		{"a list and a write of something else", read("a/"), write("b/1$"), true},
		{"a read of everything and a write", read(""), write("a$"), false},
		{"several rows, of which one is the other's too", write("a$", "b$"), read("c$", "b$"), false},
		{"it is not known what one does", Request{}, read("a$"), false},
		{"it is not known what both do", Request{}, Request{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, back := c.one.commutes(c.two), c.two.commutes(c.one); got != c.want || back != c.want {
				t.Errorf("%v and %v, want %v", got, back, c.want)
			}
		})
	}
}

// TestInterleavedFaults checks that the selected scenes find every fault that all scenes would find, and none in a
// sound store.
func TestInterleavedFaults(t *testing.T) {
	for _, f := range []fault{
		sound, writesBlindly, takesBlindly, extendsBlindly, sharesAddresses, reservesForEver, keepsAccounts, linksLate,
		keepsOldAddress, copiesUsers, copiesQuietly, losesNewSessions,
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			for _, every := range []bool{true, false} {
				var complaints []string
				for _, first := range allActs {
					if c := played(t, f, first, every, nil).complaint; c != "" {
						complaints = append(complaints, c)
					}
				}
				if len(complaints) > 0 != (f != sound) {
					t.Errorf("every scene: %v; complaints: %q", every, complaints)
				}
			}
		})
	}
}

// TestInterleavedOutcomes checks that the selected scenes have the same outcomes as all scenes, and that the skipped
// ones leave the same rows as an equivalent scene. A store with a fault has more outcomes.
func TestInterleavedOutcomes(t *testing.T) {
	for _, first := range allActs {
		t.Run(first.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []fault{sound, writesBlindly, copiesUsers, copiesQuietly} {
				var outcomes [2]map[string]bool
				var scenes [2]int
				for i, every := range []bool{true, false} {
					seen, all := map[*scene]string{}, map[string]bool{}
					p := played(t, f, first, every, func(s, as *scene) {
						seen[s] = outcome(s)
						all[seen[s]] = true
						if as != nil && seen[s] != seen[as] {
							t.Errorf("%s: a scene that is not looked at ends so: %s, and not so: %s", f, seen[s], seen[as])
						}
					})
					outcomes[i], scenes[i] = all, p.number
				}
				if !maps.Equal(outcomes[0], outcomes[1]) {
					for o := range outcomes[0] {
						if !outcomes[1][o] {
							t.Errorf("%s: no scene that is played ends so: %s", f, o)
						}
					}
				}
				if scenes[1] > scenes[0] || len(outcomes[0]) < 2 {
					t.Errorf("%s: %d scenes of %d, %d outcomes", f, scenes[1], scenes[0], len(outcomes[0]))
				}
			}
		})
	}
}

// watched is the result of the scenes of an act on rows.
type watched struct {
	number    int
	complaint string
}

// played runs the scenes of an act. If saw is not nil, it continues after a scene that fails.
func played(t *testing.T, f fault, first act, every bool, saw func(s, as *scene)) watched {
	t.Helper()
	there := rows{}
	one, other := &rowStore{rows: there, fault: f}, &rowStore{rows: there, fault: f}
	c := &complaints{TB: t, all: saw != nil}
	p := play{
		TB: c, first: first, every: every, saw: saw, emptyAfter: 1,
		staged: Staged{
			Store: one, Other: other, Empty: func() { clear(there) },
			Watch:      func(before func(Request) (bool, error)) { one.before = before },
			WatchOther: func(before func(Request) (bool, error)) { other.before = before },
		},
	}
	ended := make(chan struct{})
	go func() { // a failure ends this goroutine
		defer close(ended)
		p.all()
	}()
	<-ended
	return watched{p.number, c.first}
}

// complaints records failures instead of failing the test.
type complaints struct {
	testing.TB
	all   bool // continue after a failure
	first string
}

func (c *complaints) Helper()                  {}
func (c *complaints) Context() context.Context { return context.Background() }
func (c *complaints) Failed() bool             { return c.first != "" && !c.all }
func (c *complaints) Error(args ...any)        { c.take(fmt.Sprint(args...)) }
func (c *complaints) Errorf(format string, args ...any) {
	c.take(fmt.Sprintf(format, args...))
}
func (c *complaints) Fatal(args ...any) { c.Error(args...); c.end() }
func (c *complaints) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	c.end()
}

func (c *complaints) take(text string) {
	if c.first == "" {
		c.first = text
	}
}

func (c *complaints) end() {
	if !c.all {
		runtime.Goexit()
	}
}

// outcome describes the rows of a scene and its acknowledged acts, with names instead of the keys of the scene.
func outcome(s *scene) string {
	var names []string
	for _, name := range []string{"ada", "eve", "made", "last"} {
		names = append(names, uuid(s.key(name)), "the id of "+name)
	}
	inWords := strings.NewReplacer(names...)
	number := regexp.MustCompile(fmt.Sprintf(`([a-z]|/)%d\b`, s.number))
	var lines []string
	for key, row := range s.staged().rows {
		lines = append(lines, number.ReplaceAllString(inWords.Replace(fmt.Sprintf("%s: %v", key, row)), "$1#"))
	}
	for name, err := range s.acted {
		lines = append(lines, fmt.Sprintf("%s: %v", name, err == nil))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (s *scene) staged() *rowStore { return s.store.(*rowStore) }
