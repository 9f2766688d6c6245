package challenge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/ui"
)

// TurnstileOptions configure [Turnstile].
type TurnstileOptions struct {
	// SiteKey and Secret are the two keys of the widget in the dashboard of Cloudflare. Both are required. A testing
	// secret, for example 1x0000000000000000000000000000000AA, accepts every token.
	SiteKey, Secret string
	// Hostnames are hosts, without a port, that show the widget for this site, for example a front end on another
	// subdomain. The default is the host of the request's public origin.
	Hostnames []string
	// AllowOutage is as in [Challenge].
	AllowOutage bool
	// Origin replaces https://challenges.cloudflare.com, for tests. It is an https origin, or one of this machine.
	Origin string
}

const (
	turnstileOrigin = "https://challenges.cloudflare.com"
	turnstileField  = "cf-turnstile-response"
	// maxTurnstileToken is the maximum length of a token, according to Cloudflare's documentation.
	maxTurnstileToken = 2048
	maxVerdict        = 64 << 10
)

// turnstileTesting are the testing secrets of Cloudflare, which are public: one accepts all tokens, the others none.
var turnstileTesting = []string{
	"1x0000000000000000000000000000000AA", "2x0000000000000000000000000000000AA", "3x0000000000000000000000000000000AA",
}

// Turnstile returns the challenge of Cloudflare Turnstile. Each token must have been made for the action of the form,
// on a page of this site. Cloudflare accepts a token once, within five minutes.
func Turnstile(o TurnstileOptions) *Challenge {
	origin := o.Origin
	if origin == "" {
		origin = turnstileOrigin
	}
	o.Hostnames = slices.Clone(o.Hostnames)
	c := &Challenge{
		Widget: ui.Challenge{
			Script: origin + "/turnstile/v0/api.js", Class: "cf-turnstile", SiteKey: o.SiteKey,
			FrameSources: []string{origin},
		},
		Field: turnstileField, AllowOutage: o.AllowOutage,
	}
	if o.Secret != "" { // else Validate reports that Verify is nil
		c.Verify = func(ctx context.Context, p Params) error { return o.verify(ctx, origin, p) }
	}
	return c
}

// turnstileVerdict is the response of siteverify.
type turnstileVerdict struct {
	Success  bool     `json:"success"`
	Hostname string   `json:"hostname"`
	Action   string   `json:"action"`
	Errors   []string `json:"error-codes"`
}

// verify asks siteverify. The secret is in the body, never in the URL.
func (o *TurnstileOptions) verify(ctx context.Context, origin string, p Params) error {
	if p.Token == "" || len(p.Token) > maxTurnstileToken {
		return fmt.Errorf("%w: the token is missing or too long", ErrRefused)
	}
	body := url.Values{"secret": {o.Secret}, "response": {p.Token}}
	if p.RemoteIP.IsValid() {
		body.Set("remoteip", p.RemoteIP.String())
	}
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, origin+"/turnstile/v0/siteverify", strings.NewReader(body.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.Client.Do(request)
	if err != nil {
		return errors.New("turnstile: no response of siteverify: " + cause(err))
	}
	defer func() { _ = response.Body.Close() }()
	var verdict turnstileVerdict
	err = json.NewDecoder(io.LimitReader(response.Body, maxVerdict)).Decode(&verdict)
	if response.StatusCode >= http.StatusInternalServerError || err != nil {
		return fmt.Errorf("turnstile: siteverify responded with status %d", response.StatusCode)
	}
	return o.judge(&verdict, p)
}

// cause returns the text of an error without the URL.
func cause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}

// judge checks a response of siteverify.
func (o *TurnstileOptions) judge(v *turnstileVerdict, p Params) error {
	if !v.Success {
		for _, code := range v.Errors {
			switch code {
			case "missing-input-secret", "invalid-input-secret":
				return errors.New("turnstile: Cloudflare does not know the secret: check TurnstileOptions.Secret")
			case "internal-error", "bad-request":
				return errors.New("turnstile: siteverify failed: " + code)
			}
		}
		return fmt.Errorf("%w: the token is invalid, expired or was used before", ErrRefused)
	}
	if slices.ContainsFunc(turnstileTesting, func(s string) bool { return random.Same(s, o.Secret) }) {
		return nil // the response has a made-up host and action
	}
	hosts := o.Hostnames
	if len(hosts) == 0 {
		hosts = []string{p.Host}
	}
	sameHost := func(host string) bool { return host != "" && strings.EqualFold(host, v.Hostname) }
	if !slices.ContainsFunc(hosts, sameHost) {
		return fmt.Errorf("%w: the token was made on another host", ErrRefused)
	}
	if v.Action != p.Action {
		return fmt.Errorf("%w: the token was made for another action", ErrRefused)
	}
	return nil
}
