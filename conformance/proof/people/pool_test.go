package people_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

// newPooled returns an application, with webhooks, on a database with this number of connections.
func newPooled(t *testing.T, connections int) *site {
	t.Helper()
	address, err := url.Parse(engines.PostgresSchema(t))
	check(t, err)
	query := address.Query()
	query.Set("pool_max_conns", fmt.Sprint(connections))
	address.RawQuery = query.Encode()
	kept, err := postgres.Open(address.String(), postgres.Options{})
	check(t, err)
	t.Cleanup(func() { check(t, kept.Close()) })
	check(t, kept.Migrate(t.Context()))
	receiver := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(receiver.Close)
	mails := mailbox.New()
	built, err := build(kept, mails, mails, receiver.URL)
	check(t, err)
	t.Cleanup(func() { check(t, built.hooks.Flush(context.WithoutCancel(t.Context()))) })
	return &site{T: t, parts: built}
}

// TestOneConnection: no flow needs a second connection to the database while its transaction has one. Otherwise
// concurrent requests, each with one of the pool's connections, would all wait for another one.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	for _, f := range ends {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newPooled(t, 1)
			b, last := f.begin(s, "ada@example.com")
			s.ahead.Add(int64(time.Minute)) // what plugins have read before is outdated
			began := time.Now()
			r := s.auth.Handle(t.Context(), last.request())
			if took := time.Since(began); r.Status >= http.StatusInternalServerError || took > 20*time.Second {
				t.Errorf("answered %d after %v: %v", r.Status, took, r.Err)
			}
			b.keep(r.Cookies)
		})
	}
}

// TestNewUsersAtOnce: more new users sign in at the same time than the database has connections.
func TestNewUsersAtOnce(t *testing.T) {
	t.Parallel()
	s := newPooled(t, 2)
	browsers, last := make([]*browser, 12), make([]*lastRequest, 12)
	for i := range browsers {
		browsers[i], last[i] = beginMail(s, fmt.Sprintf("user%d@example.com", i))
	}
	s.ahead.Add(int64(time.Minute))
	answers := make([]*core.Response, len(browsers))
	won := together(len(browsers), func(i int) bool {
		answers[i] = s.auth.Handle(t.Context(), last[i].request())
		browsers[i].keep(answers[i].Cookies)
		return browsers[i].signedIn()
	})
	if won != len(browsers) {
		t.Errorf("%d of %d users are signed in: %v", won, len(browsers), answers[0].Err)
	}
}
