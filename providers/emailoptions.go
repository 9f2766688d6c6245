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

// defaultFrom is a placeholder that no email service accepts. Sites must set their own sender.
const defaultFrom = "Auth.js <no-reply@authjs.dev>"

// EmailOptions changes an email provider. The zero value changes nothing. Constructors accept at most one value;
// [core.New] reports more as a configuration error.
type EmailOptions struct {
	// ID and Name replace those of the provider. The ID is part of the callback URL and of the environment variables.
	ID, Name string
	// Key is the API key of the service. The default is $AUTH_<ID>_KEY.
	Key core.Secret
	// From is the sender, such as "Acme <no-reply@acme.example>". The default is $EMAIL_FROM, or else a placeholder for
	// testing.
	From string
	// MaxAge is the lifetime of a link. The default is 24 hours.
	MaxAge time.Duration
	// Code adds a six-digit code to sign-in emails, as described at [core.EmailProvider].
	Code bool
	// Secret is used to hash the tokens, instead of the secrets of the configuration.
	Secret core.Secret
	// Content returns the content of an email of any kind. The default is [WriteEmail]; call it for the kinds that you do
	// not write yourself. Loops has its own templates and ignores it.
	Content func(m core.Email) (EmailContent, error)
	// NormalizeIdentifier and GenerateToken are described at [core.EmailProvider].
	NormalizeIdentifier func(identifier string) (string, error)
	GenerateToken       func(ctx context.Context) (string, error)
	// HTTPClient sends the requests to the service. The default has timeouts and size limits. Redirects are never
	// followed, because they would forward the key.
	HTTPClient *http.Client
}

// Provider returns a provider with this ID, name and options but without Send, for custom senders.
func (o EmailOptions) Provider(id, name string) *core.EmailProvider {
	p := &core.EmailProvider{
		ID: id, Name: name, From: o.From, MaxAge: o.MaxAge, Code: o.Code, Secret: o.Secret,
		NormalizeIdentifier: o.NormalizeIdentifier, GenerateToken: o.GenerateToken,
	}
	set(&p.ID, o.ID)
	set(&p.Name, o.Name)
	return p
}

// Write returns the content of the email m. It returns an error if the recipient is not a single plain address, which a
// custom NormalizeIdentifier may allow: the email would reach another mailbox than that of the stored address.
func (o EmailOptions) Write(m core.Email) (EmailContent, error) {
	if err := bare(m.To); err != nil {
		return EmailContent{}, err
	}
	if o.Content != nil {
		return o.Content(m)
	}
	return WriteEmail(m)
}

// bare returns an error unless address is a single plain address.
func bare(address string) error {
	if to, err := mail.ParseAddress(address); err != nil || to.Address != address {
		return errors.New("the recipient is not a single plain address")
	}
	return nil
}

// Sender sets p.From to o.From, or else $EMAIL_FROM, or else a placeholder for testing, and returns the parsed address.
func (o EmailOptions) Sender(p *core.EmailProvider, getenv func(string) string) (*mail.Address, error) {
	p.From = defaultFrom
	set(&p.From, getenv("EMAIL_FROM"))
	set(&p.From, o.From)
	from, err := mail.ParseAddress(p.From)
	if err != nil {
		return nil, fmt.Errorf("the sender %q is not an address: set From, or EMAIL_FROM in the environment, to one, "+
			"with or without a name", p.From)
	}
	return from, nil
}
