package providers

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/mail"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// MailgunOptions changes the Mailgun provider. The zero value changes nothing.
type MailgunOptions struct {
	EmailOptions
	// Region is the region of the account, "US" or "EU". The default is "US".
	Region string
}

// Mailgun sends sign-in links with https://www.mailgun.com, for the domain of the sender's address. If the sender has
// no name, the provider's name is used. Environment: AUTH_MAILGUN_KEY, EMAIL_FROM.
func Mailgun(options ...MailgunOptions) *core.EmailProvider {
	o, fault := one(options)
	host, known := map[string]string{"": "api.mailgun.net", "US": "api.mailgun.net", "EU": "api.eu.mailgun.net"}[o.Region]
	name := "Mailgun"
	set(&name, o.Name)
	p := mailService{"mailgun", "Mailgun", func(
		ctx context.Context, key string, from *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		sender := *from
		if sender.Name == "" {
			sender.Name = name
		}
		_, domain, _ := strings.Cut(from.Address, "@")
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for _, field := range [][2]string{
			{"from", sender.String()}, {"to", m.To}, {"subject", l.Subject}, {"html", l.HTML}, {"text", l.Text},
		} {
			if err := form.WriteField(field[0], field[1]); err != nil {
				return nil, err
			}
		}
		if err := form.Close(); err != nil {
			return nil, err
		}
		target := "https://" + host + "/v3/" + url.PathEscape(domain) + "/messages"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, &body)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.SetBasicAuth("api", key)
		return r, nil
	}}.provider(o.EmailOptions, fault)
	configure := p.Configure
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if !known {
			return fmt.Errorf("unknown Region %q: US or EU", o.Region)
		}
		return configure(p, getenv)
	}
	return p
}
