package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/ui"
)

// Mailer delivers letters. The mail services of package providers and providers/smtp are Mailers by
// [EmailProvider.Mailer], and so is the mailbox for development.
//
// Send is called from many goroutines at once, under a context with a deadline, and returns when the letter has been
// handed over. Its error reaches the log and never a browser: it repeats neither URL nor Code. What a Mailer does not
// know, a Kind of a later version for example, is an error and no letter.
type Mailer interface {
	Send(ctx context.Context, l Letter) error
}

// ConfiguredMailer is a [Mailer] that is completed from the environment before its first letter. A part that is given
// one calls Configure while it is attached; an error is a fault of the configuration.
type ConfiguredMailer interface {
	Mailer
	Configure(getenv func(name string) string) error
}

// LetterKind is what a letter is about.
type LetterKind string

// The kinds of letters. Where one has a URL, the address leads to a page of this site, which asks before it does
// anything that could not be undone.
const (
	// LetterSignIn has a link, or a code, that signs in.
	LetterSignIn LetterKind = "sign-in"
	// LetterVerify asks the owner of an address to finish a sign-up.
	LetterVerify LetterKind = "verify"
	// LetterExists tells the owner of an address that somebody tried to sign up with it, where an account exists. Its URL
	// is the sign-in page.
	LetterExists LetterKind = "exists"
	// LetterReset has a link to choose a new password.
	LetterReset LetterKind = "reset"
	// LetterPasswordChanged tells that a password was set, changed or removed. Its URL is the page that sends a reset.
	LetterPasswordChanged LetterKind = "password-changed"
	// LetterEmailChange asks the owner of a new address to prove it.
	LetterEmailChange LetterKind = "email-change"
	// LetterEmailChanged tells the old address that another one has taken its place; its URL undoes that. An address that
	// nobody had proved gets no URL.
	LetterEmailChanged LetterKind = "email-changed"
	// LetterPasskeyAdded and LetterPasskeyRemoved report that a passkey of the account was added or removed. The URL is a
	// page where the owner can secure the account.
	LetterPasskeyAdded   LetterKind = "passkey-added"
	LetterPasskeyRemoved LetterKind = "passkey-removed"
	// LetterAccountLinked and LetterAccountUnlinked report that an account at a provider was linked or unlinked. Service
	// is the provider's name. The URL is that of LetterPasskeyAdded.
	LetterAccountLinked   LetterKind = "account-linked"
	LetterAccountUnlinked LetterKind = "account-unlinked"
	// LetterNewDevice tells of a sign-in in a browser that was not seen before.
	LetterNewDevice LetterKind = "new-device"
	// LetterInvite invites to sign up.
	LetterInvite LetterKind = "invite"
	// LetterDeleted tells that an account was deleted.
	LetterDeleted LetterKind = "deleted"
)

// Letter is a letter to deliver. It holds facts, no sentences: what a recipient reads is written from them, and none of
// them is a text that a visitor chose, so that a stranger cannot have this site mail a message of theirs.
type Letter struct {
	// To is the recipient's address in its canonical form.
	To string
	// Kind is what the letter is about.
	Kind LetterKind
	// URL is the link; empty: none. It must reach the recipient and no log.
	URL Secret
	// Code is what the recipient types into the page that waits; empty: none.
	Code Secret
	// Expires is when URL and Code stop working; zero: they do not, or there are none.
	Expires time.Time
	// At is when the thing happened that the letter tells of; zero: not said.
	At time.Time
	// Peer is the network of the browser that did it; the zero value: not said.
	Peer netip.Prefix
	// Service is the configured name of the provider that the email is about, or empty if it is about none.
	Service string
	// EndsSessions reports that following URL also ends all sessions of the account.
	EndsSessions bool
	// Host is the host of the site.
	Host string
	// Theme is the configuration's.
	Theme Theme
	// Locale is the language to write in; zero: English.
	Locale ui.Locale
	// Request is the request that led to the letter; nil: none did, an administrator's program for example.
	Request *Request
}

// Deliver hands the letter to a mailer, as a [Part] does: a panic is an error, so that the part can take back what the
// letter tells of, and the error's text repeats neither URL nor Code, whatever the mailer says. ctx ends it.
func (l Letter) Deliver(ctx context.Context, by Mailer) error {
	err := guard("Mailer.Send", func() error { return by.Send(ctx, l) })
	return hide(hideLink(err, l.URL, l.To), string(l.Code))
}

// Recipient is To as every mail server understands it: the domain in its ASCII spelling (RFC 5890).
func (l Letter) Recipient() string { return mailaddr.ASCII(l.To) }

// String shows the kind: neither recipient nor link nor code.
func (l Letter) String() string { return fmt.Sprintf("letter %q", string(l.Kind)) }

// Format shows what String does under every fmt verb.
func (l Letter) Format(f fmt.State, _ rune) { printed(f, l.String()) }

// LogValue shows the kind.
func (l Letter) LogValue() slog.Value { return slog.GroupValue(slog.String("kind", string(l.Kind))) }

// MarshalText shows what String does to encoding/json and its relatives.
func (l Letter) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Letter is the same letter for a [Mailer]. From, Token and ProviderID are not in it: a Mailer has its own sender.
func (m SignInMail) Letter() Letter {
	return Letter{
		To: m.To, Kind: LetterSignIn, URL: m.URL, Expires: m.Expires, Host: m.Host, Theme: m.Theme,
		Locale: m.Locale, Request: m.Request,
	}
}

// Mailer returns what delivers letters of every kind in the way of p: one mail service serves links and passwords. It
// has a copy of p, taken now, and p need not stand among Config.Providers. It is safe for concurrent use, and for
// several configurations, of which the first one's environment counts. It delivers nothing before Configure: programs
// that send letters themselves call that with os.Getenv.
func (p *EmailProvider) Mailer() ConfiguredMailer { return &emailMailer{provider: *p} }

type emailMailer struct {
	provider EmailProvider

	mu    sync.Mutex // held while Configure runs
	ready atomic.Pointer[EmailProvider]
}

// Configure implements [ConfiguredMailer].
func (m *emailMailer) Configure(getenv func(string) string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready.Load() != nil {
		return nil
	}
	p := m.provider
	p.ID, p.Name, _ = m.provider.Describe()
	if p.Configure != nil {
		if err := p.Configure(&p, getenv); err != nil {
			return fmt.Errorf("mailer %q: %w", p.ID, err)
		}
	}
	if p.Deliver == nil {
		return fmt.Errorf("mailer %q has no Deliver function: it delivers letters of every kind", p.ID)
	}
	m.ready.Store(&p)
	return nil
}

// Check is [EmailProvider.Check]; errors.ErrUnsupported where there is none.
func (m *emailMailer) Check(ctx context.Context) error {
	p := m.ready.Load()
	if p == nil || p.Check == nil {
		return errors.ErrUnsupported
	}
	return p.Check(ctx)
}

// Send implements [Mailer].
func (m *emailMailer) Send(ctx context.Context, l Letter) error {
	p := m.ready.Load()
	if p == nil {
		return errors.New("core: the mailer has not been configured: call Configure first")
	}
	return p.Deliver(ctx, l)
}
