package problems

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/form"
)

// TestOf checks what a client learns about each error.
func TestOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("row 7")
	for name, row := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"a body that is too large": {&form.BodyError{Status: 413, Cause: cause}, 413, "bad_request"},
		"an unknown path":          {&BadRequest{Cause: autherr.New(autherr.UnknownAction, cause)}, 400, "bad_request"},
		"a wrapped one": {
			fmt.Errorf("x: %w", &BadRequest{Cause: autherr.New(autherr.AccessDenied, nil)}), 400, "bad_request",
		},
		"a callback URL":      {autherr.New(autherr.InvalidCallbackURL, cause), 400, "bad_request"},
		"a limit":             {autherr.New(autherr.TooManyRequests, &TooMany{Wait: time.Second}), 429, "too_many"},
		"the store is busy":   {autherr.New(autherr.AccessDenied, store.Unavailable(cause)), 503, "unavailable"},
		"no CSRF token":       {autherr.New(autherr.MissingCSRF, cause), 403, "missing_csrf"},
		"denied":              {autherr.New(autherr.AccessDenied, errormarks.ByServer(cause)), 403, "access_denied"},
		"a password":          {autherr.New(autherr.CredentialsSignin, cause), 401, "credentials"},
		"with a code":         {&autherr.Error{Type: autherr.CredentialsSignin, Code: "locked\n"}, 401, "locked"},
		"a check":             {autherr.New(autherr.InvalidCheck, cause), 400, "bad_request"},
		"a link":              {autherr.New(autherr.Verification, cause), 400, "bad_request"},
		"the store":           {autherr.New(autherr.Store, cause), 500, "server_error"},
		"an error of another": {cause, 500, "server_error"},
	} {
		if status, code := Of(row.err); status != row.status || code != row.code {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
}

// TestOfAction: the table of error types has the status of errors that would be a failure of the site elsewhere. The
// name for browsers is a member.
func TestOfAction(t *testing.T) {
	t.Parallel()
	named := func(name string) map[string]any { return map[string]any{"error": name} }
	for name, row := range map[string]struct {
		err     error
		status  int
		code    string
		members map[string]any
	}{
		"a link":         {autherr.Verification, 400, "bad_request", named("Verification")},
		"not linked":     {autherr.OAuthAccountNotLinked, 403, "account_not_linked", named("OAuthAccountNotLinked")},
		"unknown action": {autherr.UnknownAction, 404, "unknown_action", nil},
		"no provider":    {autherr.New(autherr.Auth, ErrNoProvider), 404, "unknown_provider", nil},
		"the store":      {autherr.Store, 500, "server_error", nil},
		"a limit":        {autherr.New(autherr.AccessDenied, &TooMany{}), 429, "too_many", nil},
	} {
		status, code := Of(row.err)
		status, code, members := OfAction(row.err, status, code)
		if status != row.status || code != row.code || !reflect.DeepEqual(members, row.members) {
			t.Errorf("%s: %d %s %v", name, status, code, members)
		}
	}
	status, code, _ := OfAction(autherr.Verification, http.StatusConflict, "taken")
	if status != http.StatusConflict || code != "taken" {
		t.Errorf("a problem of a plugin: %d %s", status, code)
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	if got := (&TooMany{Wait: time.Minute}).Error(); got != "core: too many attempts: retry after 1m0s" {
		t.Error(got)
	}
	bad := &BadRequest{Cause: autherr.New(autherr.UnknownAction, errors.New("x"))}
	if bad.Error() != "core: UnknownAction: x" || !errors.Is(bad, autherr.UnknownAction) {
		t.Error(bad)
	}
}
