package adaptertest

import (
	"net/http"
	"strings"
)

// readForm is a middleware that reads a form field, like a method override, a CSRF check or a logger.
func readForm(c Call) { _ = c.Field("_method") }

// readRows are form posts that a middleware reads before the adapter.
func readRows() []row {
	long := "&pad=" + strings.Repeat("x", 1<<20)
	rows := append(formRows(), tryRows()...)
	return append(append(rows, againRows()...),
		row{"the callback of a form", "",
			post("/auth/callback/credentials", "csrfToken=TOKEN&name=Ada&password=right&callbackUrl=%2Fafter"),
			reply{status: http.StatusFound, cookies: anyNumber, then: "hello Ada",
				header: map[string]string{"Location": "http://HOST/after"}}},
		row{"a repeated field: the last one counts", "",
			post("/auth/callback/credentials", "name=Ada&password=wrong&csrfToken=x&csrfToken=TOKEN&password=right"),
			reply{status: http.StatusFound, cookies: anyNumber, then: "hello Ada"}},
		row{"a query is no form", "",
			post("/auth/callback/credentials?password=right&name=Ada&csrfToken=TOKEN", "csrfToken=TOKEN&password=wrong"),
			reply{status: http.StatusFound, cookies: anyNumber, then: "nobody", leads: []string{"CredentialsSignin"}}},
		row{"a token in the query", "Ada", post("/auth/signout?csrfToken=TOKEN", "a=b"),
			reply{status: http.StatusFound, cookies: anyNumber, then: "hello Ada", leads: []string{"MissingCSRF"}}},
		row{"the start of a sign-in", "", post("/auth/signin/plain", "csrfToken=TOKEN&callbackUrl=%2Fafter"),
			reply{status: http.StatusFound, cookies: anyNumber, leads: []string{"https://op.example/authorize?"}}},
		row{"the end of a session", "Ada", post("/auth/signout", "csrfToken=TOKEN&callbackUrl=%2Fbye"),
			reply{status: http.StatusFound, cookies: anyNumber, then: "nobody",
				header: map[string]string{"Location": "http://HOST/bye"}}},
		row{"JSON, which no middleware read", "", call("/auth/signin/plain", `{"csrfToken":"TOKEN"}`),
			reply{status: http.StatusFound, cookies: anyNumber, leads: []string{"https://op.example/authorize?"}}},
		row{"a form that is too long", "", post("/auth/callback/credentials", "csrfToken=TOKEN&password=right"+long),
			reply{status: http.StatusRequestEntityTooLarge}},
	)
}

// againRows are posts to a form action that fails. The handler reads the form afterwards.
func againRows() []row {
	const fields = "csrfToken=TOKEN&providerId=credentials&name=Ada&email=a%40b.test&email=c&password="
	return []row{
		{"the fields after a failure", "", post("/again/signin", fields+"wrong"), reply{
			status: http.StatusUnprocessableEntity, cookies: anyNumber, body: "CredentialsSignin: Ada, a@b.test"}},
		{"the fields without a token", "", post("/again/signin", "providerId=credentials&name=Ada"), reply{
			status: http.StatusUnprocessableEntity, cookies: anyNumber, body: "MissingCSRF: Ada, "}},
		{"a success", "", post("/again/signin", fields+"right"), reply{
			status: http.StatusSeeOther, cookies: anyNumber, then: "hello Ada"}},
	}
}

// setHeaders is a middleware that sets headers, like those for security and for CORS.
func setHeaders(c Call) {
	c.Header("X-Frame-Options", "SAMEORIGIN")
	c.Header("Referrer-Policy", "no-referrer")
	c.Header("Cross-Origin-Opener-Policy", "unsafe-none")
	c.Header("Cache-Control", "public, max-age=60")
	c.Header("Vary", "Accept-Encoding")
	c.Header("Access-Control-Allow-Origin", "https://spa.test")
	c.Header("Set-Cookie", "own=1")
	c.Header("X-Own", "1")
}

// headerRows are responses of Latchkey. A header field that Latchkey sets has exactly one value, Latchkey's. Existing
// Vary values and cookies are kept.
func headerRows() []row {
	page := func(status int, vary string) reply {
		return reply{status: status, cookies: anyNumber, header: map[string]string{
			"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			"Cache-Control": "private, no-cache, no-store", "Vary": vary, "X-Own": "1",
			"Access-Control-Allow-Origin": "https://spa.test",
		}}
	}
	html := http.Header{"Accept": {"text/html"}}
	return []row{
		{"a page", "", request{path: "/auth/error", header: html}, page(http.StatusOK, "Accept-Encoding")},
		{"JSON", "", request{path: "/auth/csrf"}, reply{status: http.StatusOK, cookies: 3, header: map[string]string{
			"Cache-Control": "private, no-cache, no-store", "Vary": "Accept-Encoding", "Referrer-Policy": "same-origin",
		}}},
		{"a guard", "Eve", request{path: "/strict", header: html},
			page(http.StatusForbidden, "Accept-Encoding\nAccept, Cookie")},
	}
}
