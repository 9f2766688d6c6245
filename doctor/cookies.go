package doctor

import (
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// namedCookie is one of Config.Cookies.
type namedCookie struct {
	field string
	core.CookieOptions
	// flow is set for the cookies of a sign-in flow. They must be sent with the provider's callback, which another site
	// starts.
	flow bool
}

// cookies checks Config.Cookies.
type cookies struct{ *exam }

// look compares Config.Cookies with the rules of browsers at this origin.
func (e cookies) look() {
	c := &e.config.Cookies
	before := len(e.report.Lines)
	for _, each := range []namedCookie{
		{"SessionToken", c.SessionToken, false}, {"CallbackURL", c.CallbackURL, false}, {"CSRFToken", c.CSRFToken, false},
		{"PKCECodeVerifier", c.PKCECodeVerifier, true}, {"State", c.State, true}, {"Nonce", c.Nonce, true},
		{"WebAuthnChallenge", c.WebAuthnChallenge, false},
	} {
		e.comesBack(each)
		e.serves(each)
	}
	switch {
	case e.config.UseSecureCookies == core.False && e.secure():
		e.report.add("cookies", Wrong, "UseSecureCookies is False, and the site is "+e.site.String()+
			": browsers also send the cookies over http, where an attacker can read them",
			"leave UseSecureCookies at Default")
	case e.config.UseSecureCookies == core.True && e.site != nil && !e.secure() && !local(e.site.Hostname()):
		e.report.add("cookies", Wrong, "UseSecureCookies is True, and the site is "+e.site.String()+
			": browsers drop Secure cookies of http pages, and every sign-in fails with MissingCSRF",
			"serve the site over https and write https:// in AUTH_URL, or leave UseSecureCookies at Default")
	}
	if e.auth != nil && len(e.report.Lines) == before {
		kind := "for http"
		if e.secure() {
			kind = "Secure, with the prefixes __Host- and __Secure-"
		} else if e.site == nil {
			kind = "by the scheme of each request"
		}
		e.report.ok("cookies", "%s", kind)
	}
}

// comesBack reports cookies that browsers at this origin do not send back.
func (e cookies) comesBack(c namedCookie) {
	field := "Cookies." + c.field
	if domain := strings.TrimPrefix(strings.ToLower(c.Domain), "."); domain != "" && e.site != nil {
		host := strings.ToLower(e.site.Hostname())
		if host != domain && !strings.HasSuffix(host, "."+domain) {
			e.report.add("cookies", Wrong, field+".Domain is "+domain+", and the site is "+host+": browsers drop the cookie",
				"set Domain to "+host+" or to a domain above it, or leave it empty")
		}
	}
	if c.Secure == core.False && e.secure() && e.config.UseSecureCookies != core.False {
		e.report.add("cookies", Wrong, field+".Secure is False on an https site", "leave it at Default")
	}
	base := "/auth"
	if e.auth != nil {
		base = e.auth.BasePath()
	}
	if path := c.Path; path != "" && !within(base, path) {
		e.report.add("cookies", Wrong, field+".Path is "+path+", and the auth routes are at "+base+
			": browsers do not send the cookie there", "leave Path empty, for /")
	}
}

// within reports whether a browser sends a cookie with Path=cookie to path (RFC 6265 section 5.1.4).
func within(path, cookie string) bool {
	return path == cookie || strings.HasPrefix(path, strings.TrimSuffix(cookie, "/")+"/")
}

// serves reports cookies whose attributes defeat their purpose.
func (e cookies) serves(c namedCookie) {
	field := "Cookies." + c.field
	strict := strings.EqualFold(c.SameSite, "strict")
	switch {
	case strict && c.flow:
		e.report.add("cookies", Wrong, field+".SameSite is Strict: the provider's callback comes from another site, "+
			"without the cookie, and every sign-in fails", "leave SameSite empty, for Lax")
	case strict && c.field == "SessionToken":
		e.report.add("cookies", Unknown, field+".SameSite is Strict: users who follow a link from another site appear "+
			"signed out until the next page", "leave SameSite empty, for Lax, unless this is intended")
	case c.field == "SessionToken" && strings.EqualFold(c.SameSite, "none"):
		e.report.add("cookies", Unknown, field+".SameSite is None: browsers send the session with requests of other "+
			"sites", "leave SameSite empty, for Lax, unless other sites show this one in frames")
	}
	if c.HTTPOnly == core.False && c.field == "SessionToken" {
		e.report.add("cookies", Wrong, field+".HTTPOnly is False: any script on any page can steal the session",
			"leave it at Default; scripts get the session's data from GET session")
	}
	if c.flow && c.MaxAge > 0 && c.MaxAge < time.Minute {
		e.report.add("cookies", Wrong, field+".MaxAge is "+c.MaxAge.String()+": it expires before users have signed in "+
			"at the provider", "leave it at zero, for 15 minutes")
	}
}
