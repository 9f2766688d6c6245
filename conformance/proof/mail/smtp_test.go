package mail_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

const link = "https://app.example.com/auth/callback/nodemailer" +
	"?callbackUrl=https%3A%2F%2Fapp.example.com&token=tok-4711&email=jane%40example.com"

// certificate returns a TLS configuration for 127.0.0.1, and one for a client that trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots}
}

func start(t *testing.T, o mail.Options) *mail.Server {
	t.Helper()
	s, err := mail.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func configured(t *testing.T, o smtp.Options) *core.EmailProvider {
	t.Helper()
	if o.From == "" {
		o.From = "Acme <no-reply@example.com>"
	}
	p := smtp.New("nodemailer", o)
	if err := p.Configure(p, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	return p
}

func emailTo(to string) core.Email {
	return core.Email{To: to, Kind: mailkind.SignIn, URL: link, Token: "tok-4711", Host: "app.example.com"}
}

// TestConversation checks the recorded conversation: envelope, headers, parts.
func TestConversation(t *testing.T) {
	certs, trust := certificate(t)
	s := start(t, mail.Options{TLS: certs, User: "u", Password: "p"})
	p := configured(t, smtp.Options{Server: core.Secret("smtp://u:p@" + s.Addr), TLS: trust})
	if err := p.Send(t.Context(), emailTo("jane@example.com")); err != nil {
		t.Fatal(err)
	}
	got := s.Messages()
	if len(got) != 1 {
		t.Fatalf("%d mails", len(got))
	}
	m := got[0]
	if m.From != "no-reply@example.com" || strings.Join(m.To, " ") != "jane@example.com" || !m.Encrypted || m.User != "u" {
		t.Errorf("envelope from %s to %v, encrypted %v, user %s", m.From, m.To, m.Encrypted, m.User)
	}
	for name, want := range map[string]string{"From": "Acme <no-reply@example.com>", "To": "jane@example.com"} {
		a, err := netmail.ParseAddress(m.Mail.Header.Get(name))
		b, _ := netmail.ParseAddress(want)
		if err != nil || *a != *b {
			t.Errorf("%s is %s", name, m.Mail.Header.Get(name))
		}
	}
	h := m.Mail.Header
	if h.Get("Subject") != "Sign in to app.example.com" || h.Get("Date") == "" || h.Get("Mime-Version") != "1.0" ||
		h.Get("Auto-Submitted") != "auto-generated" ||
		!strings.HasSuffix(h.Get("Message-Id"), "@example.com>") {
		t.Errorf("header %v", m.Mail.Header)
	}
	if m.Mail.Header.Get("User-Agent")+m.Mail.Header.Get("X-Mailer") != "" {
		t.Errorf("the mail names its program: %v", m.Mail.Header)
	}
	text, html, err := m.Parts()
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.TrimRight(text, "\n") != "Sign in to app.example.com\n"+link {
		t.Errorf("text %q", text)
	}
	if n := strings.Count(html, strings.ReplaceAll(link, "&", "&amp;")); n != 3 || strings.Contains(html, "jane@") {
		t.Errorf("html has the link %d times, not behind the button and as text with a link: %s", n, html)
	}
}

func TestEncryption(t *testing.T) {
	certs, trust := certificate(t)
	for _, row := range []struct {
		name   string
		server mail.Options
		scheme string
		client smtp.Options
		fails  string
	}{
		{"STARTTLS", mail.Options{TLS: certs}, "smtp", smtp.Options{TLS: trust}, ""},
		{"STARTTLS with password", mail.Options{TLS: certs, User: "u", Password: "p"}, "smtp", smtp.Options{TLS: trust}, ""},
		{"TLS", mail.Options{TLS: certs, Implicit: true}, "smtps", smtp.Options{TLS: trust}, ""},
		{"TLS with password", mail.Options{TLS: certs, Implicit: true, User: "u", Password: "p"},
			"smtps", smtp.Options{TLS: trust}, ""},
		{"none, by option", mail.Options{}, "smtp", smtp.Options{InsecureNoTLS: true}, ""},
		{"none, by option, with password", mail.Options{User: "u", Password: "p"},
			"smtp", smtp.Options{InsecureNoTLS: true}, ""},

		{"none offered, on this machine", mail.Options{}, "smtp", smtp.Options{}, ""},
		{"none offered, elsewhere", mail.Options{}, "smtp", smtp.Options{Server: "elsewhere"}, "InsecureNoTLS"},
		{"certificate of nobody", mail.Options{TLS: certs}, "smtp", smtp.Options{}, "certificate"},
		{"TLS, certificate of nobody", mail.Options{TLS: certs, Implicit: true}, "smtps", smtp.Options{}, "certificate"},
		{"certificate of another name", mail.Options{TLS: certs},
			"smtp", smtp.Options{TLS: &tls.Config{RootCAs: trust.RootCAs, ServerName: "other.test"}},
			"certificate"},
		{"wrong password", mail.Options{TLS: certs, User: "u", Password: "other"},
			"smtp", smtp.Options{TLS: trust}, "authentication failed"},
		{"no password where one is wanted", mail.Options{TLS: certs, User: "x", Password: "p"},
			"smtp", smtp.Options{TLS: trust, Server: "anonymous"}, "502"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, row.server)
			o, user := row.client, ""
			if row.server.User != "" && o.Server != "anonymous" {
				user = "u:p@"
			}
			address := s.Addr
			if o.Server == "elsewhere" { // another name of this machine that is not a loopback address
				address = strings.Replace(address, "127.0.0.1", "0.0.0.0", 1)
			}
			o.Server = core.Secret(row.scheme + "://" + user + address)
			err := configured(t, o).Send(t.Context(), emailTo("jane@example.com"))
			if (err != nil) != (row.fails != "") || err != nil && !strings.Contains(err.Error(), row.fails) {
				t.Fatalf("error %v", err)
			}
			if want := 1; row.fails == "" && len(s.Messages()) != want {
				t.Errorf("%d mails", len(s.Messages()))
			}
			if row.fails != "" && (len(s.Messages()) > 0 || !errors.Is(err, core.ErrEmailSignIn)) {
				t.Errorf("%d mails, error %v", len(s.Messages()), err)
			}
		})
	}
}

func TestRefusedRecipient(t *testing.T) {
	s := start(t, mail.Options{Refuse: func(to string) string {
		if to == "bad@example.com" {
			return "no mailbox for " + link
		}
		return ""
	}})
	p := configured(t, smtp.Options{Server: core.Secret("smtp://" + s.Addr), InsecureNoTLS: true})
	err := p.Send(t.Context(), emailTo("bad@example.com"))
	if err == nil || !errors.Is(err, core.ErrEmailSignIn) ||
		!strings.Contains(err.Error(), "no mailbox") || strings.Contains(err.Error(), "tok-4711") {
		t.Fatalf("error %v", err)
	}
	if err := p.Send(t.Context(), emailTo("jane@example.com")); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{
		"ok@example.com,bad@example.com", "x y <jane@example.com>", "jane@example.com\r\nBcc: x@example.com",
	} {
		if err := p.Send(t.Context(), emailTo(list)); err == nil {
			t.Errorf("%q was mailed to", list)
		}
	}
	if n := len(s.Messages()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestHeadersCannotBeInjected checks that an email of the application cannot add headers.
func TestHeadersCannotBeInjected(t *testing.T) {
	s := start(t, mail.Options{})
	o := smtp.Options{Server: core.Secret("smtp://" + s.Addr), InsecureNoTLS: true}
	o.From = `"Zoë, Inc." <no-reply@example.com>`
	o.Content = func(core.Email) (providers.EmailContent, error) {
		return providers.EmailContent{
			Subject: "Grüße\r\nBcc: eve@example.com\r\n\r\nbody", Text: ".\r\nQUIT\r\n", HTML: "<p>.</p>",
		}, nil
	}
	if err := configured(t, o).Send(t.Context(), emailTo("zoë@exämple.com")); err != nil {
		t.Fatal(err)
	}
	m := s.Messages()[0]
	if m.Mail.Header.Get("Bcc") != "" || len(m.To) != 1 || m.To[0] != "zoë@exämple.com" {
		t.Errorf("to %v, header %v", m.To, m.Mail.Header)
	}
	if text, _, err := m.Parts(); err != nil || strings.TrimSpace(text) != ".\r\nQUIT" {
		t.Errorf("text %q, error %v", text, err)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	s := start(t, mail.Options{})
	p := configured(t, smtp.Options{Server: core.Secret("smtp://" + s.Addr), InsecureNoTLS: true})
	for range 5 {
		if err := p.Send(t.Context(), emailTo("jane@example.com")); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections for five mails in turn", n)
	}
	s.HangUp() // like servers after an idle time
	if err := p.Send(t.Context(), emailTo("jane@example.com")); err != nil {
		t.Fatalf("after the server hung up: %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := p.Send(context.Background(), emailTo("jane@example.com")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(s.Messages()); n != 26 {
		t.Errorf("%d mails", n)
	}
}

func TestSlowAndAbsentServers(t *testing.T) {
	deaf := start(t, mail.Options{Deaf: true})
	slow := configured(t, smtp.Options{
		Server:        core.Secret("smtp://u:hunter2@" + deaf.Addr),
		InsecureNoTLS: true, Timeout: 100 * time.Millisecond,
	})
	started := time.Now()
	err := slow.Send(t.Context(), emailTo("jane@example.com"))
	if err == nil || time.Since(started) > 15*time.Second || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v after %v", err, time.Since(started))
	}
	slow = configured(t, smtp.Options{Server: core.Secret("smtp://" + deaf.Addr), InsecureNoTLS: true})
	started = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := slow.Send(ctx, emailTo("jane@example.com")); err == nil || time.Since(started) > 15*time.Second {
		t.Errorf("error %v after %v", err, time.Since(started))
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	nobody := configured(t, smtp.Options{Server: core.Secret("smtp://" + closed.Addr().String()), InsecureNoTLS: true})
	err = nobody.Send(t.Context(), emailTo("jane@example.com"))
	if err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
}

// TestLyingServers uses servers that do not speak SMTP, and one that injects data after STARTTLS before the TLS
// handshake.
func TestLyingServers(t *testing.T) {
	for name, lines := range map[string]string{
		"no SMTP":      "HTTP/1.1 400 Bad Request\r\n\r\n",
		"hangs up":     "",
		"endless line": "220 " + strings.Repeat("x", 1<<20) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			go func() {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, lines)
				_, _ = bufio.NewReader(c).ReadString('\n')
				_ = c.Close()
			}()
			p := configured(t, smtp.Options{Server: core.Secret("smtp://" + listener.Addr().String()), Timeout: time.Second})
			if err := p.Send(t.Context(), emailTo("jane@example.com")); err == nil || len(err.Error()) > 1000 {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for address, good := range map[string]bool{
		"smtp://mail.example": true, "smtp://u:p%40ss@mail.example:2525": true,
		"smtps://mail.example": true, "smtp://[::1]:25/": true,
		"": false, "mail.example:25": false, "http://mail.example": false, "smtp://": false, "smtp://mail.example:x": false,
		"smtp://mail.example:99999": false, "smtp://mail.example/path": false, "smtp://u:hunter2%@mail.example": false,
	} {
		p := smtp.New("email")
		err := p.Configure(p, func(name string) string {
			return map[string]string{"EMAIL_SERVER": address, "EMAIL_FROM": "a@example.com"}[name]
		})
		if (err == nil) != good || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
		if good && (p.From != "a@example.com" || p.Send == nil || p.ID != "email" || p.Name != "Email") {
			t.Errorf("%q: %s, %s", address, p.ID, p.From)
		}
	}
}

// TestMailer sends an email other than for a sign-in, with the server and the sender from the environment.
func TestMailer(t *testing.T) {
	s := start(t, mail.Options{})
	env := map[string]string{"EMAIL_SERVER": "smtp://" + s.Addr, "EMAIL_FROM": "Acme <no-reply@example.com>"}
	mailer := smtp.New("nodemailer", smtp.Options{InsecureNoTLS: true}).Mailer()
	if err := mailer.Configure(func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	l := core.Email{
		To: "jane@bücher.example", Kind: mailkind.Reset, URL: link, Host: "app.example.com", Expires: time.Unix(1e9, 0),
	}
	if err := mailer.Send(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	m := s.Messages()[0]
	if m.From != "no-reply@example.com" || strings.Join(m.To, " ") != "jane@xn--bcher-kva.example" ||
		m.Mail.Header.Get("Subject") != "Reset your password for app.example.com" {
		t.Errorf("from %s to %v, header %v", m.From, m.To, m.Mail.Header)
	}
	text, html, err := m.Parts()
	if err != nil || !strings.Contains(text, link) || !strings.Contains(html, "Choose a new password") {
		t.Errorf("text %q, html %q, error %v", text, html, err)
	}
	for name, bad := range map[string]core.Email{
		"two recipients": {To: "a@example.com, b@example.com", Kind: mailkind.Reset}, "unknown kind": {To: l.To, Kind: "x"},
	} {
		if err := mailer.Send(t.Context(), bad); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	if n := len(s.Messages()); n != 1 {
		t.Errorf("%d emails", n)
	}
}

// TestCheck runs the check of a server, which must send no email.
func TestCheck(t *testing.T) {
	server, client := certificate(t)
	for _, row := range []struct {
		name     string
		password string
		want     string
	}{
		{"as the server wants it", "secret-4711", ""},
		{"with another password", "another-4711", "authentication failed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, mail.Options{TLS: server, User: "acme", Password: "secret-4711"})
			p := configured(t, smtp.Options{Server: core.Secret("smtp://acme:" + row.password + "@" + s.Addr), TLS: client})
			err := p.Check(t.Context())
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), row.password) {
				t.Errorf("the password is in %v", err)
			}
			if len(s.Messages()) > 0 || s.Connections() != 1 {
				t.Errorf("%d mails, %d connections", len(s.Messages()), s.Connections())
			}
		})
	}
	t.Run("of a mailer", func(t *testing.T) {
		s := start(t, mail.Options{TLS: server})
		m := smtp.New("nodemailer", smtp.Options{Server: core.Secret("smtp://" + s.Addr), TLS: client, EmailOptions: from}).
			Mailer()
		checks, ok := m.(interface{ Check(context.Context) error })
		if !ok {
			t.Fatal("a mailer has no Check")
		}
		if err := checks.Check(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("before it is configured: %v", err)
		}
		if err := m.Configure(func(string) string { return "" }); err != nil {
			t.Fatal(err)
		}
		if err := checks.Check(t.Context()); err != nil || s.Connections() != 1 {
			t.Errorf("%v, %d connections", err, s.Connections())
		}
	})
}

var from = providers.EmailOptions{From: "Acme <no-reply@example.com>"}
