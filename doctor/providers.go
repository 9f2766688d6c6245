package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// providers checks the OAuth and OpenID providers.
type providers struct {
	*exam
	web *web
}

// look checks each OAuth and OpenID provider: the credentials, the issuer's metadata and, with Options.Probe, whether
// the provider knows this application.
func (e providers) look() {
	if e.auth == nil {
		return
	}
	for _, p := range e.auth.OAuthProviders() {
		check := "provider " + p.ID
		e.shape(check, p)
		e.protections(check, p)
		e.guarded(check, func() { e.begin(check, p) })
	}
}

// guid matches the form of client IDs at some providers, Microsoft among them. Their client secrets are never GUIDs.
var guid = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// shape reports credentials that cannot be the registered ones.
func (e providers) shape(check string, p *core.OAuthProvider) {
	id, secret := p.ClientID, string(p.ClientSecret)
	microsoft := strings.Contains(p.Issuer, "login.microsoftonline.com")
	for _, each := range []struct {
		wrong     bool
		what, fix string
	}{
		{strings.Trim(id, " \t\r\n\"'") != id, "the client id has quotes or white space around it", "remove them"},
		{strings.Trim(secret, " \t\r\n\"'") != secret,
			"the client secret has quotes or white space around it", "remove them"},
		{invented(id), "the client id is a placeholder", "copy it from your registration"},
		{secret != "" && invented(secret), "the client secret is a placeholder", "copy it from your registration"},
		{secret != "" && id == secret, "client id and client secret are the same",
			"one of them was copied twice: check the registration"},
		{strings.Contains(p.Issuer, "accounts.google.com") && !strings.HasSuffix(id, ".apps.googleusercontent.com"),
			"the client id does not end in .apps.googleusercontent.com", "copy the whole client id from Google's console"},
		{microsoft && !guid.MatchString(id), "the client id is not a GUID",
			"copy the application (client) id from the registration"},
		{microsoft && guid.MatchString(secret), "the client secret looks like the id of a secret",
			"create a new secret, and copy its value instead of its id"},
	} {
		if each.wrong {
			e.report.add(check, Wrong, each.what, each.fix+": "+core.EnvName(p.ID, "ID")+", "+core.EnvName(p.ID, "SECRET"))
		}
	}
}

// protections reports flows that an attacker can take over.
func (e providers) protections(check string, p *core.OAuthProvider) {
	if p.AllowInsecureHTTP == core.True {
		e.report.add(check, Unknown, "AllowInsecureHTTP is True: client secret, codes and tokens may travel over plain "+
			"http",
			"remove it, unless you control every machine between this one and the provider")
	}
	if p.RequestToken.URL != "" {
		return
	}
	if !slices.Contains(p.Checks, core.CheckState) && !slices.Contains(p.Checks, core.CheckPKCE) {
		e.report.add(check, Wrong, "Checks has neither state nor pkce: an attacker can sign your users in to the "+
			"attacker's account (RFC 9700 section 2.1.1)", "leave Checks nil")
	}
}

// begin starts a sign-in and checks the redirect.
func (e providers) begin(check string, p *core.OAuthProvider) {
	ctx, cancel := e.limited()
	defer cancel()
	v := e.visitor()
	to, err := v.begin(ctx, p.ID)
	if err != nil {
		state, fix := diagnose(ctx, err)
		e.report.add(check, state, "a sign-in cannot start: "+brief(err), fix)
		return
	}
	query := to.Query()
	callback := query.Get("redirect_uri")
	e.asked(check, p, query)
	if p.RequestToken.URL != "" {
		e.report.ok(check, "%s returned a request token (OAuth 1.0a)", to.Host)
		return
	}
	issuer{e.report, e.web, check, p}.compare(ctx)
	if !e.options.Probe {
		e.report.ok(check, "a sign-in starts at %s, with the callback %s", to.Host, callback)
		return
	}
	probeCtx, done := e.limited() // the probe gets a full timeout
	defer done()
	probe{e.report, e.web, check, p, v}.send(probeCtx, to)
}

// asked checks the authorization request.
func (e providers) asked(check string, p *core.OAuthProvider, query url.Values) {
	if p.Type == core.TypeOIDC && !slices.Contains(strings.Fields(query.Get("scope")), "openid") {
		e.report.add(check, Wrong, "the scope lacks openid: the provider sends no ID token", "put openid into Scope")
	}
	back, err := url.Parse(query.Get("redirect_uri"))
	if err == nil && back.Scheme == "http" && back.Host != "" && !local(back.Hostname()) {
		e.report.add(check, Wrong, "the callback URL is "+back.String()+": most providers accept only https",
			"write https:// in AUTH_URL")
	}
}

// brief returns the cause of an error without the names of packages and classes.
func brief(err error) string {
	var typed *core.Error
	for errors.As(err, &typed) && typed.Cause != nil {
		err, typed = typed.Cause, nil
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

// diagnose explains a connection error of a provider.
func diagnose(ctx context.Context, err error) (State, string) {
	var (
		name        *net.DNSError
		authority   x509.UnknownAuthorityError
		certificate *tls.CertificateVerificationError
		timeout     net.Error
		text        = err.Error()
	)
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout():
		return Unknown, "no response in time: check whether this machine may open outgoing connections"
	case errors.As(err, &name) && name.IsNotFound:
		return Wrong, "there is no such host: check the spelling of the issuer and the endpoints"
	case errors.As(err, &name):
		return Unknown, "host names cannot be resolved here: try again on the machine that runs the application"
	case errors.As(err, &authority), errors.As(err, &certificate):
		return Wrong, "its certificate is not trusted on this machine: install its certificate authority, or set " +
			"Config.HTTPClient to a client that trusts it"
	case has("it names the issuer"):
		return Wrong, "write the issuer exactly as its discovery document does, with or without the / at its end"
	case has("answered status 404"):
		return Wrong, "there is no discovery document: check the path of the issuer (a realm, a tenant)"
	case has("plain http"):
		return Wrong, "write https:// in the issuer, or set AllowInsecureHTTP for a provider in your own network"
	case has("address that no provider has"):
		return Wrong, "the name resolves to this machine or to a network without providers: use localhost, or set " +
			"AllowInsecureHTTP for a provider on this machine"
	case has("connection refused"):
		return Wrong, "nothing listens there: start it, or look at host and port of the issuer"
	}
	return Wrong, "look at issuer and endpoints of the provider"
}
