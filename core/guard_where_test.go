package core_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestUnder(t *testing.T) {
	t.Parallel()
	under := core.Under("/admin", "/me/")
	for target, want := range map[string]bool{
		"/admin": true, "/admin/": true, "/admin/users?x=1": true, "/admin?x=/": true, "/me": true, "/me/x": true,
		"/administration": false, "/": false, "/public": false, "/public?next=/admin": false, "/x/admin": false,
		"/mehr": false,

		// what some router reads as /admin
		"/ADMIN/users": true, "/%61dmin": true, "//admin": true, "/./admin": true, "/public/../admin": true,
		"/public/%2e%2e/admin": true, "/public%2fadmin": true, "/public\\admin": true, "/public%5cadmin": true,
		"http://app.test/admin": true, "http://app.test/public": false, "http://app.test": true, "*": true, "": true,
		"/%zz": true, "/admin%00": true, "/public/": false, "/public//": true,
	} {
		if got := under(&core.Request{Method: "GET", Target: target}); got != want {
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
		r := &core.Request{Method: "GET", Target: row.target, Path: row.path, MountPrefix: row.mount}
		if got := under(r); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	if !core.Under("/")(&core.Request{Target: "/anything"}) {
		t.Error("the root is above everything")
	}
	defer func() {
		if recover() == nil {
			t.Error("a prefix without a slash is taken")
		}
	}()
	core.Under("admin")
}

func TestRequireWhere(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	signedIn, stranger := visit(t, a), visit(t, a)
	signIn(t, signedIn)
	asked := 0
	pick := func(r *core.Request) bool { asked++; return r.Target == "/a" }
	panics := func(*core.Request) bool { panic("boom") }
	for _, row := range []struct {
		name, target string
		by           *browser
		where        func(*core.Request) bool
		session      bool
		status       int
	}{
		{"picked, a stranger", "/a", stranger, pick, false, 401},
		{"picked", "/a", signedIn, pick, true, 0},
		{"others", "/b", stranger, pick, false, 0},
		{"without a condition", "/b", stranger, nil, false, 401},
		{"a condition that panics", "/b", signedIn, panics, false, 500},
	} {
		session, refusal := a.Visit(t.Context(), row.by.request("GET", row.target, "", "")).RequireWhere(row.where)
		if (session != nil) != row.session || (refusal != nil) != (row.status != 0) ||
			refusal != nil && refusal.Status != row.status {
			t.Errorf("%s: %+v, %+v", row.name, session, refusal)
		}
	}
	if asked != 3 {
		t.Errorf("the condition was asked %d times", asked)
	}
}
