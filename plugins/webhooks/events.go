package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// events are the events that are sent. Refusals and failures are not: an unauthenticated client can cause any number of
// them.
var events = []audit.Name{
	audit.SignIn, audit.SignUp, audit.Reauth, audit.SignOut, audit.SessionEnded, audit.SessionsEnded,
	audit.SessionKept, audit.SessionResumed,
	audit.EmailBounced, audit.PasskeyAdded, audit.PasskeyRemoved,
	audit.UserCreated, audit.UserDeleted, audit.DeletionScheduled, audit.DeletionCanceled, audit.ProfileChanged,
	audit.GuestUpgraded, audit.GuestMerged,
	audit.AccountLinked, audit.AccountUnlinked, audit.AccountSecured,
	audit.PasswordSet, audit.PasswordChanged, audit.PasswordBreached, audit.PasswordImported, audit.UsernameChanged,
	audit.EmailProved, audit.EmailChanged, audit.EmailUndone, audit.Invited,
	audit.FactorAdded, audit.FactorRemoved, audit.FactorsReset, audit.RecoveryUsed, audit.RecoveryRenewed,
	audit.RecoveryRemoved,
	audit.KeyCreated, audit.KeyRotated, audit.KeyRevoked, audit.TokenIssued,
	audit.OrganizationCreated, audit.OrganizationChanged, audit.OrganizationDeleted,
	audit.MemberJoined, audit.MemberChanged, audit.MemberRemoved, audit.JoinRequested, audit.JoinDeclined,
	audit.AppSignedIn, audit.AppEnded,
	audit.AdminBanned, audit.AdminUnbanned, audit.AdminResetSent, audit.AdminEmailVerified, audit.AdminFactorsReset,
	audit.AdminDeleted, audit.AdminCreated, audit.AdminInvited, audit.AdminSessionsEnded, audit.AdminImpersonated,
	audit.AdminImpersonationEnded, audit.DataExported, audit.AdminDeletionScheduled,
	audit.WebhookChanged, audit.WebhookDisabled,
}

// testEvent is the type of a test request. It is not in a filter.
const testEvent = "webhook.test"

// Events returns the names of the events, for [Config].Events. They are those of package audit with the outcome ok.
func Events() []string { return audit.Texts(events) }

// wants reports whether a filter contains an event. An empty filter contains all.
func wants(filter []string, event string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(pattern string) bool {
		group, ok := strings.CutSuffix(pattern, "*")
		return pattern == event || ok && (group == "" || strings.HasSuffix(group, ".") && strings.HasPrefix(event, group))
	})
}

// unknownEvent returns an entry of a filter that matches no event, or "".
func unknownEvent(filter []string) string {
	for _, pattern := range filter {
		if !slices.ContainsFunc(Events(), func(event string) bool { return wants([]string{pattern}, event) }) {
			return pattern
		}
	}
	return ""
}

// payload is the body of a request.
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

// data describes an event. It has IDs and constants, and no address, name, network or session ID.
type data struct {
	UserID  string `json:"user_id,omitempty"`
	ActorID string `json:"actor_id,omitempty"`
	// Credential is the public ID of an API key or token, as in audit.Event.
	Credential string       `json:"credential,omitempty"`
	Tenant     string       `json:"tenant,omitempty"`
	Provider   string       `json:"provider,omitempty"`
	Methods    []string     `json:"methods,omitempty"`
	Reason     audit.Reason `json:"reason,omitempty"`
}

// The kinds of the records of events.
const (
	// eventKind is an event that was not yet assigned to endpoints. The key is its ID.
	eventKind   = "webhook-event"
	eventPrefix = "msg_"
	// eventFor is the lifetime of a stored event, and of a delivery. It is a day longer than the attempts.
	eventFor = 4 * 24 * time.Hour
)

// event is an event that is stored until all endpoints have accepted it.
type event struct {
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
	At   time.Time       `json:"at"`
	// Change is not nil until the event is assigned to endpoints, if it was stored before its change.
	Change *change `json:"change,omitempty"`
}

// record stores an event that an endpoint wants, and sends it in the background.
func (w *Webhooks) record(ctx context.Context, e audit.Event) {
	if w.confirm(ctx, e) || !w.wanted(ctx, nil, e) {
		return
	}
	j, err := w.newEvent(ctx, e)
	if err == nil {
		err = w.events.AddStored(j)
	}
	if err != nil {
		w.host.Logger.ErrorContext(ctx, "webhooks: an event was not stored and is lost", "event", string(e.Name),
			"error", err)
	}
}

// wanted reports whether an endpoint wants an event. tx is the transaction of the change, or nil. If the endpoints
// cannot be read now, the event is stored, and they are read later. In a transaction, they are never read: a read needs
// another connection, and if transactions hold all connections of the pool, all of them would wait for one.
func (w *Webhooks) wanted(ctx context.Context, tx store.RecordStore, e audit.Event) bool {
	if e.Outcome != audit.OK || !slices.Contains(events, e.Name) || !w.events.Persistent() {
		return false
	}
	all, known, _ := w.lastRead()
	if tx == nil {
		var err error
		all, err = w.endpoints(ctx)
		known = err == nil
	}
	return !known || slices.ContainsFunc(all, func(each endpoint) bool {
		return each.active() && wants(each.Events, string(e.Name))
	})
}

// newEvent returns the job of an event.
func (w *Webhooks) newEvent(ctx context.Context, e audit.Event) (*eventJob, error) {
	at := e.Time.UTC().Truncate(time.Millisecond)
	body, err := json.Marshal(payload{
		Type: string(e.Name), Timestamp: at, Data: data{
			UserID: e.UserID, ActorID: e.ActorID, Credential: e.Credential, Tenant: e.Tenant, Provider: e.Provider,
			Methods: e.Methods, Reason: e.Reason,
		},
	})
	if err != nil {
		return nil, err
	}
	id, err := w.newID(eventPrefix)
	if err != nil {
		return nil, err
	}
	return &eventJob{
		Key: id, Value: event{Type: string(e.Name), Body: body, At: at}, Context: context.WithoutCancel(ctx),
	}, nil
}

// newID returns a prefix and 22 random characters.
func (w *Webhooks) newID(prefix string) (string, error) {
	token, err := w.host.NewToken()
	if err != nil {
		return "", fmt.Errorf("webhooks: %w", err)
	}
	return prefix + token[:22], nil
}
