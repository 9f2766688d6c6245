package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/mail"
)

// The types of package core/mail that plugins and applications use.
type (
	// Mailer sends emails. See [mail.Mailer] in package core/mail for what Send must do.
	Mailer = mail.Mailer
	// ConfiguredMailer is a Mailer that reads its missing options from the environment. See [mail.ConfiguredMailer] in
	// package core/mail.
	ConfiguredMailer = mail.ConfiguredMailer
	// Email is an email to send. See [mail.Email] in package core/mail for its fields and methods.
	Email = mail.Email
	// BackgroundEmail is an email that a plugin sends after the response. See [mail.Background] in package core/mail for
	// its fields.
	BackgroundEmail = mail.Background
	// EmailSender sends the background emails of a plugin. See [mail.Sender] in package core/mail for its fields.
	EmailSender = mail.Sender
	// EmailCode is a six-digit code that a plugin sends by email. See [mail.Code] in package core/mail for its fields.
	EmailCode = mail.Code
	// SecurityNotice describes a change of an account. See [mail.SecurityNotice] in package core/mail for its fields.
	SecurityNotice = mail.SecurityNotice
)

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
	return cmp.Or(p.ID, "email"), cmp.Or(p.Name, "Email"), TypeEmail
}

func (p *EmailProvider) declaration() Provider { return p }
