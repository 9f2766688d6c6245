package core

import (
	"net/http"
	"testing"
)

func TestAlsoVaries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		has  []string
		want string
	}{
		{"nothing", nil, "Origin"},
		{"other fields", []string{"Accept, Cookie"}, "Accept, Cookie, Origin"},
		{"two lines", []string{"Accept", "Cookie"}, "Accept, Cookie, Origin"},
		{"the field", []string{"Origin, Accept"}, "Origin, Accept"},
		{"everything", []string{"*"}, "*"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			if row.has != nil {
				h["Vary"] = row.has
			}
			alsoVaries(h, "Origin")
			if got := h["Vary"]; len(got) != 1 || got[0] != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
