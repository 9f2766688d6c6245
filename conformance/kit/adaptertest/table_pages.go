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
		{"/page", "behind the hook"},
		{"/once", "in one call"},
		{"/twice", "in one call behind the hook"},
		{"/thrice", "behind three hooks"},
	} {
		rows = append(rows,
			row{"nobody, " + r.about, "", get(r.path), says("nobody")},
			row{"somebody, " + r.about, "Ada", get(r.path), says("hello Ada")},
		)
	}
	return append(rows,
		row{"nobody, behind what has written to the answer", "", get("/early"), says("early\nnobody")},
		row{"somebody, behind what has written to the answer", "Ada", get("/early"), says("early\nhello Ada")},
		row{"nobody, in a stream", "", get("/stream"), says("begin\nnobody")},
		row{"somebody, in a stream", "Ada", get("/stream"), says("begin\nhello Ada")},
		row{"a page of another method", "Ada", request{method: "HEAD", path: "/component"},
			reply{status: http.StatusOK, cookies: 1}},
	)
}

// dataRows are handlers and guards that use the application's data about its users.
func dataRows() []row {
	api := http.Header{"Accept": {"application/json"}}
	admin := func(as string, want reply) row {
		return row{"the guard of administrators, asked by " + as, as, request{path: "/admin", header: api}, want}
	}
	return []row{
		{"nobody's", "", get("/data"), says("nobody")},
		{"somebody's", "Ada", get("/data"), says("Ada is admin")},
		{"somebody else's", "Eve", get("/data"), says("Eve is reader")},
		{"what cannot be found out", "Mallory", get("/data"), says("error")},
		admin("Ada", says("Ada is admin")),
		admin("Eve", reply{status: http.StatusForbidden, has: []string{`"code":"forbidden"`}}),
		admin("Mallory", reply{status: http.StatusInternalServerError, lacks: []string{"database"}}),
		admin("", reply{status: http.StatusUnauthorized, has: []string{`"code":"session_required"`}}),
		{"a role or a fresh proof, asked by Eve", "Eve", get("/readers"), says("Eve is reader")},
		{"a role or a fresh proof, asked by Ada", "Ada", request{path: "/readers", header: api},
			reply{status: http.StatusUnauthorized, has: []string{`"code":"reauth_required"`}}},
	}
}
