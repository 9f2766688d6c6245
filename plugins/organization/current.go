package organization

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Membership is the membership of a user in an organization.
type Membership struct {
	OrganizationID string `json:"organization"`
	UserID         string `json:"user"`
	// Role is [Owner], [Admin], [Member] or a role of Options.Roles.
	Role   string    `json:"role"`
	Joined time.Time `json:"joined"`

	of           *Organizations
	secondFactor bool // the organization requires one
}

// checkFactor returns a [*core.StepUp] if the organization requires a second factor that the session does not have.
func (m *Membership) checkFactor(ctx context.Context, s *core.Session) error {
	if !m.secondFactor {
		return nil
	}
	return core.Strong()(ctx, s)
}

// Allows reports whether the member's role has a permission. Owners have all permissions.
func (m *Membership) Allows(permission string) bool {
	return m.of != nil && m.of.allows(m.Role, permission)
}

// selectionCookie stores the organization that a user has selected in a browser. It grants nothing: the membership is
// read for each request.
const selectionCookie = name

const selectionTTL = 90 * 24 * time.Hour

type selection struct {
	User         string `json:"user"`
	Organization string `json:"organization"`
}

// Current returns the membership of the signed-in user in the selected organization. It is nil if no user is signed in,
// or if the user is not a member of that organization or has selected none, or if the organization requires a second
// factor that the session does not have. An error means that it is unknown. Current needs the request hook of the
// adapter, and reads the store once for each request.
func (o *Organizations) Current(ctx context.Context) (*Membership, error) {
	v := core.VisitOf(ctx, o.host.Auth)
	if v == nil {
		return nil, core.ErrNoHook
	}
	s, err := v.Session()
	if err != nil || s == nil {
		return nil, err
	}
	m, err := o.current(ctx, s.UserID)
	if err != nil || m == nil || m.checkFactor(ctx, s) != nil {
		return nil, err
	}
	return m, nil
}

// currentKey is the key of a request's membership.
type currentKey struct {
	of     *Organizations
	userID string
}

func (o *Organizations) current(ctx context.Context, userID string) (*Membership, error) {
	v, err := o.host.Once(ctx, currentKey{o, userID}, func() (any, error) { return o.lookUp(ctx, userID) })
	m, _ := v.(*Membership)
	return m, err
}

// lookUp reads the membership in the selected organization.
func (o *Organizations) lookUp(ctx context.Context, userID string) (*Membership, error) {
	r := o.host.RequestFrom(ctx)
	if r == nil { // without the request, another organization than the handler's could be checked
		return nil, core.ErrNoHook
	}
	id := ""
	if o.options.Select != nil {
		id = o.options.Select(r)
	}
	var chosen selection
	if id == "" && o.host.CookieFrom(ctx, selectionCookie, &chosen) && chosen.User == userID {
		id = chosen.Organization
	}
	if id == "" {
		return o.only(ctx, userID)
	}
	if isSlug(id) {
		var err error
		id, err = o.bySlug(ctx, id)
		if errors.Is(err, core.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	m, err := o.cached(ctx, userID, id, func() (*memberRecord, error) { return o.memberAndPolicy(ctx, id, userID) })
	if err != nil {
		return nil, err
	}
	return o.effective(ctx, m)
}

// cached returns a membership of a user that this process has read within Options.MembershipAge, or reads it.
func (o *Organizations) cached(
	ctx context.Context, userID, id string, read func() (*memberRecord, error),
) (*memberRecord, error) {
	age := o.options.MembershipAge
	if age == 0 || o.host.Strategy != core.StrategyJWT {
		return read()
	}
	now := o.host.Now()
	m, ok, changes := o.memberships.get(userID, id, now, age)
	if !ok {
		var err error
		if m, err = read(); err != nil {
			return nil, err
		}
		o.memberships.put(userID, id, m, now, changes)
		return m, nil
	}
	if m != nil { // a request that reads no membership reads the organization before it must
		if p, known := o.policies.get(m.OrganizationID, now.Add(policyTTL/2)); !known && p.version != 0 {
			_, err := o.readPolicy(ctx, m.OrganizationID)
			return m, err
		}
	}
	return m, nil
}

// effective returns a membership with the role that counts, or nil if there is no role or the organization is deleted.
func (o *Organizations) effective(ctx context.Context, m *memberRecord) (*Membership, error) {
	if m == nil || m.Role == "" {
		return nil, nil
	}
	p, known := o.policies.get(m.OrganizationID, o.host.Now())
	// The two records disagree while an owner changes, or if such a change was interrupted.
	if !known || slices.Contains(p.owners, m.UserID) != (m.Role == Owner) {
		var err error
		if p, err = o.readPolicy(ctx, m.OrganizationID); err != nil {
			return nil, err
		}
	}
	if p.deleted {
		return nil, nil
	}
	m.of, m.Role, m.secondFactor = o, roleAmong(p.owners, m), p.secondFactor
	return &m.Membership, nil
}

// policy is the part of an organization's record that guards need.
type policy struct {
	deleted, secondFactor bool

	owners  []string
	version int64
	read    time.Time
}

// policies has the policies that this process has read or written. A change by this process takes effect immediately,
// and a change by another one within policyTTL, so that a guard usually reads the membership only.
type policies struct {
	mu sync.Mutex
	of map[string]policy
}

const (
	policyTTL = 10 * time.Second
	// maxPolicies limits the memory. More organizations in use at the same time cost reads.
	maxPolicies = 10_000
)

// put stores a policy, unless a newer one is known.
func (p *policies) put(id string, one policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.of[id]; ok && known.version > one.version {
		return
	}
	if p.of == nil || len(p.of) >= maxPolicies {
		p.of = map[string]policy{}
	}
	p.of[id] = one
}

func (p *policies) get(id string, now time.Time) (policy, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.of[id]
	return one, ok && now.Sub(one.read) < policyTTL
}

// forget removes a policy whose change failed, because it is unknown whether the store has written it.
func (p *policies) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, id)
}

// readPolicy reads the policy of an organization. One without a record counts as deleted.
func (o *Organizations) readPolicy(ctx context.Context, id string) (policy, error) {
	now := o.host.Now()
	r, err := o.read(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return policy{deleted: true}, nil
	}
	if err != nil {
		return policy{}, err
	}
	o.policies.put(id, r.policy(now))
	return r.policy(now), nil
}

// memberAndPolicy is member. If the policy of the organization is not known or expires soon, it reads it with the same
// query, so that effective needs no other one.
func (o *Organizations) memberAndPolicy(ctx context.Context, id, userID string) (*memberRecord, error) {
	now := o.host.Now()
	if _, known := o.policies.get(id, now.Add(policyTTL/2)); known || o.pairs == nil || !isID(id) || userID == "" {
		return o.member(ctx, id, userID)
	}
	m, org, err := o.pairs.RecordPair(ctx, store.RecordName{Kind: kindMember, Key: memberKey(id, userID)},
		store.RecordName{Kind: kindOrganization, Key: id})
	if err != nil {
		return nil, err
	}
	if org != nil {
		r, err := readOrganization(org)
		if err != nil {
			return nil, err
		}
		o.policies.put(id, r.policy(now))
	}
	if m == nil || m.UserID != userID {
		return nil, nil
	}
	return readMember(m)
}

// onlyKey is the key of a user's only membership in Organizations.memberships. It is no ID of an organization.
const onlyKey = "only"

// readOnly reads the membership of a user in their only organization, or returns nil. It lists the user's memberships
// every policyTTL. After that time it notices that the user joined a second organization in another process.
func (o *Organizations) readOnly(ctx context.Context, userID string) (*memberRecord, error) {
	now := o.host.Now()
	last, ok, changes := o.memberships.get(userID, onlyKey, now, policyTTL)
	if ok && last != nil && o.pairs != nil {
		m, err := o.memberAndPolicy(ctx, last.OrganizationID, userID)
		if err != nil || m != nil && m.Role != "" {
			return m, err
		}
	}
	all, err := o.allOf(ctx, userID)
	if err != nil || len(all) != 1 {
		return nil, err
	}
	o.memberships.put(userID, onlyKey, all[0], now, changes)
	return all[0], nil
}

// only returns the membership of a user in their only organization, or nil if there is not exactly one.
func (o *Organizations) only(ctx context.Context, userID string) (*Membership, error) {
	m, err := o.cached(ctx, userID, "", func() (*memberRecord, error) { return o.readOnly(ctx, userID) })
	if err != nil || m == nil {
		return nil, err
	}
	return o.effective(ctx, m)
}

// allOf returns the memberships of a user that have a role.
func (o *Organizations) allOf(ctx context.Context, userID string) (all []*memberRecord, err error) {
	records, err := o.records.UserRecords(ctx, userID, kindMember)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		m, err := readMember(r)
		if err != nil {
			return nil, err
		}
		if m.Role != "" {
			all = append(all, m)
		}
	}
	return all, nil
}

// guard returns a guard that allows a member for whom allowed returns true.
func (o *Organizations) guard(allowed func(m *Membership) bool) core.Guard {
	return func(ctx context.Context, s *core.Session) error {
		m, err := o.current(ctx, s.UserID)
		switch {
		case err != nil:
			return err
		case m == nil || !allowed(m):
			return core.ErrForbidden
		}
		return m.checkFactor(ctx, s)
	}
}

// Member returns a guard that requires a member of the selected organization. Use it with RequireSession of an adapter.
func (o *Organizations) Member() core.Guard { return o.guard(func(*Membership) bool { return true }) }

// Role returns a guard that requires one of the roles in the selected organization.
func (o *Organizations) Role(anyOf ...string) core.Guard {
	anyOf = slices.Clone(anyOf)
	return o.guard(func(m *Membership) bool { return slices.Contains(anyOf, m.Role) })
}

// Permission returns a guard that requires all of the permissions in the selected organization. Without permissions it
// allows nothing.
func (o *Organizations) Permission(all ...string) core.Guard {
	all = slices.Clone(all)
	return o.guard(func(m *Membership) bool {
		return len(all) > 0 && !slices.ContainsFunc(all, func(p string) bool { return !m.Allows(p) })
	})
}

// Joined is an organization of a user, with the user's role.
type Joined struct {
	Organization
	Role   string    `json:"role"`
	Joined time.Time `json:"joined"`
}

// Of returns the organizations of a user, sorted by name.
func (o *Organizations) Of(ctx context.Context, userID string) ([]Joined, error) {
	records, err := o.records.UserRecords(ctx, userID, kindMember)
	if err != nil {
		return nil, err
	}
	all := []Joined{}
	for _, r := range records {
		m, err := readMember(r)
		if err != nil {
			return nil, err
		}
		org, err := o.find(ctx, m.OrganizationID)
		if errors.Is(err, core.ErrNotFound) { // it is being created or deleted
			continue
		}
		if err != nil {
			return nil, err
		}
		if role := org.roleOf(m); role != "" {
			all = append(all, Joined{org.Organization, role, m.Joined})
		}
	}
	slices.SortFunc(all, func(a, b Joined) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// MemberOf returns the membership of a user in an organization, or [core.ErrNotFound]. It is for programs; handlers
// call [Organizations.Current].
func (o *Organizations) MemberOf(ctx context.Context, id, userID string) (*Membership, error) {
	m, err := o.member(ctx, id, userID)
	if err != nil {
		return nil, err
	}
	found, err := o.effective(ctx, m)
	if err == nil && found == nil {
		err = core.ErrNotFound
	}
	return found, err
}

// Members returns about limit members of an organization; see [store.RecordLister] for the order and the cursor, which
// must not be sent to a client. It returns [core.ErrNotFound] if there is no such organization.
func (o *Organizations) Members(
	ctx context.Context, id, cursor string, limit int,
) (members []Membership, next string, err error) {
	org, err := o.find(ctx, id)
	if err != nil {
		return nil, "", err
	}
	members = []Membership{}
	seen := map[string]*store.Record{}
	for len(members) == 0 { // a page of the store can have only records of former members, or none
		var page []*store.Record
		if page, next, err = o.lister.ListRecords(ctx, kindMember, id+".", cursor, limit); err != nil {
			return nil, "", err
		}
		for _, r := range page {
			m, err := readMember(r)
			if err != nil {
				return nil, "", err
			}
			if m.Role = org.roleOf(m); m.Role != "" && seen[r.Key] == nil {
				m.of, seen[r.Key] = o, r
				members = append(members, m.Membership)
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	return members, next, nil
}
