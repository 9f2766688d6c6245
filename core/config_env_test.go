package core_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestTrustHostOfTheEnvironment checks that AUTH_TRUST_HOST is a boolean that applies if TrustHost is Default.
func TestTrustHostOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, variable, value string
		config                core.OptionalBool
		trusted, fault        bool
	}{
		{"true", "AUTH_TRUST_HOST", "true", core.Default, true, false},
		{"1", "AUTH_TRUST_HOST", "1", core.Default, true, false},
		{"a platform that sets the headers", "VERCEL", "1", core.Default, true, false},
		{"another", "CF_PAGES", "1", core.Default, true, false},
		{"the configuration alone", "", "", core.True, true, false},

		{"false", "AUTH_TRUST_HOST", "false", core.Default, false, false},
		{"0", "AUTH_TRUST_HOST", "0", core.Default, false, false},
		{"nothing", "", "", core.Default, false, false},
		{"the configuration goes first", "AUTH_TRUST_HOST", "true", core.False, false, false},

		{"no boolean", "AUTH_TRUST_HOST", "yes", core.Default, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			auth, err := core.New(core.Config{
				TrustHost: row.config, Secrets: []core.Secret{testSecret}, Logger: slog.New(slog.DiscardHandler),
				Getenv: func(name string) string { return map[string]string{row.variable: row.value}[name] },
			})
			if (err != nil) != row.fault {
				t.Fatalf("New says %v", err)
			}
			if row.fault {
				return
			}
			r := visit(t, auth).get("/auth/session")
			if got := r.Status == http.StatusOK; got != row.trusted {
				t.Errorf("got status %d", r.Status)
			}
		})
	}
}

// logOf returns the log of New and of one request.
func logOf(t *testing.T, config core.Config) string {
	t.Helper()
	var log bytes.Buffer
	config.Secrets, config.URL = []core.Secret{testSecret}, "https://app.test"
	config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if config.Getenv == nil {
		config.Getenv = func(string) string { return "" }
	}
	if config.Providers == nil {
		config.Providers = []core.Provider{passwords()}
	}
	config.InsecureNoLimits = true
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	visit(t, auth).get("/auth/csrf")
	return log.String()
}

// TestWarnings checks that the warning codes of Auth.js are logged exactly if their condition is true.
func TestWarnings(t *testing.T) {
	t.Parallel()
	passkeys := core.Config{
		EnableWebAuthn: true, Store: passkeyRows{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{&core.WebAuthnProvider{Verifier: anyPasskey{}}},
	}
	for code, config := range map[string]core.Config{
		"debug-enabled": {Debug: true},
		"csrf-disabled": {CSRF: core.InsecureSkipCSRFCheck()},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			if log := logOf(t, config); strings.Count(log, "level=WARN") != 1 || strings.Count(log, "code="+code) != 1 {
				t.Errorf("the log says\n%s", log)
			}
			for name, quiet := range map[string]core.Config{"defaults": {}, "passkeys": passkeys} {
				if log := logOf(t, quiet); strings.Contains(log, "level=WARN") {
					t.Errorf("%s: the log has\n%s", name, log)
				}
			}
		})
	}
}

// TestDebugLogsMore checks that debug messages are only logged with Debug.
func TestDebugLogsMore(t *testing.T) {
	t.Parallel()
	if log := logOf(t, core.Config{Debug: true}); !strings.Contains(log, "level=DEBUG") {
		t.Errorf("with Debug the log says\n%s", log)
	}
	if log := logOf(t, core.Config{}); strings.Contains(log, "level=DEBUG") {
		t.Errorf("without Debug the log says\n%s", log)
	}
}
