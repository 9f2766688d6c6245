package adaptertest

import "net/http"

// componentRows are pages with components, with templ and with html/template, with and without a session.
func componentRows() []row {
	draws := func(cookies int, has ...string) reply {
		return reply{status: http.StatusOK, cookies: cookies, has: has, lacks: []string{"<script", "<img"},
			header: map[string]string{"Content-Type": "text/html; charset=utf-8"}}
	}
	return []row{
		{"a form, without a session", "", get("/component"),
			draws(1, `action="/auth/signin/plain"`, `name="csrfToken" value="`)},
		{"a page without a form sets no cookie", "", get("/visitor"), draws(0, "<p>nobody</p>")},
		{"who is signed in", "Ada", get("/visitor"), draws(0, "<p>Ada</p>")},
		{"a template, without a session", "", get("/template"),
			draws(1, "<p>nobody</p>", `name="callbackUrl" value="/after"`)},
		{"a template, with a session", "Ada", get("/template"),
			draws(1, `<p title="Ada">Ada</p>`, `action="/auth/signout"`, `value="/template"`)},
		{"without the hook", "Ada", get("/hookless"),
			reply{status: http.StatusInternalServerError, has: []string{"needs the request hook"}}},
	}
}
