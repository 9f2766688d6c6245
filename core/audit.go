package core

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"
)

// AuditEvent describes an authentication or access decision: a sign-in, a refusal and its reason, or a change of an
// account. Config.Audit receives one event for each decision. Its texts are taken from fixed lists or created by this
// site; the only text of the client is Agent, which is escaped. An event contains no token, code, password, cookie or
// email address.
type AuditEvent struct {
	// Time is the time of the decision, by Config.Now. For folded refusals it is the time of the last one.
	Time time.Time
	// Name is the subject of the decision, and Outcome its result. Reason explains the result, and is empty if only one
	// reason is possible.
	Name    AuditName
	Outcome Outcome
	Reason  Reason
	// UserID is the user that the decision is about, or empty if it is unknown. ActorID is the user who acted, if that is
	// another user.
	UserID, ActorID string
	// SessionID is the public ID of the session, which is not its token. It is empty if sessions have no ID.
	SessionID string
	// Provider is the ID of a configured provider, or empty if no provider was involved.
	Provider string
	// Tenant is Config.Audience.
	Tenant string
	// Reference is the code that the user sees with a failure and that is in the log lines of the request.
	Reference string
	// Methods are the authentication methods that the user used.
	Methods []Method
	// Peer is the client's network, as in [LimitParams].Peer. It is zero if it is unknown.
	Peer netip.Prefix
	// Agent is the User-Agent header in at most 256 printable ASCII characters. Other characters are escaped.
	Agent string
	// Subject is a keyed hash of the identifier that a client typed, if core knows no user with it. Equal hashes show
	// repetitions; the identifier cannot be recovered from them. A plugin that emits an event sets the plain identifier,
	// and core replaces it by the hash.
	Subject string
	// Attempt is the limited attempt. It is set only for AuditLimit.
	Attempt Attempt
	// Email is the kind of the email. It is set only for AuditEmailFailed.
	Email LetterKind
	// Count is the number of decisions that the event represents: 1, or more if refusals with the same subject were
	// folded.
	Count int
}

// AuditName is the subject of an [AuditEvent].
type AuditName string

// The names. Plugins emit the events of an account's changes.
const (
	AuditSignIn        AuditName = "signin"
	AuditSignUp        AuditName = "signup"         // a sign-in created a user, or a sign-up was requested
	AuditSignOut       AuditName = "signout"        // by the session's owner
	AuditSessionEnded  AuditName = "session.ended"  // one session ended, other than by its owner's sign-out
	AuditSessionsEnded AuditName = "sessions.ended" // all sessions of a user ended, or all except the current one
	AuditGateHeld      AuditName = "gate.held"      // a sign-in is pending and needs a further step
	AuditMailAsked     AuditName = "mail.asked"     // an email with a link or a code was requested
	AuditEmailFailed   AuditName = "email.failed"   // the last attempt to send a plugin's email failed
	AuditPasskeyAdded  AuditName = "passkey.added"
	AuditCSRF          AuditName = "csrf"  // a request was refused as a possible cross-site request
	AuditLimit         AuditName = "limit" // an attempt exceeded a limit
	AuditConfig        AuditName = "config"

	AuditBackChannelLogout AuditName = "logout.backchannel"

	AuditUserCreated     AuditName = "user.created"
	AuditUserDeleted     AuditName = "user.deleted"
	AuditAccountLinked   AuditName = "account.linked"
	AuditAccountUnlinked AuditName = "account.unlinked"
	AuditAccountRefused  AuditName = "account.refused" // linking, or a sign-in as another user, was refused

	AuditPasswordSet        AuditName = "password.set"
	AuditPasswordChanged    AuditName = "password.changed"
	AuditPasswordResetAsked AuditName = "password.reset.asked"
	AuditPasswordImported   AuditName = "password.imported"
	AuditEmailProved        AuditName = "email.proved"
	AuditEmailChangeAsked   AuditName = "email.change.asked"
	AuditEmailChanged       AuditName = "email.changed"
	AuditEmailUndone        AuditName = "email.undone"
	AuditInvited            AuditName = "invited"
	AuditPasskeyRemoved     AuditName = "passkey.removed"
)

// Outcome is the result of a decision.
type Outcome string

// The outcomes.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeRefused Outcome = "refused" // because of the client's input, or because of missing input
	OutcomeFailed  Outcome = "failed"  // because of an error of this site, its store or a provider
)

// Reason explains the outcome of an [AuditEvent]. It is empty if only one reason is possible.
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
	ReasonCheck           Reason = "check"             // state, nonce, verifier or challenge: started in another browser
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
	ReasonUndone          Reason = "undone"            // a later step failed, and the result of an earlier one was removed
)

// Refusal is an error with more detail for the audit event than for the user. It is the Cause of an [Error]. For
// example, an Authorize function that knows the user returns NewError(ErrCredentialsSignin, &Refusal{Reason:
// ReasonCredentials, UserID: id}) for a wrong password.
type Refusal struct {
	// Reason is the reason in the event. If it is empty, the type of the Error determines it.
	Reason Reason
	// UserID is the user whose account the attempt was for, or empty if there is none.
	UserID string
	// Err is the error in the log. If it is nil, the log has the Reason.
	Err error
}

// Error returns the text of Err, or the Reason if Err is nil.
func (r *Refusal) Error() string {
	if r.Err == nil {
		return string(r.Reason)
	}
	return r.Err.Error()
}

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// AuditTo returns a Config.Audit that logs each event: at level info if the decision was to allow, warn if it was to
// refuse, and error if it failed. If logger is nil, it uses slog.Default. Empty fields are omitted.
func AuditTo(logger *slog.Logger) func(ctx context.Context, e AuditEvent) {
	return func(ctx context.Context, e AuditEvent) {
		to, level := logger, slog.LevelInfo
		if to == nil {
			to = slog.Default()
		}
		switch e.Outcome {
		case OutcomeRefused:
			level = slog.LevelWarn
		case OutcomeFailed:
			level = slog.LevelError
		}
		//nolint:sloglint // the message contains the event's name, so that logs can be searched for it
		to.LogAttrs(ctx, level, "audit: "+string(e.Name), e.attrs()...)
	}
}

// LogValue returns the fields that are not empty.
func (e AuditEvent) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.String("name", string(e.Name))}, e.attrs()...)...)
}

// attrs returns the fields that are not empty, without Name and Time: the log line has its own time.
func (e *AuditEvent) attrs() []slog.Attr {
	out := make([]slog.Attr, 0, 12)
	for _, text := range []struct{ name, value string }{
		{"outcome", string(e.Outcome)}, {"reason", string(e.Reason)}, {"user_id", e.UserID}, {"actor_id", e.ActorID},
		{"session_id", e.SessionID}, {"provider", e.Provider}, {"tenant", e.Tenant}, {"reference", e.Reference},
		{"attempt", string(e.Attempt)}, {"email", string(e.Email)}, {"subject", e.Subject}, {"agent", e.Agent},
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

// because returns an error with a reason for the audit event.
func because(r Reason, text string) error { return &Refusal{Reason: r, Err: errors.New(text)} }
