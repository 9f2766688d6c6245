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
// conditional is the option ConditionalCreate.
func servePasskeys(t *testing.T, conditional core.OptionalBool) (site string) {
	t.Helper()
	return serveLanguages(t, ada, func(c *core.Config) {
		for _, p := range c.Providers {
			if p, ok := p.(*core.WebAuthnProvider); ok {
				p.ConditionalCreate = conditional
			}
		}
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
	v := visit(t, servePasskeys(t, core.False))
	id := v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observeSignals})
	enter(v) // adding a passkey needs a recent sign-in
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
	v := visit(t, servePasskeys(t, core.False))
	v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `for (const name of Object.getOwnPropertyNames(PublicKeyCredential)) {
  if (name.startsWith("signal")) delete PublicKeyCredential[name];
}`,
	})
	enter(v) // adding a passkey needs a recent sign-in
	v.follow(click(`#methods form[data-passkey-options] button`))
	v.sees("Passkey")
}

// observeCreate records requests for a passkey without a prompt in the tab's session storage, and runs then.
func observeCreate(then string) page.AddScriptToEvaluateOnNewDocumentParams {
	return page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
const create = navigator.credentials.create.bind(navigator.credentials);
navigator.credentials.create = async ({ mediation, ...options }) => {
  if (mediation !== "conditional") return create(options);
  sessionStorage.signals = (sessionStorage.signals ?? "") + "asked\n";
  ` + then + `
};`,
	}
}

// enter signs in with a password and opens the account page.
func enter(v *visitor) {
	v.Helper()
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn))
}

// TestConditionalCreate: after a sign-in with a password, the account page creates a passkey, which signs in. The
// virtual authenticator does not answer requests with mediation, so that the test removes it from the request.
func TestConditionalCreate(t *testing.T) {
	v := visit(t, servePasskeys(t, core.True))
	v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, observeCreate(`const made = await create(options);
  return made;`))
	enter(v)
	v.signals("asked")
	listed := `fetch("/auth/account", { headers: { Accept: "application/json" } }).then((r) => r.json())
  .then((o) => o.passkeys.length === 1 && (sessionStorage.listed = "yes"))`
	run(v, chromedp.Poll[bool](`(sessionStorage.listed === "yes") || void `+listed, chromedp.WithPollingTimeout(wait)))
	v.do(chromedp.Evaluate[chromedp.Void](`void (sessionStorage.signals = "none\n")`))
	v.open("/auth/account")
	if again := v.signals("none"); len(again) != 1 {
		t.Errorf("the page creates a second passkey: %q", again)
	}
	v.open("/auth/signout")
	v.follow(click("#submitButton"))
	v.do(leaveFor(v.site + "/auth/signin?callbackUrl=%2Fauth%2Faccount"))
	v.arrives("/auth/account", "Passkey") // the sign-in page uses it from the autofill
}

// TestConditionalCreateRefused: a browser that has refused once is not asked again.
func TestConditionalCreateRefused(t *testing.T) {
	v := visit(t, servePasskeys(t, core.True))
	call(v, page.AddScriptToEvaluateOnNewDocument, observeCreate(`throw new DOMException("", "NotAllowedError");`))
	enter(v)
	if asked := v.signals("asked"); len(asked) != 1 {
		t.Errorf("the browser was asked %q", asked)
	}
	run(v, chromedp.Poll[bool](`Object.keys(localStorage).some((k) => k.startsWith("latchkey-no-passkey-"))`,
		chromedp.WithPollingTimeout(wait)))
	v.do(chromedp.Evaluate[chromedp.Void](`void (sessionStorage.signals = "none\n")`))
	v.open("/auth/account")
	if again := v.signals("none"); len(again) != 1 {
		t.Errorf("the browser is asked again: %q", again)
	}
}

// TestConditionalCreatePending: the button works while the browser has not answered, because it stops the request.
func TestConditionalCreatePending(t *testing.T) {
	v := visit(t, servePasskeys(t, core.True))
	v.holds()
	enter(v)
	const sent = `performance.getEntriesByType("resource").some((e) => e.name.includes("mediation=conditional"))`
	run(v, chromedp.Poll[bool](sent, chromedp.WithPollingTimeout(wait)))
	v.follow(click(`#methods form[data-passkey-options] button`))
	v.sees("Added just now")
}

// TestConditionalCreateInTurn: the button works while the server has not answered the request for a passkey without a
// prompt. The second request waits: otherwise the response to the first could replace its challenge.
func TestConditionalCreateInTurn(t *testing.T) {
	v := visit(t, servePasskeys(t, core.True))
	v.holds()
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `const send = window.fetch.bind(window);
window.asked = [];
window.fetch = async (url, init) => {
  window.asked.push(String(url));
  const answer = await send(url, init);
  if (String(url).includes("mediation=conditional")) await new Promise((go) => { window.answered = go; });
  return answer;
};`,
	})
	enter(v)
	v.becomes(`Boolean(window.answered)`)
	v.do(click(`#methods form[data-passkey-options] button`))
	v.sees("Waiting for your passkey…")
	if asked := run(v, chromedp.Evaluate[[]string](`window.asked`)); len(asked) != 1 {
		t.Errorf("the page has sent %q", asked)
	}
	v.follow(chromedp.Evaluate[chromedp.Void](`void window.answered()`))
	v.sees("Added just now")
}
