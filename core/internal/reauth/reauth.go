// Package reauth has the rules of re-authentication: which sign-in methods can satisfy a request, and whether a
// response shows that the user of the session has authenticated since the request.
package reauth

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// TwoFactors reports whether the methods include two different kinds of factor.
func TwoFactors(methods []amr.Method) bool {
	has := func(one ...amr.Method) bool {
		return slices.ContainsFunc(one, func(m amr.Method) bool { return slices.Contains(methods, m) })
	}
	passkey := has(amr.HardwareKey, amr.SoftwareKey)
	return has(amr.Multiple) || passkey && has(amr.User) ||
		(passkey || has(amr.OTP)) && has(amr.Password, amr.Federated)
}

// AddMethods returns the methods of a session after the user has authenticated again with more.
func AddMethods(has, more []amr.Method) []amr.Method {
	all := slices.Clone(has)
	for _, m := range more {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// Satisfies reports whether a sign-in method can satisfy a request. has lists the methods of the session, adds those
// that the sign-in method adds. reportsACR means that it reports an authentication context class.
func Satisfies(r *flowstate.Reauth, has, adds []amr.Method, reportsACR bool) bool {
	return (len(r.ACR) == 0 || reportsACR) && (!r.Strong || TwoFactors(slices.Concat(has, adds)))
}

// AuthTime returns the claim auth_time of an ID token, at most now. known is false if there is none. An invalid value
// is the zero time.
func AuthTime(claims map[string]any, now time.Time) (at time.Time, known bool) {
	claim := claims["auth_time"]
	if claim == nil {
		return time.Time{}, false
	}
	number, _ := claim.(json.Number)
	seconds, ok := exactjson.Floor([]byte(number))
	switch {
	case !ok || seconds <= 0:
		return time.Time{}, true
	case seconds > now.Unix():
		return now, true
	}
	return time.Unix(seconds, 0), true
}

// Denied is the reason that a response does not satisfy its request. Code is the code of the problem document.
type Denied struct {
	Code   string
	Reason audit.Reason
	Text   string
}

// Error returns the text.
func (d *Denied) Error() string { return d.Text }

// Replayed is the denial of a response that belongs to another session, or comes a second time.
func Replayed(text string) *Denied { return &Denied{"reauth_replayed", audit.ReasonReplayed, text} }

// CheckSession checks that the session with this ID has started the request, and has not been renewed since. The ID is
// empty if no user is signed in.
func CheckSession(id string, started flowstate.Session, r *flowstate.Reauth) error {
	if id == "" || id != r.Session || started != flowstate.SameSession {
		return Replayed("the re-authentication was started in another session, or was completed before")
	}
	return nil
}

// Response is what a sign-in method has shown.
type Response struct {
	// UserID is the user who has authenticated. It is empty if the provider's account is not linked.
	UserID string
	// ACR is the authentication context class that the provider reported, or "".
	ACR string
	// External means that a provider has authenticated the user, which may have used its own session. Always means that
	// it asks for credentials at every sign-in. Claims are those of its ID token.
	External, Always bool
	Claims           map[string]any
}

// Check checks that a response to the request shows that the user has authenticated since (OpenID Connect Core section
// 3.1.2.1, max_age), in a required authentication context class.
func (p *Response) Check(userID string, r *flowstate.Reauth, now time.Time) error {
	if p.UserID != userID {
		return &Denied{"other_user", audit.ReasonOtherUser, "another user has authenticated"}
	}
	if p.External {
		at, known := AuthTime(p.Claims, now)
		switch {
		case !known && !p.Always:
			return &Denied{"stale", audit.ReasonStale, "the ID token has no auth_time"}
		case known && at.Before(time.Unix(r.Started, 0).Add(-token.ClockSkew)):
			return &Denied{"stale", audit.ReasonStale, "the user authenticated at the provider at " +
				at.UTC().Format(time.RFC3339) + ", before the request"}
		}
	}
	if len(r.ACR) > 0 && !slices.Contains(r.ACR, p.ACR) {
		return &Denied{"acr_missing", audit.ReasonACR, "the provider reported the class " + strconv.Quote(p.ACR)}
	}
	return nil
}

// shown are the errors that the page shows, by problem code.
var shown = map[string]string{
	"other_user": "OtherUser", "stale": "StaleSignIn", "acr_missing": "StaleSignIn", "reauth_replayed": "StaleSignIn",
}

// Shown returns the error that the page shows for a problem code. Unknown codes have a general text.
func Shown(code string) string {
	if text, known := shown[code]; known {
		return text
	}
	return "Callback"
}

// Address returns the address of the page, or of the form of a provider if that is not empty, below the URL of the auth
// routes. back is where the user continues. more lists the names and values of further parameters.
func Address(base, provider, back string, strong bool, acr []string, more ...string) string {
	at := base + "/reauth"
	if provider != "" {
		at += "/" + provider
	}
	query := []string{"callbackUrl", back}
	if strong {
		query = append(query, "strong", "1")
	}
	if len(acr) > 0 {
		query = append(query, "acr_values", strings.Join(acr, " "))
	}
	target, err := weburl.AddQuery(at, append(query, more...)...)
	if err != nil { // more has a name without a value
		return at
	}
	return target
}

// Provider is what a [Setup] needs to know of a provider.
type Provider struct {
	ID string
	// Can means that the provider can verify that the user authenticates now. An OAuth 2.0 service cannot, unless the
	// configuration says so. Shows means that it can also show it.
	Can, Shows bool
	// Adds are the methods that the provider can add to a session. ReportsACR means that it reports an authentication
	// context class.
	Adds       []amr.Method
	ReportsACR bool
	// VerifiesEmail means that a code can be sent to its users.
	VerifiesEmail bool
}

// Setup is the configuration of the sign-in methods.
type Setup struct {
	Providers []Provider
	// Codes means that codes can be sent to verified addresses.
	Codes bool
	// Required means that a plugin requires a recent sign-in, and has no method itself.
	Required bool
}

const fixes = "pass a Mailer to the account plugin or add an EmailProvider, with a Store that has records, so that " +
	"users can get a code by email; or add passkeys"

// Gaps returns the providers whose users have no method to authenticate again: the provider cannot show that they did,
// and no code can be sent to them. Without codes, that is every user of the provider. With them, it is a user whose
// address the provider does not verify. fault is the configuration error if a plugin requires a recent sign-in and no
// provider has such a method. Otherwise hint describes the consequences.
func (s *Setup) Gaps() (ids []string, fault, hint string) {
	for _, p := range s.Providers {
		if !p.Shows && (!s.Codes || !p.VerifiesEmail) {
			ids = append(ids, p.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, "", ""
	case !s.Codes && len(ids) == len(s.Providers) && s.Required:
		return ids, "a plugin requires a recent sign-in, and no user could authenticate again: the providers " +
			strings.Join(ids, ", ") + " cannot show that they have authenticated the user now. Fix: " + fixes +
			"; or set OAuthProvider.Reauthenticates if the provider asks for credentials at every sign-in", ""
	case !s.Codes:
		return ids, "", "users who only sign in with these providers cannot authenticate again: " + fixes
	}
	return ids, "", "users who only sign in with these providers cannot authenticate again, because no code is sent to " +
		"an unverified address: set OAuthProvider.EmailVerified if the provider verifies addresses, or add passkeys, " +
		"which a new user can create in the first 15 minutes"
}
