package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
)

func mail(to string) core.Email {
	return core.Email{
		To: to, From: "no-reply@app.example", Kind: mailkind.SignIn, Host: "app.example", Expires: time.Now(),
		URL: "http://localhost:3000/auth/callback/email?token=t&email=" + core.Secret(to),
	}
}

func TestShowsEmails(t *testing.T) {
	box := mailbox.New()
	if err := box.Send(t.Context(), mail("ada@example.com")); err != nil {
		t.Fatal(err)
	}
	_ = box.Send(t.Context(), mail(`"><script>x</script>@example.com`))
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/mailbox", nil)
	r.RemoteAddr = "127.0.0.1:1"
	box.ServeHTTP(w, r)
	body := w.Body.String()
	if !strings.Contains(body, "ada@example.com") || strings.Contains(body, "<script>") ||
		!strings.Contains(body, "token=t") {
		t.Errorf("page %s", body)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for name, row := range map[string][3]string{
		"another machine": {"192.0.2.1:1", "localhost", ""}, "another name": {"127.0.0.1:1", "evil.example", ""},
		"through a proxy":           {"127.0.0.1:1", "localhost", "X-Forwarded-For"},
		"through a proxy, RFC 7239": {"127.0.0.1:1", "localhost", "Forwarded"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://"+row[1]+"/mailbox", nil)
		r.RemoteAddr = row[0]
		if row[2] != "" {
			r.Header.Set(row[2], "for=192.0.2.1")
		}
		mailbox.New().ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: answered %d", name, w.Code)
		}
	}
}

// TestRefusesSitesOnHTTPS: a proxy on this machine may forward requests for the mailbox without a trace. Therefore a
// site on https cannot use the mailbox.
func TestRefusesSitesOnHTTPS(t *testing.T) {
	for address, want := range map[string]int{
		"http://localhost:3000/auth/x": 200, "https://localhost:3000/auth/x": 200, "https://127.0.0.1/auth/x": 200,
		"http://app.example/auth/x": 200, "https://app.example/auth/x": 403,
	} {
		box := mailbox.New()
		if err := box.Send(t.Context(), core.Email{To: "ada@example.com", URL: core.Secret(address)}); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/mailbox", nil)
		r.RemoteAddr = "127.0.0.1:1"
		if box.ServeHTTP(w, r); w.Code != want {
			t.Errorf("an email with a link to %s: status %d, want %d", address, w.Code, want)
		}
		err := box.Configure(func(name string) string { return map[string]string{"AUTH_URL": address}[name] })
		if (err != nil) != (want == 403) {
			t.Errorf("AUTH_URL=%s: %v", address, err)
		}
	}
}

func TestWaitAndBound(t *testing.T) {
	box := mailbox.New()
	go func() {
		for i := range 80 {
			_ = box.Send(context.Background(), mail(fmt.Sprintf("%d@example.com", i)))
		}
	}()
	if _, err := box.Wait(t.Context(), "79@example.com"); err != nil {
		t.Fatal(err)
	}
	if n := len(box.Mails()); n != 50 {
		t.Errorf("%d mails kept", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.Wait(ctx, "nobody@example.com"); err == nil {
		t.Error("waited for an email to no address without an error")
	}
}

// TestEveryKind shows an email that is not a sign-in email, and one without a link.
func TestEveryKind(t *testing.T) {
	box := mailbox.New()
	for _, l := range []core.Email{
		{To: "ada@example.com", Kind: mailkind.Reset, URL: "http://app.example/reset?token=t", Host: "app.example",
			Code: "471100", Expires: time.Now()},
		{To: "bob@example.com", Kind: mailkind.Deleted, Host: "app.example"},
	} {
		if err := box.Send(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	got, err := box.Wait(t.Context(), "ada@example.com")
	want := mailbox.Mail{Kind: mailkind.Reset, URL: "http://app.example/reset?token=t", Code: "471100"}
	if err != nil || got.Kind != want.Kind || got.URL != want.URL || got.Code != want.Code {
		t.Errorf("mail %+v, error %v", got, err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/mailbox", nil)
	r.RemoteAddr = "127.0.0.1:1"
	box.ServeHTTP(w, r)
	for _, want := range []string{"reset · app.example", "deleted · app.example", "471100", "token=t"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %s: %s", want, w.Body)
		}
	}
	if n := strings.Count(w.Body.String(), "class=\"button\""); n != 1 {
		t.Errorf("%d links for one email that has one", n)
	}
}

// TestShowsContent: the page shows the subject, HTML and text that the recipient would see.
func TestShowsContent(t *testing.T) {
	type content struct{ Subject, Text, HTML string }
	box := mailbox.NewWith(func(l core.Email) (content, error) {
		if l.Kind == mailkind.Deleted {
			return content{}, errors.New("no texts")
		}
		return content{"Subject <1>", "Text <2>", "<html><head><title>T</title></head><script>x</script></html>"}, nil
	})
	if err := box.Send(t.Context(), core.Email{
		To: "ada@exämple.com", Kind: mailkind.Reset, Device: "Firefox, Linux", Peer: netip.MustParsePrefix("192.0.2.7/32"),
	}); err != nil {
		t.Fatal(err)
	}
	if err := box.Send(t.Context(), core.Email{To: "b@example.com", Kind: mailkind.Deleted}); err == nil {
		t.Error("an email that cannot be written was sent")
	}
	if n := len(box.Mails()); n != 1 {
		t.Errorf("%d emails, want 1", n)
	}
	get := func(target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/mailbox"+target, nil)
		r.RemoteAddr = "127.0.0.1:1"
		box.ServeHTTP(w, r)
		return w
	}
	for target, all := range map[string][]string{
		"":                       {"Subject &lt;1&gt;", `src="?html=1"`, `class="w640"`, "sandbox="},
		"?mail=1&width=390":      {`class="w390"`},
		"?mail=1&show=text":      {"Text &lt;2&gt;"},
		"?mail=1&show=headers":   {"auto-generated", "xn--exmple-cua.com", "Subject &lt;1&gt;", "192.0.2.7/32"},
		"?mail=7&show=<script>1": {`src="?html=1"`},
	} {
		page := get(target).Body.String()
		for _, want := range all {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s: %s", target, want, page)
			}
		}
		if strings.Contains(page, "<script>1") {
			t.Errorf("%s shows a text of the query", target)
		}
	}
	frame := get("?html=1")
	policy := frame.Header().Get("Content-Security-Policy")
	if frame.Code != http.StatusOK || !strings.Contains(frame.Body.String(), `<base target="_top">`) ||
		!strings.Contains(policy, "sandbox") || strings.Contains(policy, "allow-scripts") ||
		!strings.Contains(policy, "default-src 'none'") {
		t.Errorf("frame: status %d, policy %q, body %s", frame.Code, policy, frame.Body)
	}
	for _, id := range []string{"2", "0", "x", "-1"} {
		if w := get("?html=" + id); w.Code != http.StatusNotFound {
			t.Errorf("html of email %s: status %d", id, w.Code)
		}
	}
}

// TestPreview: the preview shows each kind of email in each language, or those of one kind or language.
func TestPreview(t *testing.T) {
	box := mailbox.NewWith(providers.WriteEmail)
	err := box.Send(t.Context(), core.Email{
		To: "ada@example.com", Kind: mailkind.Reset, Theme: core.Theme{Name: "Acme <b>"}, URL: "http://localhost/reset",
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(target string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/mailbox"+target, nil)
		r.RemoteAddr = "127.0.0.1:1"
		box.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	kinds := len(mailkind.All())
	for target, want := range map[string]int{
		"?preview": kinds * 8, "?preview&lang=de": kinds, "?preview&kind=reset": 8, "?preview&kind=reset&lang=ar": 1,
		"?preview&kind=x": 0,
	} {
		status, page := get(target)
		if n := strings.Count(page, "<iframe"); status != http.StatusOK || n != want {
			t.Errorf("%s: status %d, %d emails, want %d", target, status, n, want)
		}
	}
	for _, kind := range mailkind.All() {
		status, page := get("?html=sample&lang=en&kind=" + string(kind))
		if status != http.StatusOK || !strings.Contains(page, "<bdi>Acme &lt;b&gt;</bdi>") {
			t.Errorf("%s: status %d, %s", kind, status, page)
		}
	}
	if status, _ := get("?html=sample&lang=en&kind=x"); status != http.StatusNotFound {
		t.Errorf("an unknown kind: status %d", status)
	}
	if status, page := get("?preview"); status != http.StatusOK || strings.Contains(page, "no texts") {
		t.Errorf("a kind has no texts: %s", page)
	}
}
