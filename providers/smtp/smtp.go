// Package smtp sends sign-in links with a mail server. It is a separate module because it depends on a mail library.
//
//	core.Config{Providers: []core.Provider{smtp.New("nodemailer")}, …}
//
// reads EMAIL_SERVER ("smtp://user:password@mail.example:587") and EMAIL_FROM. Connections are encrypted: smtp://
// requires STARTTLS, smtps:// uses TLS from the start. Only for a server on this machine (such as a mail catcher at
// smtp://localhost:1025) STARTTLS is optional. Connections are kept open for some time and reused.
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/wneessen/go-mail"
)

// Options changes the provider. The zero value changes nothing. Key and HTTPClient of the embedded options are not
// used.
type Options struct {
	providers.EmailOptions
	// Server is the mail server, "smtp://user:password@mail.example:587" or "smtps://…:465". User and password are
	// percent-encoded, and left out for a server without authentication. The default is $EMAIL_SERVER.
	Server core.Secret
	// TLS configures encrypted connections, for example for a private certificate authority. The default is the system's
	// configuration with TLS 1.2 or later.
	TLS *tls.Config
	// InsecureNoTLS allows connections to a smtp:// server without TLS, on which links and passwords are not encrypted,
	// for a relay in a private network. It is not needed for a server on a loopback address.
	InsecureNoTLS bool
	// Timeout limits the sending of one email, including the connection. The default is 20 seconds. An earlier deadline of
	// the request takes precedence.
	Timeout time.Duration
}

// New returns a provider with this ID that emails sign-in links. The ID is part of the callback URL; Auth.js uses
// "nodemailer", and "email" in older versions. New accepts at most one Options value; [core.New] reports more as a
// configuration error.
func New(id string, options ...Options) *core.EmailProvider {
	names := map[string]string{"nodemailer": "Nodemailer", "email": "Email"}
	o := Options{}
	for _, o = range options {
	}
	p := o.Provider(id, cmp.Or(names[id], id))
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if len(options) > 1 {
			return fmt.Errorf("%d values of smtp.Options: merge them into one", len(options))
		}
		address := string(o.Server)
		if address == "" {
			address = getenv("EMAIL_SERVER")
		}
		s, err := newServer(address, o)
		if err != nil {
			return err
		}
		from, err := o.Sender(p, getenv)
		if err != nil {
			return err
		}
		p.Send = func(ctx context.Context, m core.Email) error {
			content, err := o.Write(m)
			return sent(p.ID, s.mail(ctx, from, m, content, err))
		}
		p.Check = s.check
		return nil
	}
	return p
}

// NewMailer returns a Mailer for emails of other features, such as password resets, in an application without sign-in
// links. An application with links uses the [core.EmailProvider.Mailer] of its provider.
func NewMailer(o Options) core.ConfiguredMailer { return New("email", o).Mailer() }

// sent turns an error into one that asks the user to try again.
func sent(id string, err error) error {
	if err != nil {
		return core.NewError(core.ErrEmailSignIn, fmt.Errorf("%s: %w", id, err))
	}
	return nil
}

// newServer parses the URL of a server. Its errors do not contain the URL, because it contains the password.
func newServer(address string, o Options) (*server, error) {
	const want = `smtp://user:password@mail.example:587, or smtps:// for TLS from the first byte`
	if address == "" {
		return nil, errors.New("no Server: set it, or EMAIL_SERVER in the environment, to " + want)
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, errors.New("the Server is not understood: write " + want + ", user and password percent-encoded")
	}
	s := &server{host: u.Hostname(), timeout: 20 * time.Second}
	if o.Timeout > 0 {
		s.timeout = o.Timeout
	}
	s.password, _ = u.User.Password()
	port := mail.DefaultPortTLS
	if u.Scheme == "smtps" {
		port = mail.DefaultPortSSL
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, errors.New("the Server's port is not a number")
		}
	}
	s.options = []mail.Option{mail.WithPort(port)}
	if o.TLS != nil {
		config := o.TLS.Clone()
		if config.ServerName == "" {
			config.ServerName = s.host
		}
		s.options = append(s.options, mail.WithTLSConfig(config))
	}
	switch {
	case u.Scheme == "smtps":
		s.options = append(s.options, mail.WithSSL())
	case o.InsecureNoTLS:
		s.options = append(s.options, mail.WithTLSPolicy(mail.NoTLS))
	case loopback(s.host): // a mail catcher in development or a local relay
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	default:
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if name := u.User.Username(); name != "" {
		auth := mail.SMTPAuthAutoDiscover
		if o.InsecureNoTLS && u.Scheme == "smtp" {
			auth = mail.SMTPAuthPlainNoEnc // without TLS, an eavesdropper could change the list of methods
		}
		s.options = append(s.options, mail.WithSMTPAuth(auth), mail.WithUsername(name), mail.WithPassword(s.password))
	}
	_, err = s.client(s.timeout)
	return s, err
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// message returns the email with its headers. The text part comes first, because mail clients show the last part that
// they support.
func message(from *netmail.Address, m core.Email, l providers.EmailContent, id string) *mail.Msg {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	out.FromMailAddress(from)
	out.ToMailAddress(&netmail.Address{Address: m.Recipient()})
	out.Subject(l.Subject)
	_, domain, _ := strings.Cut(from.Address, "@")
	out.SetMessageIDWithValue(id + "@" + domain) // the library's default contains this machine's name
	out.SetDate()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 section 5: prevents out-of-office replies
	out.SetBodyString(mail.TypeTextPlain, l.Text)
	if l.HTML != "" {
		out.AddAlternativeString(mail.TypeTextHTML, l.HTML)
	}
	return out
}
