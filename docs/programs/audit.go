package main

import (
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/providers/password"
)

func newAuth(store core.Store, mail core.Mailer) (*core.Auth, error) {
	file, err := os.OpenFile("audit.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return core.New(core.Config{
		Store:     store,
		Providers: []core.Provider{password.New(password.Options{Mail: mail})},
		Audit:     audit.LogTo(slog.New(slog.NewJSONHandler(file, nil))),
		// The proxies in front of the application: without them, limits cannot identify clients.
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Limits: core.Limits{
			Shared: true, // several processes count together
			Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptMail: {Network: limit.Rate{Burst: 30, Every: time.Minute}}, // an office behind one address
			},
		},
	})
}
