package browser_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// observeSignals records the calls of the browser's signal methods in the tab's session storage, and calls them.
const observeSignals = `for (const name of Object.getOwnPropertyNames(PublicKeyCredential)) {
  if (!name.startsWith("signal")) continue;
  const own = PublicKeyCredential[name].bind(PublicKeyCredential);
  PublicKeyCredential[name] = async (options) => {
    let outcome = "ok";
    try { await own(options); } catch (error) { outcome = error.name; }
    const call = name + " " + outcome + " " + JSON.stringify(options) + "\n";
    sessionStorage.signals = (sessionStorage.signals ?? "") + call;
  };
}`

// signals returns the calls since the last call of signals, after it has seen one with the text.
func (v *visitor) signals(text string) (calls []string) {
	v.Helper()
	run(v, chromedp.Poll[bool](`(sessionStorage.signals ?? "").includes(`+"`"+text+"`"+`)`,
		chromedp.WithPollingTimeout(15*time.Second)))
	all := run(v, chromedp.Evaluate[string](`sessionStorage.signals`))
	v.do(chromedp.Evaluate[chromedp.Void](`void sessionStorage.removeItem("signals")`))
	return strings.Split(strings.TrimSpace(all), "\n")
}

// servePasskeys serves a site with an account page, passkeys, and a form that signs in ada.
func servePasskeys(t *testing.T) (site string) {
	t.Helper()
	return serveLanguages(t, ada, func(c *core.Config) {
		users := c.Store
		c.Providers = append(c.Providers, providers.Credentials(
			func(ctx context.Context, _ map[string]string, _ *core.Request) (*core.User, error) {
				return users.User(ctx, "ada")
			},
		))
	})
}

// TestSignals: the password manager learns which passkeys the site accepts, the user's names, which passkey was
// removed, and which one the site does not know.
func TestSignals(t *testing.T) {
	v := visit(t, servePasskeys(t))
	id := v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observeSignals})
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn)) // adding a passkey needs a recent sign-in
	v.follow(click(`#methods form[data-passkey-options] button`))
	added := v.signals("signalCurrentUserDetails")
	for _, call := range added {
		if !strings.Contains(call, " ok ") || !strings.Contains(call, `"rpId":"localhost"`) {
			t.Errorf("the browser refused %s", call)
		}
	}
	named := `"name":"` + ada + `","displayName":"Ada"`
	if all := strings.Join(added, "\n"); len(added) != 2 || !strings.Contains(all, named) {
		t.Errorf("the signals are %q", added)
	}
	_, accepted, _ := strings.Cut(strings.Join(added, "\n"), `"allAcceptedCredentialIds":["`)
	key, _, _ := strings.Cut(accepted, `"`)
	v.confirms(id, false)
	v.follow(click(`#methods form:has(input[name=remove]) button`))
	removed := v.signals("signalUnknownCredential")
	if len(removed) != 1 || !strings.Contains(removed[0], ` ok `) || !strings.Contains(removed[0], `"`+key+`"`) {
		t.Errorf("the signals after the removal are %q, the passkey was %q", removed, key)
	}
	v.open("/auth/account")
	v.do(chromedp.Evaluate[chromedp.Void](`void (sessionStorage.signals = "none")`))
	v.open("/auth/account")
	if again := v.signals("none"); len(again) != 1 || again[0] != "none" {
		t.Errorf("the signal is repeated: %q", again)
	}
}

// TestSignalsMissing: a browser without the methods shows the page without errors.
func TestSignalsMissing(t *testing.T) {
	v := visit(t, servePasskeys(t))
	v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `for (const name of Object.getOwnPropertyNames(PublicKeyCredential)) {
  if (name.startsWith("signal")) delete PublicKeyCredential[name];
}`,
	})
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn)) // adding a passkey needs a recent sign-in
	v.follow(click(`#methods form[data-passkey-options] button`))
	v.sees("Passkey")
}
