// Package challenge connects a CAPTCHA service, which tells people from programs, to the forms that guess a password or
// send an email (core.Callbacks.Challenge). [Turnstile] is the service of Cloudflare. For another service, such as
// hCaptcha or reCAPTCHA, set the fields of [Challenge].
package challenge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// The actions of forms with a widget. A token must be used with the action of the page that it was made on.
const (
	SignIn = "sign-in" // a password is about to be checked, or a sign-in link is about to be sent
	SignUp = "sign-up" // an account is requested
	Reset  = "reset"   // a link to reset a password is requested
)

// Timeout limits a call of [Challenge].Verify.
const Timeout = 5 * time.Second

// MaxToken is the maximum length of a token in bytes. Longer tokens are refused without a call of Verify.
const MaxToken = 8 << 10

// ErrRefused means that the service did not accept the token. Errors of [Challenge].Verify that do not wrap it mean
// that the service could not decide.
var ErrRefused = errors.New("challenge: refused")

// Challenge is a CAPTCHA service. New copies it.
type Challenge struct {
	// Widget is the widget in the forms of the built-in pages. Its Action is set for each page.
	Widget ui.Challenge
	// Field is the name of the form field, or member of a JSON body, that contains the token. The script of the widget
	// adds the field to its form.
	Field string
	// Verify asks the service whether a token is valid. It returns nil if it is, and an error that wraps [ErrRefused] if
	// it is not. Any other error, and a panic, means that the service is unavailable. The service must accept each token
	// only once. The token may be empty: refuse it without a request, unless the application accepts another proof in
	// p.Header. Verify is called concurrently, with a context that ends after [Timeout].
	Verify func(ctx context.Context, p Params) error
	// AllowOutage accepts requests while the service is unavailable. Rate limits still apply to them. By default, they are
	// refused with status 503. Requests that are refused because this process waits for too many responses of the service
	// are always refused.
	AllowOutage bool
}

// Params describe a token that a client has sent.
type Params struct {
	// Token is the token. Its length is at most MaxToken.
	Token string
	// Action is the required action: SignIn, SignUp, Reset, or that of a plugin.
	Action string
	// Host is the host of the request's public origin, without a port.
	Host string
	// RemoteIP is the client's address. It is the zero value if the address may be that of a proxy
	// (core.Config.TrustedProxies).
	RemoteIP netip.Addr
	// Header is the header of the request. Do not change it.
	Header http.Header
	// Client sends requests with the transport of core.Config.HTTPClient. It limits the size of responses, checks the
	// addresses that it connects to and follows no redirects.
	Client *http.Client
}

// Validate returns the configuration errors, one sentence each.
func (c *Challenge) Validate() (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if c.Verify == nil {
		add("Verify is nil")
	}
	if c.Field == "" {
		add("Field is empty: set the name of the form field with the token")
	}
	w := &c.Widget
	if w.SiteKey == "" {
		add("Widget.SiteKey is empty")
	}
	if w.Class == "" {
		add("Widget.Class is empty")
	}
	if !secure(w.Script) {
		add("Widget.Script is %q: write an https URL", w.Script)
	}
	for _, list := range []struct {
		name    string
		sources []string
	}{
		{"ScriptSources", w.ScriptSources}, {"FrameSources", w.FrameSources}, {"StyleSources", w.StyleSources},
		{"ConnectSources", w.ConnectSources},
	} {
		for i, source := range list.sources {
			if origin, _, err := weburl.ParseOrigin(source); err != nil || origin.String() != source || !secure(source) {
				add("Widget.%s[%d] is %q: write an origin, for example https://captcha.example", list.name, i, source)
			}
		}
	}
	return problems
}

// secure reports whether address is an https URL, or an http URL of this machine.
func secure(address string) bool {
	address, _, _ = strings.Cut(address, "?")
	origin, _, err := weburl.ParseOrigin(address)
	return err == nil && (origin.Scheme == "https" || origin.Loopback())
}
