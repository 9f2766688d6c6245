package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/examples/internal/surf"
)

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
	browser := surf.New(t)
	browser.Submit(browser.Open(server.URL+"/"), "/auth/signin/email", "email", "Ada@Example.com")
	sent := mails.Mails()
	if len(sent) != 1 {
		t.Fatalf("%d emails", len(sent))
	}
	if page := browser.Open(sent[0].URL); !strings.Contains(page.Body, "Hello, ada@example.com") {
		t.Errorf("after the sign-in: %s", page.Body)
	}
	row, err := s.queries.PersonByEmail(t.Context(), emailColumn("ada@example.com"))
	if err != nil || !row.EmailConfirmedAt.Valid || row.Plan != "free" {
		t.Fatalf("person confirmed %v, plan %q, error %v", row.EmailConfirmedAt.Valid, row.Plan, err)
	}
	if devices, err := s.queries.DevicesOfPerson(t.Context(), row.ID); err != nil || len(devices) != 1 {
		t.Errorf("%d devices, error %v", len(devices), err)
	}
}
