package adaptertest

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// guardClient is a kind of client, and the form of a guard's response to it.
type guardClient struct {
	name   string
	header http.Header
	// led is the header field that redirects to the sign-in page. If it is empty, there is no redirect.
	led string
	// pages is set if the client gets HTML pages. Otherwise it gets problem documents.
	pages bool
	// back is the callback URL of the sign-in page. The default is the requested page.
	back string
}

// guardClients returns all kinds.
func guardClients() []guardClient {
	return []guardClient{
		{"a browser", http.Header{"Accept": {"text/html"}}, "Location", true, ""},
		// The content of a frame is not a page, so the user does not return to it.
		{"a Turbo frame", http.Header{"Accept": {"text/html"}, "Turbo-Frame": {"a"}}, "Location", true, "/"},
		{"an API client", http.Header{"Accept": {"application/json"}}, "", false, ""},
		{"a script", http.Header{"Accept": {"text/html"}, "X-Requested-With": {"XMLHttpRequest"}}, "", false, ""},
		{"HTMX", http.Header{"Hx-Request": {"true"}}, "Hx-Redirect", false, ""},
		{"a WebSocket", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, "", false, ""},
		{"a stream of events", http.Header{"Accept": {"text/event-stream"}}, "", false, ""},
	}
}

// guardRows request guarded pages without a session, as a user whom the guard rejects, and as one whom it accepts.
func guardRows() []row {
	var rows []row
	for _, c := range guardClients() {
		for _, path := range strings.Fields("/private /strict /area/page") {
			rows = append(rows, row{
				c.name + " without a session requests " + path, "", request{path: path, header: c.header}, c.challenged(path),
			})
		}
		for _, path := range strings.Fields("/strict /area/page") {
			rows = append(rows, row{
				c.name + " of Eve requests " + path, "Eve", request{path: path, header: c.header}, c.forbidden(),
			})
		}
		rows = append(rows,
			row{c.name + " without a session requests a page outside the area", "", request{path: "/areal", header: c.header},
				c.passes("nobody")},
			row{c.name + " of Eve requests a page outside the area", "Eve", request{path: "/areal", header: c.header},
				c.passes("hello Eve")},
		)
	}
	for _, path := range strings.Fields("/private /strict /area/page") {
		rows = append(rows, row{"Ada requests " + path, "Ada", get(path), says("hello Ada")})
	}
	return append(rows,
		row{"the callback URL includes the query", "",
			request{path: "/private?x=1", header: http.Header{"Accept": {"text/html"}}},
			reply{status: http.StatusSeeOther, header: map[string]string{
				"Location": "http://HOST/auth/signin?error=SessionRequired&callbackUrl=%2Fprivate%3Fx%3D1",
			}}},
	)
}

// guarded are the texts of the pages. No response of a guard may contain them after its own text.
var guarded = []string{"nobody", "hello "}

// challenged is the response to a request without a session.
func (c guardClient) challenged(path string) reply {
	to := "http://HOST/auth/signin?error=SessionRequired&callbackUrl=" + url.QueryEscape(cmp.Or(c.back, path))
	want := reply{status: http.StatusUnauthorized, lacks: guarded, header: map[string]string{
		"Vary": "Accept, Cookie", "Location": "", "Hx-Redirect": "",
		"Www-Authenticate": `Bearer realm="http://HOST"`, "Content-Type": "application/problem+json",
	}}
	if c.pages {
		want.status = http.StatusSeeOther
		want.header["Www-Authenticate"] = ""
		delete(want.header, "Content-Type") // without a body, each framework sets its own
	}
	if c.led != "" {
		want.header[c.led] = to
	}
	return want
}

// forbidden is the response to Eve, whom the guards reject.
func (c guardClient) forbidden() reply {
	kind := "application/problem+json"
	if c.pages {
		kind = "text/html; charset=utf-8"
	}
	return reply{status: http.StatusForbidden, cookies: anyNumber, lacks: guarded, header: map[string]string{
		"Vary": "Accept, Cookie", "Location": "", "Hx-Redirect": "", "Content-Type": kind,
	}}
}

// passes is the response of a page that the guard does not protect. The page may contain forms and their cookie.
func (c guardClient) passes(body string) reply {
	return reply{status: http.StatusOK, cookies: anyNumber, body: body}
}
