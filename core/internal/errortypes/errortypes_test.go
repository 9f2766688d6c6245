package errortypes

import (
	"log/slog"
	"slices"
	"testing"
)

// TestTypes: a browser sees the name of a type, or only that the configuration is wrong. The sign-in page shows the
// errors after which the user can try again.
func TestTypes(t *testing.T) {
	t.Parallel()
	if got := Of("AdapterError"); got != (Type{Public: "Configuration", Level: slog.LevelError}) {
		t.Errorf("another type: %+v", got)
	}
	hidden, shown := 0, []string{}
	for name, has := range types {
		switch {
		case has.Public == "Configuration":
			hidden++
		case has.Public != name && name != "EmailSignInError":
			t.Errorf("%s: browsers see %q", name, has.Public)
		}
		if (has.Status == 0) != (has.Code == "") || has.Status != 0 && has.Status < 400 || Of(name) != has {
			t.Errorf("%s: %+v", name, has)
		}
		if has.OnSignInPage {
			shown = append(shown, name)
		}
	}
	slices.Sort(shown)
	if hidden != 7 || !slices.Equal(shown, []string{
		"AccountNotLinked", "ChallengeFailed", "CredentialsSignin", "EmailSignInError", "MissingCSRF",
		"OAuthAccountNotLinked", "OAuthCallbackError", "OAuthSignInError", "TooManyFailures",
	}) {
		t.Errorf("%d types are hidden, and the sign-in page shows %q", hidden, shown)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]slog.Level{
		"AccessDenied": slog.LevelInfo, "UnknownAction": slog.LevelInfo, "InvalidCheck": slog.LevelWarn,
		"MissingCSRF": slog.LevelWarn, "TooManyRequests": slog.LevelWarn, "OAuthCallbackError": slog.LevelError,
		"EmailSignInError": slog.LevelError, "AuthError": slog.LevelError,
	} {
		if got := Of(name).Level; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
