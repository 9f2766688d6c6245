package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"
)

// tokenFile stores the user's token in a file that only the user can read.
type tokenFile struct {
	config *oauth2.Config
	path   string
}

var errSignedOut = errors.New("you are not signed in: run login")

func (f *tokenFile) read() (*oauth2.Token, error) {
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errSignedOut
	} else if err != nil {
		return nil, err
	}
	token := &oauth2.Token{}
	return token, json.Unmarshal(raw, token)
}

// write replaces the file. A program that is interrupted leaves the old file or the new one.
func (f *tokenFile) write(token *oauth2.Token) error {
	raw, err := json.Marshal(token) //nolint:gosec // only the user can read the file
	if err != nil {
		return err
	}
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(folder, "token-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(raw)
	if err := errors.Join(err, next.Close()); err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return os.Rename(next.Name(), f.path)
}

// token returns a valid token, and refreshes the stored one if it has expired or the server has refused its access
// token. It returns errSignedOut if the user must sign in again.
func (f *tokenFile) token(ctx context.Context, refused string) (*oauth2.Token, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	token, err := f.read()
	if err != nil || token.Valid() && token.AccessToken != refused {
		return token, err
	}
	token.Expiry = time.Unix(1, 0)
	token, err = f.config.TokenSource(ctx, token).Token()
	var problem *oauth2.RetrieveError
	switch {
	case errors.As(err, &problem) && problem.ErrorCode == "invalid_grant": // the sign-in has ended
		return nil, errors.Join(errSignedOut, os.Remove(f.path))
	case err != nil:
		return nil, err
	}
	return token, f.write(token)
}

// lock prevents two processes from refreshing the token at the same time: a refresh token works once.
func (f *tokenFile) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	name := f.path + ".lock"
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in the user's folder
		if err == nil {
			return func() { _ = os.Remove(name) }, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Minute { // its process is gone
			_ = os.Remove(name)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
