package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionOptions creates sessions with NewSession. They count as a recent sign-in only if the application says when
// it authenticated the user, and Session.AbsoluteMaxAge counts from their start.
func TestSessionOptions(t *testing.T) {
	t.Parallel()
	methods := []core.Method{core.MethodPassword}
	for name, row := range map[string]struct {
		options []core.SessionOptions
		want    time.Time
		fresh   bool
		methods []core.Method
	}{
		"none":          {},
		"zero":          {options: []core.SessionOptions{{}}},
		"methods alone": {options: []core.SessionOptions{{Methods: methods}}, methods: methods},
		"now": {
			options: []core.SessionOptions{{AuthTime: start, Methods: methods}}, want: start, fresh: true, methods: methods,
		},
		"an hour ago": {options: []core.SessionOptions{{AuthTime: start.Add(-time.Hour)}}, want: start.Add(-time.Hour)},
		"a month ago": {
			options: []core.SessionOptions{{AuthTime: start.AddDate(0, -1, 0)}}, want: start.AddDate(0, -1, 0),
		},
		"in the future":  {options: []core.SessionOptions{{AuthTime: start.AddDate(1, 0, 0)}}, want: start, fresh: true},
		"before 1970":    {options: []core.SessionOptions{{AuthTime: time.Unix(-5, 0)}}},
		"the Unix epoch": {options: []core.SessionOptions{{AuthTime: time.Unix(0, 0)}}},
	} {
		for _, strategy := range bothStrategies {
			for _, limit := range []time.Duration{0, 48 * time.Hour} {
				t.Run(name+", "+string(strategy)+", "+limit.String(), func(t *testing.T) {
					a, _ := factual(t, strategy, func(c *core.Config) { c.Session.AbsoluteMaxAge = limit })
					b := visit(t, a)
					cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""),
						&core.User{ID: "1", Name: "User 1"}, row.options...)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range cookies {
						b.keep(c)
					}
					check := func(when string) {
						s := b.session()
						if s == nil || !s.AuthTime.Equal(row.want) || !slices.Equal(s.Methods, row.methods) || s.ID == "" {
							t.Fatalf("%s: %+v", when, s)
						}
					}
					check("at first")
					guard := core.Fresh(10 * time.Minute)
					if err := guard(t.Context(), b.session()); (err == nil) != row.fresh {
						t.Errorf("fresh: %v", err)
					}
					a.clock.Advance(25 * time.Hour)
					check("renewed")
					a.clock.Advance(24 * time.Hour)
					if s := b.session(); (s == nil) != (limit > 0) {
						t.Errorf("after two days: %+v", s)
					}
				})
			}
		}
	}
	a, _ := factual(t, core.StrategyJWT)
	_, err := a.NewSession(t.Context(), visit(t, a).request("GET", "/", "", ""), &core.User{ID: "1"},
		core.SessionOptions{}, core.SessionOptions{})
	if err == nil {
		t.Error("two options are accepted")
	}
}
