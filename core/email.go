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

	"github.com/latchkey-go/latchkey/core/mailkind"
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
	Send(ctx context.Context, l Email) error
}

// ConfiguredMailer is a [Mailer] that reads its missing options from the environment before the first email. A plugin
// calls Configure while it is attached. An error is a configuration error.
type ConfiguredMailer interface {
	Mailer
	Configure(getenv func(name string) string) error
}

// Email is an email to send. It contains facts and no sentences; the sender writes the text from them. It contains no
// text that a client chose, except Organization, so that an attacker cannot make this site send a message of their
// choice.
type Email struct {
	// ID identifies the email in all attempts to send it: 32 hexadecimal digits, for the header Message-ID or the
	// idempotency key of a mail service. It is empty if the email is sent once.
	ID string
	// To is the recipient's address in its canonical form.
	To string
	// From is the From field of the provider that sends the email. It is empty for emails of plugins, whose sender the
	// Mailer knows.
	From string
	// Kind is the kind of the email.
	Kind mailkind.Kind
	// URL is the link, or empty if there is none. It must be sent to the recipient only, and never be logged.
	URL Secret
	// Token is the token within URL of a sign-in link. It is empty in other emails.
	Token Secret
	// Code is the code that the recipient types into the waiting page, or empty if there is none.
	Code Secret
	// Expires is the time when URL and Code expire. It is zero if they do not expire or are empty.
	Expires time.Time
	// At is the time of the reported event, or zero if it is not stated.
	At time.Time
	// Peer is the network of the browser that caused the event, or zero if it is not stated.
	Peer netip.Prefix
	// Device names the browser and the system that caused the event, such as "Firefox, Windows", or is empty if they are
	// unknown. It contains names from a fixed list, never the text of the header User-Agent.
	Device string
	// Service is the configured name of the provider that the email is about, or empty if it is about none.
	Service string
	// Organization is the name of the organization that the email is about, or empty. A user chose it: it has at most 64
	// characters, no control characters, and nothing that mail clients turn into a link or a telephone number. Escape it
	// in HTML.
	Organization string
	// EndsSessions reports that following URL also ends all sessions of the account.
	EndsSessions bool
	// Host is the host of the site.
	Host string
	// ProviderID is the ID of the EmailProvider of a sign-in link. It is empty in other emails.
	ProviderID string
	// Theme is the configured theme.
	Theme Theme
	// Locale is the language of the email. The zero value is English.
	Locale ui.Locale
	// Request is the request that caused the email. It is nil if there is none, for example in an administrator's program.
	Request *Request
}

// Send sends the email with a Mailer, for a [Plugin]. A panic of the Mailer is returned as an error, so that the
// plugin can roll back. Errors contain neither URL nor Code, whatever the Mailer returns. ctx limits the time.
func (e Email) Send(ctx context.Context, by Mailer) error {
	err := guard("Mailer.Send", func() error { return by.Send(ctx, e) })
	return hideCode(hideLink(err, e.URL, e.To), e.Code)
}

// Recipient returns To with the domain in ASCII (RFC 5890), which every mail server supports. A local part with
// non-ASCII characters is not changed: it requires a mail server that supports them.
func (e Email) Recipient() string { return mailaddr.ASCII(e.To) }

// String returns the kind, without recipient, link and code.
func (e Email) String() string { return fmt.Sprintf("email %q", string(e.Kind)) }

// Format writes String for every fmt verb.
func (e Email) Format(f fmt.State, _ rune) { printed(f, e.String()) }

// LogValue returns the kind.
func (e Email) LogValue() slog.Value { return slog.GroupValue(slog.String("kind", string(e.Kind))) }

// MarshalText returns String, for encoding/json and similar packages.
func (e Email) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

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
	if p.Send == nil {
		return fmt.Errorf("mailer %q has no Send function: set one that sends emails of every kind", p.ID)
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
func (m *emailMailer) Send(ctx context.Context, l Email) error {
	p := m.ready.Load()
	if p == nil {
		return errors.New("core: the mailer has not been configured: call Configure first")
	}
	return p.Send(ctx, l)
}

// EmailProvider signs users in with a link that is sent by email. It needs a store that implements
// store.VerificationTokenStore.
type EmailProvider struct {
	// ID and Name default to "email" and "Email".
	ID, Name string
	// From is the sender's address, for Send.
	From string
	// MaxAge is the lifetime of a link. The default is 24 hours.
	MaxAge time.Duration
	// Secret, if not empty, is used to hash tokens instead of Config.Secret.
	Secret Secret
	// ConfirmLink decides when a link opens a page with a button that signs the user in, instead of signing them in
	// immediately.
	//
	// The default, Default, shows the page in a browser that did not request this link, and in a browser that already has
	// a session; a cookie remembers which links a browser has requested. Otherwise an attacker could make a user open a
	// link to the attacker's account, and the user would be signed in there (login CSRF). True always shows the page, for
	// mail scanners that share the user's browser. False never shows it, as in Auth.js, and allows that attack.
	ConfirmLink OptionalBool
	// Code adds a six-digit code to the email, for users who read it on another device. The page that says "check your
	// email" has an input for it. The code is valid for ten minutes and only in the browser that requested it, which is
	// also the only one where the link works then: in any other browser it changes nothing, so that mail scanners cannot
	// use it up. It requires a Store with records. The default is off, as in Auth.js.
	Code bool
	// Send sends an email. A sign-in link is sent after its token was stored, with the request's context and a deadline.
	// If Send returns an error of type [ErrEmailSignIn], the user is asked to try again; any other error is shown as a
	// failure of this site. If other features use this provider's [EmailProvider.Mailer], Send gets emails of every
	// [mailkind.Kind].
	Send func(ctx context.Context, m Email) error
	// Check tests whether the mail server would accept an email, without sending one: it connects, starts TLS and
	// authenticates. Package doctor calls it. Its error contains no password. If it is nil, the connection cannot be
	// tested.
	Check func(ctx context.Context) error
	// NormalizeIdentifier returns the canonical form of an address. If it returns an error, the user is asked to check the
	// address. The default is [NormalizeEmail].
	NormalizeIdentifier func(identifier string) (string, error)
	// GenerateToken returns the token of a link. The default is 32 random bytes in hex. A short token can be guessed: use
	// a Limit and a MaxAge of a few minutes, because each email adds another valid token. With six digits and ten
	// minutes, an attacker with many networks gets into one address in two thousand; with a day, into one in two hundred
	// each day. New refuses a GenerateToken if guessing is unlimited.
	GenerateToken func(ctx context.Context) (string, error)
	// Configure completes the provider from environment variables. New calls it once, with its own copy, before it checks
	// the fields. An error is a configuration error.
	Configure func(p *EmailProvider, getenv func(name string) string) error
	// Style is the look of the button.
	Style Style
}

// Describe implements [Provider].
func (p *EmailProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "email"), or(p.Name, "Email"), TypeEmail
}

func (p *EmailProvider) declaration() Provider { return p }

// mailTimeout limits the delivery of an email. The user waits for it, and must see a failure within ten seconds.
const mailTimeout = 8 * time.Second
