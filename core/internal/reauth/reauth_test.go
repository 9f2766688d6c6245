package reauth_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
)

var now = time.Unix(1_900_000_000, 0)

func seconds(t time.Time) json.Number { return json.Number(strconv.FormatInt(t.Unix(), 10)) }

// TestSatisfies checks which methods can satisfy a request.
func TestSatisfies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		has, adds []amr.Method
		want      bool
	}{
		{"a password", nil, []amr.Method{amr.Password}, false},
		{"a password after a password", []amr.Method{amr.Password}, []amr.Method{amr.Password}, false},
		{"a passkey", nil, []amr.Method{amr.SoftwareKey}, false},
		{"a passkey with user verification", nil, []amr.Method{amr.SoftwareKey, amr.User}, true},
		{"a passkey after a password", []amr.Method{amr.Password}, []amr.Method{amr.SoftwareKey}, true},
		{"a security key after a provider", []amr.Method{amr.Federated}, []amr.Method{amr.HardwareKey}, true},
		{"a one-time password", nil, []amr.Method{amr.OTP}, false},
		{"a one-time password after a password", []amr.Method{amr.Password}, []amr.Method{amr.OTP}, true},
		{"a passkey after a one-time password", []amr.Method{amr.OTP}, []amr.Method{amr.SoftwareKey}, false},
		{"a password after an email", []amr.Method{amr.Mail}, []amr.Method{amr.Password}, false},
		{"a provider after a password", []amr.Method{amr.Password}, []amr.Method{amr.Federated}, false},
		{"several", nil, []amr.Method{amr.Multiple}, true},
	} {
		if got := reauth.Satisfies(&flowstate.Reauth{Strong: true}, row.has, row.adds, false); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
		if !reauth.Satisfies(&flowstate.Reauth{}, row.has, row.adds, false) {
			t.Errorf("%s, without a requirement", row.name)
		}
	}
	class := &flowstate.Reauth{ACR: []string{"gold"}}
	if reauth.Satisfies(class, nil, nil, false) || !reauth.Satisfies(class, nil, nil, true) {
		t.Error("a class is satisfied by a method that reports none")
	}
}

// TestAuthTime checks how the claim auth_time is read.
func TestAuthTime(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		claim any
		want  time.Time
		known bool
	}{
		{"none", nil, time.Time{}, false},
		{"now", seconds(now), now, true},
		{"past", seconds(now.Add(-time.Hour)), now.Add(-time.Hour), true},
		{"future", seconds(now.Add(time.Hour)), now, true},
		{"a fraction", json.Number("1899999999.9"), now.Add(-time.Second), true},
		{"zero", json.Number("0"), time.Time{}, true},
		{"negative", json.Number("-1"), time.Time{}, true},
		{"text", "1900000000", time.Time{}, true},
	} {
		at, known := reauth.AuthTime(map[string]any{"auth_time": row.claim}, now)
		if !at.Equal(row.want) || known != row.known {
			t.Errorf("%s: %v, %t", row.name, at, known)
		}
	}
}

// code returns the code of a denial.
func code(err error) string {
	if denied, ok := errors.AsType[*reauth.Denied](err); ok && denied.Error() != "" && denied.Reason != "" {
		return denied.Code
	}
	return ""
}

// TestCheckSession checks that a response counts once, in the session that requested it.
func TestCheckSession(t *testing.T) {
	t.Parallel()
	r := &flowstate.Reauth{Session: "s1"}
	for _, row := range []struct {
		name, id string
		request  *flowstate.Reauth
		started  flowstate.Session
		want     string
	}{
		{"the session", "s1", r, flowstate.SameSession, ""},
		{"a renewed session", "s2", r, flowstate.SameSession, "reauth_replayed"},
		{"no session", "", &flowstate.Reauth{}, flowstate.SameSession, "reauth_replayed"},
		{"started in another session", "s1", r, flowstate.OtherSession, "reauth_replayed"},
	} {
		err := reauth.CheckSession(row.id, row.started, row.request)
		if code(err) != row.want || (err == nil) != (row.want == "") {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestCheck checks which responses show that the user has authenticated.
func TestCheck(t *testing.T) {
	t.Parallel()
	claims := func(at time.Time) map[string]any { return map[string]any{"auth_time": seconds(at)} }
	for _, row := range []struct {
		name     string
		response reauth.Response
		want     string
	}{
		{"a form", reauth.Response{UserID: "u1"}, ""},
		{"another user", reauth.Response{UserID: "u2"}, "other_user"},
		{"no user", reauth.Response{}, "other_user"},
		{"without auth_time", reauth.Response{UserID: "u1", External: true}, "stale"},
		{"asks always", reauth.Response{UserID: "u1", External: true, Always: true}, ""},
		{"just now", reauth.Response{UserID: "u1", External: true, Claims: claims(now)}, ""},
		{"within the skew", reauth.Response{UserID: "u1", External: true, Claims: claims(now.Add(-15 * time.Second))}, ""},
		{"before", reauth.Response{UserID: "u1", External: true, Claims: claims(now.Add(-16 * time.Second))}, "stale"},
		{"before, but asks always", reauth.Response{
			UserID: "u1", External: true, Always: true, Claims: claims(now.Add(-16 * time.Second)),
		}, "stale"},
	} {
		for _, class := range []string{"", "silver"} {
			r := &flowstate.Reauth{Started: now.Unix()}
			if class != "" {
				r.ACR, row.response.ACR = []string{"gold", "silver"}, class
			}
			err := row.response.Check("u1", r, now)
			if code(err) != row.want || (err == nil) != (row.want == "") {
				t.Errorf("%s, class %q: %v", row.name, class, err)
			}
		}
	}
	r := &flowstate.Reauth{ACR: []string{"gold"}}
	for _, class := range []string{"", "silver"} {
		response := reauth.Response{UserID: "u1", ACR: class}
		if err := response.Check("u1", r, now); code(err) != "acr_missing" {
			t.Errorf("the class %q: %v", class, err)
		}
	}
}

// TestShown checks the errors of the page.
func TestShown(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"other_user": "OtherUser", "stale": "StaleSignIn", "not_found": "Callback",
	} {
		if got := reauth.Shown(code); got != want {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// TestAddress checks that all parameters are escaped.
func TestAddress(t *testing.T) {
	t.Parallel()
	const base = "https://app.test/auth"
	got := reauth.Address(base, "op", "/a?b=1&c", true, []string{"gold", "silver"}, "step", "code")
	if got != base+"/reauth/op?callbackUrl=%2Fa%3Fb%3D1%26c&strong=1&acr_values=gold+silver&step=code" {
		t.Error(got)
	}
	if got := reauth.Address(base, "", "/", false, nil); got != base+"/reauth?callbackUrl=%2F" {
		t.Error(got)
	}
}

// TestGaps checks which configurations leave users without a method.
func TestGaps(t *testing.T) {
	t.Parallel()
	google := reauth.Provider{ID: "google", VerifiesEmail: true}
	github := reauth.Provider{ID: "github"}
	password := reauth.Provider{ID: "password", Shows: true}
	for _, row := range []struct {
		name        string
		setup       reauth.Setup
		ids         []string
		fault, hint string // a part
	}{
		{"a password", reauth.Setup{Providers: []reauth.Provider{password}, Required: true}, nil, "", ""},
		{
			"required", reauth.Setup{Providers: []reauth.Provider{google, github}, Required: true},
			[]string{"google", "github"}, "the providers google, github cannot show", "",
		},
		{
			"required, with a password", reauth.Setup{Providers: []reauth.Provider{google, password}, Required: true},
			[]string{"google"}, "", "pass a Mailer",
		},
		{
			"not required", reauth.Setup{Providers: []reauth.Provider{google}}, []string{"google"}, "", "pass a Mailer",
		},
		{"codes", reauth.Setup{Providers: []reauth.Provider{google}, Codes: true, Required: true}, nil, "", ""},
		{
			"codes, unverified addresses", reauth.Setup{Providers: []reauth.Provider{github}, Codes: true, Required: true},
			[]string{"github"}, "", "unverified address",
		},
	} {
		ids, fault, hint := row.setup.Gaps()
		if !slices.Equal(ids, row.ids) || !strings.Contains(fault, row.fault) || !strings.Contains(hint, row.hint) ||
			(fault == "") != (row.fault == "") || (hint == "") != (row.hint == "") {
			t.Errorf("%s: %v, %q, %q", row.name, ids, fault, hint)
		}
	}
}
