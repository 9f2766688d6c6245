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

// serviceTimeout bounds a request to a service: the visitor waits.
const serviceTimeout = 15 * time.Second

// mailService is a service that takes mails over HTTP.
type mailService struct {
	id, name string
	// request makes the request for a letter; the sender is an address that has been parsed.
	request func(ctx context.Context, key string, from *mail.Address, m core.Letter, l Letter) (*http.Request, error)
}

// provider returns the provider of a service. What is missing is found by New, and so is a fault of the options.
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
			return fmt.Errorf("the Key has a blank or a character beyond ASCII: check %s", variable)
		}
		from, err := o.Sender(p, getenv)
		if err != nil {
			return err
		}
		deliver := delivery{service: s, id: p.ID, client: client, key: key, from: from}
		p.Send = func(ctx context.Context, m core.SignInMail) error {
			letter, err := o.Write(m)
			return deliver.send(ctx, m.Letter(), letter, err)
		}
		p.Deliver = func(ctx context.Context, l core.Letter) error {
			letter, err := o.WriteLetter(l)
			return deliver.send(ctx, l, letter, err)
		}
		return nil
	}
	return p
}

// delivery is a service with the key and the sender of one provider.
type delivery struct {
	service mailService
	id, key string
	client  *http.Client
	from    *mail.Address
}

// send sends a letter, unless it could not be written. A failure asks the visitor to try again.
func (d delivery) send(ctx context.Context, m core.Letter, letter Letter, written error) error {
	err := written
	if err != nil {
		err = fmt.Errorf("write the letter: %w", err)
	} else {
		err = d.post(ctx, m, letter)
	}
	if err != nil {
		return core.NewError(core.ErrEmailSignIn, fmt.Errorf("%s: %w", d.id, err))
	}
	return nil
}

func (d delivery) post(ctx context.Context, m core.Letter, letter Letter) error {
	request, err := d.service.request(ctx, d.key, d.from, m, letter)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "latchkey")
	answer, err := d.client.Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // its text repeats the URL
			err = about.Err
		}
		return fmt.Errorf("%s %s: %w", request.Method, request.URL.Host, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if answer.StatusCode/100 == 2 {
		return nil // accepted, whatever becomes of the rest
	}
	if err != nil {
		return fmt.Errorf("status %d, and the answer breaks off", answer.StatusCode)
	}
	return fmt.Errorf("status %d: %s", answer.StatusCode, Clean(string(body), append(Hidden(m), core.Secret(d.key))...))
}

// Hidden are the texts of a letter that no log may have: the code, the link, and the token in it.
func Hidden(l core.Letter) []core.Secret {
	hidden := []core.Secret{l.URL, l.Code}
	if link, err := url.Parse(string(l.URL)); err == nil {
		for _, token := range link.Query()["token"] {
			hidden = append(hidden, core.Secret(token))
		}
	}
	return hidden
}

// Clean makes what a mail service answered fit for a log: one line, quoted, short, without the secrets. Services like
// to repeat what they were sent.
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

// post makes a request with a JSON body.
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

// line is an address as services take it: bare, or with its name in front.
func line(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.String()
}
