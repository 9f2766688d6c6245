// Package audit describes decisions about sign-ins, sessions and accounts for Config.Audit.
package audit

import (
	"context"
	"log/slog"
	"net/netip"
	"time"
)

// Event describes an authentication or access decision: a sign-in, a refusal and its reason, or a change of an
// account. Config.Audit receives one event for each decision. Its texts are taken from fixed lists or created by this
// site. The only texts of clients are Agent, which is escaped, and Note, which an administrator typed. Core writes no
// token, code, password, cookie or email address into an event.
type Event struct {
	// Time is the time of the decision, by Config.Now. For combined refusals (Count) it is the time of the last one.
	Time time.Time
	// Name is the subject of the decision, and Outcome its result. Reason explains the result, and is empty if only one
	// reason is possible.
	Name    Name
	Outcome Outcome
	Reason  Reason
	// UserID is the user that the decision is about, or empty if it is unknown. ActorID is the user who acted, if that is
	// another user.
	UserID, ActorID string
	// SessionID is the public ID of the session, which is not its token. It is empty if sessions have no ID.
	SessionID string
	// Credential is the public ID of an API key or token, as in core.Principal, which is not its secret: that of the
	// credential that the decision is about, or else of the one that made the request. The text before the colon is its
	// kind: "apikey", "app" for the tokens of an app, or "access-token". It is empty if there is none.
	Credential string
	// Provider is the ID of a configured provider, or empty if no provider was involved.
	Provider string
	// Tenant is Config.Audience.
	Tenant string
	// Reference is the code that the user sees with a failure and that is in the log lines of the request.
	Reference string
	// Methods are the authentication methods that the user used.
	Methods []string
	// Peer is the client's network, as in core.LimitParams.Peer. It is zero if it is unknown.
	Peer netip.Prefix
	// Agent is the User-Agent header in at most 256 printable ASCII characters. Other characters are escaped.
	Agent string
	// Subject is a keyed hash of the identifier that a client typed, if core knows no user with it. Equal hashes show
	// repetitions; the identifier cannot be recovered from them. A plugin that emits an event sets the plain identifier,
	// and core replaces it by the hash.
	Subject string
	// Attempt is the limited attempt. It is set only for [Limit].
	Attempt string
	// Email is the kind of the email. It is set only for EmailFailed.
	Email string
	// Note is the reason that an administrator typed for a change of a user's account: at most 200 printable characters.
	// It is set only for events whose name begins with "admin.".
	Note string
	// Count is the number of decisions that the event represents: 1, or more if refusals with the same subject were
	// folded.
	Count int
}

// Name is the subject of an [Event].
type Name string

// The names of events. Core emits sign-ins and sessions, plugins emit changes of an account.
const (
	SignIn         Name = "signin"          // a sign-in succeeded or was refused
	SignUp         Name = "signup"          // a sign-in created a user, or a sign-up was requested
	Reauth         Name = "reauth"          // the user of a session authenticated again
	SignOut        Name = "signout"         // the user signed out
	SessionEnded   Name = "session.ended"   // one session ended, other than by its owner's sign-out
	SessionKept    Name = "session.kept"    // the session of another account of the browser was set aside
	SessionResumed Name = "session.resumed" // the browser continues with the session of another account
	SessionsEnded  Name = "sessions.ended"  // all sessions of a user ended, or all except the current one
	GateHeld       Name = "gate.held"       // a sign-in is pending and needs a further step
	MailAsked      Name = "mail.asked"      // an email with a link or a code was requested
	EmailFailed    Name = "email.failed"    // the last attempt to send a plugin's email failed
	EmailBounced   Name = "email.bounced"   // the application reported that an address does not accept emails
	PasskeyAdded   Name = "passkey.added"   // a passkey was registered
	CSRF           Name = "csrf"            // a request was refused as a possible cross-site request
	Limit          Name = "limit"           // an attempt exceeded a limit
	Challenge      Name = "challenge"       // a CAPTCHA service refused the token of a form, or was unavailable
	Config         Name = "config"          // New succeeded or failed, or the host of a request was refused

	BackChannelLogout Name = "logout.backchannel" // a provider's logout token arrived

	UserCreated       Name = "user.created"            // a sign-in or a verified address created a user
	UserDeleted       Name = "user.deleted"            // a user was deleted
	GuestUpgraded     Name = "guest.upgraded"          // a guest signed up, and kept the user ID
	GuestMerged       Name = "guest.merged"            // a guest signed in as an existing user, and was deleted
	DeletionScheduled Name = "user.deletion.scheduled" // the user asked for a deletion after a grace period
	DeletionCanceled  Name = "user.deletion.canceled"  // the user kept the account before a scheduled deletion
	DataExported      Name = "user.data.exported"      // the user downloaded their data
	ProfileChanged    Name = "profile.changed"         // the name, the picture or a field of the application
	AccountLinked     Name = "account.linked"          // an account at a provider was linked
	AccountUnlinked   Name = "account.unlinked"        // an account at a provider was unlinked
	AccountRefused    Name = "account.refused"         // linking, or a sign-in as another user, was refused

	PasswordSet        Name = "password.set"         // a sign-up or a reset set a password
	PasswordChanged    Name = "password.changed"     // a signed-in user changed the password
	PasswordResetAsked Name = "password.reset.asked" // a reset email was requested
	PasswordBreached   Name = "password.breached"    // a sign-in with a password from a breach needs a further step
	PasswordImported   Name = "password.imported"    // the hash of another system was imported
	UsernameChanged    Name = "username.changed"     // a user chose or changed the username
	EmailProved        Name = "email.proved"         // a user verified the address
	EmailChangeAsked   Name = "email.change.asked"   // a user requested another address
	EmailChanged       Name = "email.changed"        // the address of a user changed
	EmailUndone        Name = "email.undone"         // the owner of the old address undid the change
	Invited            Name = "invited"              // a person was invited to sign up
	PasskeyRemoved     Name = "passkey.removed"      // a passkey was removed
	AccountSecured     Name = "account.secured"      // the owner of an account reported a change that they did not make

	FactorChecked   Name = "factor.checked"   // a second factor was accepted or refused
	FactorAdded     Name = "factor.added"     // a second factor was enrolled
	FactorRemoved   Name = "factor.removed"   // a second factor was removed
	FactorsReset    Name = "factors.reset"    // an administrator removed all second factors of a user
	RecoveryUsed    Name = "recovery.used"    // a recovery code was used as second factor or for a new password
	RecoveryRenewed Name = "recovery.renewed" // a new set of recovery codes was created, and replaces the old one
	RecoveryRemoved Name = "recovery.removed" // the recovery codes of a username were removed

	KeyCreated Name = "key.created" // an API key was created
	KeyRotated Name = "key.rotated" // an API key was created to replace another one
	KeyRevoked Name = "key.revoked" // an API key was revoked

	TokenIssued Name = "token.issued" // a signed access token for another service was issued

	OrganizationCreated Name = "organization.created" // a user created an organization
	OrganizationChanged Name = "organization.changed" // a member changed the name, the logo or the metadata
	OrganizationDeleted Name = "organization.deleted" // an owner deleted an organization
	MemberJoined        Name = "member.joined"        // a user joined an organization
	MemberChanged       Name = "member.changed"       // the role of a member was changed
	MemberRemoved       Name = "member.removed"       // a member left, or was removed
	JoinRequested       Name = "member.requested"     // a user asked to join an organization
	JoinDeclined        Name = "member.declined"      // a request to join was declined

	AdminBanned        Name = "admin.banned"         // an administrator banned a user
	AdminUnbanned      Name = "admin.unbanned"       // an administrator lifted a ban
	AdminResetSent     Name = "admin.reset.sent"     // an administrator sent a link to choose a new password
	AdminEmailVerified Name = "admin.email.verified" // an administrator marked an address as verified
	AdminFactorsReset  Name = "admin.factors.reset"  // an administrator removed the second factors of a user
	AdminDeleted       Name = "admin.deleted"        // an administrator deleted a user
	AdminCreated       Name = "admin.created"        // an administrator created a user
	AdminInvited       Name = "admin.invited"        // an administrator invited a person to sign up
	AdminSessionsEnded Name = "admin.sessions.ended" // an administrator ended sessions of a user
	AdminImpersonated  Name = "admin.impersonated"   // an administrator began to use a user's account

	AdminDeletionScheduled  Name = "admin.deletion.scheduled"  // an administrator scheduled the deletion of a user
	AdminImpersonationEnded Name = "admin.impersonation.ended" // the administrator ended the impersonation
	ImpersonationRefused    Name = "impersonation.refused"     // a change during an impersonation was refused

	AppSignedIn Name = "app.signed-in" // an app of this site got tokens of a user
	AppEnded    Name = "app.ended"     // the tokens of an app were revoked, by the user or because one was reused

	WebhookChanged  Name = "webhook.changed"  // an endpoint for webhooks was created, changed or deleted
	WebhookDisabled Name = "webhook.disabled" // an endpoint for webhooks failed for too long, or refused all webhooks
)

// Outcome is the result of a decision.
type Outcome string

// The outcomes of an [Event].
const (
	OK      Outcome = "ok"      // the request was allowed, or the change was made
	Refused Outcome = "refused" // because of the client's input, or because of missing input
	Failed  Outcome = "failed"  // because of an error of this site, its store or a provider
)

// Reason explains the outcome of an [Event]. It is empty if only one reason is possible.
type Reason string

// The reasons.
const (
	ReasonCredentials     Reason = "credentials"       // the credentials are wrong
	ReasonDenied          Reason = "denied"            // the SignIn callback denied the sign-in
	ReasonRedirected      Reason = "redirected"        // the SignIn callback redirected the user
	ReasonNotLinked       Reason = "not_linked"        // the account or email address is, or may be, another user's
	ReasonTokenUnknown    Reason = "token_unknown"     // a mailed token was used before, mistyped or forged
	ReasonTokenExpired    Reason = "token_expired"     // a mailed token has expired
	ReasonTokenMisused    Reason = "token_misused"     // a mailed token has another address, or is in the link twice
	ReasonCheck           Reason = "check"             // state, nonce, verifier or challenge: not started in this browser
	ReasonReplayed        Reason = "replayed"          // a callback was received before
	ReasonProviderRefused Reason = "provider_refused"  // the provider refused, or the user canceled there
	ReasonProvider        Reason = "provider"          // the provider did not respond, or sent an invalid response
	ReasonPasskey         Reason = "passkey"           // the authenticator's response is invalid
	ReasonPasskeyUnknown  Reason = "passkey_unknown"   // no passkey with the credential ID is stored
	ReasonPasskeyCopied   Reason = "passkey_copied"    // the passkey's signature counter decreased, so it may be a copy
	ReasonAddress         Reason = "address"           // the text is not a valid email address
	ReasonMail            Reason = "mail"              // the email could not be sent
	ReasonRequest         Reason = "request"           // the request is incomplete or malformed
	ReasonCrossSite       Reason = "cross_site"        // the browser reports that another site sent the request
	ReasonNoToken         Reason = "no_token"          // a POST has no CSRF token, or that of another browser
	ReasonStore           Reason = "store"             // the store failed, or did not respond in time
	ReasonFault           Reason = "fault"             // an error of this site; the log has the details
	ReasonHost            Reason = "host"              // the request is for a host that is not configured
	ReasonExpired         Reason = "expired"           // a session expired
	ReasonUnreadable      Reason = "unreadable"        // a session token is forged, or was encrypted with a removed key
	ReasonRevoked         Reason = "revoked"           // JWT.Revoked, or a nil token from Callbacks.JWT, ended a session
	ReasonProved          Reason = "proved"            // the owner of the user's email address has verified it
	ReasonReplaced        Reason = "replaced"          // a sign-in in the same browser replaced the session
	ReasonTooMany         Reason = "too_many_sessions" // Session.MaxPerUser was exceeded
	ReasonAsked           Reason = "asked"             // the user or the application called EndSessions
	ReasonOtherUser       Reason = "other_user"        // another user than that of the session has authenticated
	ReasonStale           Reason = "stale"             // the provider did not show that it authenticated the user now
	ReasonCode            Reason = "code"              // a code that was sent by email is wrong
	ReasonCodeExpired     Reason = "code_expired"      // there is no such code in this browser, or no tries are left
	ReasonACR             Reason = "acr"               // the provider reported another authentication context class
	ReasonBanned          Reason = "banned"            // an administrator has banned the user
	ReasonImpersonation   Reason = "impersonation"     // an administrator may not use the account any more
	ReasonUndone          Reason = "undone"            // a later step failed, and the result of an earlier one was removed
)

// Denial is an error with more detail for the audit event than for the user. It is the Cause of a core.Error. For
// example, an Authorize function that knows the user returns core.NewError(core.ErrCredentialsSignin, &Denial{Reason:
// ReasonCredentials, UserID: id}) for a wrong password.
type Denial struct {
	// Reason is the reason in the event. If it is empty, the type of the Error determines it.
	Reason Reason
	// UserID is the user whose account the attempt was for, or empty if there is none.
	UserID string
	// Err is the error in the log. If it is nil, the log has the Reason.
	Err error
}

// Error returns the text of Err, or the Reason if Err is nil.
func (r *Denial) Error() string {
	if r.Err == nil {
		return string(r.Reason)
	}
	return r.Err.Error()
}

// Unwrap returns Err.
func (r *Denial) Unwrap() error { return r.Err }

// LogTo returns a Config.Audit that logs each event: at level info if the decision was to allow, warn if it was to
// refuse, and error if it failed. If logger is nil, it uses slog.Default. Empty fields are omitted.
func LogTo(logger *slog.Logger) func(ctx context.Context, e Event) {
	return func(ctx context.Context, e Event) {
		to, level := logger, slog.LevelInfo
		if to == nil {
			to = slog.Default()
		}
		switch e.Outcome {
		case Refused:
			level = slog.LevelWarn
		case Failed:
			level = slog.LevelError
		}
		//nolint:sloglint // the message contains the event's name, so that logs can be searched for it
		to.LogAttrs(ctx, level, "audit: "+string(e.Name), e.attrs()...)
	}
}

// LogValue returns the fields that are not empty.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.String("name", string(e.Name))}, e.attrs()...)...)
}

// attrs returns the fields that are not empty, without Name and Time: the log line has its own time.
func (e *Event) attrs() []slog.Attr {
	out := make([]slog.Attr, 0, 12)
	for _, text := range []struct{ name, value string }{
		{"outcome", string(e.Outcome)}, {"reason", string(e.Reason)}, {"user_id", e.UserID}, {"actor_id", e.ActorID},
		{"session_id", e.SessionID}, {"credential", e.Credential}, {"provider", e.Provider}, {"tenant", e.Tenant},
		{"reference", e.Reference},
		{"attempt", e.Attempt}, {"email", e.Email}, {"subject", e.Subject}, {"agent", e.Agent},
		{"note", e.Note},
	} {
		if text.value != "" {
			out = append(out, slog.String(text.name, text.value))
		}
	}
	if len(e.Methods) > 0 {
		out = append(out, slog.Any("methods", e.Methods))
	}
	if e.Peer.IsValid() {
		out = append(out, slog.String("peer", e.Peer.String()))
	}
	if e.Count > 1 {
		out = append(out, slog.Int("count", e.Count))
	}
	return out
}

// Texts returns strings of another type as strings, such as methods for Event.Methods.
func Texts[S ~string](all []S) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return texts
}
