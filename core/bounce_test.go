package core_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// noUsers is a store without users.
type noUsers struct{ listed }

func (noUsers) UserByEmail(context.Context, string) (*core.User, error) { return nil, core.ErrNotFound }

// TestReportBounce: a report in any process ends the attempts to send an email to the address. Emails to other
// addresses, and those that are requested later, are sent.
func TestReportBounce(t *testing.T) {
	for name, row := range map[string]struct {
		report string // "" is none
		sent   int    // emails that were requested before
	}{
		"no report":           {"", 1},
		"the address":         {"ada@example.com", 0},
		"in another spelling": {" Ada@EXAMPLE.com ", 0},
		"another address":     {"bob@example.com", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := noUsers{listed{newShelf()}}
				var mu sync.Mutex
				var events []string
				open := func(m core.Mailer) *app {
					return newApp(t, core.Config{
						Store: kept, Now: time.Now, CleanUp: core.False, Session: core.SessionConfig{Strategy: core.StrategyJWT},
						Plugins: []core.Plugin{&mailing{mailer: m}}, Mail: core.MailConfig{Retries: []time.Duration{10 * time.Second}},
						Audit: func(_ context.Context, e audit.Event) {
							mu.Lock()
							defer mu.Unlock()
							if strings.HasPrefix(string(e.Name), "email.") {
								events = append(events, fmt.Sprint(e.Name, " ", e.Outcome, " ", e.Reason))
							}
						},
					})
				}
				server := &mailServer{failures: 1}
				a, other := open(server), open(server)
				visit(t, a).ask("link", "ada@example.com")
				synctest.Wait()
				if row.report != "" {
					for range 2 { // the mail service sends its webhook again
						if err := other.ReportBounce(t.Context(), row.report); err != nil {
							t.Fatal(err)
						}
					}
				}
				time.Sleep(time.Minute) //nolint:forbidigo // the clock of a synctest bubble
				synctest.Wait()
				if n := server.got("ada@example.com"); n != row.sent {
					t.Errorf("sent %d times, want %d", n, row.sent)
				}
				mu.Lock()
				gaveUp := slices.Contains(events, "email.failed failed mail")
				bounced := slices.Contains(events, "email.bounced failed mail")
				mu.Unlock()
				if gaveUp != (row.sent == 0) || bounced != (row.report != "") {
					t.Errorf("audit events %q", events)
				}
				visit(t, a).ask("link", "ada@example.com")
				synctest.Wait()
				if n := server.got("ada@example.com"); n != row.sent+1 {
					t.Errorf("a later email was sent %d times", n-row.sent)
				}
				for _, r := range kept.records {
					if strings.Contains(strings.ToLower(r.Key+string(r.Value)), "example.com") {
						t.Errorf("the record contains the address: %s %s", r.Key, r.Value)
					}
				}
			})
		})
	}
}

// TestReportBounceRefuses what is not an address.
func TestReportBounceRefuses(t *testing.T) {
	a := newApp(t, core.Config{Session: core.SessionConfig{Strategy: core.StrategyJWT}})
	for _, text := range []string{"", "ada", "ada@", "ada@example.com, bob@example.com"} {
		if err := a.ReportBounce(t.Context(), text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	if err := a.ReportBounce(t.Context(), "ada@example.com"); err != nil { // without a store
		t.Error(err)
	}
}
