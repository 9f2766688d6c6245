package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers"
)

// google requests access to the calendar, and a refresh token: Google only sends one with access_type=offline.
func google() core.Provider {
	return providers.Google(providers.Options{
		AddScope:            "https://www.googleapis.com/auth/calendar.readonly",
		AuthorizationParams: url.Values{"access_type": {"offline"}, "prompt": {"consent"}},
	})
}

const events = "https://www.googleapis.com/calendar/v3/calendars/primary/events"

// calendar must be protected by RequireSession.
func calendar(auth *core.Auth, accounts store.AccountStore) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		account, err := googleAccount(r, auth, accounts)
		if errors.Is(err, core.ErrInvalidGrant) || errors.Is(err, core.ErrNotFound) {
			http.Redirect(w, r, "/auth/signin", http.StatusSeeOther) // the user must sign in with Google again
			return
		}
		if err != nil {
			http.Error(w, "Please try again.", http.StatusBadGateway)
			return
		}
		ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, events, nil)
		if err != nil {
			panic(err) // cannot happen: the URL is a constant
		}
		ask.Header.Set("Authorization", "Bearer "+string(account.AccessToken))
		answer, err := http.DefaultClient.Do(ask)
		if err != nil {
			http.Error(w, "Please try again.", http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		_, _ = io.Copy(w, io.LimitReader(answer.Body, 1<<20))
	}
}

func googleAccount(r *http.Request, auth *core.Auth, accounts store.AccountStore) (*core.Account, error) {
	session, err := authhttp.Session(r)
	if err != nil {
		return nil, err
	}
	all, err := accounts.Accounts(r.Context(), session.UserID)
	if err != nil {
		return nil, err
	}
	for _, account := range all {
		if account.Provider == "google" {
			return auth.Refresh(r.Context(), account)
		}
	}
	return nil, core.ErrNotFound
}
