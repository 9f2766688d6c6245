package weburl_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// TestBelow checks which paths are below a prefix, and that an ambiguous path is.
func TestBelow(t *testing.T) {
	t.Parallel()
	prefixes := []string{"/admin", "/me"}
	for target, want := range map[string]bool{
		"/admin": true, "/admin/": true, "/admin/users?x=1": true, "/admin?x=/": true, "/me": true, "/me/x": true,
		"/administration": false, "/": false, "/public": false, "/public?next=/admin": false, "/x/admin": false,
		"/mehr": false,

		// some routers interpret these as /admin
		"/ADMIN/users": true, "/%61dmin": true, "//admin": true, "/./admin": true, "/public/../admin": true,
		"/public/%2e%2e/admin": true, "/public%2fadmin": true, "/public\\admin": true, "/public%5cadmin": true,
		"http://app.test/admin": true, "http://app.test/public": false, "http://app.test": true, "*": true, "": true,
		"/%zz": true, "/admin%00": true, "/public/": false, "/public//": true,
	} {
		if got := weburl.Below(prefixes, target, "", ""); got != want {
			t.Errorf("%q: %t", target, got)
		}
	}
	for _, row := range []struct {
		name, target, path, mount string
		want                      bool
	}{
		{"a prefix was stripped", "/app/admin/users", "/admin/users", "", true},
		{"a prefix was stripped with its slash", "/app/admin/users", "admin/users", "", true},
		{"all of it was stripped", "/app", "", "", false},
		{"rewritten into it", "/de/admin", "/admin", "", true},
		{"rewritten out of it", "/admin", "/public", "", true},
		{"rewritten elsewhere", "/de/public", "/public", "", false},
		{"the same", "/public", "/public", "", false},
		{"a router that decodes", "/p%75blic", "/public", "", false},
		{"rewritten with another case", "/x", "/ADMIN", "", true},
		{"rewritten to dot segments", "/x", "/public/../admin", "", true},
		{"rewritten to a doubled slash", "/x", "//admin", "", true},
		{"a group", "/app/admin/users", "/app/admin/users", "/app", true},
		{"a group, elsewhere", "/app/public", "/app/public", "/app", false},
		{"a group of another name", "/x/admin", "/x/admin", "", false},
		{"the router does not tell", "/public", "", "", false},
	} {
		if got := weburl.Below(prefixes, row.target, row.path, row.mount); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
