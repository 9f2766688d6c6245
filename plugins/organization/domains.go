package organization

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// Resolver looks up DNS TXT records. [net.Resolver] implements it. An error that is a [*net.DNSError] with IsNotFound
// means that there are none; after another error it is unknown. It must be safe for concurrent use.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// The kinds of records of domains.
const (
	kindDomain   = "organization-domain"          // a claim; key: ID of the organization, dot, domain
	kindVerified = "organization-domain-verified" // key: domain
	kindLeft     = "organization-left"            // key: memberKey
)

const (
	maxDomains = 10
	// maxDomain limits the bytes of a domain, which is in the key of a record.
	maxDomain = 200
	// dnsTimeout limits a lookup. maxTXT is the number of TXT records of a name that are compared.
	dnsTimeout = 5 * time.Second
	maxTXT     = 50
	// checkEvery is the time after which a domain is looked up again, and checkMost the time after which a domain that
	// could not be looked up counts as lost.
	checkEvery = 24 * time.Hour
	checkMost  = 72 * time.Hour
	// lookupPause is the shortest time between two lookups of a claim.
	lookupPause = 5 * time.Second
	// maxChecks limits the lookups of one run of the background task.
	maxChecks = 20

	recordPrefix = "_organization."
	valuePrefix  = "organization-verification="
)

// Domain is a domain that an organization has claimed. Users with a verified address of it can join when the domain is
// verified.
type Domain struct {
	// Name is the domain in its canonical form, as [core.NormalizeEmail] writes it.
	Name string `json:"domain"`
	// Role is the role of users who join.
	Role string `json:"role"`
	// Automatic reports that users join when they sign in. Otherwise the page of organizations offers it.
	Automatic bool `json:"automatic"`
	// Record and Value are the DNS TXT record that verifies the domain.
	Record string `json:"record"`
	Value  string `json:"value"`
	// Verified reports that users can join.
	Verified bool `json:"verified"`
	// Checked is when the TXT record was last found. It is zero before.
	Checked time.Time `json:"checked,omitzero"`
}

// storedDomain is the value of a record of a claim.
type storedDomain struct {
	Role      string    `json:"role"`
	Automatic bool      `json:"automatic,omitempty"`
	Token     string    `json:"token"`
	Verified  bool      `json:"verified,omitempty"`
	Checked   time.Time `json:"checked,omitzero"`
	Tried     time.Time `json:"tried,omitzero"` // the last lookup
}

// claim is a claim of a domain and its record.
type claim struct {
	storedDomain
	id, name string
	record   *store.Record
}

func readClaim(r *store.Record) (*claim, error) {
	id, name, _ := strings.Cut(r.Key, ".")
	c := &claim{id: id, name: name, record: r}
	if err := json.Unmarshal(r.Value, &c.storedDomain); err != nil {
		return nil, fmt.Errorf("organization: the record of a domain of %s is malformed: %w", id, err)
	}
	return c, nil
}

// domain returns the claim for the page. A claim is verified as long as the last successful lookup is recent.
func (c *claim) domain(now time.Time) Domain {
	return Domain{
		Name: c.name, Role: c.Role, Automatic: c.Automatic, Record: recordName(c.name), Value: valuePrefix + c.Token,
		Verified: c.Verified && now.Sub(c.Checked) < checkMost, Checked: c.Checked,
	}
}

// recordName returns the name of the TXT record of a domain, in ASCII.
func recordName(domain string) string {
	_, ascii, _ := strings.Cut(core.Email{To: "x@" + domain}.Recipient(), "@")
	return recordPrefix + ascii
}

// canonicalDomain returns the spelling of a domain in canonical addresses, or "" for a text that is not a domain.
func canonicalDomain(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	address, err := core.NormalizeEmail("x@" + text)
	local, domain, found := strings.Cut(address, "@")
	if err != nil || !found || local != "x" || !strings.Contains(domain, ".") || strings.Contains(domain, "[") ||
		len(domain) > maxDomain || len(recordName(domain)) > 253 {
		return ""
	}
	return domain
}

// domainOf returns the domain of a canonical address.
func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// mailProviders are the domains of services that give an address to everyone. They cannot be claimed.
var mailProviders = strings.Fields(`
	126.com 139.com 163.com aol.com bigpond.com bk.ru btinternet.com comcast.net cox.net daum.net fastmail.com
	fastmail.fm free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com
	hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it icloud.com inbox.ru laposte.net libero.it
	list.ru live.com live.de live.fr mac.com mail.com mail.de mail.ru mailbox.org me.com msn.com naver.com orange.fr
	outlook.com outlook.de outlook.es outlook.fr outlook.jp pm.me posteo.de proton.me protonmail.ch protonmail.com
	qq.com rambler.ru rediffmail.com rocketmail.com sbcglobal.net sfr.fr sina.com sohu.com t-online.de tuta.com
	tutanota.com verizon.net virgilio.it wanadoo.fr web.de yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com
	yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru yeah.net ymail.com zoho.com`)

func (o *Organizations) isPublic(domain string) bool {
	return slices.Contains(mailProviders, domain) || o.options.PublicDomain != nil && o.options.PublicDomain(domain)
}

// ClaimDomain claims a domain for an organization, or changes the role of its users, and whether they join
// automatically. It does not look up the domain: [Organizations.VerifyDomain] does. Several organizations can claim a
// domain, and one can verify it. role must not be [Owner]. The errors are [core.ErrNotFound], [ErrRole], [ErrDomain],
// [ErrPublicDomain] and [ErrDomains].
func (o *Organizations) ClaimDomain(
	ctx context.Context, id, domain, role string, automatic bool,
) (*Domain, error) {
	if role == Owner || !o.knows(role) {
		return nil, ErrRole
	}
	name := canonicalDomain(domain)
	switch {
	case o.options.Resolver == nil:
		return nil, core.ErrNotFound
	case name == "":
		return nil, ErrDomain
	case o.isPublic(name):
		return nil, ErrPublicDomain
	}
	var c *claim
	err := retry(ctx, func() error {
		if _, err := o.find(ctx, id); err != nil {
			return err
		}
		before, err := o.claim(ctx, id, name)
		if errors.Is(err, core.ErrNotFound) {
			c, err = o.newClaim(ctx, id, name, role, automatic)
			return err
		}
		if err != nil {
			return err
		}
		c, c.Role, c.Automatic = before, role, automatic
		return o.writeClaim(ctx, c)
	})
	if err != nil {
		return nil, err
	}
	d := c.domain(o.host.Now())
	return &d, nil
}

func (o *Organizations) newClaim(ctx context.Context, id, name, role string, automatic bool) (*claim, error) {
	token, err := o.host.NewToken()
	if err != nil {
		return nil, err
	}
	c := &claim{
		storedDomain: storedDomain{Role: role, Automatic: automatic, Token: token}, id: id, name: name,
		record: &store.Record{Kind: kindDomain, Key: id + "." + name},
	}
	if err := o.writeClaim(ctx, c); err != nil {
		return nil, err
	}
	n, err := o.count(ctx, kindDomain, id) // several new claims see each other
	if err == nil && n > maxDomains {
		err = ErrDomains
	}
	if err == nil { // the organization could have been deleted
		_, err = o.find(ctx, id)
	}
	if err != nil {
		return nil, errors.Join(err, o.discard(context.WithoutCancel(ctx), kindDomain, c.record.Key))
	}
	return c, nil
}

func (o *Organizations) claim(ctx context.Context, id, name string) (*claim, error) {
	if !isID(id) {
		return nil, core.ErrNotFound
	}
	r, err := o.records.Record(ctx, kindDomain, id+"."+name)
	if err != nil {
		return nil, err
	}
	return readClaim(r)
}

// writeClaim stores a claim if its record was not changed since it was read.
func (o *Organizations) writeClaim(ctx context.Context, c *claim) (err error) {
	if c.record.Value, err = marshal(c.storedDomain); err != nil {
		return err
	}
	if c.record.Version == 0 {
		return o.records.CreateRecord(ctx, c.record)
	}
	return o.records.UpdateRecord(ctx, c.record)
}

// Domains returns the domains that an organization has claimed, by name.
func (o *Organizations) Domains(ctx context.Context, id string) ([]Domain, error) {
	if _, err := o.find(ctx, id); err != nil {
		return nil, err
	}
	all := []Domain{}
	err := o.each(ctx, kindDomain, id, func(r *store.Record) error {
		c, err := readClaim(r)
		if err == nil {
			all = append(all, c.domain(o.host.Now()))
		}
		return err
	})
	slices.SortFunc(all, func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// VerifyDomain looks up the TXT record of a claimed domain. The errors are [core.ErrNotFound], [ErrDomainRecord] if the
// record does not exist, [ErrDomainLookup] if that is unknown, [ErrDomainWait] for a second lookup within 5 seconds,
// and [ErrDomainTaken] if another organization has verified the domain and its TXT record still exists.
func (o *Organizations) VerifyDomain(ctx context.Context, id, domain string) (*Domain, error) {
	name := canonicalDomain(domain)
	c, err := o.claim(ctx, id, name)
	if err != nil {
		return nil, err
	}
	if _, err := o.find(ctx, id); err != nil {
		return nil, err
	}
	if o.options.Resolver == nil || o.isPublic(name) {
		return nil, core.ErrNotFound
	}
	if err := o.checkClaim(ctx, c); err != nil {
		return nil, err
	}
	if err := o.takeDomain(ctx, c); err != nil {
		return nil, err
	}
	c.Verified = true
	if err := o.writeClaim(ctx, c); errors.Is(err, core.ErrConflict) {
		return nil, ErrDomainWait
	} else if err != nil {
		return nil, err
	}
	d := c.domain(o.host.Now())
	return &d, nil
}

// checkClaim looks up the TXT record of a claim. It sets Checked if the record exists, and does not store that. Before
// the lookup it stores Tried, so that of concurrent requests one looks up.
func (o *Organizations) checkClaim(ctx context.Context, c *claim) error {
	now := o.host.Now().UTC().Truncate(time.Millisecond)
	if now.Sub(c.Tried) < lookupPause {
		return ErrDomainWait
	}
	c.Tried = now
	if err := o.writeClaim(ctx, c); errors.Is(err, core.ErrConflict) {
		return ErrDomainWait
	} else if err != nil {
		return err
	}
	found, err := o.lookUpTXT(ctx, c)
	switch {
	case err != nil:
		return errors.Join(ErrDomainLookup, err)
	case !found:
		return ErrDomainRecord
	}
	c.Checked = now
	return nil
}

// lookUpTXT reports whether the TXT record of a claim exists.
func (o *Organizations) lookUpTXT(ctx context.Context, c *claim) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	type result struct {
		all []string
		err error
	}
	answered := make(chan result, 1)
	go func() { // a Resolver that ignores the deadline must not stop the request
		all, err := o.options.Resolver.LookupTXT(ctx, recordName(c.name))
		answered <- result{all, err}
	}()
	var r result
	select {
	case r = <-answered:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	var missing *net.DNSError
	if errors.As(r.err, &missing) && missing.IsNotFound {
		return false, nil
	}
	if r.err != nil {
		return false, r.err
	}
	want := valuePrefix + c.Token
	for _, text := range r.all[:min(len(r.all), maxTXT)] {
		if subtle.ConstantTimeCompare([]byte(strings.TrimSpace(text)), []byte(want)) == 1 {
			return true, nil
		}
	}
	return false, nil
}

// verifiedDomain is the value of a record of a verified domain. ID is empty after the domain was lost.
type verifiedDomain struct {
	ID string `json:"id"`
}

// takeDomain makes a domain that of a claim. If it belongs to another organization, the TXT record of that one is
// looked up now.
func (o *Organizations) takeDomain(ctx context.Context, c *claim) error {
	value, err := marshal(verifiedDomain{c.id})
	if err != nil {
		return err
	}
	r := &store.Record{Kind: kindVerified, Key: c.name, Value: value}
	err = o.records.CreateRecord(ctx, r)
	if !errors.Is(err, core.ErrConflict) {
		return err
	}
	r, before, err := o.holder(ctx, c.name)
	if err != nil {
		return err
	}
	if before != nil {
		if before.id == c.id {
			return nil
		}
		found, err := o.lookUpTXT(ctx, before)
		if err != nil {
			return errors.Join(ErrDomainLookup, err)
		}
		if found {
			return ErrDomainTaken
		}
	}
	r.Value, r.Expires = value, time.Time{}
	err = o.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return ErrDomainTaken
	}
	return err
}

// holder returns the record of a verified domain, and the claim of its organization. The claim is nil if the
// organization was deleted, or has given up or lost the domain. The error is [core.ErrNotFound] if there is no record.
func (o *Organizations) holder(ctx context.Context, name string) (*store.Record, *claim, error) {
	r, err := o.records.Record(ctx, kindVerified, name)
	if err != nil {
		return nil, nil, err
	}
	var v verifiedDomain
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, nil, fmt.Errorf("organization: the record of a verified domain is malformed: %w", err)
	}
	c, err := o.claim(ctx, v.ID, name)
	if errors.Is(err, core.ErrNotFound) {
		return r, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	_, err = o.find(ctx, v.ID)
	if errors.Is(err, core.ErrNotFound) || err == nil && !c.Verified {
		return r, nil, nil
	}
	return r, c, err
}

// verifiedClaim returns the claim of the organization that users of a domain can join, or nil. It looks up the domain
// if the last lookup is too old.
func (o *Organizations) verifiedClaim(ctx context.Context, name string) (*claim, error) {
	if o.options.Resolver == nil || name == "" || o.isPublic(name) {
		return nil, nil
	}
	r, c, err := o.holder(ctx, name)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil || c == nil || c.Role == Owner || !o.knows(c.Role) {
		return nil, err
	}
	now := o.host.Now()
	if now.Sub(c.Checked) < checkEvery {
		return c, nil
	}
	switch err := o.checkClaim(ctx, c); {
	case err == nil:
		err = o.writeClaim(ctx, c)
		if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) { // changed or removed meanwhile
			return nil, nil
		}
		return c, err
	case errors.Is(err, ErrDomainRecord):
		return nil, o.loseDomain(ctx, r, c)
	case errors.Is(err, ErrDomainLookup), errors.Is(err, ErrDomainWait):
		if now.Sub(c.Checked) < checkMost {
			return c, nil
		}
		return nil, nil
	default:
		return nil, err
	}
}

// loseDomain stores that the TXT record of a verified domain does not exist any more.
func (o *Organizations) loseDomain(ctx context.Context, r *store.Record, c *claim) error {
	c.Verified = false
	err := o.writeClaim(ctx, c)
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return nil // a change of the claim; the next join looks it up again
	}
	if err != nil {
		return err
	}
	return o.releaseDomain(ctx, r)
}

// releaseDomain makes a domain free, unless its record was changed since it was read.
func (o *Organizations) releaseDomain(ctx context.Context, r *store.Record) (err error) {
	r.Expires = o.host.Now()
	if r.Value, err = marshal(verifiedDomain{}); err != nil {
		return err
	}
	err = o.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// RemoveDomain ends the claim of a domain. Members who have joined stay. The error is [core.ErrNotFound] if there is no
// claim.
func (o *Organizations) RemoveDomain(ctx context.Context, id, domain string) error {
	name := canonicalDomain(domain)
	if !isID(id) || name == "" {
		return core.ErrNotFound
	}
	if _, err := o.records.DeleteRecord(ctx, kindDomain, id+"."+name); err != nil {
		return err
	}
	return o.forgetDomain(ctx, id, name)
}

// forgetDomain makes a domain free if it is verified for an organization. A record that stays after a failure has no
// effect, because there is no claim.
func (o *Organizations) forgetDomain(ctx context.Context, id, name string) error {
	r, err := o.records.Record(ctx, kindVerified, name)
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	var v verifiedDomain
	if err == nil {
		err = json.Unmarshal(r.Value, &v)
	}
	if err != nil || v.ID != id {
		return err
	}
	return o.releaseDomain(ctx, r)
}

// Offered is an organization that a user can join with their verified address.
type Offered struct {
	Organization
	// Role is the role that the user gets.
	Role      string `json:"role"`
	automatic bool
}

// Offer returns the organization that a user can join because their verified address is of one of its domains, or nil
// if there is none. Users who have left an organization or were removed need an invitation instead.
func (o *Organizations) Offer(ctx context.Context, userID string) (*Offered, error) {
	if o.options.Resolver == nil {
		return nil, nil
	}
	address, err := o.verifiedEmail(ctx, userID)
	if errors.Is(err, core.ErrNotFound) { // the user is not stored
		return nil, nil
	}
	if err != nil || address == "" {
		return nil, err
	}
	c, err := o.verifiedClaim(ctx, domainOf(address))
	if err != nil || c == nil {
		return nil, err
	}
	for _, kind := range []string{kindMember, kindLeft} {
		_, err := o.records.Record(ctx, kind, memberKey(c.id, userID))
		if err == nil {
			return nil, nil
		}
		if !errors.Is(err, core.ErrNotFound) {
			return nil, err
		}
	}
	org, err := o.find(ctx, c.id)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Offered{org.Organization, c.Role, c.Automatic}, nil
}

// JoinByDomain makes a user a member of the organization that [Organizations.Offer] returns. If that is not the one
// with the ID, the error is [core.ErrNotFound]. The other errors are [ErrMember], [ErrFull] and [ErrTooMany].
func (o *Organizations) JoinByDomain(ctx context.Context, id, userID string) (*Organization, error) {
	offer, err := o.Offer(ctx, userID)
	if err != nil {
		return nil, err
	}
	if offer == nil || offer.ID != id {
		return nil, core.ErrNotFound
	}
	if err := o.join(ctx, id, userID, offer.Role); err != nil {
		return nil, err
	}
	return &offer.Organization, nil
}

// arrive is a sign-in gate. It makes users members of the organization whose domain their verified address has. It
// never stops a sign-in.
func (o *Organizations) arrive(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Linking {
		return "", nil
	}
	offer, err := o.Offer(ctx, p.User.ID)
	if err == nil && (offer == nil || !offer.automatic) {
		return "", nil
	}
	if err == nil {
		err = o.join(ctx, offer.ID, p.User.ID, offer.Role)
	}
	switch {
	case err == nil:
		o.host.Audit(ctx, audit.Event{Name: audit.MemberJoined, Outcome: audit.OK, UserID: p.User.ID})
	case problemOf(err) == nil: // not a limit, which the page of organizations explains
		o.host.Logger.ErrorContext(ctx, "organization: a user could not join by their domain", "error", err)
	}
	return "", nil
}

// leaves records that a user has left an organization, so that they do not join it again by their domain.
func (o *Organizations) leaves(ctx context.Context, id, userID string) error {
	if o.options.Resolver == nil {
		return nil
	}
	err := o.records.CreateRecord(ctx, &store.Record{
		Kind: kindLeft, Key: memberKey(id, userID), UserID: userID, Value: []byte("{}"),
	})
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) { // recorded before; no such user
		return nil
	}
	return err
}

// checkDomains looks up verified domains whose last lookup is too old.
func (o *Organizations) checkDomains(ctx context.Context) error {
	if o.options.Resolver == nil || o.lister == nil {
		return nil
	}
	checked := 0
	for cursor := ""; ; {
		page, next, err := o.lister.ListRecords(ctx, kindVerified, "", cursor, 100)
		if err != nil {
			return err
		}
		for _, r := range page {
			_, c, err := o.holder(ctx, r.Key)
			if errors.Is(err, core.ErrNotFound) || err == nil && (c == nil || o.host.Now().Sub(c.Checked) < checkEvery) {
				continue
			}
			if err == nil {
				_, err = o.verifiedClaim(ctx, r.Key)
			}
			if err != nil {
				return err
			}
			if checked++; checked == maxChecks {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}
