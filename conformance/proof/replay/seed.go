package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// seed adds recorded rows.
func (w *world) seed(all rows) error {
	for table, list := range all {
		for _, row := range list {
			if err := w.seedRow(table, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) seedRow(table string, row object) error {
	m := w.store
	text := func(name string) string { s, _ := row[name].(string); return s }
	switch table {
	case "users":
		u := core.User{
			ID: text("id"), Name: text("name"), Email: text("email"),
			Image: text("image"), EmailVerified: m.at(row["emailVerified"]),
		}
		m.users = append(m.users, u.AsStored())
	case "accounts":
		m.accounts = append(m.accounts, &core.Account{
			UserID: text("userId"), Type: core.ProviderType(text("type")),
			Provider: text("provider"), ProviderAccountID: text("providerAccountId"),
		})
	case "sessions":
		m.sessions = append(m.sessions, &store.Session{
			Token: core.Secret(text("sessionToken")), UserID: text("userId"), Expires: m.at(row["expires"]),
		})
	case "verificationTokens":
		m.tokens = append(m.tokens, &store.VerificationToken{
			Identifier: text("identifier"), Token: text("token"), Expires: m.at(row["expires"]),
		})
	case "authenticators":
		return w.seedPasskey(row)
	default:
		return fmt.Errorf("unknown table %q", table)
	}
	return nil
}

// seedPasskey adds a recorded row and the key of a software credential.
func (w *world) seedPasskey(row object) error {
	raw, err := base64.StdEncoding.DecodeString(row["credentialID"].(string))
	if err != nil {
		return err
	}
	key := row["credentialPublicKey"].(string)
	if key == "{{cosekey:1}}" {
		key = base64.StdEncoding.EncodeToString(w.soft.credential(string(raw)).PublicKey())
	}
	text := func(name string) string { s, _ := row[name].(string); return s }
	counter, _ := row["counter"].(json.Number).Int64()
	w.store.passkeys = append(w.store.passkeys, &store.Authenticator{
		CredentialID: text("credentialID"), UserID: text("userId"),
		ProviderAccountID: text("providerAccountId"), CredentialPublicKey: key,
		Counter: uint32(counter), CredentialDeviceType: text("credentialDeviceType"),
		CredentialBackedUp: row["credentialBackedUp"] == true, Transports: text("transports"),
	})
	return nil
}

// at returns a recorded time: {"$in": seconds from start}, a text, or null.
func (m *memory) at(v any) time.Time {
	switch v := v.(type) {
	case object:
		if n, ok := v["$in"].(interface{ Int64() (int64, error) }); ok {
			seconds, _ := n.Int64()
			return m.start.Add(time.Duration(seconds) * time.Second)
		}
	case string:
		t, _ := time.Parse(time.RFC3339, v)
		return t
	}
	return time.Time{}
}
