package exchange_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/exchange"
)

// TestRepeated checks which later callbacks get the first result.
func TestRepeated(t *testing.T) {
	t.Parallel()
	key := exchange.KeyOf("flow", "browser", "code")
	type exchanges = exchange.Exchanges[string]
	for name, row := range map[string]struct {
		after func(x *exchanges, later func(time.Duration))
		key   exchange.Key
		again bool // the exchange is made again
	}{
		"the same callback": {key: key},
		"another code":      {key: exchange.KeyOf("flow", "browser", "other"), again: true},
		"another browser":   {key: exchange.KeyOf("flow", "other", "code"), again: true},
		"another flow":      {key: exchange.KeyOf("other", "browser", "code"), again: true},
		"a minute later": {
			after: func(_ *exchanges, later func(time.Duration)) { later(time.Minute) }, key: key, again: true,
		},
		"signed in": {
			after: func(x *exchanges, _ func(time.Duration)) { x.SignedIn(key, "browser", "u1") }, key: key,
		},
		"signed out": {
			after: func(x *exchanges, _ func(time.Duration)) { x.Erase("browser", "") }, key: key, again: true,
		},
		"another browser is signed out": {
			after: func(x *exchanges, _ func(time.Duration)) { x.Erase("other", "") }, key: key,
		},
		"the user's sessions are ended": {
			after: func(x *exchanges, _ func(time.Duration)) { x.SignedIn(key, "browser", "u1"); x.Erase("", "u1") },
			key:   key, again: true,
		},
		"another user's sessions are ended": {
			after: func(x *exchanges, _ func(time.Duration)) { x.SignedIn(key, "browser", "u1"); x.Erase("", "u2") }, key: key,
		},
		"another user signs in": {
			after: func(x *exchanges, _ func(time.Duration)) {
				x.SignedIn(key, "browser", "u1")
				x.SignedIn(exchange.KeyOf("second", "browser", "code"), "browser", "u2")
			},
			key: key, again: true,
		},
	} {
		now := time.Unix(1_900_000_000, 0)
		x := exchange.New[string](func() time.Time { return now })
		calls := 0
		do := func(key exchange.Key) {
			got, err := x.Do(
				t.Context(),
				key,
				"browser",
				func(context.Context) (string, error) { calls++; return "tokens", nil },
			)
			if err != nil || got != "tokens" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		do(key)
		if row.after != nil {
			row.after(x, func(d time.Duration) { now = now.Add(d) })
		}
		if do(row.key); (calls == 2) != row.again {
			t.Errorf("%s: %d exchanges", name, calls)
		}
	}
	var none *exchange.Exchanges[string]
	none.SignedIn(key, "browser", "u1")
	none.Erase("browser", "u1")
}

// TestFailed: a failed exchange is made again.
func TestFailed(t *testing.T) {
	t.Parallel()
	x := exchange.New[string](time.Now)
	calls := 0
	for range 2 {
		_, err := x.Do(t.Context(), exchange.KeyOf("f", "b", "a"), "b", func(context.Context) (string, error) {
			calls++
			return "", errors.New("refused")
		})
		if err == nil {
			t.Error("no error")
		}
	}
	if calls != 2 {
		t.Errorf("%d exchanges", calls)
	}
}
