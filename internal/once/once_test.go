package once_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/once"
)

// clock is a clock that tests control.
type clock struct{ unix atomic.Int64 }

func (c *clock) now() time.Time           { return time.Unix(c.unix.Load(), 0) }
func (c *clock) forward(by time.Duration) { c.unix.Add(int64(by / time.Second)) }
func (c *clock) in(d time.Duration) time.Time {
	return c.now().Add(d)
}

func TestFirst(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[string, struct{}]{Now: c.now}
	steps := []struct {
		name    string
		forward time.Duration
		key     string
		want    bool
	}{
		{"a new key", 0, "a", true},
		{"another key", 0, "b", true},
		{"the empty key", 0, "", true},
		{"a key again", 0, "a", false},
		{"just before its end", 59 * time.Second, "a", false},
		{"at its end", time.Second, "a", false},
		{"after its end", time.Second, "a", true},
		{"again after it was put anew", 60 * time.Second, "a", false},
	}
	for _, step := range steps {
		c.forward(step.forward)
		if got := m.First(step.key, c.in(time.Minute)); got != step.want {
			t.Errorf("%s: %t", step.name, got)
		}
	}
}

func TestFirstAdmitsOne(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[int, struct{}]{Now: c.now}
	var admitted atomic.Int64
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			if m.First(i%4, c.in(time.Minute)) {
				admitted.Add(1)
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n != 4 {
		t.Errorf("%d of 4 keys were first", n)
	}
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[string, int]{Now: c.now}
	if v, there := m.Get("a"); there || v != 0 {
		t.Errorf("an empty memory remembers %d", v)
	}
	m.Put("a", 1, c.in(time.Minute))
	m.Put("endless", 7, time.Time{})
	if v, there := m.Get("a"); !there || v != 1 {
		t.Errorf("a is %d, %t", v, there)
	}
	m.Put("a", 2, c.in(2*time.Minute))
	c.forward(time.Minute + time.Second)
	if v, there := m.Get("a"); !there || v != 2 {
		t.Errorf("a is %d, %t after it was replaced", v, there)
	}
	c.forward(time.Minute)
	if v, there := m.Get("a"); there || v != 0 {
		t.Errorf("a is still %d", v)
	}
	c.forward(1000 * time.Hour)
	if v, there := m.Get("endless"); !there || v != 7 {
		t.Errorf("what has no end ended: %d, %t", v, there)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[string, []int]{Now: c.now}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			m.Update("a", c.in(time.Minute), func(list []int) []int { return append(slices.Clone(list), i) })
		})
	}
	all.Wait()
	if list, _ := m.Get("a"); len(list) != 100 {
		t.Errorf("%d of 100 changes are there", len(list))
	}
	c.forward(time.Hour)
	m.Update("a", c.in(time.Minute), func(list []int) []int {
		if list != nil {
			t.Error("a value whose time is over is changed")
		}
		return list
	})
}

// TestBounded checks that the newest entries stay, and that expired entries are removed before others.
func TestBounded(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[string, int]{Now: c.now, Max: 100}
	for i := range 250 {
		m.Put(fmt.Sprint(i), i, c.in(time.Hour))
	}
	m.Put("150", -1, c.in(time.Hour)) // its position stays
	for i, want := range map[int]bool{0: false, 149: false, 150: true, 249: true} {
		if _, there := m.Get(fmt.Sprint(i)); there != want {
			t.Errorf("%d is there: %t", i, there)
		}
	}
	m.Put("next", 0, c.in(time.Hour))
	if _, there := m.Get("150"); there || m.Len() != 100 {
		t.Errorf("the first did not give way, %d are held", m.Len())
	}
	c.forward(2 * time.Hour)
	m.Put("later", 0, c.in(time.Hour))
	if n := m.Len(); n != 1 {
		t.Errorf("%d are held after their time", n)
	}
}

func TestDefaultMax(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[int, struct{}]{Now: c.now}
	for i := range once.DefaultMax + 1 {
		m.First(i, time.Time{})
	}
	if n := m.Len(); n != once.DefaultMax {
		t.Errorf("%d are held", n)
	}
}

// TestRemove checks that a removed key is not stored, and leaves room for another one.
func TestRemove(t *testing.T) {
	t.Parallel()
	var c clock
	m := &once.Memory[string, int]{Now: c.now, Max: 2}
	m.Remove("a")
	m.Put("a", 1, time.Time{})
	m.Put("b", 2, time.Time{})
	m.Remove("b")
	if _, stored := m.Get("b"); stored || m.Len() != 1 || !m.First("b", time.Time{}) {
		t.Errorf("b is stored, of %d keys", m.Len())
	}
	if value, stored := m.Get("a"); value != 1 || !stored {
		t.Errorf("a: %d, %t", value, stored)
	}
}
