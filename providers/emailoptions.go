package providers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// defaultFrom is a sender that no service delivers for: a site sets its own.
const defaultFrom = "Auth.js <no-reply@authjs.dev>"

// EmailOptions changes an e-mail provider. The zero value changes nothing. A constructor takes one or none; more are a
// fault that [core.New] reports.
type EmailOptions struct {
	// ID and Name replace the provider's own. The ID is part of the callback URL and of the names of the environment
	// variables.
	ID, Name string
	// Key is the service's API key; empty: AUTH_<ID>_KEY.
	Key core.Secret
	// From is the sender, "Acme <no-reply@acme.example>"; empty: EMAIL_FROM, and where that is empty too a sender for
	// trials.
	From string
	// MaxAge is how long a link works; zero: 24 hours.
	MaxAge time.Duration
	// Secret hashes tokens in place of the configuration's secrets.
	Secret core.Secret
	// Letter writes the mail; nil: [SignInLetter]. Loops has its own templates and does not use it.
	Letter func(m core.SignInMail) (Letter, error)
	// Letters writes the letters of a [core.Mailer], whatever their kind; nil: [WriteLetter], and Letter for a sign-in.
	Letters func(l core.Letter) (Letter, error)
	// NormalizeIdentifier and GenerateToken: see [core.EmailProvider].
	NormalizeIdentifier func(identifier string) (string, error)
	GenerateToken       func(ctx context.Context) (string, error)
	// HTTPClient is used for requests to the service. Redirects are never followed: the key would go along.
	HTTPClient *http.Client
}

// Provider returns a provider of that id and name with the options but without Send, for senders of one's own.
func (o EmailOptions) Provider(id, name string) *core.EmailProvider {
	p := &core.EmailProvider{
		ID: id, Name: name, From: o.From, MaxAge: o.MaxAge, Secret: o.Secret,
		NormalizeIdentifier: o.NormalizeIdentifier, GenerateToken: o.GenerateToken,
	}
	set(&p.ID, o.ID)
	set(&p.Name, o.Name)
	return p
}

// Write writes the letter for m. It refuses a recipient that is anything but one bare address, which a
// NormalizeIdentifier of one's own may let through: the letter would reach another mailbox than that of the stored
// address.
func (o EmailOptions) Write(m core.SignInMail) (Letter, error) {
	if err := bare(m.To); err != nil {
		return Letter{}, err
	}
	if o.Letter != nil {
		return o.Letter(m)
	}
	return SignInLetter(m)
}

// WriteLetter writes a letter of any kind, and refuses recipients as Write does.
func (o EmailOptions) WriteLetter(l core.Letter) (Letter, error) {
	if err := bare(l.To); err != nil {
		return Letter{}, err
	}
	if o.Letters != nil {
		return o.Letters(l)
	}
	if o.Letter != nil && l.Kind == core.LetterSignIn {
		return o.Letter(core.SignInMail{
			To: l.To, URL: l.URL, Expires: l.Expires, Theme: l.Theme, Host: l.Host, Request: l.Request,
		})
	}
	return WriteLetter(l)
}

// bare refuses what is not one bare address.
func bare(address string) error {
	if to, err := mail.ParseAddress(address); err != nil || to.Address != address {
		return errors.New("the recipient is not one bare address")
	}
	return nil
}

// Sender decides the sender of p, From, the environment's EMAIL_FROM, or the one for trials, and returns it taken
// apart.
func (o EmailOptions) Sender(p *core.EmailProvider, getenv func(string) string) (*mail.Address, error) {
	p.From = defaultFrom
	set(&p.From, getenv("EMAIL_FROM"))
	set(&p.From, o.From)
	from, err := mail.ParseAddress(p.From)
	if err != nil {
		return nil, fmt.Errorf("the sender %q is no address: set From, or EMAIL_FROM in the environment, to one, "+
			"with or without a name", p.From)
	}
	return from, nil
}
