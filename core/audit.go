package core

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"
)

// AuditEvent is a decision about somebody's access: who came in, who was refused and why, what of an account changed.
// Config.Audit gets one for each decision. Its texts come from closed lists and from what this site made itself; of
// what a visitor sent only Agent is in it, escaped. It holds no token, code, password, cookie or address.
type AuditEvent struct {
	// Time is when it was decided, by Config.Now; of folded refusals the last one.
	Time time.Time
	// Name is what was decided about, Outcome how, and Reason why, where there is more than one why.
	Name    AuditName
	Outcome Outcome
	Reason  Reason
	// UserID is the user in question; empty: not known. ActorID is who acted, where that is another user.
	UserID, ActorID string
	// SessionID is the public ID of the session, which is not its token; empty where sessions have none.
	SessionID string
	// Provider is the ID of a provider that is configured; empty: none took part.
	Provider string
	// Tenant is Config.Audience.
	Tenant string
	// Reference is the code that the visitor sees with a failure and that the lines of the log have.
	Reference string
	// Methods are how the visitor proved who they are.
	Methods []Method
	// Peer is the network that the request came from, as [LimitParams].Peer; zero: not known.
	Peer netip.Prefix
	// Agent is the User-Agent header in at most 256 printable ASCII characters, the others escaped.
	Agent string
	// Subject is a keyed hash of the identifier that a visitor typed and that belongs to nobody, as far as core knows:
	// repetitions can be found by it, and the identifier cannot. A part that has an event told sets the identifier itself.
	Subject string
	// Attempt is what was limited, for AuditLimit alone.
	Attempt Attempt
	// Email is the kind of the email, for AuditEmailFailed alone.
	Email LetterKind
	// Count is how many decisions the event stands for: 1, or more for refusals of one subject that were folded.
	Count int
}

// AuditName is what an [AuditEvent] is about.
type AuditName string

// The names. Those of an account's life are told by the parts that change it.
const (
	AuditSignIn        AuditName = "signin"
	AuditSignUp        AuditName = "signup"         // a visitor signed in as a user who was just made, or asked for one
	AuditSignOut       AuditName = "signout"        // by the owner of the session
	AuditSessionEnded  AuditName = "session.ended"  // one, not by its owner's sign-out
	AuditSessionsEnded AuditName = "sessions.ended" // all, or all others, of a user
	AuditGateHeld      AuditName = "gate.held"      // a sign-in waits for a further proof
	AuditMailAsked     AuditName = "mail.asked"     // a letter with a link or a code
	AuditEmailFailed   AuditName = "email.failed"   // an email of a plugin was not sent, after the last attempt
	AuditPasskeyAdded  AuditName = "passkey.added"
	AuditCSRF          AuditName = "csrf"  // a request without proof that it comes from this site
	AuditLimit         AuditName = "limit" // an attempt that came too soon
	AuditConfig        AuditName = "config"

	AuditBackChannelLogout AuditName = "logout.backchannel"

	AuditUserCreated     AuditName = "user.created"
	AuditUserDeleted     AuditName = "user.deleted"
	AuditAccountLinked   AuditName = "account.linked"
	AuditAccountUnlinked AuditName = "account.unlinked"
	AuditAccountRefused  AuditName = "account.refused" // to be linked, or to sign in beside another user's session

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

// Outcome is how something was decided.
type Outcome string

// The outcomes.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeRefused Outcome = "refused" // for what the visitor brought, or did not bring
	OutcomeFailed  Outcome = "failed"  // for a fault of this site, its store or a provider
)

// Reason is why an [AuditEvent] has its outcome; empty where there is but one why.
type Reason string

// The reasons.
const (
	ReasonCredentials     Reason = "credentials"       // the fields of a form are wrong
	ReasonDenied          Reason = "denied"            // the SignIn callback denied
	ReasonRedirected      Reason = "redirected"        // the SignIn callback sent the visitor elsewhere
	ReasonNotLinked       Reason = "not_linked"        // the account or the address is, or may be, another user's
	ReasonTokenUnknown    Reason = "token_unknown"     // a mailed token that was used, mistyped or made up
	ReasonTokenExpired    Reason = "token_expired"     // a mailed token that came too late
	ReasonTokenMisused    Reason = "token_misused"     // a mailed token with another address, or twice in one link
	ReasonCheck           Reason = "check"             // state, nonce, verifier or challenge: not begun in this browser
	ReasonReplayed        Reason = "replayed"          // an answer that was given before
	ReasonProviderRefused Reason = "provider_refused"  // the provider says no, or the visitor did there
	ReasonProvider        Reason = "provider"          // the provider did not answer, or not as it must
	ReasonPasskey         Reason = "passkey"           // the answer of an authenticator is not good
	ReasonPasskeyUnknown  Reason = "passkey_unknown"   // no passkey with its credential id is stored
	ReasonPasskeyCopied   Reason = "passkey_copied"    // its signature counter went back
	ReasonAddress         Reason = "address"           // what was typed is no address
	ReasonMail            Reason = "mail"              // the letter could not be sent
	ReasonRequest         Reason = "request"           // the request lacks something, or has it in the wrong form
	ReasonCrossSite       Reason = "cross_site"        // the browser says that another site sent the request
	ReasonNoToken         Reason = "no_token"          // a POST without the CSRF token, or with that of another browser
	ReasonStore           Reason = "store"             // the store failed, or gave no answer in time
	ReasonFault           Reason = "fault"             // a fault of this site that the log tells
	ReasonHost            Reason = "host"              // the request asks for a host that is not this site's
	ReasonExpired         Reason = "expired"           // a session came to its end
	ReasonUnreadable      Reason = "unreadable"        // a session token that is not genuine, or whose key is gone
	ReasonRevoked         Reason = "revoked"           // a session that JWT.Revoked, or a nil token of Callbacks.JWT, ends
	ReasonProved          Reason = "proved"            // the owner of the user's address has proved it
	ReasonReplaced        Reason = "replaced"          // a sign-in in the same browser took the session's place
	ReasonTooMany         Reason = "too_many_sessions" // Session.MaxPerUser
	ReasonAsked           Reason = "asked"             // the user, or the application, has called EndSessions
	ReasonUndone          Reason = "undone"            // a later step failed: what an earlier one made is removed
)

// Refusal is an error that tells the audit more than it tells the visitor, as the Cause of an [Error]: an Authorize
// function returns NewError(ErrCredentialsSignin, &Refusal{Reason: ReasonCredentials, UserID: id}) for a wrong password
// of a user whom it knows.
type Refusal struct {
	// Reason is in the event; empty: the one that the type of the error has.
	Reason Reason
	// UserID is whose account the attempt was at; empty: nobody's.
	UserID string
	// Err is for the log; nil: the Reason.
	Err error
}

// Error is the text of Err, else the reason.
func (r *Refusal) Error() string {
	if r.Err == nil {
		return string(r.Reason)
	}
	return r.Err.Error()
}

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// AuditTo returns a Config.Audit that writes a line for each event: at level info for what was allowed, warn for what
// was refused, error for what failed; nil: to slog.Default. Empty fields are left out.
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
		//nolint:sloglint // the line of an event begins with its name, so that a log can be searched for it
		to.LogAttrs(ctx, level, "audit: "+string(e.Name), e.attrs()...)
	}
}

// LogValue has the fields that are not empty.
func (e AuditEvent) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.String("name", string(e.Name))}, e.attrs()...)...)
}

// attrs are the fields but for Name, and for Time, which a line of a log has of its own.
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

// because is an error whose reason the audit tells.
func because(r Reason, text string) error { return &Refusal{Reason: r, Err: errors.New(text)} }
