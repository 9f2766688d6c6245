package negotiate_test

import (
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/internal/negotiate"
)

func header(fields ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return h
}

func TestClientOf(t *testing.T) {
	t.Parallel()
	const page = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for name, row := range map[string]struct {
		method string
		header http.Header
		want   negotiate.Client
	}{
		"a browser":           {"GET", header("Accept", page), negotiate.Browser},
		"a form":              {"POST", header("Accept", page), negotiate.Browser},
		"DELETE":              {"DELETE", header("Accept", page), negotiate.Program},
		"any type":            {"GET", header("Accept", "*/*"), negotiate.Program},
		"nothing":             {"GET", header(), negotiate.Program},
		"JSON first":          {"GET", header("Accept", "application/json, text/html;q=0.9"), negotiate.Program},
		"HTML first":          {"GET", header("Accept", "Text/HTML, application/json;q=0.9"), negotiate.Browser},
		"HTML excluded":       {"GET", header("Accept", "text/html;q=0"), negotiate.Program},
		"an invalid weight":   {"GET", header("Accept", "text/html;q=2"), negotiate.Program},
		"XMLHttpRequest":      {"GET", header("Accept", page, "X-Requested-With", "XMLHttpRequest"), negotiate.Program},
		"a WebSocket":         {"GET", header("Accept", page, "Upgrade", "WebSocket"), negotiate.Program},
		"a WebSocket, HTTP/2": {"GET", header("Accept", page, "Sec-Fetch-Mode", "websocket"), negotiate.Program},
		"server-sent events":  {"GET", header("Accept", "text/event-stream"), negotiate.Program},
		"HTMX":                {"GET", header("Accept", "*/*", "HX-Request", "true"), negotiate.HTMX},
		"Datastar": {"GET", header("Accept", "text/event-stream, text/html, application/json",
			"Datastar-Request", "true"), negotiate.Datastar},
		"a frame of Turbo": {"GET", header("Turbo-Frame", "f"), negotiate.Browser},
		"a form of Turbo":  {"POST", header("Accept", "text/vnd.turbo-stream.html, text/html"), negotiate.Browser},
	} {
		if got := negotiate.ClientOf(row.method, row.header); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

func TestAsksJSON(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		method string
		header http.Header
		want   bool
	}{
		"JSON":                  {"POST", header("Accept", "application/json"), true},
		"a problem document":    {"POST", header("Accept", "application/problem+json"), true},
		"GET":                   {"GET", header("Accept", "application/json"), false},
		"a browser":             {"POST", header("Accept", "text/html, application/json"), false},
		"any type":              {"POST", header("Accept", "*/*"), false},
		"a client of Auth.js":   {"POST", header("Accept", "application/json", "X-Auth-Return-Redirect", "1"), false},
		"a part of a type":      {"POST", header("Accept", "application/json5"), false},
		"with a weight, second": {"POST", header("Accept", "text/plain, application/json;q=0.1"), true},
	} {
		if got := negotiate.AsksJSON(row.method, row.header); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip;q=x": false, "xgzip": false,
	} {
		if got := negotiate.AcceptsGzip(header("Accept-Encoding", value)); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
}

func TestCachingOf(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]negotiate.Caching{
		"":                      {},
		"public, max-age=60":    {Public: true, Timed: true},
		"max-age=0, S-MaxAge=9": {Public: true},
		"no-store":              {Closed: true},
		`private="Set-Cookie"`:  {},
		"private, max-age=60":   {Closed: true, Timed: true},
	} {
		if got := negotiate.CachingOf(header("Cache-Control", value)); got != want {
			t.Errorf("%q: %+v", value, got)
		}
	}
}

func TestVary(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"": false, "Cookie": true, "accept,cookie": true, "*": true, "X-Cookie-Notice, Set-Cookie": false,
	} {
		if got := negotiate.Varies(value, "Cookie"); got != want {
			t.Errorf("%q: %t", value, got)
		}
		h := header("Vary", value)
		if negotiate.AddVary(h, "Cookie"); (len(h["Vary"]) == 1) != want {
			t.Errorf("%q becomes %q", value, h["Vary"])
		}
	}
	for value, want := range map[string]string{
		"": "Origin", "Accept, Cookie": "Accept, Cookie, Origin", "Origin, Accept": "Origin, Accept", "*": "*",
	} {
		h := header("Vary", value)
		if negotiate.JoinVary(h, "Origin"); len(h["Vary"]) != 1 || h.Get("Vary") != want {
			t.Errorf("%q becomes %q", value, h["Vary"])
		}
	}
	if got := negotiate.MissingVary([]string{"Accept", "cookie"}, "Cookie, Origin,,Accept-Language"); got !=
		"Origin, Accept-Language" {
		t.Errorf("%q is missing", got)
	}
}

func TestDatastarRedirect(t *testing.T) {
	t.Parallel()
	const want = "event: datastar-patch-elements\ndata: selector body\ndata: mode append\n" +
		`data: elements <div data-effect="window.location.assign('/a-b_c.d\u003fe\u003d\u0027\u0022\u000a` +
		`\u003c\u00e4\ud83d\ude00')"></div>` + "\n\n"
	if got := string(negotiate.DatastarRedirect("/a-b_c.d?e='\"\n<ä😀")); got != want {
		t.Errorf("%s\n%s", got, want)
	}
}
