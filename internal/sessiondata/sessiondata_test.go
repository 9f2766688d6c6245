package sessiondata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/revocation"
)

// TestDataLoadedConcurrently: a request that has found an outdated copy does not load the data if another request has
// loaded it in the meantime.
func TestDataLoadedConcurrently(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1_700_000_000, 0)
	loads := 0
	k := New(Options{Now: func() time.Time { return clock }, Load: func(
		context.Context, any,
	) (json.RawMessage, error) {
		loads++
		return json.RawMessage(`1`), nil
	}})
	var meanwhile func()
	k.Now = func() time.Time { // another request loads the data just after the first has found the outdated copy
		if do := meanwhile; do != nil {
			meanwhile = nil
			do()
		}
		return clock
	}
	visit := func() {
		if got, err := k.of(t.Context(), "ada", nil, userCopy{}); err != nil || string(got.Value) != "1" {
			t.Errorf("got %s, %v", got.Value, err)
		}
	}
	visit()
	k.invalidate(revocation.UserKey("ada"))
	meanwhile = visit
	visit()
	if loads != 2 {
		t.Errorf("loaded %d times, once before it was old and %d times since", loads, loads-1)
	}
}

// TestDataOfManyUsers checks that copies are stored for a limited number of users.
func TestDataOfManyUsers(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := New(Options{Now: func() time.Time { return now }})
	const users, most = 20_000, 16_384
	copies, marks := 0, 0
	for i := range users {
		k.copies.Put(fmt.Sprint(i), userCopy{Value: []byte("1")}, now.Add(time.Minute))
		k.invalidate(fmt.Sprint(i))
	}
	for i := range users {
		if copied, _ := k.copies.Get(fmt.Sprint(i)); copied.Value != nil {
			copies++
		}
		if _, marked := k.outdated.Get(fmt.Sprint(i)); marked {
			marks++
		}
	}
	if copies > most || marks > most || copies == 0 || marks == 0 {
		t.Errorf("stored %d copies and %d marks", copies, marks)
	}
}

// TestShow checks which data the browser receives.
func TestShow(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	public := func(raw json.RawMessage) (json.RawMessage, error) { return append(raw[:len(raw):len(raw)], '0'), nil }
	for name, row := range map[string]struct {
		load   error
		public func(json.RawMessage) (json.RawMessage, error)
		extra  map[string]json.RawMessage
		want   string
		err    error
	}{
		"shown":       {nil, public, nil, `{"data":10}`, nil},
		"with others": {nil, public, map[string]json.RawMessage{"a": []byte("2")}, `{"a":2,"data":10}`, nil},
		"taken":       {failed, public, map[string]json.RawMessage{"data": []byte("2")}, `{"data":2}`, nil},
		"not public":  {failed, nil, nil, `null`, nil},
		"not loaded":  {failed, public, nil, `null`, failed},
		"not converted": {
			nil, func(json.RawMessage) (json.RawMessage, error) { return nil, failed }, nil, `null`, failed,
		},
	} {
		k := New(Options{Now: time.Now, Public: row.public, Load: func(context.Context, any) (json.RawMessage, error) {
			return json.RawMessage(`1`), row.load
		}})
		before := fmt.Sprint(row.extra)
		got, err := k.Of("u1", nil).Show(t.Context(), row.extra)
		text, _ := json.Marshal(got)
		if string(text) != row.want || !errors.Is(err, row.err) || fmt.Sprint(row.extra) != before {
			t.Errorf("%s: %s, %v, the members before are %v", name, text, err, row.extra)
		}
	}
	var none *Loaded
	if got, err := none.Show(t.Context(), nil); got != nil || err != nil {
		t.Errorf("without data: %v, %v", got, err)
	}
}

// carried is the data of a session in tests, with its claim and its loads.
type carried struct {
	*Keeper
	now    time.Time
	value  string
	failed error
	loads  int
	during func() // called by a load
}

func newCarried(inCookie bool) *carried {
	c := &carried{now: time.Unix(1_900_000_000, 0), value: `1`}
	c.Keeper = New(Options{
		Now: func() time.Time { return c.now }, MaxAge: time.Minute, InCookie: inCookie, Large: func(context.Context) {},
		Load: func(context.Context, any) (json.RawMessage, error) {
			value := c.value
			c.loads++
			if do := c.during; do != nil {
				c.during = nil
				do()
			}
			return json.RawMessage(value), c.failed
		},
	})
	return c
}

// TestCarry checks when a copy in a session token is used, and when the data is loaded again.
func TestCarry(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(c *carried)
		userID string
		loads  int
	}{
		"a valid copy":            {func(*carried) {}, "u1", 1},
		"a copy of another user":  {func(*carried) {}, "u2", 2},
		"just before its end":     {func(c *carried) { c.now = c.now.Add(time.Minute - time.Second) }, "u1", 1},
		"an expired copy":         {func(c *carried) { c.now = c.now.Add(time.Minute) }, "u1", 2},
		"after a refresh":         {func(c *carried) { _ = c.Refresh(context.Background(), "u1") }, "u1", 2},
		"after another's refresh": {func(c *carried) { _ = c.Refresh(context.Background(), "u2") }, "u1", 1},
		"after a sign-in":         {func(c *carried) { c.Forget("u1") }, "u1", 1},
	} {
		c := newCarried(true)
		claim, _, changed := c.Carry(t.Context(), "u1", nil, nil)
		if claim == nil || !changed || c.loads != 1 {
			t.Fatalf("first: %s, %t, %d loads", claim, changed, c.loads)
		}
		c.value = `2`
		row.change(c)
		next, data, changed := c.Carry(t.Context(), row.userID, nil, claim)
		value, err := data.Raw(t.Context())
		if c.loads != row.loads || changed != (row.loads > 1) || string(value) != fmt.Sprint(row.loads) || err != nil ||
			(string(next) == string(claim)) != (row.loads == 1) {
			t.Errorf("%s: %d loads, changed %t, %s, %v", name, c.loads, changed, value, err)
		}
	}
}

// TestForget checks that the data is loaded again without a copy in a token.
func TestForget(t *testing.T) {
	t.Parallel()
	c := newCarried(false)
	for range 2 {
		c.Carry(t.Context(), "u1", nil, nil)
	}
	if c.loads != 1 {
		t.Errorf("loaded %d times", c.loads)
	}
	c.Forget("u1")
	if c.Carry(t.Context(), "u1", nil, nil); c.loads != 2 {
		t.Errorf("loaded %d times after Forget", c.loads)
	}
}

// TestCarryFails checks that a failed load keeps the claim, and that data which is too large for a cookie is refused.
func TestCarryFails(t *testing.T) {
	t.Parallel()
	c := newCarried(true)
	claim, _, _ := c.Carry(t.Context(), "u1", nil, nil)
	c.failed, c.now = errors.New("down"), c.now.Add(time.Hour)
	next, data, changed := c.Carry(t.Context(), "u1", nil, claim)
	if string(next) != string(claim) || changed || !errors.Is(data.Failed, c.failed) {
		t.Errorf("%s, %t, %v", next, changed, data.Failed)
	}
	for size, fits := range map[int]bool{8 << 10: true, 8<<10 + 1: false} {
		for _, inCookie := range []bool{true, false} {
			c := newCarried(inCookie)
			c.value = strings.Repeat("1", size)
			if _, data, _ := c.Carry(t.Context(), "u1", nil, nil); (data.Failed == nil) != (fits || !inCookie) {
				t.Errorf("%d bytes, in a cookie: %t: %v", size, inCookie, data.Failed)
			}
		}
	}
}

// TestRefreshDuringLoad checks that the result of a load that began before a refresh is not used.
func TestRefreshDuringLoad(t *testing.T) {
	t.Parallel()
	c := newCarried(false)
	c.during = func() { c.value = `2`; _ = c.Refresh(context.Background(), "u1") }
	if value, err := c.Of("u1", nil).Raw(t.Context()); string(value) != `2` || err != nil || c.loads != 2 {
		t.Errorf("%s, %v, %d loads", value, err, c.loads)
	}
}
