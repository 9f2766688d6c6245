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

	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/ui"
)

// Mailer sends emails. The mail services of package providers and providers/smtp are Mailers ([EmailProvider.Mailer]),
// and so is the mailbox for development.
//
// Send is called concurrently, with a context that has a deadline. It returns when the email has been accepted for
// delivery. Its error is logged and never shown to a browser; it must contain neither URL nor Code. If Send does not
// support the email, for example a Kind of a later version, it returns an error and sends nothing.
type Mailer interface {
	Send(ctx context.Context, l Letter) error
}

// ConfiguredMailer is a [Mailer] that reads its missing options from the environment before the first email. A plugin
// calls Configure while it is attached. An error is a configuration error.
type ConfiguredMailer interface {
	Mailer
	Configure(getenv func(name string) string) error
}

// LetterKind is the kind of an email.
type LetterKind string

// The kinds of emails. If an email has a URL, it opens a page of this site. The page asks for confirmation before it
// makes a change that cannot be undone.
const (
	// LetterSignIn contains a link or a code to sign in.
	LetterSignIn LetterKind = "sign-in"
	// LetterVerify asks the owner of an address to complete a sign-up.
	LetterVerify LetterKind = "verify"
	// LetterExists informs the owner of an account that its address was used in another sign-up. The URL is the sign-in
	// page.
	LetterExists LetterKind = "exists"
	// LetterReset contains a link to choose a new password.
	LetterReset LetterKind = "reset"
	// LetterPasswordChanged reports that a password was set, changed or removed. The URL is the page to request a reset.
	LetterPasswordChanged LetterKind = "password-changed"
	// LetterEmailChange asks the owner of a new address to confirm it.
	LetterEmailChange LetterKind = "email-change"
	// LetterEmailChanged informs the old address that it was replaced. The URL undoes the change. If the old address was
	// not verified, there is no URL.
	LetterEmailChanged LetterKind = "email-changed"
	// LetterPasskeyAdded and LetterPasskeyRemoved report that a passkey was added to or removed from the account. The URL
	// is a page to secure the account.
	LetterPasskeyAdded   LetterKind = "passkey-added"
	LetterPasskeyRemoved LetterKind = "passkey-removed"
	// LetterAccountLinked and LetterAccountUnlinked report that an account at a provider was linked or unlinked. Service
	// is the provider's name. The URL is the same as in LetterPasskeyAdded.
	LetterAccountLinked   LetterKind = "account-linked"
	LetterAccountUnlinked LetterKind = "account-unlinked"
	// LetterNewDevice reports a sign-in in a browser that was not used before.
	LetterNewDevice LetterKind = "new-device"
	// LetterInvite is an invitation to sign up.
	LetterInvite LetterKind = "invite"
	// LetterDeleted confirms that an account was deleted.
	LetterDeleted LetterKind = "deleted"
)

// Letter is an email to send. It contains facts and no sentences; the sender writes the text from them. It contains no
// text that a client chose, so that an attacker cannot make this site send a message of their choice.
type Letter struct {
	// To is the recipient's address in its canonical form.
	To string
	// Kind is the kind of the email.
	Kind LetterKind
	// URL is the link, or empty if there is none. It must be sent to the recipient only, and never be logged.
	URL Secret
	// Code is the code that the recipient types into the waiting page, or empty if there is none.
	Code Secret
	// Expires is the time when URL and Code expire. It is zero if they do not expire or are empty.
	Expires time.Time
	// At is the time of the reported event, or zero if it is not stated.
	At time.Time
	// Peer is the network of the browser that caused the event, or zero if it is not stated.
	Peer netip.Prefix
	// Service is the configured name of the provider that the email is about, or empty if it is about none.
	Service string
	// EndsSessions reports that following URL also ends all sessions of the account.
	EndsSessions bool
	// Host is the host of the site.
	Host string
	// Theme is the configured theme.
	Theme Theme
	// Locale is the language of the email. The zero value is English.
	Locale ui.Locale
	// Request is the request that caused the email. It is nil if there is none, for example in an administrator's program.
	Request *Request
}

// Deliver sends the email with a Mailer, for a [Part]. A panic of the Mailer is returned as an error, so that the
// plugin can roll back. Errors contain neither URL nor Code, whatever the Mailer returns. ctx limits the time.
func (l Letter) Deliver(ctx context.Context, by Mailer) error {
	err := guard("Mailer.Send", func() error { return by.Send(ctx, l) })
	return hide(hideLink(err, l.URL, l.To), string(l.Code))
}

// Recipient returns To with the domain in ASCII (RFC 5890), which every mail server supports.
func (l Letter) Recipient() string { return mailaddr.ASCII(l.To) }

// String returns the kind, without recipient, link and code.
func (l Letter) String() string { return fmt.Sprintf("email %q", string(l.Kind)) }

// Format writes String for every fmt verb.
func (l Letter) Format(f fmt.State, _ rune) { printed(f, l.String()) }

// LogValue returns the kind.
func (l Letter) LogValue() slog.Value { return slog.GroupValue(slog.String("kind", string(l.Kind))) }

// MarshalText returns String, for encoding/json and similar packages.
func (l Letter) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Letter returns the email for a [Mailer]. It omits From, Token and ProviderID, because a Mailer has its own sender.
func (m SignInMail) Letter() Letter {
	return Letter{
		To: m.To, Kind: LetterSignIn, URL: m.URL, Expires: m.Expires, Host: m.Host, Theme: m.Theme,
		Locale: m.Locale, Request: m.Request,
	}
}

// Mailer returns a Mailer that sends emails of every kind with the service of p, so that one mail service sends both
// sign-in links and other emails. It uses a copy of p, made now; p need not be in Config.Providers. It is safe for
// concurrent use and can be shared by several configurations; the environment of the first one applies. It sends
// nothing before Configure is called: a program that sends emails itself calls Configure(os.Getenv).
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
		return fmt.Errorf("mailer %q has no Deliver function, which sends emails of every kind", p.ID)
	}
	m.ready.Store(&p)
	return nil
}

// Check calls [EmailProvider.Check]. It returns errors.ErrUnsupported if that is nil.
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
