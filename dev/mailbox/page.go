package mailbox

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

//go:embed mailbox.html
var files embed.FS

// inbox is the list of emails and the selected one.
type inbox struct {
	Mails []Mail
	Open  *Mail
	// Show is "html", "text" or "headers", and Width the width of the HTML in pixels.
	Show    string
	Width   int
	Headers [][2]string
}

// inboxOf selects the email with the ID in the query, or the newest one.
func inboxOf(mails []Mail, query url.Values) inbox {
	in := inbox{Mails: mails, Show: query.Get("show"), Width: 640}
	if query.Get("width") == "390" {
		in.Width = 390
	}
	if len(mails) == 0 {
		return in
	}
	i := slices.IndexFunc(mails, func(m Mail) bool { return strconv.Itoa(m.ID) == query.Get("mail") })
	in.Open = &mails[max(i, 0)]
	in.Headers = headersOf(*in.Open)
	if in.Show != "text" && in.Show != "headers" {
		in.Show = "html"
	}
	return in
}

// headersOf returns the header fields as providers/smtp sends them, and the facts of an email.
func headersOf(m Mail) [][2]string {
	all := [][2]string{
		{"From", m.From}, {"To", m.Email.Recipient()}, {"Subject", m.Content.Subject},
		{"Date", m.Received.Format(time.RFC1123Z)}, {"Auto-Submitted", "auto-generated"},
		{"Kind", string(m.Kind)}, {"Site", m.Host}, {"Language", m.Email.Locale.Tag}, {"Device", m.Email.Device},
	}
	if m.Email.Peer.IsValid() {
		all = append(all, [2]string{"Network", m.Email.Peer.String()})
	}
	if !m.Expires.IsZero() {
		all = append(all, [2]string{"Link expires", m.Expires.Format(time.RFC1123Z)})
	}
	return slices.DeleteFunc(all, func(field [2]string) bool { return field[1] == "" })
}

// preview is a page with samples.
type preview struct {
	Kinds      []mailkind.Kind
	Languages  []string
	Kind, Lang string
	Samples    []previewed
}

type previewed struct {
	Kind    mailkind.Kind
	Lang    string
	Content Content
	Problem string
}

// preview returns samples of all kinds in all languages, or of the kind and language in the query.
func (b *Mailbox) preview(mails []Mail, query url.Values) preview {
	p := preview{Kinds: mailkind.All(), Kind: query.Get("kind"), Lang: query.Get("lang")}
	for _, kind := range p.Kinds {
		for _, locale := range locales.All() {
			if kind == p.Kinds[0] {
				p.Languages = append(p.Languages, locale.Tag)
			}
			if p.Kind != "" && p.Kind != string(kind) || p.Lang != "" && p.Lang != locale.Tag {
				continue
			}
			each := previewed{Kind: kind, Lang: locale.Tag}
			var err error
			if each.Content, err = b.write(sample(kind, locale, mails)); err != nil {
				each.Problem = err.Error()
			}
			p.Samples = append(p.Samples, each)
		}
	}
	return p
}

// sample returns an email of a kind with the facts that it usually has. It has the theme of the newest captured email.
func sample(kind mailkind.Kind, locale ui.Locale, mails []Mail) core.Email {
	at := time.Date(2026, time.March, 5, 16, 4, 0, 0, time.UTC)
	e := core.Email{
		To: "ada@example.com", Kind: kind, Locale: locale, Host: "app.example", Expires: at.Add(time.Hour),
		URL: "https://app.example/auth/sample?token=" + core.Secret(strings.Repeat("5f0c9d3e", 8)),
	}
	if len(mails) > 0 {
		e.Theme = mails[0].Email.Theme
	}
	switch kind {
	case mailkind.SignIn:
		e.Code = "471103"
		return e
	case mailkind.Reauth:
		e.Code, e.URL = "471103", ""
		return e
	case mailkind.OrganizationInvite:
		e.Organization = "Acme & Söhne"
		return e
	case mailkind.OrganizationRequest, mailkind.OrganizationJoined:
		e.Organization, e.Expires = "Acme & Söhne", time.Time{}
		return e
	case mailkind.Verify, mailkind.Exists, mailkind.VerifyPasskey, mailkind.ExistsPasskey, mailkind.Reset,
		mailkind.AddressChange, mailkind.Invite:
		return e
	case mailkind.Deleted:
		e.URL = ""
	case mailkind.AccountLinked, mailkind.AccountUnlinked:
		e.Service = "GitHub"
	}
	if kind != mailkind.AddressChanged {
		e.Expires = time.Time{}
	}
	e.At, e.Device, e.Peer = at, "Firefox, Windows", netip.MustParsePrefix("192.0.2.7/32")
	return e
}

// servePage executes a template of mailbox.html. Its styles and its script have a nonce.
func servePage(w http.ResponseWriter, name string, data any) {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails
	nonce := base64.RawStdEncoding.EncodeToString(raw[:])
	funcs := template.FuncMap{"nonce": func() string { return nonce }}
	page, err := template.New("").Funcs(funcs).ParseFS(files, "mailbox.html")
	var out bytes.Buffer
	if err == nil {
		err = page.ExecuteTemplate(&out, name, data)
	}
	if err != nil {
		http.Error(w, "mailbox: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; script-src 'nonce-"+nonce+"'; connect-src 'self'; "+
			"frame-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	_, _ = w.Write(out.Bytes()) // fails only if the browser has disconnected
}

// serveHTML serves the HTML of one email or sample, for a frame of the page. Scripts in it are blocked, and its links
// open in the whole window.
func (b *Mailbox) serveHTML(w http.ResponseWriter, mails []Mail, query url.Values) {
	html := ""
	if i := slices.IndexFunc(mails, func(m Mail) bool { return strconv.Itoa(m.ID) == query.Get("html") }); i >= 0 {
		html = mails[i].Content.HTML
	}
	if query.Get("html") == "sample" {
		for _, each := range b.preview(mails, query).Samples {
			html = each.Content.HTML
		}
	}
	if html == "" {
		http.Error(w, "mailbox: there is no such email", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; "+
		"frame-ancestors 'self'; form-action 'none'; sandbox allow-top-navigation-by-user-activation")
	_, _ = io.WriteString(w, strings.Replace(html, "<head>", "<head><base target=\"_top\">", 1))
}
