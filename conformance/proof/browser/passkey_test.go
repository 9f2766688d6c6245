package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

const (
	passkeyField  = userField
	passkeyButton = `#submitButton-passkey`
)

// holds adds an authenticator to the browser that confirms every request, and returns its ID.
func (v *visitor) holds() (id webauthn.AuthenticatorID) {
	v.Helper()
	call(v, webauthn.Enable, webauthn.EnableParams{})
	run(v, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		added, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Ctap2version: webauthn.Ctap2versionCtap21,
				Transport:      webauthn.AuthenticatorTransportInternal,
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
			},
		})
		id = added.AuthenticatorID
		return err
	}))
	return id
}

// confirms sets whether the authenticator confirms requests. It confirms that of the sign-in page too, which signs in
// without a click.
func (v *visitor) confirms(id webauthn.AuthenticatorID, every bool) {
	v.Helper()
	call(v, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{
		AuthenticatorID: id, Enabled: every,
	})
}

// TestPasskey registers a passkey with a new address, signs out, and signs in through the autofill of the sign-in page,
// without a click.
func TestPasskey(t *testing.T) {
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			v := visit(t, start(t, example))
			v.holds()
			v.open("/auth/signin")
			v.do(write(passkeyField, "key@example.com"))
			v.follow(click(passkeyButton))
			v.at("/")
			v.sees("Hello, key@example.com")
			v.follow(click(signOutButton))
			v.sees("Sign in")
			v.do(leaveFor(v.site + "/auth/signin"))
			v.arrives("/", "Hello, key@example.com")
		})
	}
}

// TestPasskeyWithoutOne: a user who has no passkey sees a message, and can use another sign-in method.
func TestPasskeyWithoutOne(t *testing.T) {
	site := start(t, "stdlib")
	owner := visit(t, site)
	owner.holds()
	owner.open("/auth/signin")
	owner.do(write(passkeyField, "key@example.com"))
	owner.follow(click(passkeyButton))
	owner.sees("Hello, key@example.com")

	v := visit(t, site)
	v.holds()
	v.open("/auth/signin")
	v.do(write(passkeyField, "key@example.com"), click(passkeyButton))
	v.sees("That was canceled. You can try again.")
	run(v, chromedp.Poll[bool](`!document.querySelector("`+passkeyButton+`").disabled`, chromedp.WithPollingTimeout(wait)))
	v.at("/auth/signin")
}
