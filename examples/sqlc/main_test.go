package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/dev/mailbox"
)

var csrfToken = regexp.MustCompile(`"csrfToken":"([^"]+)"`)

// TestSignIn signs in with a link. The person and the device are rows of the application's tables.
func TestSignIn(t *testing.T) {
	s, mails := openStore(t), mailbox.New()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	auth, err := open(s, mails, server.URL, "a-secret-of-more-than-thirty-two-bytes")
	if err != nil {
		t.Fatal(err)
	}
	handler = routes(auth, mails)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	text := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	token := csrfToken.FindStringSubmatch(text(browser.Get(server.URL + "/auth/csrf")))[1]
	text(browser.PostForm(server.URL+"/auth/signin/email", url.Values{
		"csrfToken": {token}, "callbackUrl": {"/"}, "email": {"Ada@Example.com"},
	}))
	sent := mails.Mails()
	if len(sent) != 1 {
		t.Fatalf("%d emails", len(sent))
	}
	if page := text(browser.Get(sent[0].URL)); !strings.Contains(page, "Hello, ada@example.com") {
		t.Errorf("after the sign-in: %s", page)
	}
	row, err := s.queries.PersonByEmail(t.Context(), emailColumn("ada@example.com"))
	if err != nil || !row.EmailConfirmedAt.Valid || row.Plan != "free" {
		t.Fatalf("person confirmed %v, plan %q, error %v", row.EmailConfirmedAt.Valid, row.Plan, err)
	}
	if devices, err := s.queries.DevicesOfPerson(t.Context(), row.ID); err != nil || len(devices) != 1 {
		t.Errorf("%d devices, error %v", len(devices), err)
	}
}
