package mounts

import "testing"

func TestRedirect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(s *State)
		missing int // the number of the redirect that is reported
	}{
		"never mounted": {func(*State) {}, 1},
		"mounted":       {(*State).Register, 3},
		"served":        {(*State).Serve, 0},
		"both":          {func(s *State) { s.Register(); s.Serve() }, 0},
	} {
		var s State
		test.prepare(&s)
		for n := 1; n <= 5; n++ {
			if s.Redirect() != (n == test.missing) {
				t.Errorf("%s: redirect %d", name, n)
			}
		}
		if s.Registered() != (name == "mounted" || name == "both") {
			t.Errorf("%s: %v", name, s.Registered())
		}
	}
}
