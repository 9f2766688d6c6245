package adaptertest

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// elsewhere is the origin of a front end that the application trusts.
const elsewhere = "https://app.example"

// trusting configures elsewhere as a trusted origin.
func trusting(c *core.Config) { c.TrustedOrigins = []string{elsewhere} }

// scriptRows are requests from scripts, including the browser client: from pages of the site, from a trusted origin,
// and from other origins. A preflight request has a method that no form uses, and must still reach core.
func scriptRows() []row {
	const credentials = "/auth/callback/credentials"
	const json = "application/json, text/plain, */*"
	from := func(origin string, more ...string) http.Header {
		h := http.Header{"Origin": {origin}, "Sec-Fetch-Site": {"cross-site"}, "Accept": {json}}
		for i := 0; i+1 < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	asked := func(origin string) request {
		return request{method: http.MethodOptions, path: credentials, header: from(origin,
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")}
	}
	shared := map[string]string{
		"Access-Control-Allow-Origin": elsewhere, "Access-Control-Allow-Credentials": "true",
	}
	secret := map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Allow-Credentials": ""}
	problem := map[string]string{"Content-Type": "application/problem+json", "Location": ""}
	accept := http.Header{"Accept": {json}}
	wrong := request{path: credentials, json: `{"csrfToken":"TOKEN","password":"wrong"}`, header: accept}
	return []row{
		{"a preflight of the trusted origin", "", asked(elsewhere), reply{status: http.StatusNoContent, header: shared}},
		{"a preflight of a look-alike", "", asked(elsewhere + ".evil.example"),
			reply{status: http.StatusBadRequest, header: secret}},
		{"the session, asked by the trusted origin", "Ada", request{path: "/auth/session", header: from(elsewhere)},
			reply{status: http.StatusOK, header: shared, has: []string{`"Ada"`}, cookies: anyNumber}},
		{"the session, asked by a look-alike", "Ada", request{path: "/auth/session", header: from("https://evil.example")},
			reply{status: http.StatusOK, header: secret, has: []string{`"Ada"`}, cookies: anyNumber}},
		{"a wrong password, for a script", "", wrong, reply{
			status: http.StatusUnauthorized, header: problem, has: []string{`"code":"credentials"`}, cookies: anyNumber,
		}},
		{"no token, for a script", "", request{path: "/auth/signout", json: `{}`, header: accept},
			reply{status: http.StatusForbidden, header: problem, has: []string{`"code":"missing_csrf"`}, cookies: anyNumber}},
		{"the browser client", "", get("/auth/client.js"), reply{
			status: http.StatusOK, header: map[string]string{"Content-Type": "text/javascript; charset=utf-8"},
			has: []string{"export function createClient("},
		}},
		{"the script of the pages", "", get("/auth/page.script"), reply{
			status: http.StatusOK, header: map[string]string{"Content-Type": "text/javascript; charset=utf-8"},
			has: []string{"passkeyOptions"},
		}},
		{"the stylesheet of the pages", "", get("/auth/page.style"), reply{
			status: http.StatusOK, header: map[string]string{"Content-Type": "text/css; charset=utf-8"},
			has: []string{".button{"},
		}},
	}
}
