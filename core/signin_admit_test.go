package core_test

import (
	"context"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestNewBrowserIsReported signs in in a new browser or in a known one. A new browser is reported a day after the first
// sign-in, and once an hour.
func TestNewBrowserIsReported(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		after []time.Duration // before each further sign-in
		known bool            // they are in the first browser
		want  int
	}{
		"a new user":            {[]time.Duration{day - time.Minute}, false, 0},
		"a new browser":         {[]time.Duration{day}, false, 1},
		"a known browser":       {[]time.Duration{day}, true, 0},
		"two within an hour":    {[]time.Duration{day, 59 * time.Minute}, false, 1},
		"two more than an hour": {[]time.Duration{day, time.Hour}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mails, h := &mailServer{}, newHouse()
			var passed atomic.Int64 // since start; emails are sent in the background
			a := newApp(t, core.Config{
				Store: h, Now: func() time.Time { return start.Add(time.Duration(passed.Load())) },
				Providers: []core.Provider{&core.CredentialsProvider{
					Authorize: func(ctx context.Context, _ map[string]string, _ *core.Request) (*core.User, error) {
						return h.User(ctx, "1")
					},
				}},
				Plugins: []core.Plugin{partFunc(func(p *core.PluginHost) error {
					p.RememberBrowsers()
					p.NotifyMethodChanges("account", mails)
					return nil
				})},
			})
			first := visit(t, a)
			first.submit("/auth/callback/credentials", url.Values{})
			for _, d := range row.after {
				passed.Add(int64(d))
				b := visit(t, a)
				if row.known {
					b = first
				}
				b.submit("/auth/callback/credentials", url.Values{})
			}
			if err := a.FlushMail(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := mails.got("1@example.com"); n != row.want {
				t.Errorf("%d emails, want %d", n, row.want)
			}
		})
	}
}

// TestLastUsedMethodHasWorked signs in by each method in a browser whose sign-in page has stored an attempt. Only the
// response that starts the session says that it worked: not a start, a failure or a gate, and not to another client.
func TestLastUsedMethodHasWorked(t *testing.T) {
	t.Parallel()
	const attempt = "latchkey-tried"
	for _, strategy := range strategies {
		for _, signInCase := range signInCases {
			t.Run(string(strategy)+" "+signInCase.name, func(t *testing.T) {
				t.Parallel()
				w, _, _ := gatedTown(t, strategy, &toyFactor{name: "toyfactor"})
				w.withAda()
				b, plain := w.browser(), w.browser()
				b.cookies[attempt] = "1"
				b.submit("/auth/signin/plain", nil)
				b.get("/auth/callback/plain?error=access_denied")
				for _, one := range []*browser{b, plain} {
					signInCase.in(w, one)
				}
				if b.cookies[attempt] != "1" {
					t.Error("an attempt has worked before the user is signed in")
				}
				for _, one := range []*browser{b, plain} {
					one.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
				}
				if c := b.set[attempt]; c.Value != "ok" || c.Path != "/auth" || !c.Secure || c.HTTPOnly || c.Domain != "" {
					t.Errorf("the script gets %+v", c)
				}
				if _, set := plain.set[attempt]; set {
					t.Error("a client without the script gets the cookie")
				}
			})
		}
	}
}
