package core

import (
	"crypto/rand"
	"log/slog"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// defaults decides what the configuration leaves open.
func defaults(c *Config) {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the one place where the real clock comes in
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.StoreTimeout == 0 {
		c.StoreTimeout = 5 * time.Second
	}
	if c.Session.MaxAge == 0 {
		c.Session.MaxAge = 30 * 24 * time.Hour
	}
	switch c.Session.UpdateAge {
	case 0:
		c.Session.UpdateAge = 24 * time.Hour
	case Always:
		c.Session.UpdateAge = 0
	}
	if c.JWT.MaxAge == 0 {
		c.JWT.MaxAge = c.Session.MaxAge
	}
	if c.Session.Strategy == "" {
		c.Session.Strategy = StrategyJWT
		if _, ok := c.Store.(store.SessionStore); ok {
			c.Session.Strategy = StrategyDatabase
		}
	}
	if c.Theme.ColorScheme == "" {
		c.Theme.ColorScheme = "auto"
	}
}
