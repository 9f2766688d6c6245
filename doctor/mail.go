package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/mail"
	"reflect"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// mails checks the mailers.
type mails struct{ *exam }

// look connects to each mail server of email providers and plugins, to check whether it would accept an email.
func (e mails) look() {
	if e.auth != nil {
		for _, p := range e.auth.EmailProviders() {
			e.sender(p)
			e.check("mail "+p.ID, p.Check)
		}
	}
	asked := map[any]bool{}
	for _, part := range e.parts() {
		m, ok := part.(interface{ Mailer() core.Mailer })
		if !ok {
			continue
		}
		mailer := m.Mailer()
		if mailer == nil || reflect.TypeOf(mailer).Comparable() && asked[mailer] {
			continue
		}
		if reflect.TypeOf(mailer).Comparable() {
			asked[mailer] = true
		}
		var check func(context.Context) error
		if c, ok := mailer.(interface{ Check(context.Context) error }); ok {
			check = c.Check
		}
		if e.development(mailer) || e.auth == nil {
			continue
		}
		e.check("mail", check)
	}
}

// development reports a development mailer on a production site.
func (e mails) development(mailer core.Mailer) bool {
	_, marked := mailer.(interface{ Development() })
	if !marked || e.site == nil || e.site.Scheme != "https" || local(e.site.Hostname()) {
		return false
	}
	e.report.add("mail", Wrong, "emails go to the development mailbox, which delivers nothing, and the site is on https",
		"use a mail server: smtp.NewMailer(smtp.Options{}) with EMAIL_SERVER and EMAIL_FROM, for example")
	return true
}

// parts returns all plugins of the configuration, including providers that are plugins.
func (e mails) parts() (all []any) {
	for _, p := range e.config.Providers {
		if part, ok := p.(core.Plugin); ok {
			all = append(all, part)
		}
	}
	for _, p := range e.config.Plugins {
		all = append(all, p)
	}
	return all
}

// sender checks the From address of emails.
func (e mails) sender(p *core.EmailProvider) {
	if p.From == "" {
		return
	}
	from, err := mail.ParseAddress(p.From)
	if err != nil {
		e.report.add("mail "+p.ID, Wrong, "From is not an email address", "write: App <no-reply@app.example>")
		return
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	if strings.HasSuffix(domain, "example.com") || strings.HasSuffix(domain, ".example") || domain == "localhost" {
		e.report.add("mail "+p.ID, Unknown, "From is at "+domain+", which cannot send email on the internet",
			"write an address of your own domain into EMAIL_FROM")
	}
}

func (e mails) check(check string, ask func(context.Context) error) {
	err := errors.ErrUnsupported
	if ask != nil {
		ctx, cancel := e.limited()
		defer cancel()
		e.guarded(check, func() { err = ask(ctx) })
	}
	if err == nil {
		e.report.ok(check, "the mail server accepts the connection, with the configured TLS and password")
		return
	}
	if errors.Is(err, errors.ErrUnsupported) {
		e.report.add(check, Unknown, "this email service cannot be checked without sending an email", "send yourself "+
			"an email")
		return
	}
	state, fix := diagnoseMail(err)
	e.report.add(check, state, brief(err), fix)
}

// refusal matches the reply code of a rejected sign-in (RFC 4954 section 6). It does not match these digits in
// addresses and ports.
var refusal = regexp.MustCompile(`(?:^|[^\d:.])53[45][ -]`)

// diagnoseMail explains an error of a mail server. It reads the text, because mail libraries have few error types.
func diagnoseMail(err error) (State, string) {
	var authority x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	text := strings.ToLower(err.Error())
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case refusal.MatchString(text), has("authentication failed", "auth failed", "credentials", "invalid credentials"):
		return Wrong, "the server rejects user or password: percent-encode them in EMAIL_SERVER, and use an app " +
			"password if the service requires one"
	case has("starttls"):
		return Wrong, "the server offers no TLS on this port: use smtps:// with port 465, or port 587"
	case errors.As(err, &authority), errors.As(err, &certificate), has("x509", "certificate"):
		return Wrong, "its certificate is not trusted: use the certificate's host name in EMAIL_SERVER, or set " +
			"smtp.Options.TLS"
	case has("first record does not look like a tls handshake"):
		return Wrong, "the server does not start with TLS: use smtp:// instead of smtps://"
	case has("no such host"):
		return Wrong, "there is no such host: check EMAIL_SERVER"
	case has("connection refused"):
		return Wrong, "the connection was refused: check host and port in EMAIL_SERVER"
	case has("timeout", "deadline"):
		return Unknown, "no response in time: many hosting providers block port 25, and some 587; smtp:// also hangs " +
			"on a port that expects smtps://"
	case has("auth"):
		return Wrong, "the server does not accept this authentication method: check user and password in EMAIL_SERVER"
	}
	return Wrong, "look at EMAIL_SERVER"
}
