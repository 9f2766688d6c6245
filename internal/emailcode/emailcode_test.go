package emailcode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// shelf is a store of records in memory. Before a write of a kind it calls the function in before, once.
type shelf struct {
	recordstore.Store
	rows   map[string]*recordstore.Record
	before map[string]func()
}

func (s *shelf) meet(operation, kind string) {
	if f := s.before[operation+" "+kind]; f != nil {
		delete(s.before, operation+" "+kind)
		f()
	}
}

func (s *shelf) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	if r := s.rows[kind+key]; r != nil {
		found := *r
		return &found, nil
	}
	return nil, recordstore.ErrNotFound
}

func (s *shelf) CreateRecord(_ context.Context, r *recordstore.Record) error {
	if s.rows[r.Kind+r.Key] != nil {
		return recordstore.ErrConflict
	}
	kept := *r
	kept.Version = 1
	s.rows[r.Kind+r.Key] = &kept
	return nil
}

func (s *shelf) UpdateRecord(_ context.Context, r *recordstore.Record) error {
	s.meet("update", r.Kind)
	switch old := s.rows[r.Kind+r.Key]; {
	case old == nil:
		return recordstore.ErrNotFound
	case old.Version != r.Version:
		return recordstore.ErrConflict
	}
	kept := *r
	kept.Version++
	s.rows[r.Kind+r.Key] = &kept
	return nil
}

func (s *shelf) DeleteRecord(_ context.Context, kind, key string) (*recordstore.Record, error) {
	s.meet("delete", kind)
	r := s.rows[kind+key]
	if r == nil {
		return nil, recordstore.ErrNotFound
	}
	delete(s.rows, kind+key)
	return r, nil
}

// desk issues and checks codes for a test.
type desk struct {
	*testing.T
	*Codes
	shelf *shelf
	now   time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.shelf = &shelf{rows: map[string]*recordstore.Record{}, before: map[string]func(){}}
	d.Codes = &Codes{
		Records: d.shelf, Secrets: []string{"a secret"}, Rand: rand.Reader, Now: func() time.Time { return d.now },
	}
	return d
}

var adas = Code{Purpose: "sign-in", Address: "ada@example.com"}

func (d *desk) issue(c Code) (code, key string) {
	d.Helper()
	code, key, expires, err := d.Issue(d.Context(), "", c)
	if err != nil || len(code) != digits || !expires.Equal(d.now.Add(Life)) {
		d.Fatalf("code %q until %v: %v", code, expires, err)
	}
	return code, key
}

// try checks a code and returns the name of the result.
func (d *desk) try(purpose, key, code string) string {
	d.Helper()
	_, err := d.Check(d.Context(), purpose, key, code)
	var wrong *WrongError
	var many *TooManyError
	switch {
	case err == nil:
		return "right"
	case errors.As(err, &wrong):
		return fmt.Sprint("wrong, left ", wrong.Left)
	case errors.As(err, &many):
		return fmt.Sprint("wait ", many.Wait)
	case errors.Is(err, ErrExpired):
		return "expired"
	}
	d.Fatal(err)
	return ""
}

func (d *desk) want(purpose, key, code, want string) {
	d.Helper()
	if got := d.try(purpose, key, code); got != want {
		d.Errorf("%s, want %s", got, want)
	}
}

func wrongCode(code string) string { return code[:5] + string('0'+(code[5]-'0'+1)%10) }

func TestCode(t *testing.T) {
	for name, check := range map[string]func(d *desk, code, key string){
		"once": func(d *desk, code, key string) {
			d.want("sign-in", key, code[:3]+" "+code[3:], "right")
			d.want("sign-in", key, code, "expired")
		},
		"another browser": func(d *desk, code, key string) { d.want("sign-in", key+"x", code, "expired") },
		"another purpose": func(d *desk, code, key string) { d.want("password-reset", key, code, "expired") },
		"until its end": func(d *desk, code, key string) {
			d.now = d.now.Add(Life - time.Second)
			d.want("sign-in", key, code, "right")
		},
		"after its end": func(d *desk, code, key string) {
			d.now = d.now.Add(Life)
			d.want("sign-in", key, code, "expired")
		},
		"replaced": func(d *desk, code, key string) {
			if _, _, _, err := d.Issue(d.Context(), key, adas); err != nil {
				d.Fatal(err)
			}
			d.want("sign-in", key, code, "expired")
		},
		"after a rotation of the secret": func(d *desk, code, key string) {
			d.Secrets = []string{"a new secret", "a secret"}
			d.want("sign-in", key, code, "right")
		},
		"five tries": func(d *desk, code, key string) {
			for left := 4; left >= 0; left-- {
				d.want("sign-in", key, wrongCode(code), fmt.Sprint("wrong, left ", left))
			}
			d.want("sign-in", key, code, "expired")
		},
		"too short is no try": func(d *desk, code, key string) { d.want("sign-in", key, code[:5], "wrong, left 5") },
		// The last tries are used between the read of a code and its count.
		"concurrent tries": func(d *desk, code, key string) {
			d.shelf.before["update code"] = func() {
				for range tries {
					d.try("sign-in", key, wrongCode(code))
				}
			}
			d.want("sign-in", key, code, "expired")
		},
		"concurrent use": func(d *desk, code, key string) {
			d.shelf.before["delete code"] = func() {
				if err := d.Delete(d.Context(), "sign-in", key); err != nil {
					d.Error(err)
				}
			}
			d.want("sign-in", key, code, "expired")
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			code, key := d.issue(adas)
			check(d, code, key)
		})
	}
}

// exhaust uses up the budget of an address with wrong codes.
func (d *desk) exhaust(c Code) {
	d.Helper()
	for i := range burst {
		code, key := d.issue(c)
		if got := d.try(c.Purpose, key, wrongCode(code)); got != "wrong, left 4" {
			d.Fatalf("wrong code %d: %s", i, got)
		}
	}
}

func TestBudget(t *testing.T) {
	reauth := Code{Purpose: Reauth, Address: adas.Address, UserID: "ada"}
	// byAda are codes for addresses of other people.
	byAda := func(to string) Code { return Code{Purpose: "email-change", Address: to, UserID: "ada"} }
	for _, row := range []struct {
		name       string
		used, next Code
		wait       time.Duration // after the budget was used up
		want       string
	}{
		{"the same address", adas, adas, 0, "wait 40m0s"},
		{"another spelling", adas, Code{Purpose: "sign-in", Address: "ADA@Example.COM"}, 0, "wait 40m0s"},
		{"another purpose", adas, Code{Purpose: "sign-up", Address: adas.Address}, 0, "wait 40m0s"},
		{"another address", adas, Code{Purpose: "sign-in", Address: "eve@example.com"}, 0, "right"},
		{"almost 40 minutes later", adas, adas, every - time.Second, "wait 1s"},
		{"40 minutes later", adas, adas, every, "right"},
		{"in a session of the owner", adas, reauth, 0, "right"},
		{"in the same session", reauth, reauth, 0, "wait 40m0s"},
		{"another address of one user", byAda("1@example.com"), byAda("2@example.com"), 0, "wait 40m0s"},
		{"an address without the user", byAda("1@example.com"), Code{Purpose: "sign-in", Address: "2@example.com"}, 0,
			"right"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.exhaust(row.used)
			d.now = d.now.Add(row.wait)
			code, key := d.issue(row.next)
			d.want(row.next.Purpose, key, code, row.want)
		})
	}
	t.Run("right codes cost nothing", func(t *testing.T) {
		d := newDesk(t)
		for range 2 * burst {
			code, key := d.issue(adas)
			d.want("sign-in", key, code, "right")
		}
		d.exhaust(adas)
	})
	t.Run("the clock was set back", func(t *testing.T) {
		d := newDesk(t)
		d.exhaust(adas)
		d.now = d.now.Add(-100 * 24 * time.Hour)
		code, key := d.issue(adas)
		d.want("sign-in", key, code, "wait 40m0s")
	})
}
