package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/password"
)

// firebase supports the format of the hashes. Keep it in Options.LegacyHashes of the running application.
func firebase(signerKey, saltSeparator string) password.Verifier {
	return password.Firebase(password.FirebaseParams{
		SignerKey: signerKey, SaltSeparator: saltSeparator, Rounds: 8, MemCost: 14,
	})
}

// exported is one user of users.json.
type exported struct {
	LocalID       string `json:"localId"`
	Email         string
	EmailVerified bool
	DisplayName   string
	PhotoURL      string `json:"photoUrl"`
	PasswordHash  string
	Salt          string
	Providers     []struct {
		ID    string `json:"providerId"`
		RawID string `json:"rawId"`
	} `json:"providerUserInfo"`
}

// ids maps Firebase's provider IDs to Latchkey's.
var ids = map[string]string{
	"google.com": "google", "github.com": "github", "facebook.com": "facebook", "apple.com": "apple",
}

// move imports the whole file. It may be called again.
func move(ctx context.Context, file io.Reader, to core.Store, passwords *password.Provider) error {
	var all struct{ Users []exported }
	if err := json.NewDecoder(file).Decode(&all); err != nil {
		return err
	}
	for _, e := range all.Users {
		if err := moveOne(ctx, e, to, passwords); err != nil {
			return errors.Join(errors.New("user "+e.LocalID), err)
		}
	}
	return nil
}

func moveOne(ctx context.Context, e exported, to core.Store, passwords *password.Provider) error {
	email, err := core.NormalizeEmail(e.Email)
	if err != nil {
		return err // no email address: decide what to do with phone and guest users
	}
	user := &core.User{ID: core.NewID(), Name: e.DisplayName, Email: email, Image: e.PhotoURL}
	if e.EmailVerified {
		user.EmailVerified = time.Now()
	}
	user, err = to.CreateUser(ctx, user)
	if errors.Is(err, core.ErrConflict) {
		user, err = to.UserByEmail(ctx, email)
	}
	if err != nil {
		return err
	}
	for _, p := range e.Providers {
		if ids[p.ID] == "" {
			continue
		}
		err := to.LinkAccount(ctx, &core.Account{
			UserID: user.ID, Type: store.TypeOIDC, Provider: ids[p.ID], ProviderAccountID: p.RawID,
		})
		if err != nil && !errors.Is(err, core.ErrConflict) {
			return err
		}
	}
	if e.PasswordHash == "" {
		return nil
	}
	err = passwords.Import(ctx, user.ID, "firebase$"+e.Salt+"$"+e.PasswordHash)
	if errors.Is(err, core.ErrConflict) {
		return nil
	}
	return err
}
