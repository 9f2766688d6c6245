package core

import (
	"testing"
)

func TestAlsoVaries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		has  string
		want string
	}{
		{"nothing", "", "Origin"},
		{"other fields", "Accept, Cookie", "Accept, Cookie, Origin"},
		{"the field", "Origin, Accept", "Origin, Accept"},
		{"everything", "*", "*"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var r Response
			if row.has != "" {
				r.set("Vary", row.has)
			}
			r.alsoVaries("Origin")
			if got := r.Header.Get("Vary"); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
