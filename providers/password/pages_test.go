package password_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mailkind"
)

// TestPages checks each page: markup for password managers and screen readers, forms that work without scripts, and the
// Content-Security-Policy.
func TestPages(t *testing.T) {
	t.Parallel()
	w := site(t)
	signedIn := w.signUp(ada, good)
	b := w.visit()
	b.post("password/sign-up", "email", "bob@example.com", "password", good)
	link := token(t, w.newestEmail("bob@example.com", mailkind.Verify))
	for name, row := range map[string]struct {
		b      *browser
		path   string
		fields []string // the autocomplete of the visible inputs, in order
		has    string
	}{
		"sign in": {w.visit(), "signin", []string{"username", "current-password"},
			`href="/auth/password/forgot"`},
		"sign up":       {w.visit(), "password/sign-up", []string{"username", "name", "new-password"}, "15 characters"},
		"mail is sent":  {w.visit(), "password/sent", nil, "can be used to sign up"},
		"reset is sent": {w.visit(), "password/sent?for=reset", nil, "If an account exists"},
		"confirm here":  {b, "password/confirm?token=" + link, nil, "Confirm and sign in"},
		"confirm elsewhere": {w.visit(), "password/confirm?token=" + link, []string{"username", "current-password"},
			"in a different browser"},
		"forgot":              {w.visit(), "password/forgot", []string{"username"}, "Send reset link"},
		"reset":               {w.visit(), "password/reset", []string{"new-password"}, "signed out"},
		"change":              {signedIn, "password/change", []string{"username", "current-password", "new-password"}, ada},
		"done":                {w.visit(), "password/done", nil, `/auth/signin"`},
		"done when signed in": {signedIn, "password/done", nil, "Continue"},
	} {
		t.Run(name, func(t *testing.T) {
			row.b.accept = "text/html"
			r := row.b.get("/auth/" + row.path)
			page := string(r.Body)
			if r.Status != 200 || !strings.Contains(page, row.has) {
				t.Fatalf("answered %d %s", r.Status, page)
			}
			if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "nonce-") ||
				strings.Contains(policy, "unsafe") || r.Header.Get("Referrer-Policy") == "" {
				t.Errorf("header %v", r.Header)
			}
			var fields []string
			for _, m := range regexp.MustCompile(`autocomplete="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				fields = append(fields, m[1])
			}
			if strings.Join(fields, " ") != strings.Join(row.fields, " ") {
				t.Errorf("fields %v, want %v", fields, row.fields)
			}
			for _, input := range regexp.MustCompile(`<input[^>]* id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
				if !strings.Contains(page, `for="`+input[1]+`"`) {
					t.Errorf("the input %s has no label", input[1])
				}
			}
			if n := strings.Count(page, "<h1"); n != 1 {
				t.Errorf("%d headings", n)
			}
			if strings.Contains(page, "<form") && !strings.Contains(page, `name="csrfToken"`) {
				t.Error("a form without a token")
			}
			for _, script := range regexp.MustCompile(`<script[^>]*>`).FindAllString(page, -1) {
				if !strings.Contains(script, "nonce=") {
					t.Errorf("a script that the policy stops: %s", script)
				}
			}
		})
	}
	if page := string(w.person().get("/auth/password/confirm?token=%22%3E%3Cscript%3E").Body); strings.Contains(page,
		`"><script>`) {
		t.Errorf("a token is markup: %s", page)
	}
	filled := string(w.person().get("/auth/password/sign-up?email=x@example.com&name=Mallory").Body)
	if strings.Contains(filled, "Mallory") {
		t.Error("a link fills in the form")
	}
}

// TestUsersCanContinue uses all forms without scripts: each POST redirects to a page, or shows the form again with the
// submitted values and the error.
func TestUsersCanContinue(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.person()
	r := b.post("password/sign-up", "email", ada, "password", "short", "name", "Ada <3")
	page := string(r.Body)
	if r.Status != 422 || !strings.Contains(page, `value="ada@example.com"`) || !strings.Contains(page, "Ada &lt;3") ||
		strings.Contains(page, `value="short"`) || !strings.Contains(page, `aria-invalid="true"`) {
		t.Errorf("answered %d %s", r.Status, page)
	}
	const sent = "https://app.test/auth/password/sent"
	if r := b.post("password/sign-up", "email", ada, "password", good); r.Redirect != sent {
		t.Errorf("led to %s", r.Redirect)
	}
	link := token(t, w.newestEmail(ada, mailkind.Verify))
	other := w.person()
	if r := other.post("password/confirm", "token", link, "password", evil); r.Status != 401 ||
		!strings.Contains(string(r.Body), `value="`+link+`"`) || !strings.Contains(string(r.Body),
		"the password you signed up with") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	if r := b.post("password/confirm", "token", link); r.Status != 303 || r.Redirect != "https://app.test" &&
		r.Redirect != "https://app.test/" {
		t.Errorf("led to %d %s", r.Status, r.Redirect)
	}
	if r := b.post("password/confirm", "token", link); r.Status != 400 || !strings.Contains(string(r.Body),
		"was already used") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	if r := b.post("password/forgot", "email", ada); r.Redirect != "https://app.test/auth/password/sent?for=reset" {
		t.Errorf("led to %s", r.Redirect)
	}
	reset := token(t, w.newestEmail(ada, mailkind.Reset))
	if r := other.get("/auth/password/reset?token=" + reset); r.Status != 303 ||
		r.Redirect != "https://app.test/auth/password/reset" {
		t.Errorf("led to %d %s", r.Status, r.Redirect)
	}
	if r := other.post("password/reset", "newPassword", "passwordpassword"); r.Status != 422 {
		t.Errorf("answered %d", r.Status)
	}
	if r := other.post("password/reset", "newPassword", better); r.Redirect != "https://app.test/auth/password/done" {
		t.Errorf("led to %d %s", r.Status, r.Redirect)
	}
	// The callbackUrl of the sign-up applies after the confirmation, unless it is of another site.
	for back, want := range map[string]string{"https://app.test/cart": "https://app.test/cart",
		"https://evil.example/": "https://app.test"} {
		email := "x" + want[len(want)-4:] + "@example.com"
		b := w.person()
		b.post("password/sign-up", "email", email, "password", good, "callbackUrl", back)
		r := w.person().post("password/confirm", "token", token(t, w.newestEmail(email, mailkind.Verify)), "password", good)
		if strings.TrimSuffix(r.Redirect, "/") != want {
			t.Errorf("back to %s, want %s", r.Redirect, want)
		}
	}
}

// TestResetOfTwoTabs: a link that a second tab opens, possibly an attacker's, does not take over the form of the first.
func TestResetOfTwoTabs(t *testing.T) {
	t.Parallel()
	const bob = "bob@example.com"
	w := site(t)
	w.signUp(ada, good)
	w.signUp(bob, good)
	mine, strange := w.forgot(ada), w.forgot(bob)
	hidden := regexp.MustCompile(`name="link" value="([^"]+)"`)
	b := w.person()
	open := func(link string) (digest string) {
		b.get("/auth/password/reset?token=" + link)
		page := b.get("/auth/password/reset").Body
		found := hidden.FindSubmatch(page)
		if found == nil || strings.Contains(string(page), link) {
			t.Fatalf("the form is %s", page)
		}
		return string(found[1])
	}
	first := open(mine)
	second := open(strange)
	for name, form := range map[string]string{"the first tab's": first, "made up": "x"} {
		r := b.post("password/reset", "newPassword", evil, "link", form)
		if r.Status != 409 || !strings.Contains(string(r.Body), "You opened a newer link") {
			t.Errorf("%s: answered %d %s", name, r.Status, r.Body)
		}
	}
	program := w.visit()
	program.cookies = b.cookies
	says(t, program.post("password/reset", "newPassword", evil, "link", first), 409, "link_invalid")
	if w.signIn(ada, good) != ada || w.signIn(bob, good) != bob {
		t.Error("a password has changed")
	}
	if again := open(mine); again != first || second == first {
		t.Errorf("opened again the form is of %q, was of %q", again, first)
	}
	b.post("password/reset", "newPassword", better, "link", first)
	if w.signIn(ada, better) != ada || w.signIn(bob, good) != bob {
		t.Error("the link that was opened last sets no password")
	}
}

// TestSentPage: the page after a sign-up or a request for a reset shows the typed address, whether or not it has an
// account. The sign-up's email can be sent again with a new link; the first link stays valid.
func TestSentPage(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	const bob = "bob@example.com"
	for name, row := range map[string]struct {
		address, path, kind string
	}{
		"a new address":        {bob, "password/sign-up", "resend"},
		"an address of a user": {ada, "password/sign-up", "resend"},
		"a reset":              {ada, "password/forgot?", "forgot"},
		"a reset of nobody":    {"eve@example.com", "password/forgot?", "forgot"},
	} {
		b := w.person()
		r := b.post(strings.TrimSuffix(row.path, "?"), "email", row.address, "password", good)
		page := string(b.get(strings.TrimPrefix(r.Redirect, "https://app.test")).Body)
		for _, part := range []string{
			"<bdi>" + row.address + "</bdi>", `value="` + row.address + `"`,
			`action="https://app.test/auth/password/` + row.kind + `"`,
			"Resend email", "Use a different email", "spam folder",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %s in %s", name, part, page)
			}
		}
		if other := string(w.person().get("/auth/password/sent").Body); strings.Contains(other, row.address) ||
			strings.Contains(other, "<form") {
			t.Errorf("%s: another browser sees the address", name)
		}
	}
}

// TestResend: the email of a sign-up is sent again with another link. For an address of a user, its owner gets the same
// notice again. Without a sign-up in this browser nothing is sent, and the response is the same.
func TestResend(t *testing.T) {
	t.Parallel()
	w := site(t)
	const bob = "bob@example.com"
	b := w.person()
	b.post("password/sign-up", "email", bob, "password", good, "name", "Bob")
	first := token(t, w.newestEmail(bob, mailkind.Verify))
	before := len(w.emailsTo(bob))
	const sent = "https://app.test/auth/password/sent"
	if r := b.post("password/resend"); r.Redirect != sent {
		t.Fatalf("answered %d %s", r.Status, r.Redirect)
	}
	if n := len(w.emailsTo(bob)); n != before+1 {
		t.Fatalf("%d emails, want %d", n, before+1)
	}
	second := token(t, w.newestEmail(bob, mailkind.Verify))
	if first == second {
		t.Error("the same token was sent twice")
	}
	if r := b.post("password/confirm", "token", second); r.Status != 303 {
		t.Errorf("the new link: %d %s", r.Status, r.Body)
	}
	before = len(w.emailsTo(bob))
	if r := w.person().post("password/resend"); r.Redirect != sent || len(w.emailsTo(bob)) != before {
		t.Errorf("without a sign-up: %d %s, %d emails", r.Status, r.Redirect, len(w.emailsTo(bob))-before)
	}
	// The sign-up is used: the owner of the account gets a notice, and no link creates an account without a password.
	if r := b.post("password/resend"); r.Redirect != sent {
		t.Errorf("after the confirmation: %d %s", r.Status, r.Redirect)
	}
	w.newestEmail(bob, mailkind.Exists)
}
