package main

import (
	"context"
	"errors"
	"fmt"

	smtpd "github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

func (w declaration) providers(out *core.Config, list []any) error {
	for _, p := range list {
		provider, err := w.provider(p.(object))
		if err != nil {
			return err
		}
		out.Providers = append(out.Providers, provider)
		if p.(object)["redirectProxyUrl"] != nil {
			w.behindProxy(out)
		}
	}
	return nil
}

// provider returns one provider of a scenario.
func (w declaration) provider(p object) (core.Provider, error) {
	switch p["kind"] {
	case "oauth", "oidc":
		return w.oauth(p)
	case "preset":
		return preset(p)
	case "email":
		return w.email(p)
	case "nodemailer":
		return w.nodemailer(p)
	case "credentials":
		return w.credentialsForm(p)
	case "webauthn", "passkey":
		return w.passkey(p)
	}
	return nil, fmt.Errorf("provider kind %v is not built yet", p["kind"])
}

func preset(p object) (core.Provider, error) {
	options := providers.Options{}
	if all, ok := p["options"].(object); ok {
		for key, v := range all {
			switch key {
			case "clientId":
				options.ClientID = v.(string)
			case "clientSecret":
				options.ClientSecret = core.Secret(v.(string))
			case "issuer":
				options.Issuer = v.(string)
			case "id":
				options.ID = v.(string)
			case "name":
				options.Name = v.(string)
			default:
				return nil, fmt.Errorf("unknown preset option %q", key)
			}
		}
	}
	if provider, ok := providers.ByID(fmt.Sprint(p["preset"]), options); ok {
		return provider, nil
	}
	return nil, fmt.Errorf("preset %v is not built yet", p["preset"])
}

func (w declaration) email(p object) (core.Provider, error) {
	e := &core.EmailProvider{ConfirmLink: core.False} // the recorded browsers open links in any browser
	throws := false
	w.binder.email = ""
	for key, v := range p {
		if v == nil {
			continue
		}
		switch key {
		case "kind":
		case "id":
			e.ID = v.(string)
		case "name":
			e.Name = v.(string)
		case "from":
			e.From = v.(string)
		case "maxAge":
			e.MaxAge = seconds(v)
		case "secret":
			e.Secret = core.Secret(v.(string))
			w.binder.email = v.(string)
		case "generateVerificationToken":
			fixed := v.(object)["fixed"].(string)
			e.GenerateToken = func(context.Context) (string, error) { return fixed, nil }
		case "normalizeIdentifier":
			if v == "identity" {
				e.NormalizeIdentifier = func(s string) (string, error) { return s, nil }
			} else {
				e.NormalizeIdentifier = func(string) (string, error) { return "", errors.New("refused") }
			}
		case "send":
			throws = true
		default:
			return nil, fmt.Errorf("unknown key %q of an e-mail provider", key)
		}
	}
	e.Send = func(_ context.Context, m core.Email) error {
		entry := object{
			"kind": "email", "identifier": m.To, "token": string(m.Token), "url": string(m.URL), "expires": iso(m.Expires),
			"theme": object{
				"colorScheme": m.Theme.ColorScheme, "logo": m.Theme.Logo,
				"brandColor": m.Theme.BrandColor, "buttonText": m.Theme.ButtonText,
			},
			"provider": object{"id": m.ProviderID, "type": "email", "from": m.From},
		}
		w.rec.add(entry)
		if throws {
			entry["threw"] = "Error"
			return errors.New("delivery failure")
		}
		return nil
	}
	return e, nil
}

// nodemailer returns the preset, connected to a real mail server that can reject all emails.
func (w declaration) nodemailer(p object) (core.Provider, error) {
	server, err := smtpd.Start(smtpd.Options{
		Refuse: func(string) string {
			if p["rejected"] == true {
				return "no such mailbox"
			}
			return ""
		},
		Taken: func(m smtpd.Message) { w.rec.add(mailed(m)) },
	})
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, server.Close)
	o := smtp.Options{Server: core.Secret("smtp://" + server.Addr), InsecureNoTLS: true}
	if id, ok := p["id"].(string); ok {
		o.ID = id
	}
	if options, ok := p["options"].(object); ok {
		o.From, _ = options["from"].(string)
	}
	provider := smtp.New("nodemailer", o)
	provider.ConfirmLink = core.False
	return provider, nil
}
