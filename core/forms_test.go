package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestFormActionsAcceptPosts sends requests with other methods to the form actions: a link to one starts no sign-in,
// ends no session and shows no page (docs/protocol.md §1.2).
func TestFormActionsAcceptPosts(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), plainOAuth()}})
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", ""} {
		for _, target := range []string{"/in", "/in?providerId=plain", "/out"} {
			b := visit(t, a)
			signIn(t, b)
			r := b.request(method, target, "application/x-www-form-urlencoded", "csrfToken="+b.csrf())
			answer := a.SignIn(t.Context(), r)
			if target == "/out" {
				answer = a.SignOut(t.Context(), r)
			}
			if answer.Status != 405 || answer.Header.Get("Allow") != "POST" || answer.Err == nil || answer.Redirect != "" ||
				len(answer.Cookies) > 0 {
				t.Errorf("%s %s has status %d, %v, to %q", method, target, answer.Status, answer.Header, answer.Redirect)
			}
		}
	}
	if log := a.log.String(); !strings.Contains(log, "route only POST requests to it") || strings.Contains(log, "ERROR") {
		t.Errorf("the log says %s", log)
	}
}

// TestFailuresOfFormActions checks that failures of the form actions are returned to the application, and that only the
// cookies and headers of a failure are set (docs/protocol.md §11.2).
func TestFailuresOfFormActions(t *testing.T) {
	t.Parallel()
	waits := core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
		if p.Credentials["password"] == "again" {
			return 90 * time.Second, nil
		}
		return 0, nil
	}}
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), plainOAuth()}, Callbacks: waits})
	for _, row := range []struct {
		name, password, provider, token string
		class                           core.ErrorType
		header                          http.Header
	}{
		{"wrong", "wrong", "credentials", "good", core.ErrCredentialsSignin, http.Header{}},
		{"no token", "engine", "credentials", "", core.ErrMissingCSRF, http.Header{}},
		{"too soon", "again", "credentials", "good", core.ErrTooManyRequests, http.Header{"Retry-After": {"90"}}},
		{"right", "engine", "credentials", "good", "", http.Header{}},
		{"a sign-in that begins", "", "plain", "good", "", http.Header{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, a)
			form := url.Values{"providerId": {row.provider}, "email": {"ada@example.com"}, "password": {row.password}}
			if row.token != "" {
				form.Set("csrfToken", b.csrf())
			}
			response := a.SignIn(t.Context(), b.request("POST", "/in", "application/x-www-form-urlencoded", form.Encode()))
			header := http.Header{}
			err := response.Failure(header)
			if row.class == "" {
				if err != nil || len(header) > 0 {
					t.Errorf("a success fails: %v, %v", err, header)
				}
				return
			}
			if !errors.Is(err, row.class) || !maps.EqualFunc(header, row.header, slices.Equal) {
				t.Errorf("%v with %v", err, header)
			}
		})
	}
	// Header fields of a failure, for example to delete a session.
	failed := &core.Response{Err: core.ErrAccessDenied, Cookies: []core.Cookie{{Name: "a", Value: "1"}, {Name: "b"}}}
	header := http.Header{"Set-Cookie": {"mine=1"}}
	if err := failed.Failure(header); !errors.Is(err, core.ErrAccessDenied) ||
		!slices.Equal(header["Set-Cookie"], []string{"mine=1", "a=1", "b="}) {
		t.Errorf("%v with %v", err, header)
	}
}
