package secondfactor

import (
	"context"
	"crypto/subtle"
)

// Import enrolls an authenticator app of another system for a user. uri is its otpauth URI of type totp (SHA1, SHA256
// or SHA512, 6 to 8 digits), and the account's name in it becomes the name of the app. The user continues with the same
// app. Importing a secret again changes nothing. Errors do not contain the secret. The user gets no email and no
// recovery codes: import them with [Factors.ImportRecoveryCodes], or ask the user to create some on the settings page.
func (f *Factors) Import(ctx context.Context, userID, uri string) error {
	s := f.handlers.states
	k, label, err := parseURI(uri)
	if err != nil {
		return err
	}
	id, err := s.newID()
	if err != nil {
		return err
	}
	_, err = s.update(ctx, userID, func(st *state) error {
		for i := range st.Apps {
			old, err := s.open(&st.Apps[i], userID)
			if err != nil {
				return err
			}
			if subtle.ConstantTimeCompare(old.Secret, k.Secret) == 1 {
				return errUnchanged
			}
		}
		if len(st.Apps) >= maxApps {
			return errFull
		}
		now := s.host.Now().Unix()
		added := app{ID: id, Name: cleanName(label), Made: now, Used: now}
		if err := s.seal(&added, userID, &k); err != nil {
			return err
		}
		st.Apps = append(st.Apps, added)
		return s.changed(st)
	})
	return err
}

// ImportRecoveryCodes stores recovery codes of another system for a user: one to ten codes of at least eight
// characters, each with one of A to Z or longer than ten digits. Case, hyphens and spaces are ignored. Each works once,
// like the codes that this plugin creates, and the set is replaced when the user creates new codes. A user who has
// recovery codes keeps them, so importing again does not bring back a used code. Errors do not contain a code.
func (f *Factors) ImportRecoveryCodes(ctx context.Context, userID string, codes []string) error {
	return f.handlers.recovery.importCodes(ctx, userID, codes)
}
