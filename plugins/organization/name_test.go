package organization_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// TestNameForEmail: an email contains no name that a mail client turns into a link or that has hidden text.
func TestNameForEmail(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Acme", "Acme, Inc.", "Müller & Söhne", "7-Eleven", "株式会社アクメ", "مؤسسة النور", "Route 66 (Berlin)",
		"<", "a.example", "see evil.example now", "http evil", "https://evil.example", "evil。example", "evil．example",
		"me@evil", "call 0900 123 456", "+49 30 1234567", "evil/x", "A\u200bcme", "A\u202ecme", "A\ncme", "", " Acme",
		strings.Repeat("x", 65), "www.x", "Tel: 12",
	} {
		want := name
		if strings.ContainsAny(name, "<:@/\u200b\u202e\n。．") || strings.Contains(name, ".e") ||
			strings.Contains(name, "w.x") || strings.Contains(name, "12") || strings.HasPrefix(name, " ") || len(name) == 65 {
			want = ""
		}
		if got := organization.NameForEmail(name); got != want {
			t.Errorf("%q is %q in an email, want %q", name, got, want)
		}
	}
}

// TestInvitationEmail: the email has its own kind and the present name of the organization.
func TestInvitationEmail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.found()
	ada := s.as("ada")
	for name, want := range map[string]string{"Acme <b>": "", "Acme & Sons": "Acme & Sons", "win 100.000.000": ""} {
		s.is(ada.post("update", "organization", id, "name", name), "200")
		s.is(ada.post("invite", "organization", id, "email", "bob@example.com", "role", "member"), "200")
		s.link()
		last := (*s.mails)[len(*s.mails)-1]
		if last.Kind != mailkind.OrganizationInvite || last.Organization != want || last.To != "bob@example.com" {
			t.Errorf("the email for %q is %s with the name %q to %s", name, last.Kind, last.Organization, last.To)
		}
	}
}
