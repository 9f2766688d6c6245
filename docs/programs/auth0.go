package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// newPasswords supports the format of the hashes. Keep Import in the running application.
func newPasswords(mail core.Mailer) *password.Provider {
	return password.New(password.Options{Mail: mail, LegacyHashes: []password.Verifier{password.Bcrypt()}})
}

// exported is one line of the file.
type exported struct {
	Email         string
	EmailVerified bool   `json:"email_verified"`
	PasswordHash  string `json:"passwordHash"`
}

// move imports the whole file. It may be called again.
func move(ctx context.Context, file io.Reader, to core.Store, passwords *password.Provider) error {
	lines := json.NewDecoder(file)
	for {
		var e exported
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := moveOne(ctx, e, to, passwords); err != nil {
			return err
		}
	}
}

func moveOne(ctx context.Context, e exported, to core.Store, passwords *password.Provider) error {
	email, err := core.NormalizeEmail(e.Email)
	if err != nil {
		return err
	}
	user := &core.User{ID: core.NewID(), Email: email}
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
	if err := passwords.Import(ctx, user.ID, e.PasswordHash); !errors.Is(err, core.ErrConflict) {
		return err
	}
	return nil
}
