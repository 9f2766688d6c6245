package organization

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The kinds of records.
const (
	kindOrganization = "organization"        // key: ID
	kindSlug         = "organization-slug"   // key: slug
	kindMember       = "organization-member" // key: memberKey
	kindInvitation   = "organization-invite" // key: ID of the organization, dot, ID of the invitation
)

// The limits of texts. A record has at most 8 KiB.
const (
	maxName     = 64
	maxSlug     = 48
	maxLogo     = 512
	maxMetadata = 4 << 10
	maxOwners   = 20
)

// Organization is an organization. Its members are in separate records.
type Organization struct {
	// ID is "org_" and 22 random characters. Slug is a unique name for URLs.
	ID   string `json:"id"`
	Slug string `json:"slug"`
	// Name is at most 64 characters. Any owner can choose it: escape it in pages.
	Name string `json:"name"`
	// Logo is an https URL of at most 512 bytes, or empty.
	Logo string `json:"logo,omitempty"`
	// Metadata is a JSON value of the application of at most 4 KiB, or empty.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// SecondFactor reports that members need a session with a second factor: see [Organizations.RequireSecondFactor].
	SecondFactor bool `json:"secondFactor,omitempty"`
	// JoinRequests reports that users can ask to join: see [Organizations.SetJoinRequests].
	JoinRequests bool `json:"joinRequests,omitempty"`
	// Created is when the organization was created.
	Created time.Time `json:"created"`
	// Owners are the IDs of the owners.
	Owners []string `json:"-"`
}

// stored is the value of a record of an organization.
type stored struct {
	Slug     string          `json:"slug"`
	Name     string          `json:"name"`
	Logo     string          `json:"logo,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Created  time.Time       `json:"created"`
	Owners   []string        `json:"owners"`
	// SecondFactor and JoinRequests are those of [Organization].
	SecondFactor bool `json:"secondFactor,omitempty"`
	JoinRequests bool `json:"joinRequests,omitempty"`
	// Deleted marks an organization whose deletion has begun. It counts as deleted.
	Deleted bool `json:"deleted,omitempty"`
}

// orgRecord is an organization and its record.
type orgRecord struct {
	Organization
	deleted bool
	record  *store.Record
}

func (r *orgRecord) policy(now time.Time) policy {
	return policy{
		deleted: r.deleted, secondFactor: r.SecondFactor, owners: slices.Clone(r.Owners), version: r.record.Version,
		read: now,
	}
}

func (r *orgRecord) owns(userID string) bool { return slices.Contains(r.Owners, userID) }

// roleOf returns the role of a member, or "" if m is nil or has no role.
func (r *orgRecord) roleOf(m *memberRecord) string {
	if m == nil {
		return ""
	}
	return roleAmong(r.Owners, m)
}

// roleAmong returns the role of a member. The organization's record decides who is an owner.
func roleAmong(owners []string, m *memberRecord) string {
	switch {
	case slices.Contains(owners, m.UserID):
		return Owner
	case m.Role == Owner: // a demotion did not finish
		return Member
	}
	return m.Role
}

// read returns an organization, also one whose deletion has begun.
func (o *Organizations) read(ctx context.Context, id string) (*orgRecord, error) {
	if o.host == nil {
		return nil, errors.New("organization: not attached: add the plugin to Config.Plugins")
	}
	if !isID(id) {
		return nil, core.ErrNotFound
	}
	r, err := o.records.Record(ctx, kindOrganization, id)
	if err != nil {
		return nil, err
	}
	return readOrganization(r)
}

func readOrganization(r *store.Record) (*orgRecord, error) {
	var v stored
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("organization: the record of %s is malformed: %w", r.Key, err)
	}
	return &orgRecord{
		Organization: Organization{
			ID: r.Key, Slug: v.Slug, Name: v.Name, Logo: v.Logo, Metadata: v.Metadata, Created: v.Created, Owners: v.Owners,
			SecondFactor: v.SecondFactor, JoinRequests: v.JoinRequests,
		},
		deleted: v.Deleted, record: r,
	}, nil
}

// find returns an organization that is not deleted.
func (o *Organizations) find(ctx context.Context, id string) (*orgRecord, error) {
	r, err := o.read(ctx, id)
	if err == nil && r.deleted {
		return nil, core.ErrNotFound
	}
	return r, err
}

// write stores an organization if its record was not changed since it was read. It increments the version even if
// nothing was changed. Otherwise the error is [core.ErrConflict].
func (o *Organizations) write(ctx context.Context, r *orgRecord) (err error) {
	r.record.Value, err = marshal(stored{
		Slug: r.Slug, Name: r.Name, Logo: r.Logo, Metadata: r.Metadata, Created: r.Created, Owners: r.Owners,
		SecondFactor: r.SecondFactor, JoinRequests: r.JoinRequests, Deleted: r.deleted,
	})
	if err != nil {
		return err
	}
	if len(r.record.Value) > store.MaxRecordValue {
		return ErrMetadata
	}
	now := o.host.Now() // before the write, so that the policy does not seem newer than it is
	if r.record.Version == 0 {
		err = o.records.CreateRecord(ctx, r.record)
	} else {
		err = o.records.UpdateRecord(ctx, r.record)
	}
	if err != nil {
		o.policies.forget(r.ID)
		return err
	}
	if o.options.Directory != nil { // its transaction may be rolled back
		o.policies.forget(r.ID)
		return nil
	}
	o.policies.put(r.ID, r.policy(now))
	return nil
}

// memberRecord is a membership and its record.
type memberRecord struct {
	Membership
	record *store.Record
}

// marshal encodes a value without escapes for HTML, which could make it too long for a record.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// storedMember is the value of a record of a membership.
type storedMember struct {
	// Role is empty while the member joins or leaves.
	Role   string    `json:"role"`
	Joined time.Time `json:"joined"`
}

// memberKey returns the key of a membership. The ID of a user can be any text, so its hash is in the key.
func memberKey(id, userID string) string {
	sum := sha256.Sum256([]byte(userID))
	return id + "." + base64.RawURLEncoding.EncodeToString(sum[:])
}

func readMember(r *store.Record) (*memberRecord, error) {
	id, _, _ := strings.Cut(r.Key, ".")
	var v storedMember
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("organization: the record of a member of %s is malformed: %w", id, err)
	}
	return &memberRecord{Membership{OrganizationID: id, UserID: r.UserID, Role: v.Role, Joined: v.Joined}, r}, nil
}

// member returns a membership, or nil if there is none. Its role is empty while the member joins or leaves.
func (o *Organizations) member(ctx context.Context, id, userID string) (*memberRecord, error) {
	if o.host == nil {
		return nil, errors.New("organization: not attached: add the plugin to Config.Plugins")
	}
	if !isID(id) || userID == "" {
		return nil, nil
	}
	r, err := o.records.Record(ctx, kindMember, memberKey(id, userID))
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case r.UserID != userID:
		return nil, nil
	}
	return readMember(r)
}

// writeMember stores a membership if its record was not changed since it was read.
func (o *Organizations) writeMember(ctx context.Context, m *memberRecord) (err error) {
	defer o.memberships.forget(m.UserID) // also after an error: the store may have written it
	if m.record.Value, err = marshal(storedMember{m.Role, m.Joined}); err != nil {
		return err
	}
	if m.record.Version == 0 {
		return o.records.CreateRecord(ctx, m.record)
	}
	return o.records.UpdateRecord(ctx, m.record)
}

func (o *Organizations) newMember(id, userID string) *memberRecord {
	return &memberRecord{
		Membership{OrganizationID: id, UserID: userID, Joined: o.host.Now().UTC().Truncate(time.Millisecond)},
		&store.Record{Kind: kindMember, Key: memberKey(id, userID), UserID: userID},
	}
}

// each calls f for each record of a kind of an organization. A record that the store returns twice is passed on once.
func (o *Organizations) each(ctx context.Context, kind, id string, f func(*store.Record) error) error {
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, next, err := o.lister.ListRecords(ctx, kind, id+".", cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			if seen[r.Key] {
				continue
			}
			seen[r.Key] = true
			if err := f(r); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// count returns the number of records of a kind of an organization.
func (o *Organizations) count(ctx context.Context, kind, id string) (n int, err error) {
	err = o.each(ctx, kind, id, func(r *store.Record) error {
		if r.Expires.IsZero() || r.Expires.After(o.host.Now()) {
			n++
		}
		return nil
	})
	return n, err
}

const idPrefix = "org_"

func isID(s string) bool {
	rest, ok := strings.CutPrefix(s, idPrefix)
	return ok && len(rest) == 22 && strings.Trim(rest, letters+strings.ToUpper(letters)+"0123456789_-") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyz"

func isSlug(s string) bool {
	return len(s) >= 2 && len(s) <= maxSlug && strings.Trim(s, letters+"0123456789-") == "" && s[0] != '-' &&
		s[len(s)-1] != '-' && !strings.Contains(s, "--")
}

// isName reports whether a text can be a name: characters that change the direction of the text around them could make
// one organization look like another.
func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

func isLogo(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && len(s) <= maxLogo && u.Scheme == "https" && u.Host != "" && u.User == nil
}

func isMetadata(raw json.RawMessage) bool {
	return len(raw) == 0 || len(raw) <= maxMetadata && json.Valid(raw)
}
