package providers

import (
	"mime"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// TestEmailsInEveryLanguage writes every kind of email in every language.
func TestEmailsInEveryLanguage(t *testing.T) {
	for _, l := range locales.All()[1:] {
		for kind, english := range emailTexts {
			t.Run(l.Tag+" "+string(kind), func(t *testing.T) { writesIn(t, l, kind, english) })
		}
	}
}

func writesIn(t *testing.T, l ui.Locale, kind mailkind.Kind, english emailText) {
	written, err := WriteEmail(core.Email{
		Kind: kind, Locale: l, Host: "app.example", URL: "https://app.example/l?t=1&u=2", Code: "123456",
		At:      time.Date(2026, 3, 5, 16, 4, 0, 0, time.UTC),
		Expires: time.Date(2026, 3, 6, 16, 4, 0, 0, time.UTC), Peer: netip.MustParsePrefix("192.0.2.0/24"),
		Device: "Firefox, Windows",
	})
	if err != nil {
		t.Fatal(err)
	}
	before, after := l.Around(ui.Text{Key: "email." + string(kind) + ".subject"})
	if want := before + "app.example" + after; written.Subject != want {
		t.Errorf("subject %q, want %q", written.Subject, want)
	}
	encoded := mime.BEncoding.Encode("utf-8", written.Subject)
	if decoded, err := new(mime.WordDecoder).DecodeHeader(encoded); err != nil || decoded != written.Subject {
		t.Errorf("the subject changes in a header: %q", decoded)
	}
	document := ` lang="` + l.Tag + `"`
	if l.Dir != "" {
		document += ` dir="rtl"`
	}
	if !strings.Contains(written.HTML, document+`><head>`) {
		t.Errorf("the document is %.80s", written.HTML)
	}
	if l.Dir != "" && !strings.Contains(written.HTML, `<table role="presentation" dir="rtl"`) {
		t.Error("no text direction for mail clients that drop the html element")
	}
	for _, words := range append(english.body, english.footer, english.button, "Time:", "Device:", "range:",
		"expires on", "sent this") {
		if words != "" && (strings.Contains(written.Text, words) || strings.Contains(written.HTML, words)) {
			t.Errorf("says %q", words)
		}
	}
	footer := l.Texts["email."+string(kind)+".footer"]
	for _, words := range []string{"192.0.2.0/24", "Firefox, Windows", "https://app.example/l?t=1", footer} {
		if !strings.Contains(written.Text, words) {
			t.Errorf("the text does not say %q:\n%s", words, written.Text)
		}
	}
	if left := regexp.MustCompile(`%s|%!`).FindString(written.Text + written.HTML + written.Subject); left != "" {
		t.Errorf("there is a %s", left)
	}
}

// TestSignInEmailInEveryLanguage writes the sign-in email of the services.
func TestSignInEmailInEveryLanguage(t *testing.T) {
	for _, l := range locales.All()[1:] {
		written, err := WriteEmail(
			core.Email{Kind: mailkind.SignIn, Host: "app.example", URL: "https://app.example/l", Locale: l},
		)
		if err != nil || !strings.Contains(written.HTML, l.Texts["email.sign-in.footer"]) ||
			strings.Contains(written.Text+written.HTML, "Sign in") {
			t.Errorf("%s: %v\n%s", l.Tag, err, written.Text)
		}
	}
}
