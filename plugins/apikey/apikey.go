package apikey

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

const defaultPrefix = "lk"

// Options configures [New]. Only Scopes is required.
type Options struct {
	// Prefix is the beginning of every key: letters, digits and underscores, at most 20. Use a different one for each
	// environment, such as "acme_live" and "acme_test": people and secret scanners then recognize a key, and the key of
	// one environment is refused by the other. The default is "lk".
	Prefix string
	// Scopes are the operations that users can permit a key. The handlers require them with [core.Scopes].
	Scopes []Scope
	// TTL is the lifetime of a new key if its creator chooses none. The default is 90 days.
	TTL time.Duration
	// MaxTTL is the longest lifetime that can be chosen. The default is 365 days.
	MaxTTL time.Duration
	// MaxKeys is the maximum number of keys of a user or a service. The default is 20.
	MaxKeys int
	// Fresh is the maximum time since the last sign-in of a user who creates or rotates a key. The default is 15 minutes.
	Fresh time.Duration
	// Overlap is how long a rotated key continues to work in addition to its successor. The default is 24 hours.
	Overlap time.Duration
	// ExpiryWarning is how long before the expiry of a key its user gets an email. Keys with a shorter lifetime
	// get none.
	// The default is 7 days; a negative value disables the emails. The store must be a [store.RecordLister].
	ExpiryWarning time.Duration
	// Mail sends the emails about keys: to users who created or replaced one, and before one expires. They are sent to
	// verified addresses only. If it is nil, Options.Mail of plugins/account sends them; without either, there are none.
	Mail core.Mailer
}

// Scope is something that a key can be allowed to do.
type Scope struct {
	// Name consists of segments of lower-case letters, digits, dots and hyphens, separated by colons, such as
	// "orders:read"; see [core.Principal.Allows].
	Name string
	// Label is shown to users, for example "Read orders". The default is Name.
	Label string
}

// Keys is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent use.
type Keys struct {
	options Options
	host    *core.PluginHost
	records store.RecordStore
	usage   usage
	decoded decoded
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Keys {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.TTL == 0 {
		o.TTL = 90 * 24 * time.Hour
	}
	if o.MaxTTL == 0 {
		o.MaxTTL = max(365*24*time.Hour, o.TTL)
	}
	if o.MaxKeys == 0 {
		o.MaxKeys = 20
	}
	if o.Fresh == 0 {
		o.Fresh = 15 * time.Minute
	}
	if o.Overlap == 0 {
		o.Overlap = 24 * time.Hour
	}
	if o.ExpiryWarning == 0 {
		o.ExpiryWarning = 7 * 24 * time.Hour
	}
	o.Scopes = slices.Clone(o.Scopes)
	for i := range o.Scopes {
		if o.Scopes[i].Label == "" {
			o.Scopes[i].Label = o.Scopes[i].Name
		}
	}
	return &Keys{options: o}
}

// Attach implements [core.Plugin].
func (k *Keys) Attach(h *core.PluginHost) error {
	if k.host != nil {
		return errors.New("already attached to an Auth: call apikey.New for each Auth")
	}
	k.host, k.records = h, h.Records()
	k.usage.init(k)
	k.check(h)
	h.TrackAuthentication() // for Options.Fresh
	h.AddCredential(core.Credential{
		Matches: func(text string) bool { return strings.HasPrefix(text, k.options.Prefix+"_") },
		Verify:  k.verify,
	})
	for _, a := range k.actions() {
		h.AddAction(a)
	}
	h.AddUserData(core.UserData{
		Name: "apiKeys", Heading: textHeading,
		Read: func(ctx context.Context, userID string) (any, error) { return k.Of(ctx, userID) },
	})
	h.AddNoticeReversal(k.reverse)
	if k.reminds() {
		h.AddTask(k.remind)
	}
	if k.options.Mail == nil {
		return nil
	}
	h.EmailsLinks()
	h.NotifyMethodChanges(name, k.options.Mail)
	if m, ok := k.options.Mail.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			return fmt.Errorf("Options.Mail: %w", err)
		}
	}
	return nil
}

// Mailer returns Options.Mail, which may be nil. Package doctor uses it to check the mail configuration.
func (k *Keys) Mailer() core.Mailer { return k.options.Mail }

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New.
func (k *Keys) Advise(report func(what, fix string)) {
	if k.options.Prefix == defaultPrefix {
		report("API keys have the default prefix "+defaultPrefix, "set Options.Prefix of plugins/apikey to a text of this "+
			"environment, such as acme_live: people and secret scanners recognize the keys, and a key of the test system is "+
			"refused here")
	}
	if !k.host.CanNotify() {
		report("users get no email about their API keys", "set Mail of account.Options or apikey.Options")
	}
	if k.options.ExpiryWarning > 0 && k.host.RecordLister == nil {
		report("users get no email before their API keys expire: the store is not a store.RecordLister",
			"use a store that lists records, or set Options.ExpiryWarning of plugins/apikey to -1")
	}
}

// reverse revokes the keys that were created since a change that was not by the user, because its author could also
// create keys.
func (k *Keys) reverse(ctx context.Context, c *core.ActionRequest, n core.SecurityNotice) error {
	keys, err := k.Of(ctx, n.UserID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.Created.Before(n.At) {
			continue
		}
		_, err := k.records.DeleteRecord(ctx, kind, key.ID)
		switch {
		case errors.Is(err, core.ErrNotFound):
		case err != nil:
			return err
		default:
			k.auditRevoked(ctx, c, n.UserID, key.ID)
		}
	}
	return nil
}

// EndCredentials deletes the keys of a user. The account page calls it when the user asks for the deletion of the
// account (DeleteAfter of account.Options).
func (k *Keys) EndCredentials(ctx context.Context, userID string) error {
	deleted, err := k.records.DeleteUserRecords(ctx, userID, kind)
	if err != nil {
		return fmt.Errorf("apikey: delete the keys of a user: %w", err)
	}
	if deleted > 0 {
		k.host.Audit(ctx, audit.Event{Name: audit.KeyRevoked, Outcome: audit.OK, UserID: userID})
	}
	return nil
}

// check reports configuration errors.
func (k *Keys) check(h *core.PluginHost) {
	o := &k.options
	if !isPrefix(o.Prefix) {
		h.AddConfigError(fmt.Sprintf("Options.Prefix is %q: use at most 20 letters, digits and single underscores, such as "+
			"acme_live", o.Prefix))
	}
	if len(o.Scopes) == 0 {
		h.AddConfigError("Options.Scopes is empty: list what a key can be allowed to do, such as {Name: \"orders:read\"}")
	}
	for i, s := range o.Scopes {
		if !isScope(s.Name) || strings.Contains(s.Name, "*") {
			h.AddConfigError(fmt.Sprintf("Options.Scopes[%d].Name is %q: use segments of lower-case letters, digits, dots and "+
				"hyphens, separated by colons, such as orders:read", i, s.Name))
		}
		if slices.ContainsFunc(o.Scopes[:i], func(before Scope) bool { return before.Name == s.Name }) {
			h.AddConfigError(fmt.Sprintf("Options.Scopes[%d].Name is %q, as in another entry: remove one", i, s.Name))
		}
	}
	for name, d := range map[string]time.Duration{
		"TTL": o.TTL, "MaxTTL": o.MaxTTL, "Fresh": o.Fresh, "Overlap": o.Overlap,
	} {
		if d < 0 {
			h.AddConfigError(fmt.Sprintf("Options.%s is %v: it must not be negative", name, d))
		}
	}
	if o.TTL > o.MaxTTL {
		h.AddConfigError(fmt.Sprintf("Options.TTL is %v, and MaxTTL is %v: TTL must not be longer", o.TTL, o.MaxTTL))
	}
	if o.MaxKeys < 0 {
		h.AddConfigError(fmt.Sprintf("Options.MaxKeys is %d: it must not be negative", o.MaxKeys))
	}
}

// isScope reports whether a text can be a scope of a key. A segment may be "*".
func isScope(s string) bool {
	if len(s) > 100 {
		return false
	}
	for segment := range strings.SplitSeq(s, ":") {
		if segment != "*" && (segment == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "") {
			return false
		}
	}
	return true
}

// verify returns the principal of a key, or nil if the key is unknown, has expired or was revoked.
func (k *Keys) verify(ctx context.Context, text string, client netip.Prefix) (*core.Principal, error) {
	t, ok := parseToken(k.options.Prefix, text)
	if !ok {
		return nil, nil
	}
	r, err := k.records.Record(ctx, kind, t.id)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	found, err := k.decoded.read(r)
	switch {
	case err != nil:
		return nil, err
	case !t.hasHash(found.Hash) || !found.Expires.After(k.host.Now()):
		return nil, nil
	case !found.allows(client):
		return nil, &core.Problem{
			Status: 403, Code: "network_refused", Detail: "This API key cannot be used from your network.",
		}
	}
	k.usage.count(ctx, found)
	return &core.Principal{
		UserID: found.UserID, Service: found.Service, Credential: credentialPrefix + found.ID, Name: found.Name,
		Scopes: slices.Clone(found.Scopes), // a handler may change them
	}, nil
}

// CredentialActive reports whether a key still works. credential is its Principal.Credential; for any other text known
// is false. The introspection of access tokens calls it, because programs can exchange a key for a token.
func (k *Keys) CredentialActive(ctx context.Context, credential string) (known, active bool, err error) {
	id, known := strings.CutPrefix(credential, credentialPrefix)
	if !known || !isID(id) {
		return false, false, nil
	}
	found, err := k.find(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return true, false, nil
	}
	return true, err == nil && found.Expires.After(k.host.Now()), err
}

// credentialPrefix is the beginning of the Principal.Credential of a key.
const credentialPrefix = "apikey:"

// Scopes returns Options.Scopes, with their labels.
func (k *Keys) Scopes() []Scope { return slices.Clone(k.options.Scopes) }

// Lifetimes returns the lifetimes that a page offers for a new key, in days, and the default.
func (k *Keys) Lifetimes() (all []int, standard int) {
	const day = 24 * time.Hour
	standard, most := int(k.options.TTL/day), int(k.options.MaxTTL/day)
	for _, n := range []int{7, 30, standard, 90, 180, 365} {
		if n >= 1 && n <= most && (len(all) == 0 || n > all[len(all)-1]) {
			all = append(all, n)
		}
	}
	return all, standard
}

// Flush writes the times of use that are not stored yet. Call it at shutdown, after the HTTP server's Shutdown. It
// returns the error of ctx if that ends first.
func (k *Keys) Flush(ctx context.Context) error { return k.usage.flush(ctx) }
