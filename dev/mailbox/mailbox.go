// Package mailbox captures emails and shows them in a browser and to tests. It delivers nothing, keeps the last 50
// emails in memory, and responds to loopback connections only, because many of the links sign a user in.
//
//	box := mailbox.NewWith(providers.WriteEmail) // a core.Mailer
//	http.Handle("/mailbox", box)
package mailbox

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// kept is the maximum number of emails in a mailbox. Older ones are deleted.
const kept = 50

// Mail is a captured email.
type Mail struct {
	// To and From are the addresses.
	To, From string
	// Kind is the kind of the email, for example "sign-in" for a sign-in link.
	Kind mailkind.Kind
	// URL is the link and Code the code. Each is empty if the email has none.
	URL, Code string
	// Host is the host of the site in the link.
	Host string
	// Expires is the expiry of the link. Received is the time when the email was captured.
	Expires, Received time.Time
	// Content is the email as its recipient would see it. It is empty for a mailbox made with [New].
	Content Content
	// Email has all facts of the email.
	Email core.Email
	// ID identifies the email in this mailbox. The first email has ID 1.
	ID int
}

// Content is the subject and the body of an email, as plain text and as HTML.
type Content struct{ Subject, Text, HTML string }

// Mailbox stores emails. It is safe for concurrent use. Create it with [New] or [NewWith].
type Mailbox struct {
	write   func(core.Email) (Content, error)
	mu      sync.Mutex
	mails   []Mail // newest first
	count   int
	arrived chan struct{}
}

// New returns an empty mailbox that shows the facts of each email: kind, recipient, link and code.
func New() *Mailbox {
	return &Mailbox{
		write:   func(core.Email) (Content, error) { return Content{}, nil },
		arrived: make(chan struct{}),
	}
}

// NewWith returns an empty mailbox that also shows the subject, HTML and text of each email. write composes an email;
// pass the function that your mailer uses, for example providers.WriteEmail. If write fails, Send returns its error.
func NewWith[C ~struct{ Subject, Text, HTML string }](write func(core.Email) (C, error)) *Mailbox {
	b := New()
	b.write = func(l core.Email) (Content, error) {
		content, err := write(l)
		return Content(content), err
	}
	return b
}

// Configure implements [core.ConfiguredMailer]. It returns an error for a site on https, which is not in development:
// its users would get no email, and a proxy on this machine could expose their sign-in links to the public.
func (*Mailbox) Configure(getenv func(string) string) error {
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		if public(getenv(name)) {
			return errors.New("the mailbox is for development, and " + name + " is an https address: use a mail server, " +
				"smtp.NewMailer for example")
		}
	}
	return nil
}

// Development marks the mailbox as a mailer that delivers nothing, for package doctor.
func (*Mailbox) Development() {}

// Send captures an email. It implements [core.Mailer], and has the type of [core.EmailProvider]'s Send.
func (b *Mailbox) Send(_ context.Context, m core.Email) error {
	content, err := b.write(m)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	mail := Mail{
		To: m.To, From: m.From, Kind: m.Kind, URL: string(m.URL), Code: string(m.Code), Host: m.Host,
		Expires: m.Expires, Received: time.Now(), Content: content, Email: m, ID: b.count,
	}
	b.mails = slices.Insert(b.mails, 0, mail)
	if len(b.mails) > kept {
		b.mails = b.mails[:kept]
	}
	close(b.arrived)
	b.arrived = make(chan struct{})
	return nil
}

// Mails returns all emails, the newest first.
func (b *Mailbox) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Wait returns the newest email to an address. If there is none, it waits for one. It returns ctx.Err() if ctx is done
// before that.
func (b *Mailbox) Wait(ctx context.Context, to string) (Mail, error) {
	for {
		b.mu.Lock()
		arrived := b.arrived
		i := slices.IndexFunc(b.mails, func(m Mail) bool { return m.To == to })
		if i >= 0 {
			defer b.mu.Unlock()
			return b.mails[i], nil
		}
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return Mail{}, ctx.Err()
		case <-arrived:
		}
	}
}

// ServeHTTP shows the emails, the newest first, and with ?preview a sample of each email in each language. It refuses
// connections and hosts other than loopback, and requests forwarded by a proxy on this machine. The check of Host
// prevents DNS rebinding by a web page.
func (b *Mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.RemoteAddr) || !loopback(r.Host) || forwarded(r.Header) {
		http.Error(w, "mailbox: the development mailbox answers on this machine only", http.StatusForbidden)
		return
	}
	mails := b.Mails()
	for _, m := range mails {
		if public(m.URL) { // the proxy may forward without proxy headers and with its own Host
			http.Error(w, "mailbox: the development mailbox does not show emails of a site on https", http.StatusForbidden)
			return
		}
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	query := r.URL.Query()
	switch {
	case query.Has("html"):
		b.serveHTML(w, mails, query)
	case query.Has("preview"):
		servePage(w, "preview", b.preview(mails, query))
	default:
		servePage(w, "mails", inboxOf(mails, query))
	}
}

// forwarded reports whether a proxy forwarded the request.
func forwarded(h http.Header) bool {
	names := []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}
	return slices.ContainsFunc(names, func(name string) bool { return len(h[name]) > 0 })
}

// public reports whether a URL belongs to a site on https that is not on this machine.
func public(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && !loopback(u.Host)
}

// loopback reports whether host:port is on this machine.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
