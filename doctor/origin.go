package doctor

import (
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// origins checks the public address.
type origins struct{ *exam }

// look checks the public address. It determines the callback URLs and the cookies' host.
func (e origins) look() {
	auth, next := e.getenv("AUTH_URL"), e.getenv("NEXTAUTH_URL")
	if e.config.URL == "" && auth != "" && next != "" && auth != next {
		e.report.add("origin", Wrong, "AUTH_URL and NEXTAUTH_URL differ; AUTH_URL applies", "remove NEXTAUTH_URL")
	}
	if e.config.URL != "" && auth != "" && !sameOrigin(auth, e.config.URL) {
		e.report.add("origin", Unknown, "Config.URL and AUTH_URL are different origins; Config.URL applies",
			"leave one of them empty")
	}
	if e.auth == nil {
		return // the error was already reported
	}
	switch trusts := e.trusts(); {
	case e.site != nil:
		e.pinned()
	case len(e.config.TrustedHosts) > 0:
		e.report.ok("origin", "that of the request, for the hosts %s", strings.Join(e.config.TrustedHosts, ", "))
	case trusts:
		e.report.add("origin", Unknown, "every Host header is trusted (TrustHost)",
			"check that the proxy sets Host or X-Forwarded-Host itself, or set AUTH_URL or TrustedHosts; otherwise "+
				"attackers choose the host of links in emails")
	default:
		e.report.add("origin", Unknown, "none is configured: only requests to localhost are accepted, and none through "+
			"a proxy",
			"before you deploy, set AUTH_URL=https://app.example")
	}
}

// trusts reports whether the Host header is trusted, by the same rule as core.New.
func (e origins) trusts() bool {
	switch e.config.TrustHost {
	case core.True:
		return true
	case core.False:
		return false
	}
	return e.getenv("AUTH_TRUST_HOST") != "" && !falsy(e.getenv("AUTH_TRUST_HOST")) ||
		e.getenv("AUTH_TRUST_HOST") == "" && (e.getenv("VERCEL") != "" || e.getenv("CF_PAGES") != "")
}

func falsy(s string) bool {
	switch strings.ToLower(s) {
	case "0", "f", "false":
		return true
	}
	return false
}

// pinned checks an origin that is set by URL.
func (e origins) pinned() {
	host := e.site.Hostname()
	switch {
	case local(host):
		e.report.ok("origin", "%s: this machine alone", e.site)
	case e.site.Scheme == "http":
		e.report.add("origin", Wrong, e.site.String()+" is not https: an attacker in the network can read cookies and "+
			"codes, and most providers refuse the callback URL", "write https:// in AUTH_URL: the address that browsers "+
			"see, also if a proxy terminates TLS")
	case !strings.Contains(host, ".") && !strings.Contains(host, ":"):
		e.report.add("origin", Wrong, e.site.String()+" is a name of the internal network: other browsers cannot "+
			"resolve it",
			"set AUTH_URL to the public address")
	default:
		e.report.ok("origin", "%s%s", e.site, e.auth.BasePath())
	}
}

func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, wrong := url.Parse(b)
	return err == nil && wrong == nil && u.Scheme == v.Scheme && u.Host == v.Host
}
