// Package mail has the types of the emails that core and its plugins send. Package core has aliases for them, such as
// core.Email for [Email] and core.EmailSender for [Sender].
package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/request"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/ui"
)

// Mailer sends emails. The mail services of package providers and providers/smtp are Mailers, and so is the mailbox for
// development.
//
// Send is called concurrently, with a context that has a deadline. It returns when the email has been accepted for
// delivery. Its error is logged and never shown to a browser; it must contain neither URL nor Code. If Send does not
// support the email, for example a Kind of a later version, it returns an error and sends nothing.
type Mailer interface {
	Send(ctx context.Context, l Email) error
}

// ConfiguredMailer is a [Mailer] that reads its missing options from the environment before the first email. A plugin
// calls Configure while it is attached. An error is a configuration error.
type ConfiguredMailer interface {
	Mailer
	Configure(getenv func(name string) string) error
}

// Email is an email to send. It contains facts and no sentences; the sender writes the text from them. It contains no
// text that a client chose, except Organization, so that an attacker cannot make this site send a message of their
// choice.
type Email struct {
	// ID identifies the email in all attempts to send it: 32 hexadecimal digits, for the header Message-ID or the
	// idempotency key of a mail service. It is empty if the email is sent once.
	ID string
	// To is the recipient's address in its canonical form.
	To string
	// From is the From field of the provider that sends the email. It is empty for emails of plugins, whose sender the
	// Mailer knows.
	From string
	// Kind is the kind of the email.
	Kind mailkind.Kind
	// URL is the link, or empty if there is none. It must be sent to the recipient only, and never be logged.
	URL store.Secret
	// Token is the token within URL of a sign-in link. It is empty in other emails.
	Token store.Secret
	// Code is the code that the recipient types into the waiting page, or empty if there is none.
	Code store.Secret
	// Expires is the time when URL and Code expire. It is zero if they do not expire or are empty.
	Expires time.Time
	// At is the time of the reported event, or zero if it is not stated.
	At time.Time
	// Peer is the network of the browser that caused the event, or zero if it is not stated.
	Peer netip.Prefix
	// Device names the browser and the system that caused the event, such as "Firefox, Windows", or is empty if they are
	// unknown. It contains names from a fixed list, never the text of the header User-Agent.
	Device string
	// Service is the configured name of the provider that the email is about, the host of an endpoint for webhooks, or
	// empty.
	Service string
	// Organization is the name of the organization that the email is about, or empty. A user chose it: it has at most 64
	// characters, no control characters, and nothing that mail clients turn into a link or a telephone number. Escape it
	// in HTML.
	Organization string
	// EndsSessions reports that following URL also ends all sessions of the account.
	EndsSessions bool
	// Host is the host of the site.
	Host string
	// ProviderID is the ID of the EmailProvider of a sign-in link. It is empty in other emails.
	ProviderID string
	// Theme is the configured theme.
	Theme ui.Theme
	// Locale is the language of the email. The zero value is English.
	Locale ui.Locale
	// Request is the request that caused the email. It is nil if there is none, for example in an administrator's program.
	Request *request.Request
}

// Send sends the email with a Mailer, for a plugin. A panic of the Mailer is returned as an error, so that the
// plugin can roll back. Errors contain neither URL nor Code, whatever the Mailer returns. ctx limits the time.
func (e Email) Send(ctx context.Context, by Mailer) error {
	err := panics.Guard("Mailer.Send", func() error { return by.Send(ctx, e) })
	return redact.Mail(err, string(e.URL), e.To, string(e.Code))
}

// Recipient returns To with the domain in ASCII (RFC 5890), which every mail server supports. A local part with
// non-ASCII characters is not changed: it requires a mail server that supports them.
func (e Email) Recipient() string { return mailaddr.ASCII(e.To) }

// String returns the kind, without recipient, link and code.
func (e Email) String() string { return fmt.Sprintf("email %q", string(e.Kind)) }

// Format writes String for every fmt verb.
func (e Email) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// LogValue returns the kind.
func (e Email) LogValue() slog.Value { return slog.GroupValue(slog.String("kind", string(e.Kind))) }

// MarshalText returns String, for encoding/json and similar packages.
func (e Email) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Background is an email that a plugin sends after the response: see SendLater and Notify of core.ActionRequest. If
// sending fails, it is tried again, see core.MailConfig. If the store is a store.RecordLister, the email is stored
// before the response, encrypted, and survives the end of the process.
type Background struct {
	// Sender is the name of a [Sender] that the plugin has added. It is required.
	Sender string
	// Email is the email. Fields that [Sender].Write sets may be empty. Its Kind is required: it is in logs, audit
	// events and metrics.
	Email Email
	// Data is passed to Write and Undo as JSON. It may contain secrets. It must be small: the stored email has at most 8
	// KiB.
	Data any
	// UserID is the user that the email is about. Subject is the identifier that a client typed, if it may belong to no
	// user. Both are in log lines and audit events; Subject only as a keyed hash.
	UserID, Subject string
}

// Sender sends the background emails of a plugin.
type Sender struct {
	// Name identifies the sender in stored emails. It is unique within an Auth, for example the plugin's name.
	Name string
	// Mailer sends the emails. It is required.
	Mailer Mailer
	// Write, if not nil, runs in the background and returns the email to send instead of e, so that the response time does
	// not reveal the result of a lookup in Write. data is [Background].Data. Write is not called for an email without
	// Data. It is called again if it returns an error, or in another process after a crash, so it must be idempotent. If
	// the returned Email has no To, no email is sent.
	Write func(ctx context.Context, e Email, data json.RawMessage) (Email, error)
	// Undo, if not nil, is called after the last attempt has failed, with the result of Write if there is one. It deletes
	// the records that Write created. It is not called for an email without Data, and it must be idempotent too.
	Undo func(ctx context.Context, e Email, data json.RawMessage)
}

// SecurityNotice describes a security-relevant change of an account, such as a passkey that was added. Core reports it
// to Config.Audit and emails the user.
type SecurityNotice struct {
	// Kind is the kind of the email.
	Kind mailkind.Kind
	// UserID is the user whose account changed.
	UserID string
	// Provider is the ID of the provider in [mailkind.AccountLinked] and [mailkind.AccountUnlinked]. It is empty in other
	// kinds.
	Provider string
	// Method is the ID of the added or removed core.SignInMethod, or of the plugin's factor. It may be empty.
	Method string
	// At is the time of the change. The default is now.
	At time.Time
	// Address is the recipient of the email, which was the user's address at the time of the change. Core sets it for the
	// function of PluginHost.AddNoticeLink.
	Address string
	// Action is the plugin's page that the email links to, if that is not the page to secure the account.
	Action string
	// Audit is the audit event, if Audit.Name is not empty. Core adds the user, the provider and, if it is empty, the
	// outcome [audit.OK].
	Audit audit.Event
}

// Code is a six-digit code that a plugin sends by email. It is valid for ten minutes, once, and only in the
// browser that requested it. Each code has five tries. All codes for one address together have a budget of ten wrong
// tries and one more every 40 minutes, across browsers, networks and processes. If UserID is set, all codes of that
// user together have the same budget in addition.
type Code struct {
	// Purpose is the purpose of the code, with the Name of the plugin's actions in front, such as "password-reset":
	// lower-case letters, digits and hyphens, at most 24 characters. A code is accepted for its purpose only.
	Purpose string
	// Address is the recipient's address.
	Address string
	// UserID is the signed-in user who requests the code. It is empty if no user is signed in.
	UserID string
	// Data belongs to the plugin, for example the digest of the link in the same email. The store contains it as text.
	// It may have about 4 KiB.
	Data string
}
