package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/observe"
)

// mailServer is a Mailer that tests control. Its zero value delivers.
type mailServer struct {
	mu       sync.Mutex
	sent     []string      // recipients
	attempts []time.Time   // of all deliveries
	failures int           // the next deliveries that fail; negative: all
	hold     chan struct{} // if not nil, deliveries to hold@ addresses wait until it is closed
}

func (m *mailServer) Send(ctx context.Context, l core.Email) error {
	if m.hold != nil && strings.HasPrefix(l.To, "hold") {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts = append(m.attempts, time.Now())
	if m.failures != 0 {
		m.failures--
		return fmt.Errorf("451 %s: try again, %s", l.To, l.URL)
	}
	m.sent = append(m.sent, l.To)
	return nil
}

func (m *mailServer) got(to string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, each := range m.sent {
		if each == to {
			n++
		}
	}
	return n
}

// mailing is a plugin that emails links ("toy/link") and security notices ("toy/notice") to the address in the field
// "to".
type mailing struct {
	mailer core.Mailer
	undone func()
	host   *core.PluginHost
}

func (p *mailing) Attach(h *core.PluginHost) error {
	p.host = h
	h.RememberBrowsers()
	h.AddEmailSender(core.EmailSender{
		Name: "toy", Mailer: p.mailer,
		Write: func(_ context.Context, l core.Email, data json.RawMessage) (core.Email, error) {
			l.URL = "https://app.test/secret-link"
			return l, json.Unmarshal(data, &l.To)
		},
		Undo: func(context.Context, core.Email, json.RawMessage) {
			if p.undone != nil {
				p.undone()
			}
		},
	})
	email := func(c *core.ActionRequest, kind mailkind.Kind) core.BackgroundEmail {
		return core.BackgroundEmail{
			Sender: "toy", Email: core.Email{Kind: kind}, Data: c.Field("to"), Subject: c.Field("to"),
		}
	}
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "link",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			if err := c.SendLater(ctx, email(c, mailkind.Reset)); err != nil {
				return nil, &core.Problem{Status: 503, Code: "busy", Cause: err}
			}
			return c.JSON(ctx, http.StatusAccepted, nil), nil
		},
	})
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "notice",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			e := email(c, mailkind.PasswordChanged)
			e.UserID, e.Subject = "user of "+c.Field("to"), ""
			c.Notify(ctx, e)
			return c.JSON(ctx, http.StatusOK, nil), nil
		},
	})
	return nil
}

// ask requests an email and returns the status.
func (b *browser) ask(verb, to string) int {
	b.t.Helper()
	b.hasPage = true
	return b.submit("/auth/toy/"+verb, url.Values{"to": {to}}).Status
}

// TestMailIsTriedAgain checks that no email is lost if a mail server is unavailable for a moment.
func TestMailIsTriedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		failures int
		retries  []time.Duration
		want     []time.Duration // of the attempts
		sent     int
	}{
		"it works":     {0, nil, []time.Duration{0}, 1},
		"one failure":  {1, nil, []time.Duration{0, 10 * time.Second}, 1},
		"two failures": {2, nil, []time.Duration{0, 10 * time.Second, 70 * time.Second}, 1},
		"it never works": {-1, nil, []time.Duration{0, 10 * time.Second, 70 * time.Second, 190 * time.Second,
			490 * time.Second, 1090 * time.Second, 1990 * time.Second, 2890 * time.Second}, 0},
		"other retries":           {-1, []time.Duration{time.Hour}, []time.Duration{0, time.Hour}, 0},
		"no retries":              {-1, []time.Duration{}, []time.Duration{0}, 0},
		"a retry without waiting": {-1, []time.Duration{0, 0, 0}, []time.Duration{0, 0, 0, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				undone := 0
				server := &mailServer{failures: row.failures}
				var events []audit.Event
				var told []string
				a := newApp(t, core.Config{
					Mail:    core.MailConfig{Retries: row.retries},
					Plugins: []core.Plugin{&mailing{mailer: server, undone: func() { undone++ }}},
					Audit: func(_ context.Context, e audit.Event) {
						if e.Name == audit.EmailFailed {
							events = append(events, e)
						}
					},
					Observe: func(_ context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
						return nil, func(o observe.Outcome) { told = append(told, string(c.Target)+" "+c.Name+" "+string(o)) }
					},
				})
				began := time.Now()
				if status := visit(t, a).ask("link", "ada@example.com"); status != 202 {
					t.Fatalf("status %d", status)
				}
				time.Sleep(3 * time.Hour) //nolint:forbidigo // the clock of a synctest bubble
				if err := a.FlushMail(t.Context()); err != nil {
					t.Fatal(err)
				}
				var at []time.Duration
				for _, each := range server.attempts {
					at = append(at, each.Sub(began))
				}
				sameTimes := slices.EqualFunc(at, row.want, func(got, want time.Duration) bool {
					return got >= want && got <= want+want/10 // with jitter
				})
				if !sameTimes || server.got("ada@example.com") != row.sent {
					t.Errorf("attempts at %v, want %v; %d sent, want %d", at, row.want, server.got("ada@example.com"), row.sent)
				}
				failed := 1 - row.sent
				if len(events) != failed || undone != failed || strings.Count(a.log.String(), "level=ERROR") != failed {
					t.Errorf("%d audit events, %d undone, want %d: %s", len(events), undone, failed, a.log)
				}
				if failed == 1 && (events[0].Email != string(mailkind.Reset) || events[0].Subject == "" ||
					events[0].Reference == "" ||
					!strings.Contains(a.log.String(), "reference="+events[0].Reference) ||
					!strings.Contains(a.log.String(), "email=reset") ||
					!strings.Contains(a.log.String(), "subject="+events[0].Subject)) {
					t.Errorf("event %+v, log %s", events[0], a.log)
				}
				if strings.Contains(a.log.String(), "ada@") || strings.Contains(a.log.String(), "secret-link") {
					t.Errorf("the log has the address or the link: %s", a.log)
				}
				first := "mail reset failed"
				if row.failures == 0 {
					first = "mail reset ok"
				}
				if len(told) != len(row.want) || told[0] != first {
					t.Errorf("observed %q", told)
				}
			})
		})
	}
}

// TestFlushMail: a flush makes the attempts that are left without waiting, so that a shutdown is quick, and later
// emails wait between attempts again.
func TestFlushMail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &mailServer{failures: -1}
		a := newApp(t, core.Config{Plugins: []core.Plugin{&mailing{mailer: server}}})
		b := visit(t, a)
		began := time.Now()
		b.ask("link", "ada@example.com")
		synctest.Wait()
		if err := a.FlushMail(t.Context()); err != nil || len(server.attempts) != 8 || time.Since(began) > 0 {
			t.Errorf("%d attempts in %v, %v", len(server.attempts), time.Since(began), err)
		}
		b.ask("link", "ada@example.com")
		synctest.Wait()
		if len(server.attempts) != 9 {
			t.Errorf("%d attempts without waiting after a flush", len(server.attempts)-8)
		}
		server.hold = make(chan struct{})
		b.ask("link", "hold@example.com")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.FlushMail(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a flush that takes too long: %v", err)
		}
		close(server.hold)
		time.Sleep(time.Hour) //nolint:forbidigo // the clock of a synctest bubble
	})
}

// TestMailQueueFlood fills the queue with many or unidentified clients while the mail server accepts nothing. The owner
// in a known browser still gets a link, security notices are still sent, and memory is bounded.
func TestMailQueueFlood(t *testing.T) {
	for name, row := range map[string]struct {
		attacker func(i int, b *browser) // makes b the attacker's client of request i
		most     int                     // how many emails the attacker can have waiting, those being sent included
		others   bool                    // identified clients elsewhere get a link as well
	}{
		"one address":          {func(int, *browser) {}, 6, true},
		"a header of a proxy":  {func(_ int, b *browser) { b.header.Set("Via", "x") }, 96, true},
		"no peer":              {func(_ int, b *browser) { b.peer = "" }, 96, true},
		"addresses of one /64": {func(i int, b *browser) { b.peer = fmt.Sprintf("[2001:db8::%x]:1", i) }, 6, true},
		"networks of one /56":  {func(i int, b *browser) { b.peer = fmt.Sprintf("[2001:db8:0:%x::1]:1", i%256) }, 12, true},
		"networks of one /48":  {func(i int, b *browser) { b.peer = fmt.Sprintf("[2001:db8:0:%x::1]:1", i) }, 24, true},
		"a thousand of IPv4": {func(i int, b *browser) { b.peer = fmt.Sprintf("198.18.%d.%d:1", i/250, i%250) }, 256,
			false},
		"a thousand of a /32": {func(i int, b *browser) { b.peer = fmt.Sprintf("[2001:db8:%x::1]:1", i) }, 256, false},
		"headers of many kinds": {func(i int, b *browser) { b.header.Set("X-Forwarded-For", fmt.Sprint("198.18.0.", i)) },
			96, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &mailServer{hold: make(chan struct{})}
				plugin := &mailing{mailer: server}
				a := newApp(t, core.Config{Plugins: []core.Plugin{plugin}, Providers: []core.Provider{anybody()}})
				owner := visit(t, a)
				if !enter(owner, "ada@example.com") {
					t.Fatal("the owner does not sign in")
				}
				accepted := 0
				b := visit(t, a)
				b.peer = "203.0.113.9:1"
				for i := range 1000 {
					row.attacker(i, b)
					if status := b.ask("link", "hold@example.com"); status == 202 {
						accepted++
					} else if status != 503 {
						t.Fatalf("status %d", status)
					}
				}
				if accepted != row.most {
					t.Errorf("%d emails of the attacker wait, want %d", accepted, row.most)
				}
				owner.peer, owner.header = b.peer, b.header // the worst case: they look the same
				if status := owner.ask("link", "ada@example.com"); status != 202 {
					t.Errorf("the owner in a known browser gets %d", status)
				}
				if status := owner.ask("notice", "ada@example.com"); status != 200 {
					t.Errorf("a change: %d", status)
				}
				plugin.host.Notify(t.Context(), core.BackgroundEmail{
					Sender: "toy", Email: core.Email{Kind: mailkind.Deleted, To: "ada@example.com"}, UserID: "ada",
				})
				synctest.Wait()
				if n := server.got("ada@example.com"); n != 3 {
					t.Errorf("%d of three emails to the owner are sent", n)
				}
				other := visit(t, a)
				other.peer = "192.0.2.77:1"
				if status := other.ask("link", "hold@else.example"); (status == 202) != row.others {
					t.Errorf("another client gets %d", status)
				}
				close(server.hold)
				if err := a.FlushMail(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestNoticesAreNeverDropped: notices of one user beyond the queue's share are sent before the response, and those of
// other users do not wait for them.
func TestNoticesAreNeverDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &mailServer{hold: make(chan struct{})}
		a := newApp(t, core.Config{Plugins: []core.Plugin{&mailing{mailer: server}}})
		b := visit(t, a)
		for range 16 {
			b.ask("notice", "hold@example.com")
		}
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of a synctest bubble
			close(server.hold)
		}()
		if b.ask("notice", "hold@example.com"); time.Since(began) != 5*time.Second {
			t.Errorf("the response to one notice too many took %v", time.Since(began))
		}
		if err := a.FlushMail(t.Context()); err != nil || server.got("hold@example.com") != 17 {
			t.Errorf("%d of 17 notices are sent, %v", server.got("hold@example.com"), err)
		}
	})
}
