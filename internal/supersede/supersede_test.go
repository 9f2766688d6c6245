package supersede_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/supersede"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	m := supersede.New[int](func() time.Time { return now })
	before := m.Position()
	after := m.Note("token", 2)
	m.Note("token", 1) // a lower value does not replace a higher one
	for name, row := range map[string]struct {
		token    string
		position uint64
		by       int
		since    bool
	}{
		"a request from before": {"token", before, 2, true},
		"in between":            {"token", after, 2, true},
		"a request from after":  {"token", m.Position(), 2, false},
		"another token":         {"other", before, 0, false},
	} {
		if by, since := m.Of(row.token, row.position); by != row.by || since != row.since {
			t.Errorf("%s: %d, %t", name, by, since)
		}
	}
	now = now.Add(5 * time.Minute)
	if by, since := m.Of("token", before); by != 0 || since {
		t.Errorf("five minutes later: %d, %t", by, since)
	}
	for i := range 10_000 { // more than are remembered
		m.Note(strconv.Itoa(i), 1)
	}
	if by, _ := m.Of("0", before); by != 0 {
		t.Error("the oldest is remembered")
	}
	if by, _ := m.Of("9999", before); by != 1 {
		t.Error("the newest is not remembered")
	}
}
