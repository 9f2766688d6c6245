package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// It returns an email with all optional data of its kind.
func letter(kind mailkind.Kind, locale ui.Locale, theme core.Theme) core.Email {
	at := time.Date(2026, time.March, 5, 16, 4, 0, 0, time.UTC)
	l := core.Email{Kind: kind, Locale: locale, Host: "app.example.com", Theme: theme}
	if kind != mailkind.Deleted && kind != mailkind.Reauth {
		l.URL = "https://app.example.com/auth/callback/email?callbackUrl=https%3A%2F%2Fapp.example.com%2Faccount&token=" +
			core.Secret(strings.Repeat("5f0c9d3e", 8)) + "&email=ada%40example.com"
	}
	switch kind {
	case mailkind.SignIn, mailkind.Verify, mailkind.Reset, mailkind.AddressChange, mailkind.Invite:
		l.Expires = at.Add(24 * time.Hour)
	case mailkind.OrganizationInvite:
		l.Expires, l.Organization = at.Add(24*time.Hour), strings.Repeat("W", 64)
	case mailkind.OrganizationRequest, mailkind.OrganizationJoined:
		l.Organization = strings.Repeat("W", 64)
	default:
		l.At, l.Peer, l.Device = at, netip.MustParsePrefix("2001:db8:4a:1::/64"), "Firefox, Windows"
	}
	if kind == mailkind.Verify || kind == mailkind.Reauth {
		l.Code = "471103"
	}
	return l
}

// TestLetters displays emails as mail programs do: 320, 390 and 640 pixels wide, in light and dark mode, and without
// the elements that some programs remove. All kinds are tested in the language with the longest words, and the kind
// with the most content in every language. No email may be wider than its window or fetch anything, and axe must find
// nothing.
func TestLetters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		tag, kind, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		all := locales.All()
		i := slices.IndexFunc(all, func(l ui.Locale) bool { return l.Tag == tag })
		theme := core.Theme{}
		if tag == "de" {
			theme = core.Theme{Name: "Acme", BrandColor: "#0f766e"}
		}
		written, err := providers.WriteEmail(letter(mailkind.Kind(kind), all[max(i, 0)], theme))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		head, body, _ := strings.Cut(written.HTML, "<body")
		attributes, body, _ := strings.Cut(body, ">")
		head += "<body" + attributes + ">"
		if r.URL.Query().Has("bare") {
			head = `<!doctype html><html lang="` + tag + `"><title>Mail</title>`
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, head+"<main>"+body) // as a mail program embeds it
	}))
	t.Cleanup(server.Close)
	for _, tag := range []string{"en", "de", "fr", "es", "pt", "ja", "zh-Hans", "ar"} {
		t.Run(tag, func(t *testing.T) { lettersIn(visit(t, server.URL), tag) })
	}
}

// longest is the language with the longest words.
const longest = "de"

// complete are kinds of emails that together contain every element.
var complete = []mailkind.Kind{mailkind.Verify, mailkind.NewDevice, mailkind.Deleted}

// letterLooks are the looks of an email, with the query that removes elements. Neighbors with the same query share the
// opened page. The first one applies to every email.
var letterLooks = []struct {
	name, scheme, query string
	width               int64
}{
	{"320px", "light", "", 320}, {"390px-dark", "dark", "", 390}, {"light", "light", "", 640}, {"dark", "dark", "", 640},
	{"bare", "dark", "?bare", 640},
}

func lettersIn(v *visitor, tag string) {
	for _, kind := range mailkind.All() {
		if kind != mailkind.Verify && tag != longest {
			continue
		}
		for i, look := range letterLooks {
			if tag != longest && look.name != "320px" && look.name != "dark" || kind != mailkind.Verify && look.query != "" {
				continue
			}
			if i == 0 || look.query != letterLooks[i-1].query {
				v.open("/" + tag + "/" + string(kind) + look.query)
			}
			v.looks(tag, look.scheme, look.width, 400)
			if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
				v.Errorf("%s, %s: %d px wider than its window", kind, look.name, wide)
			}
			if tag == longest && slices.Contains(complete, kind) {
				v.accessible(string(kind) + ", " + look.name)
			}
			v.picture("letter-" + string(kind) + "-" + tag + "-" + look.name)
		}
	}
}
