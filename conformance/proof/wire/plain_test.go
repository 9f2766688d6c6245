package wire

import "testing"

// TestPlainly checks that flags for test binaries are removed, which would cause everything to be compiled again.
func TestPlainly(t *testing.T) {
	for _, row := range []struct{ name, flags, want string }{
		{"none", "", ""},
		{"others stay", "-buildvcs=false -tags=nomsgpack -mod=mod", "-buildvcs=false -tags=nomsgpack -mod=mod"},
		{"the detector", "-tags=a -race -trimpath", "-tags=a -trimpath"},
		{"the detector, with a value", "--race=true", ""},
		{"quoted, with blanks", `-ldflags=-s '-gcflags=all=-dwarf=false -l' "-gcflags=x=-race=false" '-tags=a b'`,
			`'-tags=a b'`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := plainly(row.flags); got != row.want {
				t.Errorf("plainly(%q) is %q, want %q", row.flags, got, row.want)
			}
		})
	}
}
