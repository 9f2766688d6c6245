package providers_test

import (
	"context"
	"flag"
	stdhtml "html"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
)

var update = flag.Bool("update", false, "rewrite the recorded letters")

// kinds are all kinds of emails, and whether they contain a link.
var kinds = map[mailkind.Kind]bool{
	mailkind.SignIn: true, mailkind.Verify: true, mailkind.Exists: true, mailkind.Reset: true,
	mailkind.VerifyPasskey: true, mailkind.ExistsPasskey: true,
	mailkind.PasswordChanged: true, mailkind.AddressChange: true, mailkind.AddressChanged: true,
	mailkind.PasskeyAdded: true, mailkind.PasskeyRemoved: true, mailkind.AccountLinked: true,
	mailkind.AccountUnlinked: true, mailkind.FactorAdded: true, mailkind.FactorRemoved: true,
	mailkind.FactorsReset: true, mailkind.RecoveryUsed: true, mailkind.RecoveryRenewed: true,
	mailkind.FactorGuessed: true, mailkind.NewDevice: true, mailkind.Invite: true, mailkind.Deleted: false,
	mailkind.Reauth: false, mailkind.KeyCreated: true, mailkind.KeyExpiring: true, mailkind.OrganizationInvite: true,
	mailkind.DeletionScheduled: true, mailkind.WebhookDisabled: true, mailkind.OrganizationKey: true,
	mailkind.OrganizationRequest: true, mailkind.OrganizationJoined: true,
}

func letterOf(kind mailkind.Kind) core.Email {
	l := core.Email{
		To: "jane@example.com", Kind: kind, Host: "app.example.com:8443", Theme: core.Theme{BrandColor: "rgb(1, 2, 3)"},
		Expires: time.Unix(1e9, 0), Request: &core.Request{Header: http.Header{"User-Agent": {"STRANGER"}}},
	}
	if kinds[kind] {
		l.URL = sampleLink
	}
	if kind == mailkind.AccountLinked || kind == mailkind.AccountUnlinked {
		l.Service, l.At = "GitHub", time.Unix(1e9, 0)
	}
	switch kind {
	case mailkind.OrganizationRequest, mailkind.OrganizationJoined:
		l.Organization, l.Expires = "Acme", time.Time{}
	case mailkind.OrganizationInvite:
		l.Organization = `Ada & <b>"Söhne"`
	}
	if kind == mailkind.Reauth {
		l.Code = "471103"
	}
	l.EndsSessions = kind == mailkind.AddressChanged
	if kind == mailkind.KeyExpiring {
		l.At, l.Expires = time.Unix(1e9, 0), time.Time{}
	}
	if kind == mailkind.WebhookDisabled {
		l.At, l.Expires, l.Service = time.Unix(1e9, 0), time.Time{}, "hooks.example.org"
	}
	if kind == mailkind.DeletionScheduled {
		l.At = l.Expires
	}
	if kind == mailkind.KeyCreated || kind == mailkind.PasswordChanged || kind == mailkind.NewDevice {
		l.At, l.Peer, l.Device = time.Unix(1e9, 0), netip.MustParsePrefix("192.0.2.0/24"), "Firefox, Windows"
	}
	if kind == mailkind.NewDevice {
		l.Device = "Firefox, Windows"
	}
	return l
}

// TestEmailsAsRecorded compares the emails of all kinds with their golden files.
func TestEmailsAsRecorded(t *testing.T) {
	for kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			l, err := providers.WriteEmail(letterOf(kind))
			if err != nil {
				t.Fatal(err)
			}
			got := l.Subject + "\n----\n" + l.Text + "----\n" + l.HTML
			path := filepath.Join("testdata", "letters", string(kind)+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(got, "jane@") && kind != mailkind.SignIn || strings.Contains(got, "STRANGER") {
				t.Error("it contains a text that a client sent")
			}
		})
	}
	for _, kind := range mailkind.All() {
		if _, known := kinds[kind]; !known {
			t.Errorf("there is no email of kind %q", kind)
		}
	}
	if n := len(mailkind.All()); n != len(kinds) {
		t.Errorf("mailkind.All has %d kinds of %d", n, len(kinds))
	}
	if files, err := filepath.Glob("testdata/letters/*.txt"); err != nil || len(files) != len(kinds) {
		t.Errorf("%d recordings for %d kinds, %v", len(files), len(kinds), err)
	}
	if _, err := providers.WriteEmail(core.Email{Kind: "gossip"}); err == nil {
		t.Error("an email of an unknown kind was written")
	}
}

// TestNothingToUndo: after a change, an unverified old address gets an email without an undo link.
func TestNothingToUndo(t *testing.T) {
	for _, tag := range []string{"", "de"} {
		l := letterOf(mailkind.AddressChanged)
		l.URL, l.Expires = "", time.Time{}
		if tag == "de" {
			l.Locale = ui.Locale{Tag: "de", Texts: map[string]string{"email.deleted.footer": "An die Betreiber."}}
		}
		got, err := providers.WriteEmail(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{got.Text, got.HTML} {
			if strings.Contains(strings.ToLower(text), "undo") || strings.Contains(text, "href") {
				t.Errorf("it mentions undoing: %s", text)
			}
			want := map[string]string{"": "contact support", "de": "An die Betreiber."}[tag]
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
}

// TestEmailsEscape: host and code are escaped in every kind.
func TestEmailsEscape(t *testing.T) {
	for kind := range kinds {
		l := letterOf(kind)
		l.Host, l.Code, l.URL = `app.example"><b>`, `"><script>1</script>`, sampleLink+`"><script>alert(1)</script>`
		l.Theme = core.Theme{
			BrandColor: "red;background:url(//evil.example)", Name: "</p><script>\u202e" + strings.Repeat("x", 64<<10),
		}
		got, err := providers.WriteEmail(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script", "<b>", "evil.example", "ZgotmplZ"} {
			if strings.Contains(got.HTML, bad) {
				t.Errorf("%s has %s: %s", kind, bad, got.HTML)
			}
		}
		if !strings.Contains(got.HTML, "<bdi>&lt;/p&gt;&lt;script&gt;\u202exx") {
			t.Errorf("%s: the name of the site may change the direction of the text around it", kind)
		}
		if !strings.Contains(got.Text, "Code: "+string(l.Code)) || !strings.Contains(got.HTML, "background:#346df1") {
			t.Errorf("%s has neither code nor button: %s", kind, got.Text)
		}
	}
}

// TestEmailsUseTheTheme checks the colors of the button and of the dark mode.
func TestEmailsUseTheTheme(t *testing.T) {
	for _, row := range []struct {
		name   string
		theme  core.Theme
		button string
		text   string
		dark   bool
	}{
		{"none", core.Theme{}, "background:#346df1", "#ffffff", true},
		{"a dark color", core.Theme{BrandColor: "#0f766e"}, "background:#0f766e", "#ffffff", true},
		{"a light color", core.Theme{BrandColor: "#fc0"}, "background:#fc0", "#000000", true},
		{"a color name", core.Theme{BrandColor: "navy"}, "background-color:navy;background:navy", "#ffffff", true},
		{"both colors", core.Theme{BrandColor: "#fc0", ButtonText: "navy"}, "background:#fc0", "navy", true},
		{"a function", core.Theme{BrandColor: "oklch(0.5 0.1 200)"},
			"{ background: oklch(0.5 0.1 200) !important; border-color: oklch(0.5 0.1 200) !important }", "#ffffff", true},
		{"light alone", core.Theme{ColorScheme: "light"}, "background:#346df1", "#ffffff", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := letterOf(mailkind.Reset)
			l.Theme = row.theme
			got, err := providers.WriteEmail(l)
			if err != nil || !strings.Contains(got.HTML, row.button) || !strings.Contains(got.HTML, "color:"+row.text+";") {
				t.Errorf("%v: no %s or %s in %s", err, row.button, row.text, got.HTML)
			}
			if strings.Contains(got.HTML, "prefers-color-scheme") != row.dark {
				t.Errorf("in dark mode: %s", got.HTML)
			}
		})
	}
}

// TestTextIsEqualToHTML: the plain text of every kind has the sentences, facts, code and link of the HTML, and the HTML
// fits into the 102 kB that Gmail shows.
func TestTextIsEqualToHTML(t *testing.T) {
	for kind := range kinds {
		l := letterOf(kind)
		l.Code, l.At, l.Peer = "123456", time.Unix(1e9, 0), netip.MustParsePrefix("192.0.2.7/32")
		l.Device, l.Theme.Name = "Firefox, Windows", "Acme"
		got, err := providers.WriteEmail(l)
		if err != nil || len(got.HTML) > 100<<10 {
			t.Fatalf("%s: %v, %d bytes", kind, err, len(got.HTML))
		}
		words := func(html string) string {
			html = regexp.MustCompile(`(?s)<style>.*?</style>|<!--.*?-->|<[^>]*>|&#8203;|[\x{34f}\x{200c}]|:`).
				ReplaceAllString(html, "")
			return strings.Join(strings.Fields(stdhtml.UnescapeString(html)), "")
		}
		html := words(got.HTML)
		for line := range strings.Lines(got.Text) {
			if want := words(stdhtml.EscapeString(line)); !strings.Contains(html, want) {
				t.Errorf("%s: the HTML does not say %q: %s", kind, line, html)
			}
		}
		for _, want := range []string{"192.0.2.7\n", "Device: Firefox, Windows", "Code: 123456", "Acme (app.example.com"} {
			if !strings.Contains(got.Text, want) {
				t.Errorf("%s: the text does not say %q: %s", kind, want, got.Text)
			}
		}
	}
}

// TestEmailLogo: emails load the logo for emails and nothing else, and no logo of a theme that is not valid.
func TestEmailLogo(t *testing.T) {
	for _, row := range []struct {
		name  string
		theme core.Theme
		want  string
	}{
		{"none", core.Theme{Logo: "https://img.test/page.svg", Name: "Acme"}, ""},
		{"a picture", core.Theme{EmailLogo: "https://img.test/a.png?v=1&w=2"}, "https://img.test/a.png?v=1&amp;w=2"},
		{"a script", core.Theme{EmailLogo: "javascript:alert(1)"}, ""},
		{"no TLS", core.Theme{EmailLogo: "http://img.test/a.png"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := letterOf(mailkind.Reset)
			l.Theme = row.theme
			got, err := providers.WriteEmail(l)
			if err != nil {
				t.Fatal(err)
			}
			loaded := regexp.MustCompile(`src="([^"]*)"`).FindAllStringSubmatch(got.HTML, -1)
			if len(loaded) > 1 || (len(loaded) == 1) != (row.want != "") || len(loaded) == 1 && loaded[0][1] != row.want {
				t.Errorf("it loads %q", loaded)
			}
		})
	}
}

// TestServicesAreMailers sends emails of every kind through all services.
func TestServicesAreMailers(t *testing.T) {
	s := newService(t)
	s.answer = func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }
	for _, id := range []string{"resend", "sendgrid", "postmark", "forwardemail", "loops", "mailgun"} {
		mailer := emailProvider(id, recorded{}, &http.Client{Transport: s}).Mailer()
		if err := mailer.Configure(noEnv); err != nil {
			t.Fatal(err)
		}
		for kind, hasLink := range kinds {
			l := letterOf(kind)
			if err := mailer.Send(t.Context(), l); err != nil {
				t.Errorf("%s, %s: %v", id, kind, err)
			}
			written, _ := providers.WriteEmail(l)
			body := string(s.body)
			if !strings.Contains(body, written.Subject) && (id != "loops" || kind != mailkind.SignIn) {
				t.Errorf("%s, %s: no subject in %s", id, kind, body)
			}
			if strings.Contains(body, "token=tok") != hasLink || !strings.Contains(body, "jane@example.com") {
				t.Errorf("%s, %s: link or recipient in %s", id, kind, body)
			}
		}
		for _, to := range []string{"a@example.com, b@example.com", "", "jane@example.com\r\nBcc: x@example.com"} {
			if err := mailer.Send(t.Context(), core.Email{To: to, Kind: mailkind.Reset}); err == nil {
				t.Errorf("%s: %q was mailed to", id, to)
			}
		}
		if err := mailer.Send(t.Context(), core.Email{To: "jane@example.com", Kind: "gossip"}); err == nil {
			t.Errorf("%s: an email of an unknown kind was sent", id)
		}
	}
}

// TestMailerErrorsContainNoSecrets: a service that repeats the link, the token and the code of an email does not get
// them into the log.
func TestMailerErrorsContainNoSecrets(t *testing.T) {
	s := newService(t)
	l := letterOf(mailkind.Reset)
	l.Code, l.URL = "SECRETCODE", "https://app.example.com/auth/password/reset?token=SECRETTOKEN"
	s.answer = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "cannot send "+string(l.URL)+" or SECRETTOKEN with SECRETCODE for re_SECRETKEY")
	}
	o := providers.EmailOptions{Key: "re_SECRETKEY", HTTPClient: &http.Client{Transport: s}}
	mailer := providers.Resend(o).Mailer()
	if err := mailer.Configure(noEnv); err != nil {
		t.Fatal(err)
	}
	if err := mailer.Send(t.Context(), l); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("error %v", err)
	}
}

// TestOwnContent checks that the application can write the emails of all kinds.
func TestOwnContent(t *testing.T) {
	own := providers.EmailOptions{Content: func(m core.Email) (providers.EmailContent, error) {
		return providers.EmailContent{Subject: string(m.Kind)}, nil
	}}
	for kind := range kinds {
		if l, err := own.Write(letterOf(kind)); err != nil || l.Subject != string(kind) {
			t.Errorf("%s: %v, %v", kind, l, err)
		}
	}
}

// TestMailerSendsEveryKind: one Mailer also serves a provider of sign-in links.
func TestMailerSendsEveryKind(t *testing.T) {
	var got []mailkind.Kind
	p := &core.EmailProvider{Send: func(_ context.Context, l core.Email) error {
		got = append(got, l.Kind)
		return nil
	}}
	mailer := p.Mailer()
	if err := mailer.Configure(noEnv); err != nil {
		t.Fatal(err)
	}
	if err := mailer.Send(t.Context(), letterOf(mailkind.Reset)); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
