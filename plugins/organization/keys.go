package organization

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// WriteKeys permits listing, creating and revoking the API keys of the organization. Owners have it, and the roles that
// Options.Roles gives it to. A member can give a key only permissions of the own role.
const WriteKeys = "key:write"

// Keys stores the API keys of organizations, for Options.Keys. Package orgkeys implements it with plugins/apikey.
type Keys interface {
	// KeyOptions returns the choices for a new key.
	KeyOptions() KeyOptions
	// ListKeys returns the keys of an organization, the newest first.
	ListKeys(ctx context.Context, organizationID string) ([]Key, error)
	// CreateKey creates a key and returns it with its text, which is not stored. The errors are [ErrKeyName],
	// [ErrKeyScope], [ErrKeyTTL] and [ErrKeys].
	CreateKey(ctx context.Context, n NewKey) (*Key, core.Secret, error)
	// RevokeKey deletes a key of an organization, or returns [core.ErrNotFound].
	RevokeKey(ctx context.Context, organizationID, id string) error
}

// KeyOptions are the choices for a new key.
type KeyOptions struct {
	// Scopes are the permissions that a key can have.
	Scopes []KeyScope
	// Days are the lifetimes to choose from, and DefaultDays is one of them.
	Days        []int
	DefaultDays int
}

// KeyScope is a permission that a key can have.
type KeyScope struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// NewKey describes a key to create.
type NewKey struct {
	OrganizationID string
	// CreatedBy is the ID of the member who creates the key.
	CreatedBy string
	Name      string
	Scopes    []string
	// Days is the lifetime, or 0 for the default.
	Days int
}

// Key is an API key of an organization, without its secret.
type Key struct {
	ID string `json:"id"`
	// Name is the name that the creator chose.
	Name string `json:"name"`
	// Last4 are the last four characters of the key.
	Last4  string   `json:"last4"`
	Scopes []string `json:"scopes"`
	// CreatedBy is the ID of the user who created the key, or empty. The key stays if that user leaves.
	CreatedBy string    `json:"createdBy,omitempty"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires"`
	// Used is when the key was last used, up to ten minutes late. It is zero for an unused key.
	Used time.Time `json:"used,omitzero"`
}

// The errors of [Keys].CreateKey.
var (
	// ErrKeyName means that the name of a key does not have 1 to 64 printable characters.
	ErrKeyName = errors.New("organization: the name of a key must have 1 to 64 printable characters")
	// ErrKeyScope means that a key has no permission, or an unknown one.
	ErrKeyScope = errors.New("organization: a key needs at least one permission, and all must be known")
	// ErrKeyTTL means that the lifetime of a key is not permitted.
	ErrKeyTTL = errors.New("organization: the lifetime of the key is not permitted")
	// ErrKeys means that the organization has too many keys.
	ErrKeys = errors.New("organization: the organization has too many keys")
)

// keyView is a key, with the name of its creator.
type keyView struct {
	Key
	Creator string `json:"creator,omitempty"`
}

// scopesOf returns the permissions that a member can give to a key.
func (o *Organizations) scopesOf(role string) []KeyScope {
	all := []KeyScope{}
	for _, s := range o.options.Keys.KeyOptions().Scopes {
		if o.allows(role, s.Name) {
			all = append(all, s)
		}
	}
	return all
}

// keys returns the keys of an organization with the names of their creators. A deleted user has no name.
func (o *Organizations) keys(ctx context.Context, id string) ([]keyView, error) {
	found, err := o.options.Keys.ListKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	all, names := []keyView{}, map[string]string{"": ""}
	for _, k := range found {
		if _, known := names[k.CreatedBy]; !known {
			u, err := o.host.Store.User(ctx, k.CreatedBy)
			switch {
			case err == nil:
				names[k.CreatedBy] = u.Name
			case errors.Is(err, core.ErrNotFound):
				names[k.CreatedBy] = ""
			default:
				return nil, err
			}
		}
		all = append(all, keyView{k, names[k.CreatedBy]})
	}
	return all, nil
}

func (o *Organizations) getKeys(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, WriteKeys)
	if err != nil {
		return nil, err
	}
	all, err := o.keys(ctx, at.org.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, keyList{all, o.scopesOf(at.role)}), nil
	}
	v := &orgView{view: o.view(c, s), place: *at, of: o, part: pageKeys, keys: all, now: o.host.Now()}
	if v.User != s.UserID || v.Organization != at.org.ID { // another user has signed in meanwhile
		v.Key = ""
	}
	return v.render(ctx, c), nil
}

// requestedKey reads the fields of a new key. A form has a field for each permission; JSON has a list.
func (o *Organizations) requestedKey(c *core.ActionRequest, at *place) (NewKey, error) {
	n := NewKey{OrganizationID: at.org.ID, CreatedBy: at.me, Name: c.Field("name")}
	known := o.options.Keys.KeyOptions().Scopes
	if !c.JSONMember("scopes", &n.Scopes) {
		for _, s := range known {
			if c.Field("scope "+s.Name) != "" {
				n.Scopes = append(n.Scopes, s.Name)
			}
		}
	}
	for _, scope := range n.Scopes {
		if !slices.ContainsFunc(known, func(s KeyScope) bool { return s.Name == scope }) {
			return n, ErrKeyScope
		}
	}
	if text := c.Field("days"); text != "" {
		var err error
		if n.Days, err = strconv.Atoi(text); err != nil {
			return n, ErrKeyTTL
		}
	} else if !c.JSONMember("days", &n.Days) {
		return n, nil
	}
	if n.Days < 1 || n.Days > 100_000 {
		return n, ErrKeyTTL
	}
	return n, nil
}

// mayGive returns an error if a role does not allow a member to create a key with the scopes.
func (o *Organizations) mayGive(role string, scopes []string) error {
	denied := func(permission string) bool { return !o.allows(role, permission) }
	if denied(WriteKeys) || slices.ContainsFunc(scopes, denied) {
		return errDenied
	}
	return nil
}

func (o *Organizations) postKey(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, WriteKeys)
	if err != nil {
		return nil, err
	}
	n, err := o.requestedKey(c, at)
	if err == nil {
		err = o.mayGive(at.role, n.Scopes)
	}
	if err != nil {
		return nil, err
	}
	event := audit.Event{Name: audit.KeyCreated, Outcome: audit.OK, UserID: s.UserID}
	if err := c.Announce(ctx, event); err != nil {
		return nil, err
	}
	var key *Key
	var text core.Secret
	err = c.NotifyChange(ctx, core.SecurityNotice{
		Kind: mailkind.OrganizationKey, UserID: s.UserID, At: o.host.Now(),
	}, func(ctx context.Context) (err error) { key, text, err = o.createKey(ctx, n); return err })
	if err != nil {
		return nil, err
	}
	event.Credential = credentialPrefix + key.ID
	c.Audit(ctx, event)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, createdKey{key, string(text)}), nil
	}
	return say(c, flash{Key: string(text), User: s.UserID, Organization: at.org.ID, Page: pageKeys})
}

// credentialPrefix is the beginning of the Principal.Credential of an API key.
const credentialPrefix = "apikey:"

// createKey creates a key. If the member has lost the role meanwhile, or the organization was deleted, it revokes the
// key again, whose text no client has received.
func (o *Organizations) createKey(ctx context.Context, n NewKey) (*Key, core.Secret, error) {
	key, text, err := o.options.Keys.CreateKey(ctx, n)
	if err != nil {
		return nil, "", err
	}
	org, err := o.find(ctx, n.OrganizationID)
	var m *memberRecord
	if err == nil {
		m, err = o.member(ctx, n.OrganizationID, n.CreatedBy)
	}
	if err == nil {
		err = o.mayGive(org.roleOf(m), n.Scopes)
	}
	if err != nil {
		return nil, "", errors.Join(err, o.options.Keys.RevokeKey(context.WithoutCancel(ctx), n.OrganizationID, key.ID))
	}
	return key, text, nil
}

func (o *Organizations) postRevokeKey(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	at, err := o.enterAs(ctx, c, s, WriteKeys)
	if err != nil {
		return nil, err
	}
	event := audit.Event{Name: audit.KeyRevoked, Outcome: audit.OK, UserID: s.UserID}
	if err := c.Announce(ctx, event); err != nil {
		return nil, err
	}
	id := c.Field("id")
	if err := o.options.Keys.RevokeKey(ctx, at.org.ID, id); err != nil {
		return nil, err
	}
	event.Credential = credentialPrefix + id
	c.Audit(ctx, event)
	return done(ctx, c, nil, flash{Done: doneKeyRevoked, Organization: at.org.ID, Page: pageKeys})
}

// reverseKeys revokes the keys that a user has created since a change that was not by the user, because its author could
// also create keys.
func (o *Organizations) reverseKeys(ctx context.Context, c *core.ActionRequest, n core.SecurityNotice) error {
	all, err := o.allOf(ctx, n.UserID)
	if err != nil {
		return err
	}
	for _, m := range all {
		keys, err := o.options.Keys.ListKeys(ctx, m.OrganizationID)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.CreatedBy != n.UserID || k.Created.Before(n.At.Truncate(time.Millisecond)) {
				continue
			}
			err := o.options.Keys.RevokeKey(ctx, m.OrganizationID, k.ID)
			switch {
			case errors.Is(err, core.ErrNotFound):
			case err != nil:
				return err
			default:
				c.Audit(ctx, audit.Event{
					Name: audit.KeyRevoked, Outcome: audit.OK, UserID: n.UserID, Credential: credentialPrefix + k.ID,
				})
			}
		}
	}
	return nil
}

// revokeKeys revokes all keys of an organization that is deleted.
func (o *Organizations) revokeKeys(ctx context.Context, id string) error {
	if o.options.Keys == nil {
		return nil
	}
	all, err := o.options.Keys.ListKeys(ctx, id)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := o.options.Keys.RevokeKey(ctx, id, k.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return nil
}

// keyAbout returns a line about a key.
func (v *orgView) keyAbout(k *keyView) string {
	labels := slices.Clone(k.Scopes)
	for _, s := range v.of.options.Keys.KeyOptions().Scopes {
		if i := slices.Index(labels, s.Name); i >= 0 {
			labels[i] = s.Label
		}
	}
	// The isolates keep the order of parts that are in another script than the page.
	parts := []string{"\u2068…" + k.Last4 + "\u2069", "\u2068" + strings.Join(labels, ", ") + "\u2069"}
	if k.Creator != "" {
		parts = append(parts, v.say(textKeyBy.With(k.Creator)))
	}
	parts = append(parts, v.say(textExpires.With(v.locale.Date(k.Expires))))
	if k.Used.IsZero() {
		return strings.Join(append(parts, v.say(textKeyUnused)), " · ")
	}
	return strings.Join(append(parts, v.say(textKeyUsed.With(v.locale.Date(k.Used)))), " · ")
}

func (v *orgView) keyTag(k *keyView) string {
	if k.Expires.After(v.now) {
		return ""
	}
	return v.say(textKeyExpired)
}
