package browser_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	cdpwebauthn "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/ui/locales"
)

const (
	bob           = "bob@example.com"
	signUpAddress = `form[action$="/passkey/sign-up"] input[name=email]`
	signUpButton  = `form[action$="/passkey/sign-up"] button.button`
	createButton  = `form[data-passkey-options] button[type=submit]`
)

// passkeySignUps replaces the passkey provider by one with a sign-up, and returns its mailbox.
func passkeySignUps(c *core.Config) *mailbox.Mailbox {
	box := mailbox.New()
	for i, p := range c.Providers {
		if _, ok := p.(*core.WebAuthnProvider); ok {
			c.Providers[i] = webauthn.WithSignUp(webauthn.Passkey(), webauthn.SignUpOptions{Mail: box, Code: true})
		}
	}
	return box
}

// servePasskeySignUps serves an application on which users sign up with a passkey.
func servePasskeySignUps(t *testing.T) (site string, box *mailbox.Mailbox) {
	t.Helper()
	site = serveLanguages(t, ada, func(c *core.Config) { box = passkeySignUps(c) })
	return site, box
}

// asksForPasskey requests the email of a sign-up, from the sign-in page, and returns it.
func asksForPasskey(v *visitor, box *mailbox.Mailbox, address string) mailbox.Mail {
	v.Helper()
	v.open("/auth/signin")
	v.follow(click(`a[href$="/passkey/sign-up"]`))
	v.do(write(signUpAddress, address))
	v.follow(click(signUpButton))
	v.sees("Check your email")
	v.sees(address)
	mail, err := box.Wait(v.Context(), address)
	if err != nil {
		v.Fatal(err)
	}
	return mail
}

// verifiesUsers sets whether the authenticator verifies the user. If it does not, the browser refuses the request, as
// when the user dismisses the prompt.
func (v *visitor) verifiesUsers(id cdpwebauthn.AuthenticatorID, does bool) {
	v.Helper()
	call(v, cdpwebauthn.SetUserVerified, cdpwebauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: does})
}

// isSignedOut checks that the session JSON contains no user.
func (v *visitor) isSignedOut() {
	v.Helper()
	if got := strings.TrimSpace(v.json("/auth/session")); got != "null" {
		v.Errorf("signed out: %s", got)
	}
}

// TestPasskeySignUp: from the sign-in page through the mailbox to the session, with a dismissed prompt, and then a
// sign-in with the passkey.
func TestPasskeySignUp(t *testing.T) {
	site, box := servePasskeySignUps(t)
	v := visit(t, site)
	id := v.holds()
	mail := asksForPasskey(v, box, bob)
	v.follow(goTo(mail.URL))
	v.at("/auth/passkey/create")
	v.sees(bob)
	v.verifiesUsers(id, false)
	v.do(click(createButton))
	v.sees("That was canceled. You can try again.")
	v.becomes(`!document.querySelector(` + quote(createButton) + `).disabled`)
	v.verifiesUsers(id, true)
	v.follow(click(createButton))
	v.at("/")
	if got := v.json("/auth/session"); !strings.Contains(got, bob) {
		t.Errorf("session %s", got)
	}
	v.open("/auth/signout")
	v.follow(click(`form button`))
	v.isSignedOut()
	v.do(leaveFor(site + "/auth/signin")) // the autofill of the page signs in
	v.becomes(`location.pathname === "/"`)
	if got := v.json("/auth/session"); !strings.Contains(got, bob) {
		t.Errorf("session after a sign-in with the passkey: %s", got)
	}
}

// TestPasskeySignUpByCode: the code of the email continues in the browser that requested it.
func TestPasskeySignUpByCode(t *testing.T) {
	site, box := servePasskeySignUps(t)
	v := visit(t, site)
	v.holds()
	mail := asksForPasskey(v, box, bob)
	v.follow(write(`#input-code`, mail.Code)) // the script sends it
	v.at("/auth/passkey/create")
	v.follow(click(createButton))
	v.at("/")
	if got := v.json("/auth/session"); !strings.Contains(got, bob) {
		t.Errorf("session %s", got)
	}
}

// TestPasskeySignUpElsewhere: the link in another browser explains what happens and continues there. The first browser
// learns that the link was used.
func TestPasskeySignUpElsewhere(t *testing.T) {
	site, box := servePasskeySignUps(t)
	first, second := visit(t, site), visit(t, site)
	second.holds()
	mail := asksForPasskey(first, box, bob)
	first.follow(goTo(mail.URL))
	second.follow(goTo(mail.URL))
	second.sees("You opened this link in a different browser.")
	second.follow(click(createButton))
	second.at("/")
	if got := second.json("/auth/session"); !strings.Contains(got, bob) {
		t.Errorf("session %s", got)
	}
	first.do(click(createButton))
	first.sees("Something went wrong. Please try again.")
	first.isSignedOut()
}

// TestPasskeySignUpWithoutPasskeys: a browser without WebAuthn, and one without JavaScript, get a clear page.
func TestPasskeySignUpWithoutPasskeys(t *testing.T) {
	site, box := servePasskeySignUps(t)
	t.Run("no WebAuthn", func(t *testing.T) {
		v := visit(t, site)
		call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `delete window.PublicKeyCredential`,
		})
		v.follow(goTo(asksForPasskey(v, box, "no-webauthn@example.com").URL))
		v.sees("This browser doesn't support passkeys.")
		v.becomes(`document.querySelector(` + quote(createButton) + `).disabled`)
		v.accessible("create without WebAuthn")
	})
	t.Run("no JavaScript", func(t *testing.T) {
		const address = "no-script@example.com"
		v := visit(t, site)
		v.scriptless()
		v.do(chromedp.Navigate(site + "/auth/passkey/sign-up"))
		v.do(write(signUpAddress, address), click(signUpButton), chromedp.WaitVisible(chromedp.CSS("#input-code")))
		mail, err := box.Wait(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		v.do(write(`#input-code`, mail.Code), click(`form[data-code] button`),
			chromedp.WaitVisible(chromedp.CSS(`noscript p`)))
		if text := run(v, chromedp.TextContent(chromedp.CSS(`noscript p`))); text != "Turn on JavaScript to use passkeys." {
			t.Errorf("the page says %q", text)
		}
	})
}

// TestPasskeySignUpPages opens the pages in every look, also in another browser and in one without WebAuthn.
func TestPasskeySignUpPages(t *testing.T) {
	site, box := servePasskeySignUps(t)
	for _, row := range everyLook() {
		t.Run(row.tag, func(t *testing.T) {
			v, address := visit(t, site), strings.ToLower(row.tag)+"."+longAddress
			v.looks(row.tag, row.scheme, row.width, row.height)
			check := func(name string) {
				t.Helper()
				v.shows(row, "passkey-sign-up-"+name)
			}
			v.open("/auth/signin")
			check("signin")
			v.open("/auth/password/sign-up")
			check("password")
			v.open("/auth/passkey/sign-up")
			check("start")
			v.do(write(signUpAddress, address))
			v.follow(click(signUpButton))
			check("sent")
			mail, err := box.Wait(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			v.follow(goTo(mail.URL))
			check("create")
			v.open("/auth/passkey/confirm?token=old")
			check("old link")
			other := visit(t, site)
			other.looks(row.tag, row.scheme, row.width, row.height)
			other.follow(goTo(mail.URL))
			other.shows(row, "passkey-sign-up-other")
			without := visit(t, site)
			without.looks(row.tag, row.scheme, row.width, row.height)
			call(without, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
				Source: `delete window.PublicKeyCredential`,
			})
			without.follow(goTo(mail.URL))
			without.becomes(`document.querySelector(` + quote(createButton) + `).disabled`)
			without.shows(row, "passkey-sign-up-unsupported")
		})
	}
}

// TestPasskeySignUpInEveryLanguage compares the pages in every language with the English ones. No English sentence and
// no text key may remain.
func TestPasskeySignUpInEveryLanguage(t *testing.T) {
	site, box := servePasskeySignUps(t)
	own, other := newVisitor(t), newVisitor(t)
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(fetchJSON(t, own, site+"/auth/csrf")), &csrf); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"csrfToken": {csrf.CSRFToken}, "email": {bob}}
	r, err := own.PostForm(site+"/auth/passkey/sign-up", form)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	mail, err := box.Wait(t.Context(), bob)
	if err != nil {
		t.Fatal(err)
	}
	english := map[string][]string{}
	for _, l := range locales.All() {
		for _, p := range []struct {
			name, path string
			client     *http.Client
		}{
			{"sign-in", "/auth/signin", own}, {"start", "/auth/passkey/sign-up", own}, {"sent", "/auth/passkey/sent", own},
			{"create", mail.URL, own}, {"other browser", mail.URL, other},
			{"old link", "/auth/passkey/confirm?token=x", own},
		} {
			all := sentences(fetch(t, p.client, site+strings.TrimPrefix(p.path, site), l.Tag))
			if l.Tag == "en" {
				english[p.name] = all
				continue
			}
			for _, s := range all {
				left := slices.Contains(english[p.name], s) && !slices.Contains(same, s) && s != bob &&
					!strings.HasPrefix(s, "localhost:")
				if left || textKeys.MatchString(s) && s != "localhost" || strings.Contains(s, "%!") {
					t.Errorf("%s: %s says %q", l.Tag, p.name, s)
				}
			}
		}
	}
}

func fetchJSON(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
