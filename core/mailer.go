package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

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
