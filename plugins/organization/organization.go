package organization

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The roles that every organization has.
const (
	// Owner can do everything. An organization always has at least one owner.
	Owner = "owner"
	// Admin has the permissions [Update], [WriteMembers] and [Invite], and those of Options.Roles for "admin".
	Admin = "admin"
	// Member has the permissions of Options.Roles for "member". The default is none.
	Member = "member"
)

// The permissions that the plugin checks itself. A role of Options.Roles can contain them.
const (
	// Update permits changes of the name, the logo and the metadata of the organization.
	Update = "organization:update"
	// WriteMembers permits changing the roles of members and removing members.
	WriteMembers = "member:write"
	// Invite permits sending, listing and revoking invitations, and accepting or declining requests to join.
	Invite = "invitation:write"
)

// Role is a role of the application in organizations.
type Role struct {
	// Name consists of lower-case letters, digits and hyphens, at most 32. The names "admin" and "member" add permissions
	// to these roles. The name "owner" is a configuration error: owners have all permissions.
	Name string
	// Permissions are the operations that the role allows, such as "invoice:write". They are compared exactly.
	Permissions []string
}

// Options configures [New]. Only Mail is required.
type Options struct {
	// Mail sends the invitations.
	Mail core.Mailer
	// Roles are the roles of the application, in addition to owner, admin and member.
	Roles []Role
	// MayCreate reports whether a user may create an organization with POST organization. The default allows all users.
	// [Organizations.Create] does not call it.
	MayCreate func(ctx context.Context, userID string) (bool, error)
	// Seats returns the maximum number of members of an organization, for example by its plan. It is called before a
	// member joins. The default is MaxMembers, which is also the upper limit.
	Seats func(ctx context.Context, o *Organization) (int, error)
	// Select returns the ID or the slug of the organization of a request, for example from a header or the path of an
	// API. If it is nil or returns "", the organization is the one that the user has selected in this browser, or the
	// user's only organization. A slug costs one query more than an ID.
	Select func(r *core.Request) string
	// Resolver looks up the DNS TXT records that verify domains of organizations, for example [net.DefaultResolver]. Users
	// with a verified address of such a domain can join. If it is nil, organizations cannot claim domains.
	Resolver Resolver
	// PublicDomain reports whether everyone can get an email address of a domain, in addition to a built-in list of mail
	// services such as gmail.com. Such domains cannot be claimed. It must not block. The default is no other domain.
	PublicDomain func(domain string) bool
	// MembershipAge is how long the guards and [Organizations.Current] may use a membership without reading it again,
	// under [core.StrategyJWT]. Requests in that time need no query. A change by this process takes effect immediately,
	// and one by another process after MembershipAge: choose Session.Revocation.Every, after which sessions that ended
	// elsewhere end here. It is at most a minute. If it is 0, every request reads the membership, with one query.
	// Under [core.StrategyDatabase] it has no effect.
	MembershipAge time.Duration
	// NoRequestEmails disables the emails about requests to join: to the owners and the members with the permission
	// [Invite], at most one an hour for each organization, and to users whose request was accepted.
	NoRequestEmails bool
	// Keys stores the API keys of organizations: set it to orgkeys.Of of package orgkeys, with plugins/apikey. If it is
	// nil, there is no page for them.
	Keys Keys
	// Directory stores organizations and memberships in tables of the application. The default are records of the store.
	Directory Directory
	// MaxOrganizations is the maximum number of organizations of a user. The default is 20.
	MaxOrganizations int
	// MaxMembers is the maximum number of members of an organization. The default is 10000.
	MaxMembers int
	// MaxInvitations is the maximum number of pending invitations of an organization. The default is 100.
	MaxInvitations int
	// InvitationTTL is the lifetime of an invitation. The default is 7 days.
	InvitationTTL time.Duration
	// Fresh is the maximum time since the last sign-in of a user who transfers or deletes an organization, or creates an
	// API key of one. The default is 15 minutes.
	Fresh time.Duration
}

// Organizations is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for
// concurrent use.
type Organizations struct {
	options Options
	roles   map[string][]string
	host    *core.PluginHost
	records store.RecordStore
	lister  store.RecordLister     // nil if the store is none
	pairs   store.RecordPairReader // nil if the store is none, and with Options.Directory

	policies    policies
	memberships memberships
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Organizations {
	if o.MaxOrganizations == 0 {
		o.MaxOrganizations = 20
	}
	if o.MaxMembers == 0 {
		o.MaxMembers = 10_000
	}
	if o.MaxInvitations == 0 {
		o.MaxInvitations = 100
	}
	if o.InvitationTTL == 0 {
		o.InvitationTTL = 7 * 24 * time.Hour
	}
	if o.Fresh == 0 {
		o.Fresh = 15 * time.Minute
	}
	roles := map[string][]string{Owner: nil, Admin: {Update, WriteMembers, Invite}, Member: nil}
	for _, r := range o.Roles {
		roles[r.Name] = slices.Concat(roles[r.Name], r.Permissions)
	}
	return &Organizations{options: o, roles: roles}
}

// Attach implements [core.Plugin].
func (o *Organizations) Attach(h *core.PluginHost) error {
	if o.host != nil {
		return errors.New("already attached to an Auth: call organization.New for each Auth")
	}
	o.host, o.records, o.lister, o.pairs = h, h.Records(), h.RecordLister, h.RecordPairs
	if o.options.Directory != nil {
		own := &directoryRecords{o.records, o.lister, o.options.Directory}
		o.records, o.lister, o.pairs = own, own, nil
	}
	o.check(h)
	h.TrackAuthentication() // for Options.Fresh
	h.EmailsLinks()
	for _, a := range o.actions() {
		h.AddAction(a)
	}
	h.AddTask(o.finishDeletions)
	if o.options.Resolver != nil {
		h.AddFinalSignInGate(o.arrive)
		h.AddTask(o.checkDomains)
	}
	if o.options.Keys != nil {
		h.AddNoticeReversal(o.reverseKeys)
	}
	h.AddUserData(core.UserData{
		Name: "organizations", Heading: textHeading,
		Read: func(ctx context.Context, userID string) (any, error) { return o.Of(ctx, userID) },
	})
	if o.options.Mail == nil {
		return nil
	}
	h.AddEmailSender(core.EmailSender{Name: name, Mailer: o.options.Mail, Write: o.writeInvitation})
	h.AddEmailSender(core.EmailSender{Name: joinSender, Mailer: o.options.Mail, Write: o.writeJoinEmail})
	if m, ok := o.options.Mail.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			return fmt.Errorf("Options.Mail: %w", err)
		}
	}
	return nil
}

// Mailer returns Options.Mail. Package doctor uses it to check the mail configuration.
func (o *Organizations) Mailer() core.Mailer { return o.options.Mail }

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New.
func (o *Organizations) Advise(report func(what, fix string)) {
	if _, err := o.host.URL(acceptAction); err != nil {
		report("programs cannot send invitations to organizations: the link needs the address of the site", "set Config.URL")
	}
	if o.options.MembershipAge > policyTTL {
		report(fmt.Sprintf("a removed member can pass the guards of another process for %v", o.options.MembershipAge),
			"set Options.MembershipAge of plugins/organization to at most Session.Revocation.Every")
	}
	if o.options.MembershipAge > 0 && o.host.Strategy != core.StrategyJWT {
		report("Options.MembershipAge of plugins/organization has no effect with database sessions", "remove it")
	}
	if o.options.Resolver == nil && o.options.PublicDomain != nil {
		report("Options.PublicDomain of plugins/organization has no effect without a Resolver",
			"set Options.Resolver, for example to net.DefaultResolver, or remove Options.PublicDomain")
	}
}

// check reports configuration errors.
func (o *Organizations) check(h *core.PluginHost) {
	if o.options.Mail == nil {
		h.AddConfigError("Options.Mail is nil: set a Mailer, which sends the invitations")
	}
	if h.Store != nil && h.RecordLister == nil {
		h.AddConfigError("the store is not a store.RecordLister, which lists the members: use a store that lists records")
	}
	for i, r := range o.options.Roles {
		if !isRole(r.Name) || r.Name == Owner {
			h.AddConfigError(fmt.Sprintf("Options.Roles[%d].Name is %q: use at most 32 lower-case letters, digits and "+
				"hyphens, and not owner", i, r.Name))
		}
		if slices.ContainsFunc(o.options.Roles[:i], func(before Role) bool { return before.Name == r.Name }) {
			h.AddConfigError(fmt.Sprintf("Options.Roles[%d].Name is %q, as in another entry: remove one", i, r.Name))
		}
		if slices.Contains(r.Permissions, "") {
			h.AddConfigError(fmt.Sprintf("Options.Roles[%d].Permissions contains an empty text: remove it", i))
		}
	}
	if o.options.MembershipAge < 0 || o.options.MembershipAge > time.Minute {
		h.AddConfigError(
			fmt.Sprintf("Options.MembershipAge is %v: it must be between 0 and a minute", o.options.MembershipAge),
		)
	}
	for field, n := range map[string]int{
		"MaxOrganizations": o.options.MaxOrganizations, "MaxMembers": o.options.MaxMembers,
		"MaxInvitations": o.options.MaxInvitations,
	} {
		if n < 0 {
			h.AddConfigError(fmt.Sprintf("Options.%s is %d: it must not be negative", field, n))
		}
	}
	for field, d := range map[string]time.Duration{
		"InvitationTTL": o.options.InvitationTTL, "Fresh": o.options.Fresh,
	} {
		if d < 0 {
			h.AddConfigError(fmt.Sprintf("Options.%s is %v: it must not be negative", field, d))
		}
	}
}

func isRole(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// allows reports whether a role has a permission. An unknown role has none.
func (o *Organizations) allows(role, permission string) bool {
	return role == Owner || slices.Contains(o.roles[role], permission)
}

// covers reports whether a role has all permissions of another one. A member cannot give or take a role that allows
// more than their own.
func (o *Organizations) covers(role, other string) bool {
	return role == Owner || other != Owner && !slices.ContainsFunc(o.roles[other], func(p string) bool {
		return !o.allows(role, p)
	})
}

func (o *Organizations) knows(role string) bool {
	_, known := o.roles[role]
	return known
}
