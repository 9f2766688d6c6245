package adaptertest

import "net/http"

// get, post and call are requests from browsers and scripts.
func get(path string) request        { return request{path: path} }
func post(path, form string) request { return request{path: path, form: form} }
func call(path, json string) request { return request{path: path, json: json} }

// says is a page response with the status 200 that sets no cookies.
func says(body string) reply { return reply{status: http.StatusOK, body: body} }

// pageRows are handlers that read the session: with the hook, which reads the session on first use, and without it.
func pageRows() []row {
	var rows []row
	for _, r := range []struct{ path, about string }{
		{"/page", "with the hook"},
		{"/once", "without the hook"},
		{"/twice", "Adapter.Session after the hook"},
		{"/thrice", "with three hooks"},
	} {
		rows = append(rows,
			row{"no session, " + r.about, "", get(r.path), says("nobody")},
			row{"a session, " + r.about, "Ada", get(r.path), says("hello Ada")},
		)
	}
	return append(rows,
		row{"no session, after an earlier write", "", get("/early"), says("early\nnobody")},
		row{"a session, after an earlier write", "Ada", get("/early"), says("early\nhello Ada")},
		row{"no session, in a stream", "", get("/stream"), says("begin\nnobody")},
		row{"a session, in a stream", "Ada", get("/stream"), says("begin\nhello Ada")},
		row{"a page of another method", "Ada", request{method: "HEAD", path: "/component"},
			reply{status: http.StatusOK, cookies: 1}},
	)
}

// dataRows are handlers and guards that use the application's data about its users.
func dataRows() []row {
	api := http.Header{"Accept": {"application/json"}}
	admin := func(as string, want reply) row {
		return row{"the guard for administrators, as " + as, as, request{path: "/admin", header: api}, want}
	}
	return []row{
		{"nobody's", "", get("/data"), says("nobody")},
		{"the user's data", "Ada", get("/data"), says("Ada is admin")},
		{"another user's data", "Eve", get("/data"), says("Eve is reader")},
		{"data that fails to load", "Mallory", get("/data"), says("error")},
		admin("Ada", says("Ada is admin")),
		admin("Eve", reply{status: http.StatusForbidden, has: []string{`"code":"forbidden"`}}),
		admin("Mallory", reply{status: http.StatusInternalServerError, lacks: []string{"database"}}),
		admin("", reply{status: http.StatusUnauthorized, has: []string{`"code":"session_required"`}}),
		{"a role or a recent sign-in, as Eve", "Eve", get("/readers"), says("Eve is reader")},
		{"a role or a recent sign-in, as Ada", "Ada", request{path: "/readers", header: api},
			reply{status: http.StatusUnauthorized, has: []string{`"code":"reauth_required"`}}},
	}
}
