package core

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// maxClockSkew is the smallest difference between this process's clock and a provider's clock that is logged. ID tokens
// and cookies have lifetimes of minutes, so a larger difference makes sign-ins fail.
const maxClockSkew = time.Minute

// clockCheck returns a function that compares the Date of responses with the clock, and logs the first large
// difference. It is safe for concurrent use.
func clockCheck(c *Config) func(host string, date time.Time) {
	log := &reporter{logger: c.Logger}
	var warned atomic.Bool
	return func(host string, date time.Time) {
		behind := date.Sub(c.Now()).Round(time.Second)
		if behind.Abs() <= maxClockSkew || warned.Swap(true) {
			return
		}
		log.warn(context.Background(), warnClockSkew, slog.String("provider_host", host),
			slog.Duration("clock_behind", behind),
			slog.String("hint", "the clock of this machine, or Config.Now, differs from the provider's: sign-ins may fail "+
				"as expired or not yet valid. Synchronize it with NTP"))
	}
}
