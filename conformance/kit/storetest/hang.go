package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Hang checks the responses to a signed-in user while the database hangs: the service returns 503, the session stays
// valid, and everything works again afterwards without a restart. pause makes the database hang and resume ends it.
func (name Trouble) Hang(t *testing.T, store core.Store, pause, resume func()) {
	t.Helper()
	k := &kit{t, store}
	u := k.user("hang "+t.Name(), "")
	config := core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"0123456789abcdef0123456789abcdef"}, Store: store,
		StoreTimeout: patience, CleanUp: core.False,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	}
	patient, err := core.New(config)
	k.must(err)
	config.StoreTimeout = 300 * time.Millisecond // less than a call may take on a busy machine
	hurried, err := core.New(config)
	k.must(err)
	request := &core.Request{
		Method: "GET", Target: "/auth/session", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}
	cookies, err := patient.NewSession(t.Context(), request, u)
	k.must(err)
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)
	ask := func(a *core.Auth) *core.Response { return a.Handle(context.WithoutCancel(t.Context()), request) }
	if r := ask(patient); r.Status != http.StatusOK || string(r.Body) == "null" {
		t.Fatalf("before: %d %s", r.Status, r.Body)
	}

	pause()
	var visitors sync.WaitGroup
	for range 4 {
		visitors.Go(func() {
			r := ask(hurried)
			if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || len(r.Cookies) > 0 {
				t.Errorf("%s hangs, and a visitor is answered %d %s with %d cookies: %v",
					string(name), r.Status, r.Body, len(r.Cookies), r.Err)
			}
		})
	}
	visitors.Wait()
	resume()

	for back := time.Now(); ; {
		r := ask(hurried)
		if r.Status == http.StatusOK && strings.Contains(string(r.Body), fmt.Sprintf("%q", u.Name)) {
			return
		}
		if r.Status == http.StatusOK || time.Since(back) > patience {
			t.Fatalf("afterwards: %d %s: %v", r.Status, r.Body, r.Err)
		}
	}
}
