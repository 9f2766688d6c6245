package core

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/passkey"
)

// passkeyFlow signs users in with passkeys (WebAuthn). Both ceremonies start with [passkeyFlow.options].
type passkeyFlow struct {
	*webAuthn
	checks   *checks
	limits   *limits
	sessions *sessions
	stores   passkeys.Stores
	now      func() time.Time
	rand     io.Reader
	plugins  *plugins
}

// start implements [flow].
func (f *passkeyFlow) start(_ context.Context, c *call) (*Response, error) {
	return toSignInPage(c), nil
}

// needsToken implements [flow]. An Origin header of this site is accepted instead of the token.
func (f *passkeyFlow) needsToken() bool { return false }

// signedIn returns the session with its user, or nil, with no further store access. A session token from before the
// user's address was verified is ignored, so that an attacker who created the user does not learn which passkeys the
// user has now.
func (f *passkeyFlow) signedIn(ctx context.Context, c *call) (*validSession, error) {
	current, err := c.session.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return nil, err
	}
	if current.token != nil {
		if outdated, err := f.sessions.jwt.Outdated(ctx, current.token); err != nil || outdated {
			return nil, err
		}
	}
	return current, nil
}

// typedAddress returns the normalized email parameter of the query, or "" if it is missing or not an address.
func typedAddress(c *call) string {
	address, err := mailaddr.Normalize(c.query.Get("email"))
	if err != nil {
		return ""
	}
	return address
}

// finish implements [flow].
func (f *passkeyFlow) finish(ctx context.Context, c *call) (out outcome, err error) {
	return f.verify(ctx, c, "")
}

// verify verifies the authenticator's response to a challenge for a purpose (docs/protocol.md §12.2).
func (f *passkeyFlow) verify(ctx context.Context, c *call, purpose string) (out outcome, err error) {
	if c.r.Method != "POST" {
		return out, noCallback(c)
	}
	action, _ := c.fields.Text("action")
	data, _ := c.fields.Text("data")
	// An Origin header of this site is sufficient under every policy.
	unproved := !c.csrf.Verified && c.csrf.SentFrom != csrf.ThisSite
	switch {
	case unproved && c.csrf.SentFrom == csrf.AnotherSite:
		return out, errorf(ErrMissingCSRF, "the passkey response was sent from another site: %s", c.csrf.Refusal)
	case action != passkeys.Register && action != passkeys.Authenticate:
		return out, errorf(ErrAuth, "%w", errormarks.ByClient(errors.New("action is neither register nor authenticate")))
	case data == "":
		return out, errorf(ErrAuth, "%w", errormarks.ByClient(errors.New("data is missing: the credential as JSON text")))
	}
	credentialID, err := passkey.CredentialID([]byte(data))
	if err != nil {
		return out, errorf(autherr.CallbackRoute, "data: %w", errormarks.ByClient(err))
	}
	if unproved {
		return out, errorf(ErrMissingCSRF,
			"a passkey response needs the Origin header of this site, or the CSRF token: %s", c.csrf.Refusal)
	}
	if spec := &c.cookies.Challenge; c.jar.Has(spec.Name()) { // a challenge is valid for one attempt
		out.cookies = append(out.cookies, Cookie(spec.Clear()))
	}
	if action == passkeys.Register {
		out.identity, err = f.register(ctx, c, credentialID, []byte(data), purpose)
	} else {
		out.identity, err = f.authenticate(ctx, c, &out, credentialID, []byte(data))
	}
	return out, err
}

// register verifies a new passkey. It is stored with its account after the signIn callback has allowed the sign-in.
func (f *passkeyFlow) register(
	ctx context.Context, c *call, credentialID string, data []byte, purpose string,
) (*identity, error) {
	pending, err := f.ceremonies.Find(ctx, f.checks.flowsOf(c), passkeys.Register, purpose)
	if err != nil {
		return nil, passkeyError(err)
	}
	rp := f.ceremonies.At(c.at)
	verified, err := f.ceremonies.VerifyRegistration(data, credentialID, pending, &rp)
	if err != nil {
		return nil, passkeyError(err)
	}
	methods := f.ceremonies.Methods(&verified.Authenticator)
	if pending.Conditional { // the user was not asked
		methods = []amr.Method{}
	}
	return &identity{
		user: pending.Register, methods: methods,
		account: &Account{Type: TypeWebAuthn, Provider: f.ID, ProviderAccountID: credentialID},
		passkey: &passkeyResult{&verified.Authenticator, pending.Typed, verified.AAGUID, pending.Handle},
	}, nil
}

// authenticate verifies a response with a stored passkey.
func (f *passkeyFlow) authenticate(
	ctx context.Context, c *call, out *outcome, credentialID string, data []byte,
) (*identity, error) {
	stored, err := f.stores.Passkeys.Authenticator(ctx, credentialID)
	switch {
	case errors.Is(err, ErrNotFound):
		out.cookies = append(out.cookies, f.unknownCookies(c, credentialID)...)
		return nil, errorf(ErrAuth, "%w", errormarks.ByClient(errormarks.Denial(audit.ReasonPasskeyUnknown,
			"no passkey with that credential ID is stored")))
	case err != nil:
		return nil, errorf(ErrStore, "%w", err)
	}
	pending, err := f.ceremonies.Find(ctx, f.checks.flowsOf(c), passkeys.Authenticate, "")
	if err != nil {
		return nil, passkeyError(err)
	}
	// If a signed-in user uses another user's passkey, the sign-in continues and linking refuses it.
	if pending.Owner != "" && pending.Owner != stored.UserID {
		current, err := f.signedIn(ctx, c)
		if err != nil || current == nil || current.user.ID != pending.Owner {
			return nil, errorf(autherr.WebAuthnVerification, "the passkey is not one of those that were requested")
		}
	}
	rp := f.ceremonies.At(c.at)
	counter, err := f.ceremonies.VerifyAuthentication(data, stored, pending, &rp)
	if err != nil {
		return nil, passkeyError(err)
	}
	user, account, err := f.stores.Owner(ctx, f.ID, stored, counter)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	return &identity{
		user: user, account: account, methods: f.ceremonies.Methods(stored), started: pending.Started,
	}, nil
}

// passkeyError returns the error of a response with its type.
func passkeyError(err error) error {
	switch {
	case errors.Is(err, passkeys.ErrUsed):
		return NewError(autherr.InvalidCheck, errormarks.Over(errormarks.Used, err))
	case errors.Is(err, passkeys.ErrInvalid):
		return errorf(autherr.InvalidCheck, "%w", err)
	case errors.Is(err, flowstate.ErrNoFlow), errors.Is(err, flowstate.ErrOtherBrowser):
		return flowstate.Failure(err)
	}
	return errorf(autherr.WebAuthnVerification, "%w", err)
}

// options implements [ceremonies]. It returns the input of navigator.credentials, and sets the challenge cookie.
func (f *passkeyFlow) options(ctx context.Context, c *call) (*Response, error) {
	action := c.query.Get("action")
	if action != "" && action != passkeys.Register && action != passkeys.Authenticate {
		return optionsRefused("Invalid action"), nil
	}
	if err := f.limits.ask(ctx, c, newAttempt(limit.AttemptWebAuthn, typedAddress(c))); err != nil {
		return nil, err
	}
	current, err := f.signedIn(ctx, c)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	request := &passkeys.Request{
		Action: action, Conditional: f.ConditionalCreate != False && c.query.Get("mediation") == passkeys.Conditional,
		Address: typedAddress(c), Given: c.query.Get("email"),
		MayCreate: func() (bool, error) {
			session, _, err := f.sessions.read(ctx, c.session, sessionRead{})
			if err != nil {
				return false, errorf(ErrStore, "%w", err)
			}
			return f.mayCreate(session), nil
		},
		Handle: func(user *User, signedIn bool) ([]byte, error) { return f.userHandle(ctx, user, signedIn) },
	}
	if current != nil {
		request.User, request.Guest = current.user, f.plugins.provisional.has(current.methods)
	}
	if f.SignUp != "" {
		request.SignUp = c.base + "/" + f.SignUp
	}
	if f.UserInfo != nil {
		request.Named = func() (user *User, exists bool, err error) {
			err = guard("UserInfo", func() (err error) {
				user, exists, err = f.UserInfo(ctx, c.r)
				return err
			})
			return user, exists, err
		}
	}
	ceremony, err := f.ceremonies.Prepare(ctx, &f.stores, request)
	if refusal, ok := errors.AsType[passkeys.Refusal](err); ok {
		return optionsRefused(string(refusal)), nil
	}
	if err != nil {
		return nil, errormarks.As(err, ErrStore)
	}
	return f.begin(ctx, c, ceremony)
}

func optionsRefused(reason string) *Response {
	body := append(exactjson.AppendText([]byte(`{"error":`), reason), '}')
	return refuse(&Response{}, http.StatusBadRequest, body)
}

// userHandle returns the user handle of a registration. It is random, so that it reveals nothing about the user, and
// the same for all passkeys of a user if a plugin tracks them. A passkey is found by its credential ID.
func (f *passkeyFlow) userHandle(ctx context.Context, user *User, signedIn bool) ([]byte, error) {
	if t := f.plugins.passkeys; t != nil && t.UserHandle != nil && signedIn {
		handle, err := guarded("PasskeyTracker.UserHandle", func() ([]byte, error) {
			return t.UserHandle(ctx, user.ID)
		})
		if err != nil {
			return nil, errormarks.As(err, ErrAuth)
		}
		if len(handle) > 0 {
			return handle, nil
		}
	}
	return randomBytes(f.rand, 48)
}

// begin starts a ceremony, and returns the response with its options and its cookie.
func (f *passkeyFlow) begin(ctx context.Context, c *call, ceremony *passkeys.Prepared) (*Response, error) {
	if f.plugins.passkeys != nil {
		ceremony.Handle = ceremony.UserHandle
	}
	rp := f.ceremonies.At(c.at)
	body, cookie, err := f.ceremonies.Start(ctx, f.checks.flowsOf(c), &rp, ceremony)
	if err != nil {
		return nil, flowstate.Failure(err)
	}
	return &Response{
		Header: headers.New("Content-Type", typeJSON), Body: body, Cookies: []Cookie{Cookie(cookie)},
	}, nil
}

// mayCreate reports whether the browser may create a passkey for the user without a prompt. The session has the time
// and the methods of the sign-in.
func (f *passkeyFlow) mayCreate(session *Session) bool {
	return f.ConditionalCreate != False && session != nil && session.Actor == "" &&
		f.ceremonies.MayCreate(session.Methods, session.AuthTime, f.plugins.freshLinks)
}

// unknownCookies returns the cookie for a passkey that is not stored, if the script asks for it with the field signal.
// Another site with the same relying party's ID may know the passkey, so it must be this host.
func (f *passkeyFlow) unknownCookies(c *call, credentialID string) []Cookie {
	asked, _ := c.fields.Text("signal")
	id := f.ceremonies.At(c.at).ID
	if asked != "1" || id != passkeys.Domain(c.at) || f.plugins.auth.audience != "" {
		return nil
	}
	described, err := passkey.Describe(credentialID, "")
	if err != nil {
		return nil
	}
	content, until := unknownPasskey{id, described.ID}, f.now().Add(unknownTTL)
	cookie, err := f.plugins.cookie(&c.arrival, plugincookies.Unknown, content, until)
	if err != nil {
		return nil // the sign-in has failed anyway, and the next attempt sets it
	}
	return []Cookie{cookie}
}

// unknownPasskey is the content of the cookie for the sign-in page after a sign-in with a passkey that the site does
// not know. It is encrypted: if a page or a sibling subdomain could choose it, it could remove a passkey that is still
// valid.
type unknownPasskey struct {
	RPID string `json:"rp"`
	ID   string `json:"id"` // in base64url
}

const unknownTTL = 10 * time.Minute
