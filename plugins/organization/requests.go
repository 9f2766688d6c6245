package organization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// kindRequest is the kind of records of requests to join, with the key of the membership.
const kindRequest = "organization-request"

const (
	requestTTL = 30 * 24 * time.Hour
	// maxRequests is the maximum number of requests of an organization, and maxRequestsOf that of a user. Declined ones
	// count until they expire.
	maxRequests   = 200
	maxRequestsOf = 20
)

// JoinRequest is a user's request to join an organization.
type JoinRequest struct {
	// ID identifies the request within the organization. A user has at most one.
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization"`
	UserID         string    `json:"user"`
	Created        time.Time `json:"created"`
	Expires        time.Time `json:"expires"`
}

// storedRequest is the value of a record of a request.
type storedRequest struct {
	Created time.Time `json:"created"`
	// Declined requests stay until they expire, so that the user cannot ask again immediately.
	Declined bool `json:"declined,omitempty"`
	// Accepting is the latest end of an acceptance, in Unix seconds. Until then the request does not count as pending.
	// If the record still exists after that, the process ended during the acceptance, and the request is pending again.
	Accepting int64 `json:"accepting,omitempty"`
}

// acceptTime is the maximum duration of an acceptance.
const acceptTime = time.Minute

func (o *Organizations) readRequest(r *store.Record) (*JoinRequest, bool, error) {
	id, own, _ := strings.Cut(r.Key, ".")
	var v storedRequest
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, false, fmt.Errorf("organization: the record of a request to join %s is malformed: %w", id, err)
	}
	now := o.host.Now()
	pending := !v.Declined && v.Accepting <= now.Unix() && r.Expires.After(now)
	return &JoinRequest{own, id, r.UserID, v.Created, r.Expires}, pending, nil
}

// SetJoinRequests decides whether users can ask to join an organization. The default is no. If it is yes, every
// signed-in user who knows the slug sees that the organization exists, and its name.
func (o *Organizations) SetJoinRequests(ctx context.Context, id string, allowed bool) error {
	return retry(ctx, func() error {
		r, err := o.find(ctx, id)
		if err != nil || r.JoinRequests == allowed {
			return err
		}
		r.JoinRequests = allowed
		return o.write(ctx, r)
	})
}

// joinable returns an organization that users can ask to join, by its ID or slug.
func (o *Organizations) joinable(ctx context.Context, idOrSlug string) (*orgRecord, error) {
	id := idOrSlug
	if isSlug(id) {
		var err error
		if id, err = o.bySlug(ctx, id); err != nil {
			return nil, err
		}
	}
	org, err := o.find(ctx, id)
	if err == nil && !org.JoinRequests {
		err = core.ErrNotFound
	}
	return org, err
}

// RequestToJoin stores a user's request to join an organization, by its ID or slug. The user must have a verified
// address, which members with the permission [Invite] see. The request waits for 30 days. The errors are
// [core.ErrNotFound] for an organization that does not exist or does not allow requests, [ErrUnverified], [ErrMember],
// [ErrRequested], and [ErrRequests] if the organization or the user has too many.
func (o *Organizations) RequestToJoin(ctx context.Context, idOrSlug, userID string) (*Organization, error) {
	org, err := o.joinable(ctx, idOrSlug)
	if err != nil {
		return nil, err
	}
	switch address, err := o.verifiedEmail(ctx, userID); {
	case err != nil:
		return nil, err
	case address == "":
		return nil, ErrUnverified
	}
	if m, err := o.member(ctx, org.ID, userID); err != nil {
		return nil, err
	} else if org.roleOf(m) != "" {
		return nil, ErrMember
	}
	now := o.host.Now().UTC().Truncate(time.Millisecond)
	value, err := marshal(storedRequest{Created: now})
	if err != nil {
		return nil, err
	}
	r := &store.Record{
		Kind: kindRequest, Key: memberKey(org.ID, userID), UserID: userID, Value: value, Expires: now.Add(requestTTL),
	}
	if err := o.createRequest(ctx, r); err != nil {
		return nil, err
	}
	if err := o.checkRequest(ctx, org.ID, userID); err != nil {
		return nil, errors.Join(err, o.discard(context.WithoutCancel(ctx), kindRequest, r.Key))
	}
	return &org.Organization, nil
}

// createRequest stores a record that expires, or returns [ErrRequested] if there is one that has not expired.
func (o *Organizations) createRequest(ctx context.Context, r *store.Record) error {
	err := o.records.CreateRecord(ctx, r)
	if !errors.Is(err, core.ErrConflict) {
		return err
	}
	before, err := o.records.Record(ctx, r.Kind, r.Key)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return core.ErrConflict
	case err != nil:
		return err
	case before.Expires.After(o.host.Now()):
		return ErrRequested
	}
	r.Version = before.Version
	return o.records.UpdateRecord(ctx, r)
}

// checkRequest returns an error if a request that was just stored exceeds a limit, or if the organization was deleted.
func (o *Organizations) checkRequest(ctx context.Context, id, userID string) error {
	own, err := o.records.UserRecords(ctx, userID, kindRequest)
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(r *store.Record) bool { return !r.Expires.After(o.host.Now()) })
	if len(own) > maxRequestsOf {
		return ErrRequests
	}
	n, err := o.count(ctx, kindRequest, id)
	if err == nil && n > maxRequests {
		err = ErrRequests
	}
	if err == nil {
		_, err = o.find(ctx, id)
	}
	return err
}

// JoinRequests returns the pending requests to join an organization, the oldest first.
func (o *Organizations) JoinRequests(ctx context.Context, id string) ([]JoinRequest, error) {
	if _, err := o.find(ctx, id); err != nil {
		return nil, err
	}
	all := []JoinRequest{}
	err := o.each(ctx, kindRequest, id, func(r *store.Record) error {
		j, pending, err := o.readRequest(r)
		if err == nil && pending {
			all = append(all, *j)
		}
		return err
	})
	slices.SortFunc(all, func(a, b JoinRequest) int { return a.Created.Compare(b.Created) })
	return all, err
}

// request returns a pending request and its record.
func (o *Organizations) request(ctx context.Context, id, own string) (*JoinRequest, *store.Record, error) {
	if !isID(id) || own == "" || strings.Contains(own, ".") {
		return nil, nil, core.ErrNotFound
	}
	r, err := o.records.Record(ctx, kindRequest, id+"."+own)
	if err != nil {
		return nil, nil, err
	}
	j, pending, err := o.readRequest(r)
	if err == nil && !pending {
		err = core.ErrNotFound
	}
	return j, r, err
}

// AcceptRequest makes the user of a request a member with a role. The errors are [core.ErrNotFound], [ErrRole],
// [ErrMember], [ErrFull] and [ErrTooMany].
func (o *Organizations) AcceptRequest(ctx context.Context, organizationID, id, role string) (*JoinRequest, error) {
	if role == Owner || !o.knows(role) {
		return nil, ErrRole
	}
	j, r, err := o.request(ctx, organizationID, id)
	if err != nil {
		return nil, err
	}
	// Of several requests that accept or decline, one changes the record. It does not count as pending for the others,
	// and it is deleted after the user has joined.
	pending := r.Value
	until := o.host.Now().Add(acceptTime).Unix()
	if err := o.changeRequest(ctx, r, func(v *storedRequest) { v.Accepting = until }); err != nil {
		return nil, err
	}
	after := context.WithoutCancel(ctx)
	switch err := o.join(ctx, organizationID, j.UserID, role); {
	case err == nil, errors.Is(err, ErrMember), errors.Is(err, core.ErrNotFound):
		_, _ = o.records.DeleteRecord(after, kindRequest, r.Key) // if it stays, it is pending again
		return j, err
	default:
		r.Value = pending
		return nil, errors.Join(err, o.records.UpdateRecord(after, r))
	}
}

// DeclineRequest declines a request to join, or returns [core.ErrNotFound]. The user is not notified, and cannot ask
// again until 30 days after the request.
func (o *Organizations) DeclineRequest(ctx context.Context, organizationID, id string) (*JoinRequest, error) {
	j, r, err := o.request(ctx, organizationID, id)
	if err == nil {
		err = o.changeRequest(ctx, r, func(v *storedRequest) { v.Declined = true })
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

// changeRequest changes a request. If it was changed since it was read, the error is [core.ErrNotFound].
func (o *Organizations) changeRequest(ctx context.Context, r *store.Record, change func(*storedRequest)) error {
	var v storedRequest
	err := json.Unmarshal(r.Value, &v)
	if err != nil {
		return err
	}
	change(&v)
	if r.Value, err = marshal(v); err != nil {
		return err
	}
	err = o.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) {
		return core.ErrNotFound
	}
	return err
}

// verifiedEmail returns the canonical address of a user if it is verified, by an email or by a linked account, else "".
func (o *Organizations) verifiedEmail(ctx context.Context, userID string) (string, error) {
	u, err := o.host.Store.User(ctx, userID)
	if err != nil {
		return "", err
	}
	address, err := core.NormalizeEmail(u.Email)
	if err != nil {
		return "", nil //nolint:nilerr // a user without an address
	}
	if !u.EmailVerified.IsZero() {
		return address, nil
	}
	if o.host.Accounts == nil {
		return "", nil
	}
	accounts, err := o.host.Accounts.Accounts(ctx, userID)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(accounts, func(a *core.Account) bool { return core.SameMailbox(a.VerifiedEmail, u.Email) }) {
		return address, nil
	}
	return "", nil
}
