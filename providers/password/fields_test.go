package password_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestFieldsOfASignUp sends each field with each kind of invalid value.
func TestFieldsOfASignUp(t *testing.T) {
	t.Parallel()
	w := site(t, func(o *password.Options, _ *core.Config) {
		o.Blocklist = []string{"Latchkey"}
		o.Breached = func(_ context.Context, p core.Secret) (bool, error) {
			switch {
			case strings.Contains(string(p), "panics"):
				panic(string(p))
			case strings.Contains(string(p), "is down"):
				return false, errors.New("range service is away")
			}
			return strings.Contains(string(p), "breached"), nil
		}
	})
	kb := strings.Repeat("ab cd ef", 128)
	for name, row := range map[string]struct {
		email, password, name string
		status                int
		code                  string
	}{
		"all right":           {"a1@example.com", good, "", 202, "mail"},
		"a kilobyte":          {"a2@example.com", kb[:1020] + "gh#1", "", 202, "mail"},
		"blanks around":       {"a3@example.com", "  " + good + "  ", "", 202, "mail"},
		"NUL within":          {"a4@example.com", good + "\x00tail", "", 202, "mail"},
		"no UTF-8":            {"a5@example.com", good + "\xff\xfe", "", 202, "mail"},
		"fifteen letters":     {"a6@example.com", "ñandúes y mirlo", "", 202, "mail"},
		"the service is down": {"a7@example.com", "the service is down", "", 202, "mail"},
		"the service panics":  {"a8@example.com", "the service panics", "", 202, "mail"},

		"no address":           {"", good, "", 422, "email_invalid"},
		"no at-sign":           {"ada", good, "", 422, "email_invalid"},
		"two addresses":        {"a@example.com,b@example.com", good, "", 422, "email_invalid"},
		"NUL in the address":   {"a\x00@example.com", good, "", 422, "email_invalid"},
		"address not in UTF-8": {"a\xff@example.com", good, "", 422, "email_invalid"},
		"line break":           {"a@example.com\r\nBcc: b@example.com", good, "", 422, "email_invalid"},
		"endless address":      {strings.Repeat("a", 5000) + "@example.com", good, "", 422, "email_invalid"},
		"endless name":         {"b@example.com", good, strings.Repeat("a", 257), 422, "name_invalid"},
		"name of two lines":    {"b@example.com", good, "Ada\nL.", 422, "name_invalid"},

		"no password":          {"b@example.com", "", "", 422, "password_short"},
		"fourteen letters":     {"b@example.com", "ñandúes y mirl", "", 422, "password_short"},
		"more than a kilobyte": {"b@example.com", kb + "x", "", 422, "password_long"},
		"common":               {"b@example.com", "passwordpassword", "", 422, "password_common"},
		"the site":             {"b@example.com", "app.test app.test", "", 422, "password_context"},
		"the address":          {"somebody@example.com", "Somebody@Example.com1", "", 422, "password_context"},
		"a configured word":    {"b@example.com", "LATCHKEY-latchkey", "", 422, "password_context"},
		"from a breach":        {"b@example.com", "this one is breached", "", 422, "password_breached"},
	} {
		t.Run(name, func(t *testing.T) {
			fields := []string{"email", row.email, "password", row.password, "name", row.name}
			b := w.visit()
			says(t, b.post("password/sign-up", fields...), row.status, row.code)
			first := w.emailsTo(row.email)
			page := w.person().post("password/sign-up", fields...)
			if row.status == 202 {
				if page.Status != 303 || !strings.HasSuffix(page.Redirect, "/auth/password/sent") {
					t.Errorf("a person is answered %d %s", page.Status, page.Redirect)
				}
				if n := len(w.emailsTo(row.email)); n != 2 {
					t.Errorf("%d emails", n)
				}
				b.post("password/confirm", "token", token(t, first[0]))
				if w.signIn(row.email, row.password) != row.email {
					t.Error("the password does not sign in")
				}
				return
			}
			if page.Status != 422 || row.password != "" && strings.Contains(string(page.Body), row.password+`"`) ||
				!strings.Contains(string(page.Body), `role="alert"`) {
				t.Errorf("a person is answered %d %s", page.Status, page.Body)
			}
		})
	}
	w.clean(good, "the service is down", "the service panics", "this one is breached")
}

// TestBodiesOfOtherShapes sends JSON, other types, duplicate fields and empty bodies to every action.
func TestBodiesOfOtherShapes(t *testing.T) {
	t.Parallel()
	w := site(t)
	signedIn := w.signUp(ada, good)
	for _, action := range []string{"sign-up", "confirm", "forgot", "reset", "change"} {
		for name, body := range map[string]string{
			"empty": `{"csrfToken":"%"}`, "numbers": `{"csrfToken":"%","email":1,"password":2,"token":3,"newPassword":4}`,
			"lists":   `{"csrfToken":"%","email":["ada@example.com"],"password":["` + good + `"],"token":["x"]}`,
			"objects": `{"csrfToken":"%","email":{},"password":{},"token":{},"newPassword":{},"current":{}}`,
			"null":    `{"csrfToken":"%","email":null,"password":null,"token":null,"newPassword":null}`,
		} {
			b := w.visit()
			if action == "change" {
				b = signedIn
			}
			r := b.send("POST", "/auth/password/"+action, "application/json", strings.ReplaceAll(body, "%", b.csrf()))
			if r.Status < 400 || r.Status > 499 || r.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s, %s: answered %d %s", action, name, r.Status, r.Body)
			}
		}
		r := w.visit().send("POST", "/auth/password/"+action, "application/x-www-form-urlencoded", "email=a@example.com")
		if r.Status != 403 {
			t.Errorf("%s without the CSRF token: %d", action, r.Status)
		}
		if r := w.visit().get("/auth/password/" + action + "?email=" + ada + "&newPassword=x&password=x"); r.Status >= 500 {
			t.Errorf("%s by GET: %d", action, r.Status)
		}
	}
	// The last value of a duplicate field counts, as in all actions.
	says(t, w.visit().post("password/sign-up", "email", "x", "email", "b@example.com", "password", "y", "password", good),
		202, "mail")
	w.newestEmail("b@example.com", mailkind.Verify)
	// Without cookies there is no CSRF token, so no sign-up is possible. A link that is opened there asks for the
	// password.
	says(t, w.visit().post("password/confirm", "token", token(t, w.newestEmail("b@example.com", mailkind.Verify))),
		401, "password_wrong")
}

// TestSignInFields: all invalid sign-in forms get the same response.
func TestSignInFields(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	for name, fields := range map[string][]string{
		"nothing": nil, "no password": {"email", ada}, "no address": {"password", good},
		"not an address": {"email", "ada", "password", good}, "NUL": {"email", ada + "\x00", "password", good},
		"endless": {"email", ada, "password", strings.Repeat("x", 100_000)}, "no UTF-8": {"email", "\xff", "password",
			"\xff"},
	} {
		b := w.person()
		r := b.post("callback/password", fields...)
		if r.Status != 302 || !strings.HasSuffix(r.Redirect, "/auth/signin?error=CredentialsSignin&code=credentials") {
			t.Errorf("%s: answered %d %s", name, r.Status, r.Redirect)
		}
	}
	// As Auth.js clients do: signIn("password", {email, password, redirect: false}).
	b := w.visit()
	r := &core.Request{Method: "POST", Target: "/auth/callback/password", Hosts: []string{"app.test"}, Scheme: "https"}
	csrf := b.csrf()
	r.Header = http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "X-Auth-Return-Redirect": {"1"},
		"Cookie": {"__Host-authjs.csrf-token=" + b.cookies["__Host-authjs.csrf-token"]},
	}
	r.Body = strings.NewReader(encode("email", ada, "password", good, "csrfToken", csrf, "callbackUrl",
		"https://app.test/in"))
	answer := w.auth.Handle(t.Context(), r)
	if answer.Status != 200 || string(answer.Body) != `{"url":"https://app.test/in"}` {
		t.Errorf("a client of Auth.js is answered %d %s", answer.Status, answer.Body)
	}
}
