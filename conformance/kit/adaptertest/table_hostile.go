package adaptertest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// hostileStyles are malicious or malformed requests for every style.
func hostileStyles() []style {
	return []style{
		{name: "forms that are too large", rows: largeRows()},
		{name: "fields that contradict each other", rows: conflictRows()},
		{name: "forms of other sites", rows: foreignRows()},
		{name: "forged hosts", rows: hostRows(), change: func(c *core.Config) { c.URL = "http://app.test" }},
		{name: "languages that are none", rows: languageRows(), change: func(c *core.Config) {
			c.Locales = []ui.Locale{{}, {Tag: "de", Texts: map[string]string{"signout.button": "Abmelden"}}}
		}},
		{name: "hostile names", rows: nameRows()},
	}
}

// refusedForm is the response to a form that is rejected: it must not sign in a user.
func refusedForm(status int) reply {
	return reply{status: status, cookies: anyNumber, then: "nobody", lacks: []string{"<script>alert"}}
}

// largeRows are bodies at the limits and beyond.
func largeRows() []row {
	const signIn = "providerId=credentials&name=Ada&password=right&csrfToken=TOKEN"
	pad := func(n int) string { return "&pad=" + strings.Repeat("x", n) }
	fields := strings.Repeat("&a=b", 101)
	var rows []row
	for _, path := range []string{"/signin", "/try/signin", "/auth/callback/credentials"} {
		rows = append(rows,
			row{"more than a mebibyte, to " + path, "", post(path, signIn+pad(1<<20)), tooMuch(path, 413)},
			row{"more than a hundred fields, to " + path, "", post(path, signIn+fields), tooMuch(path, 400)},
			row{"an invalid escape, to " + path, "", post(path, signIn+"&a=%zz"), tooMuch(path, 400)},
		)
	}
	return append(rows,
		row{"JSON that ends in the middle", "", call("/auth/callback/credentials", `{"a":`), refusedForm(400)},
		row{"a component's JSON that ends in the middle", "", call("/call/signin", `{"a":`), refusedForm(422)},
		row{"a component's JSON with half a mebibyte of options", "", call("/call/signin",
			`{"providerId":"nope","options":{"a":"`+strings.Repeat("x", 1<<19)+`"}}`), refusedForm(422)},
	)
}

// tooMuch is the response to a body that core does not read. For the Try actions, the application writes it.
func tooMuch(path string, status int) reply {
	if strings.HasPrefix(path, "/try") {
		status = http.StatusUnprocessableEntity
	}
	return refusedForm(status)
}

// conflictRows contain the same field twice with different values. The last form field counts, and query parameters do
// not. If a form redirects to another site, the user stays on this site.
func conflictRows() []row {
	const signIn = "providerId=credentials&name=Ada&password=right"
	leads := func(to, then string) reply {
		return reply{status: http.StatusSeeOther, cookies: anyNumber, leads: []string{to}, then: then}
	}
	rows := []row{
		{"two tokens, the last wrong", "", post("/signin", signIn+"&csrfToken=TOKEN&csrfToken=x"),
			leads("MissingCSRF", "nobody")},
		{"two tokens, the last right", "", post("/signin", signIn+"&csrfToken=x&csrfToken=TOKEN"),
			leads("http://HOST/", "hello Ada")},
		{"two passwords, the last wrong", "", post("/signin", signIn+"&password=wrong&csrfToken=TOKEN"),
			leads("CredentialsSignin", "nobody")},
		{"two providers", "", post("/signin", signIn+"&providerId=plain&csrfToken=TOKEN"),
			leads("https://op.example/", "nobody")},
		{"a token in the query", "", post("/signin?csrfToken=TOKEN", signIn), leads("MissingCSRF", "nobody")},
		{"a provider in the query", "", post("/signin?providerId=plain", "csrfToken=TOKEN"),
			leads("http://HOST/auth/signin", "nobody")},
		{"two redirect targets", "", post("/signin", signIn+"&redirectTo=%2Fa&redirectTo=%2Fb&csrfToken=TOKEN"),
			leads("http://HOST/b", "hello Ada")},
	}
	for to, then := range map[string]string{
		"https://evil.example/": "hello Ada", "//evil.example": "hello Ada", "/\\evil.example": "hello Ada",
		"http://HOST@evil.example": "hello Ada", "javascript:alert(1)": "hello Ada", "/a\r\nSet-Cookie: a=b": "nobody",
		strings.Repeat("/x", 40_000): "hello Ada",
	} {
		want := leads("http://HOST", then)
		want.header = map[string]string{"Location": "http://HOST"}
		if then == "nobody" {
			want.header = map[string]string{"Location": "http://HOST/auth/error?error=Configuration"}
		}
		rows = append(rows, row{"back to " + short(to), "",
			post("/signin", signIn+"&csrfToken=TOKEN&redirectTo="+url.QueryEscape(to)), want})
	}
	return rows
}

// foreignRows have a valid token, but their headers name another site.
func foreignRows() []row {
	const form = "providerId=credentials&name=Ada&password=right&redirectTo=%2F&csrfToken="
	var rows []row
	for _, from := range []struct {
		name   string
		header http.Header
	}{
		{"another site", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}},
		{"another origin, by an old browser", http.Header{"Origin": {"https://evil.example"}}},
		{"an origin that is null", http.Header{"Origin": {"null"}}},
	} {
		for _, path := range []string{"/signin", "/auth/callback/credentials"} {
			without := row{from.name + " without a token, to " + path, "", post(path, form), refusedForm(303)}
			without.ask.header = from.header
			if path != "/signin" {
				without.want.status = http.StatusFound
			}
			rows = append(rows, without)
		}
	}
	return rows
}

// hostRows send foreign hosts to an application with a configured URL. No response may contain them.
func hostRows() []row {
	page := http.Header{"Accept": {"text/html"}}
	forwarded := http.Header{
		"Accept": {"text/html"}, "X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"},
		"Forwarded": {"host=evil.example"},
	}
	var rows []row
	for _, from := range []struct {
		name, host string
		header     http.Header
	}{
		{"by Host", "evil.example", page},
		{"by X-Forwarded-Host", "", forwarded},
		{"by Host with a port", "evil.example:8080", page},
	} {
		for _, path := range []string{"/private", "/auth/providers", "/auth/signin", "/visitor", "/template"} {
			r := row{from.name + ", of " + path, "", request{path: path, host: from.host, header: from.header},
				reply{status: http.StatusOK, cookies: anyNumber, lacks: []string{"evil.example"}}}
			if path == "/private" {
				r.want = reply{status: http.StatusSeeOther, header: map[string]string{
					"Location": "http://app.test/auth/signin?error=SessionRequired&callbackUrl=%2Fprivate",
				}}
			}
			rows = append(rows, r)
		}
		r := row{from.name + ", of a form action", "", post("/signin", "providerId=plain"), reply{
			status: http.StatusSeeOther, cookies: anyNumber, leads: []string{"http://app.test/auth/signin?error=MissingCSRF"},
		}}
		r.ask.host, r.ask.header = from.host, from.header
		rows = append(rows, r)
	}
	return rows
}

// languageRows send invalid language tags.
func languageRows() []row {
	english, german := "Sign out", "Abmelden"
	var rows []row
	for _, r := range []struct {
		name, says string
		lines      []string
	}{
		{"none", english, nil},
		{"a known language", german, []string{"de-AT,de;q=0.9"}},
		{"an unknown language", english, []string{"tlh"}},
		{"no tag", english, []string{"<script>alert(1)</script>"}},
		{"a weight that is none", english, []string{"xx;q=nan, ;;;,,,=*"}},
		{"two lines, of which the first counts", english, []string{"tlh", "de"}},
		{"many unknown languages", english, []string{strings.Repeat("tlh,", 7000)}},
		{"a tab", english, []string{"d\te"}},
	} {
		ask := request{path: "/template", header: http.Header{"Accept-Language": r.lines}}
		rows = append(rows, row{r.name, "Ada", ask, reply{
			status: http.StatusOK, cookies: 1, has: []string{r.says}, lacks: []string{"<script"},
		}})
	}
	return rows
}

// nameRows are users with markup in their names. Pages must show it as text.
func nameRows() []row {
	var rows []row
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</p><p>`,
		"{{.}}", "\u202egro.elpmaxe@ada", "A\u0000da", strings.Repeat("x", 2000),
	} {
		for _, path := range []string{"/visitor", "/template"} {
			rows = append(rows, row{short(name) + " on " + path, name, get(path), reply{
				status: http.StatusOK, cookies: anyNumber,
				lacks: []string{"<script", "<img", "onmouseover='", "</p><p>", "nobody"},
			}})
		}
	}
	return rows
}

// short abbreviates a text for the name of a row.
func short(text string) string { return strconv.QuoteToASCII(text[:min(len(text), 24)]) }
