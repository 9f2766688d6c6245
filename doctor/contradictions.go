package doctor

import (
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// contradictions checks options that conflict with each other.
type contradictions struct{ *exam }

// look reports options that cancel each other, and options that are for development and unsafe in production.
func (e contradictions) look() {
	c := &e.config
	e.pages()
	e.ways()
	e.advised()
	public := e.site != nil && !local(e.site.Hostname())
	for _, each := range []struct {
		found            bool
		check            string
		state            State
		what, fix        string
		onPublicSiteOnly bool
	}{
		{c.Debug, "config", Wrong, "Debug is on: the log contains personal data", "set Debug to false", true},
		{c.InsecureNoLimits && c.Callbacks.Limit == nil, "limits", Wrong, "InsecureNoLimits is set: attackers can " +
			"guess passwords and flood mailboxes", "remove InsecureNoLimits", true},
		{c.CSRF == core.InsecureSkipCSRFCheck(), "config", Unknown,
			"CSRF is InsecureSkipCSRFCheck: other sites can submit forms for your users unless the router checks each POST",
			"check that it does, or use core.CSRFTokenOrSameOrigin()", false},
		{c.Session.MaxAge > 0 && c.Session.AbsoluteMaxAge > 0 && c.Session.AbsoluteMaxAge < c.Session.MaxAge, "sessions",
			Unknown, "Session.MaxAge is longer than Session.AbsoluteMaxAge, so it has no effect",
			"set MaxAge to at most AbsoluteMaxAge", false},
		{c.Limits.Shared && c.InsecureNoLimits, "limits", Wrong, "Limits.Shared is set, and InsecureNoLimits turns " +
			"limits off", "remove one of them", false},
		{c.PublicPath != "" && !strings.HasPrefix(c.PublicPath, "/"), "origin", Wrong, "PublicPath does not begin with /",
			"write the prefix that the proxy removes, such as /app", false},
	} {
		if each.found && (public || !each.onPublicSiteOnly) {
			e.report.add(each.check, each.state, each.what, each.fix)
		}
	}
}

// advised reports the findings of plugins about their own options.
func (e contradictions) advised() {
	if e.auth == nil {
		return
	}
	for _, p := range mails(e).parts() {
		if a, ok := p.(interface {
			Advise(report func(what, fix string))
		}); ok {
			e.guarded("plugins", func() {
				a.Advise(func(what, fix string) { e.report.add("plugins", Unknown, what, fix) })
			})
		}
	}
}

// pages reports configured pages that cause a redirect loop.
func (e contradictions) pages() {
	if e.auth == nil {
		return
	}
	p := &e.config.Pages
	for _, each := range []struct{ field, page string }{
		{"SignIn", p.SignIn}, {"SignOut", p.SignOut}, {"Error", p.Error}, {"VerifyRequest", p.VerifyRequest},
		{"NewUser", p.NewUser},
	} {
		u, err := url.Parse(each.page)
		if each.page == "" || err != nil {
			continue
		}
		switch base := e.auth.BasePath(); {
		case u.Path == base || strings.HasPrefix(u.Path, base+"/"):
			e.report.add("pages", Wrong, "Pages."+each.field+" is "+each.page+", which is an auth route: browsers are "+
				"redirected in a loop", "move your page outside "+base+", or leave the field empty to use the built-in page")
		case u.Host != "" && e.site != nil && u.Host != e.site.Host:
			e.report.add("pages", Unknown, "Pages."+each.field+" is on "+u.Host+", and the site is "+e.site.Host+
				": a page there does not receive this site's cookies", "use a path of this site, unless the page reads no "+
				"session")
		}
	}
}

// ways compares the sign-in methods with the store.
func (e contradictions) ways() {
	passkeys := false
	for _, p := range e.config.Providers {
		if passkey, ok := p.(*core.WebAuthnProvider); ok && passkey != nil {
			passkeys = true
			e.relyingParty(passkey)
		}
		declared, ok := p.(*core.OAuthProvider)
		if ok && declared != nil && declared.AllowDangerousEmailAccountLinking && e.config.Store == nil {
			e.report.add("provider "+declared.ID, Wrong, "AllowDangerousEmailAccountLinking needs a Store, and there is "+
				"none", "set Store, or remove the option")
		}
	}
	if e.config.EnableWebAuthn && !passkeys && len(e.config.Plugins) == 0 {
		e.report.add("config", Unknown, "EnableWebAuthn is set, but there is no passkey provider",
			"add webauthn.Passkey() to Providers, or remove EnableWebAuthn")
	}
}

// relyingParty compares the relying party of passkeys with the public address. Browsers refuse a passkey for any other
// domain.
func (e contradictions) relyingParty(p *core.WebAuthnProvider) {
	if e.site == nil {
		return
	}
	id, _, _ := p.Describe()
	host := e.site.Hostname()
	if rp := p.RelyingParty.ID; rp != "" && host != rp && !strings.HasSuffix(host, "."+rp) {
		e.report.add("provider "+id, Wrong, "RelyingParty.ID is "+rp+", and the site is "+host+
			": browsers refuse passkeys of another domain", "set it to "+host+" or a domain above it, or leave it empty")
	}
	if o := p.RelyingParty.Origin; o != "" && !sameOrigin(o, e.site.String()) {
		e.report.add("provider "+id, Wrong, "RelyingParty.Origin is "+o+", and the site is "+e.site.String()+
			": responses of browsers are rejected", "leave it empty")
	}
}
