package password_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mailkind"
)

// TestConfirmOnAnotherDevice opens the link of a sign-up in another browser. The page shows the address, and
// alternatives for a device without the password, also after a wrong password. It does not use up the link.
func TestConfirmOnAnotherDevice(t *testing.T) {
	t.Parallel()
	w := site(t)
	laptop, phone := w.person(), w.person()
	laptop.post("password/sign-up", "email", ada, "password", good)
	link := token(t, w.newestEmail(ada, mailkind.Verify))
	shows := func(page string) {
		t.Helper()
		for _, want := range []string{
			ada, "Open this link on the device you signed up on", `href="https://app.test/auth/password/sign-up"`, "Start over",
			`autocomplete="current-password"`,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q: %s", want, page)
			}
		}
	}
	for range 2 {
		shows(string(phone.get("/auth/password/confirm?token=" + link).Body))
	}
	wrong := phone.post("password/confirm", "token", link, "password", evil)
	if wrong.Status != 401 {
		t.Errorf("a wrong password is answered %d", wrong.Status)
	}
	shows(string(wrong.Body))
	page := string(laptop.get("/auth/password/confirm?token=" + link).Body)
	if strings.Contains(page, "Start over") || strings.Contains(page, `autocomplete="current-password"`) {
		t.Errorf("the browser that signed up is asked for the password: %s", page)
	}
	phone.post("password/confirm", "token", link, "password", good)
	if phone.session() != ada {
		t.Error("the password does not finish the sign-up")
	}
	for name, bad := range map[string]string{"used": link, "made up": "nothing"} {
		if r := w.person().get("/auth/password/confirm?token=" + bad); r.Status != 400 ||
			strings.Contains(string(r.Body), "current-password") {
			t.Errorf("a link that is %s is answered %d: %s", name, r.Status, r.Body)
		}
	}
}
