package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// recorder collects the trace entries of a request, in order.
type recorder struct {
	mu      sync.Mutex
	entries []object
}

func (r *recorder) add(entry object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entry)
}

func (r *recorder) take() []object {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.entries
	r.entries = nil
	return taken
}

// Enabled, Handle, WithAttrs and WithGroup make the recorder the log handler of the Auth under test.
func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	entry := object{"kind": "log"}
	record.Attrs(func(a slog.Attr) bool {
		if e, ok := a.Value.Any().(*core.Error); ok {
			entry["type"], entry["text"] = string(e.Type), e.Error()
		}
		return true
	})
	switch {
	case entry["type"] != nil || record.Level >= slog.LevelError: // Auth.js also logs a user's mistake as an error
		entry["level"] = "error"
	case record.Level >= slog.LevelWarn:
		entry["level"] = "warn"
		record.Attrs(func(a slog.Attr) bool {
			if a.Key == "code" {
				entry["code"] = a.Value.String()
			}
			return true
		})
	default:
		return nil
	}
	r.add(entry)
	return nil
}

// plain converts a value to generic JSON.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var out any
	if err := decodeExact(raw, &out); err != nil {
		return err.Error()
	}
	return out
}

// emailUnproved is the only claim in session tokens that Auth.js does not have: the user had not verified their email
// yet.
const emailUnproved = "email_unproved"

// plainToken returns a session token as Auth.js writes it.
func plainToken(t *core.Token) any {
	out := plain(t)
	if claims, ok := out.(object); ok {
		delete(claims, emailUnproved)
	}
	return out
}

// plainAccount returns an account as Auth.js writes it, including tokens.
func plainAccount(a *core.Account) object {
	if a == nil {
		return nil
	}
	out := object{}
	for name, raw := range a.Extra {
		out[name] = plain(raw)
	}
	for name, text := range map[string]string{
		"type": string(a.Type), "provider": a.Provider, "providerAccountId": a.ProviderAccountID, "userId": a.UserID,
		"access_token": string(a.AccessToken), "refresh_token": string(a.RefreshToken), "id_token": string(a.IDToken),
		"scope": a.Scope, "token_type": a.TokenType,
	} {
		if text != "" {
			out[name] = text
		}
	}
	if a.ExpiresIn != 0 {
		out["expires_in"] = plain(int64(a.ExpiresIn / time.Second))
	}
	if !a.ExpiresAt.IsZero() {
		out["expires_at"] = plain(a.ExpiresAtUnix())
	}
	if a.SessionState != nil {
		out["session_state"] = plain(a.SessionState)
	}
	if a.AuthorizationDetails != nil {
		out["authorization_details"] = plain(a.AuthorizationDetails)
	}
	return out
}
