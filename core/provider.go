package core

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/ui"
)

// Provider is a way to sign in: an *[OAuthProvider], *[EmailProvider], *[CredentialsProvider] or *[WebAuthnProvider].
// No other type can implement it, but by embedding one of these: each kind is a flow of this package. New copies a
// provider and never writes to it, so one value may serve several configurations.
type Provider interface {
	// Describe returns ID, name and type.
	Describe() (id, name string, kind ProviderType)
	// declaration returns the provider itself, without a type that embeds it.
	declaration() Provider
}

// Style is how a provider's button looks; the zero value is the neutral look.
type Style = ui.Style

// Field is an input of a form on the sign-in page.
type Field = ui.Field

// EmailProvider signs in with a link sent by mail. It needs a store that is a store.VerificationTokenStore.
type EmailProvider struct {
	// ID and Name: "email" and "Email" when empty.
	ID, Name string
	// From is the sender's address, for Send.
	From string
	// MaxAge is how long a link works; zero: 24 hours.
	MaxAge time.Duration
	// Secret hashes tokens in place of Config.Secret.
	Secret Secret
	// ConfirmLink says when opening a link shows a page with a button, which alone signs in, rather than to sign in at
	// once. Auto: in a browser that did not ask for this very link, where it may be a stranger's, and in one that has a
	// session already; a cookie remembers what a browser asked for. On: always, for mail scanners that share the reader's
	// browser. Off: never, as in Auth.js; a stranger who has a visitor open a link to the stranger's account then signs
	// them in to it.
	ConfirmLink Toggle
	// Send delivers the mail. It is called after the token was stored, under the request's context with a deadline. An
	// error of type [ErrEmailSignIn] asks the visitor to try again; any other is a fault of this site to them. nil: links
	// go through Deliver.
	Send func(ctx context.Context, m SignInMail) error
	// Deliver delivers letters of every kind, for [EmailProvider.Mailer]; the mail services set it. nil: this provider
	// sends sign-in links alone.
	Deliver func(ctx context.Context, l Letter) error
	// Check asks the mail server whether it would take a letter and sends none, for package doctor: it connects, encrypts
	// and signs in. Its error holds no password. nil: nothing can be told before a letter is sent.
	Check func(ctx context.Context) error
	// NormalizeIdentifier makes the address canonical, or refuses it with an error, which asks the visitor to check the
	// address; nil: [NormalizeEmail].
	NormalizeIdentifier func(identifier string) (string, error)
	// GenerateToken makes the token in the link; nil: 32 random bytes in hex. A short one can be guessed: it needs a
	// Limit, and wants a MaxAge of minutes, as each letter adds another token that is good.
	GenerateToken func(ctx context.Context) (string, error)
	// Configure completes the provider from the environment. New calls it once, with its own copy, before it looks at the
	// fields; an error is a fault of the configuration.
	Configure func(p *EmailProvider, getenv func(name string) string) error
	// Style is the button's look.
	Style Style
}

// Describe implements [Provider].
func (p *EmailProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "email"), or(p.Name, "Email"), TypeEmail
}

func (p *EmailProvider) declaration() Provider { return p }

// SignInMail is a sign-in link to deliver.
type SignInMail struct {
	// To is the recipient's address in its canonical form.
	To string
	// From is the provider's.
	From string
	// URL signs in the visitor who opens it: it must reach the recipient and no log.
	URL Secret
	// Token is the token within URL.
	Token Secret
	// Expires is when the link stops working.
	Expires time.Time
	// Theme is the configuration's, for letters in the site's colours.
	Theme Theme
	// Host is the host of the site, for the letter's text.
	Host string
	// ProviderID is the provider's id.
	ProviderID string
	// Locale is the language to write in; zero: English.
	Locale ui.Locale
	// Request is the request that asked for the mail.
	Request *Request
}

// CredentialsProvider signs in with fields that the application checks itself. Sessions are jwt or database sessions,
// as Config.Session says; for database sessions, which Auth.js does not have here, the user must be in the store.
type CredentialsProvider struct {
	// ID and Name: "credentials" and "Credentials" when empty.
	ID, Name string
	// Fields are the inputs of the form, in order.
	Fields []Field
	// Identifier is the name of the field that says whose sign-in is attempted, for limits and the audit; empty: the first
	// of Fields that is no password, else "email", "username" or "name", of which limits count each that is there.
	Identifier string
	// Authorize checks the fields, which hold text alone. nil without an error, or an error of type ErrCredentialsSignin,
	// refuses; any other error is a failure. It must take the same time for unknown names as for wrong passwords. Under
	// the database strategy the user that it returns is one that the store holds, by its ID.
	Authorize func(ctx context.Context, credentials map[string]string, r *Request) (*User, error)
	// Admit takes the place of Authorize where what it checks can change while the visitor is let in, as a password does
	// that its owner resets. What it returns as still, unless that is nil, is called once the session, or the sign-in that
	// a gate holds, is stored, and before a cookie of it leaves: an error refuses as one of Authorize does, and nobody
	// gets what was stored. So a change that ends all sessions once it is stored misses none that began with what was
	// there before. It is not called again where a gate releases the sign-in.
	Admit func(ctx context.Context, credentials map[string]string, r *Request) (
		user *User, still func(ctx context.Context) error, err error)
	// InARow counts wrong attempts at a name that come one after the other too (AttemptInARow). Set it where somebody whom
	// strangers have shut out that way gets in by another, a letter for example, and takes the count back by Call.Forgive.
	InARow bool
	// Links lead from beneath the form to actions of a part; none by default.
	Links []ui.Link
	// Style is the button's look.
	Style Style
}

// Describe implements [Provider].
func (p *CredentialsProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "credentials"), or(p.Name, "Credentials"), TypeCredentials
}

func (p *CredentialsProvider) declaration() Provider { return p }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Theme is the look of the built-in pages.
type Theme = ui.Theme

// ownFields copies fields, so that what an application changes after New reaches no page, and fills in their types.
func ownFields(fields []Field) []Field {
	own := slices.Clone(fields)
	for i := range own {
		own[i].Type = or(own[i].Type, "text")
		own[i].Attributes = slices.Clone(own[i].Attributes)
	}
	return own
}

// EnvName is the name of a provider's environment variable: EnvName("my-op", "KEY") is AUTH_MY_OP_KEY.
func EnvName(id, what string) string { return "AUTH_" + envName(id) + "_" + what }

// envName is the middle of a provider's environment variables.
func envName(id string) string { return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) }
