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
