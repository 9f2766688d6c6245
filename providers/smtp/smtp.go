// Package smtp mails sign-in links through a mail server. It is a module of its own, as it brings a mail library along.
//
//	core.Config{Providers: []core.Provider{smtp.Nodemailer()}, …}
//
// reads EMAIL_SERVER ("smtp://user:password@mail.example:587") and EMAIL_FROM. Emails travel encrypted: smtp://
// requires STARTTLS, smtps:// is TLS from the first byte. A server on this machine (smtp://localhost:1025, a mail
// catcher for example) may do without STARTTLS. Connections are kept for the next email for a while.
package smtp

import (
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
	// Server is the mail server, "smtp://user:password@mail.example:587" or "smtps://…:465", user and password
	// percent-encoded and left out for a server that asks for none; empty: EMAIL_SERVER.
	Server core.Secret
	// TLS is the configuration of encrypted connections, for a private authority; nil: the system's, TLS 1.2 at least.
	TLS *tls.Config
	// InsecureNoTLS sends to a smtp:// server without TLS, links and password included: for a relay in a private network.
	// A server on a loopback address needs no option.
	InsecureNoTLS bool
	// Timeout bounds one mail from dialling to the server's word; zero: 20 seconds. A nearer deadline of the request
	// counts.
	Timeout time.Duration
}

// Nodemailer is the provider "nodemailer".
func Nodemailer(options ...Options) *core.EmailProvider {
	return provider("nodemailer", "Nodemailer", options)
}

// Email is the same under its older id, "email".
func Email(options ...Options) *core.EmailProvider { return provider("email", "Email", options) }

func provider(id, name string, options []Options) *core.EmailProvider {
	o := Options{}
	for _, o = range options {
	}
	p := o.Provider(id, name)
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if len(options) > 1 {
			return fmt.Errorf("%d values of smtp.Options: write them into one", len(options))
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
		p.Send = func(ctx context.Context, m core.SignInMail) error {
			letter, err := o.Write(m)
			return sent(p.ID, s.mail(ctx, from, m.Letter(), letter, err))
		}
		p.Deliver = func(ctx context.Context, l core.Letter) error {
			letter, err := o.WriteLetter(l)
			return sent(p.ID, s.mail(ctx, from, l, letter, err))
		}
		p.Check = s.check
		return nil
	}
	return p
}

// sent makes a failure one that asks the visitor to try again.
func sent(id string, err error) error {
	if err != nil {
		return core.NewError(core.ErrEmailSignIn, fmt.Errorf("%s: %w", id, err))
	}
	return nil
}

// newServer reads the address. Its errors do not repeat it: it has the password.
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
			return nil, errors.New("the Server's port is no number")
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
	case loopback(s.host): // a mail catcher in development, or a relay on this machine
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	default:
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if name := u.User.Username(); name != "" {
		auth := mail.SMTPAuthAutoDiscover
		if o.InsecureNoTLS && u.Scheme == "smtp" {
			auth = mail.SMTPAuthPlainNoEnc // without TLS the list of methods may be an eavesdropper's
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

// message puts the letter into its envelope. Text comes first: mail programs show the last part that they can.
func message(from *netmail.Address, m core.Letter, l providers.Letter, id string) *mail.Msg {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	out.FromMailAddress(from)
	out.ToMailAddress(&netmail.Address{Address: m.Recipient()})
	out.Subject(l.Subject)
	_, domain, _ := strings.Cut(from.Address, "@")
	out.SetMessageIDWithValue(id + "@" + domain) // the library would tell this machine's name
	out.SetDate()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 section 5: no out-of-office reply
	out.SetBodyString(mail.TypeTextPlain, l.Text)
	if l.HTML != "" {
		out.AddAlternativeString(mail.TypeTextHTML, l.HTML)
	}
	return out
}
