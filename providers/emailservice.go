package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// serviceTimeout limits a request to a service, because the user waits for it.
const serviceTimeout = 15 * time.Second

// mailService is an email service with an HTTP API.
type mailService struct {
	id, name string
	// request returns the HTTP request for an email. The sender is a parsed address.
	request func(ctx context.Context, key string, from *mail.Address, m core.Email,
		content EmailContent) (*http.Request, error)
}

// provider returns the provider of a service. core.New reports missing options, and errors in the options.
func (s mailService) provider(o EmailOptions, fault error) *core.EmailProvider {
	p := o.Provider(s.id, s.name)
	client := &http.Client{}
	if o.HTTPClient != nil {
		*client = *o.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.Timeout == 0 {
		client.Timeout = serviceTimeout
	}
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if fault != nil {
			return fault
		}
		variable := core.EnvName(p.ID, "KEY")
		key := getenv(variable)
		set(&key, string(o.Key))
		if key == "" {
			return fmt.Errorf("no Key: set it, or %s in the environment, to the service's API key", variable)
		}
		if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("the Key contains a space or a non-ASCII character: check %s", variable)
		}
		from, err := o.Sender(p, getenv)
		if err != nil {
			return err
		}
		deliver := delivery{service: s, id: p.ID, client: client, key: key, from: from}
		p.Send = func(ctx context.Context, m core.Email) error {
			content, err := o.Write(m)
			return deliver.send(ctx, m, content, err)
		}
		return nil
	}
	return p
}

// delivery is a service with the key and the sender of a provider.
type delivery struct {
	service mailService
	id, key string
	client  *http.Client
	from    *mail.Address
}

// send sends an email unless its content could not be created. An error asks the user to try again.
func (d delivery) send(ctx context.Context, m core.Email, content EmailContent, written error) error {
	err := written
	if err != nil {
		err = fmt.Errorf("write the email: %w", err)
	} else {
		err = d.post(ctx, m, content)
	}
	if err != nil {
		return core.NewError(core.ErrEmailSignIn, fmt.Errorf("%s: %w", d.id, err))
	}
	return nil
}

func (d delivery) post(ctx context.Context, m core.Email, content EmailContent) error {
	request, err := d.service.request(ctx, d.key, d.from, m, content)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "latchkey")
	answer, err := d.client.Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // its text contains the URL
			err = about.Err
		}
		return fmt.Errorf("%s %s: %w", request.Method, request.URL.Host, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if answer.StatusCode/100 == 2 {
		return nil // accepted, whatever the rest of the response is
	}
	if err != nil {
		return fmt.Errorf("status %d, and the response is incomplete", answer.StatusCode)
	}
	text := Clean(string(body), append(EmailSecrets(m), core.Secret(d.key))...)
	return fmt.Errorf("status %d: %s", answer.StatusCode, text)
}

// EmailSecrets returns the parts of an email that must not be logged: the code, the link, and the token in it.
func EmailSecrets(l core.Email) []core.Secret {
	hidden := []core.Secret{l.URL, l.Code}
	if link, err := url.Parse(string(l.URL)); err == nil {
		for _, token := range link.Query()["token"] {
			hidden = append(hidden, core.Secret(token))
		}
	}
	return hidden
}

// Clean prepares a response of an email service for the log: one line, quoted, shortened, without the secrets. Services
// often repeat the request in their errors.
func Clean(text string, secrets ...core.Secret) string {
	for _, secret := range secrets {
		for _, form := range []string{string(secret), url.QueryEscape(string(secret))} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[hidden]")
			}
		}
	}
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}

// post returns a request with a JSON body.
func post(ctx context.Context, target, authorization string, body any) (*http.Request, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, &text)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r, nil
}

// line formats an address with its name, if it has one.
func line(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.String()
}
