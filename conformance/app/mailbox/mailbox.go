// Package mailbox shows the mails that would have been sent, in a browser and to tests. It delivers nothing,
// keeps the last mails in memory, and answers loopback connections alone: every link in it signs a user in.
//
//	box := mailbox.New()
//	provider := providers.Email("no-reply@app.example", box.Send) // or box.Mailer() for letters of every kind
//	http.Handle("/mailbox", box)
package mailbox

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// kept is how many mails a mailbox keeps; older ones are dropped.
const kept = 50

// Mail is a mail that was not sent.
type Mail struct {
	// To and From are the addresses.
	To, From string
	// Kind is what it is about: "sign-in" for a sign-in link.
	Kind core.LetterKind
	// URL is the link, Code the code; empty where the mail has none.
	URL, Code string
	// Host is the site the link is for.
	Host string
	// Expires is when the link stops working, Received when the mail came in.
	Expires, Received time.Time
}

// Mailbox keeps mails. It is safe for concurrent use; make it with [New].
type Mailbox struct {
	mu      sync.Mutex
	mails   []Mail // newest first
	arrived chan struct{}
}

// New returns an empty mailbox.
func New() *Mailbox { return &Mailbox{arrived: make(chan struct{})} }

// Send takes a sign-in mail in. It has the type of [core.EmailProvider]'s Send.
func (b *Mailbox) Send(_ context.Context, m core.SignInMail) error {
	b.keep(m.Letter(), m.From)
	return nil
}

// Mailer returns the mailbox as a [core.Mailer], which takes in letters of every kind.
func (b *Mailbox) Mailer() core.Mailer { return letters{b} }

type letters struct{ box *Mailbox }

// Send implements [core.Mailer].
func (l letters) Send(_ context.Context, letter core.Letter) error {
	l.box.keep(letter, "")
	return nil
}

func (b *Mailbox) keep(l core.Letter, from string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mail := Mail{
		To: l.To, From: from, Kind: l.Kind, URL: string(l.URL), Code: string(l.Code), Host: l.Host,
		Expires: l.Expires, Received: time.Now(),
	}
	b.mails = slices.Insert(b.mails, 0, mail)
	if len(b.mails) > kept {
		b.mails = b.mails[:kept]
	}
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// Mails returns all mails, the newest first.
func (b *Mailbox) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Wait returns the newest mail to an address, waiting for one if there is none. The error is the context's.
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

//go:embed mailbox.html
var files embed.FS

// ServeHTTP shows the mails, newest first. Connections and hosts other than loopback are refused, and so are requests
// that a proxy on this machine passes on. The look at Host keeps out a web page whose name resolves to this machine
// (DNS rebinding).
func (b *Mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.RemoteAddr) || !loopback(r.Host) || forwarded(r.Header) {
		http.Error(w, "mailbox: the development mailbox answers on this machine only", http.StatusForbidden)
		return
	}
	page, err := template.ParseFS(files, "mailbox.html")
	if err != nil {
		http.Error(w, "mailbox: "+err.Error(), http.StatusInternalServerError)
		return
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails
	nonce := base64.RawStdEncoding.EncodeToString(raw[:])
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; script-src 'nonce-"+nonce+"'; connect-src 'self'; "+
			"base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = page.Execute(w, map[string]any{"Nonce": nonce, "Mails": b.Mails()}) // a browser that left
}

// forwarded reports whether a proxy has passed the request on.
func forwarded(h http.Header) bool {
	names := []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}
	return slices.ContainsFunc(names, func(name string) bool { return len(h[name]) > 0 })
}

// loopback reports whether host:port names this machine.
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
