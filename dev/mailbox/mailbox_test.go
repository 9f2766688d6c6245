package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
)

func mail(to string) core.Email {
	return core.Email{
		To: to, From: "no-reply@app.example", Kind: core.EmailSignIn, Host: "app.example", Expires: time.Now(),
		URL: "http://localhost:3000/auth/callback/email?token=t&email=" + core.Secret(to),
	}
}

func TestShowsMails(t *testing.T) {
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

func TestAnswersThisMachineOnly(t *testing.T) {
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
		{To: "ada@example.com", Kind: core.EmailReset, URL: "http://app.example/reset?token=t", Host: "app.example",
			Code: "471100", Expires: time.Now()},
		{To: "bob@example.com", Kind: core.EmailDeleted, Host: "app.example"},
	} {
		if err := box.Send(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	got, err := box.Wait(t.Context(), "ada@example.com")
	want := mailbox.Mail{Kind: core.EmailReset, URL: "http://app.example/reset?token=t", Code: "471100"}
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
		if l.Kind == core.EmailDeleted {
			return content{}, errors.New("no texts")
		}
		return content{"Subject <1>", "Text <2>", "<html><head><title>T</title></head><script>x</script></html>"}, nil
	})
	if err := box.Send(t.Context(), core.Email{To: "ada@example.com", Kind: core.EmailReset}); err != nil {
		t.Fatal(err)
	}
	if err := box.Send(t.Context(), core.Email{To: "b@example.com", Kind: core.EmailDeleted}); err == nil {
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
	page := get("").Body.String()
	for _, want := range []string{"Subject &lt;1&gt;", "Text &lt;2&gt;", `src="?html=1"`, "sandbox="} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
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
