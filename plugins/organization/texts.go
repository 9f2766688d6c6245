package organization

import (
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// The texts of the pages and of the section on the account page.
var (
	textHeading     = ui.Text{Key: "organization.heading", English: "Organizations"}
	textNone        = ui.Text{Key: "organization.none", English: "You aren't a member of an organization yet."}
	textYours       = ui.Text{Key: "organization.yours", English: "Your organizations"}
	textSelected    = ui.Text{Key: "organization.selected", English: "Selected"}
	textSelect      = ui.Text{Key: "organization.select", English: "Select"}
	textOpen        = ui.Text{Key: "organization.open", English: "Open"}
	textManage      = ui.Text{Key: "organization.manage", English: "Manage organizations"}
	textNew         = ui.Text{Key: "organization.new", English: "New organization"}
	textName        = ui.Text{Key: "organization.name", English: "Name"}
	textSlug        = ui.Text{Key: "organization.slug", English: "Short name for URLs (optional)"}
	textCreate      = ui.Text{Key: "organization.create", English: "Create organization"}
	textMembers     = ui.Text{Key: "organization.members", English: "Members"}
	textYou         = ui.Text{Key: "organization.you", English: "You"}
	textUnnamed     = ui.Text{Key: "organization.unnamed", English: "Unnamed user"}
	textJoinedOn    = ui.Text{Key: "organization.joined-on", English: "Joined %s"}
	textRole        = ui.Text{Key: "organization.role", English: "Role"}
	textOwner       = ui.Text{Key: "organization.role.owner", English: "Owner"}
	textAdmin       = ui.Text{Key: "organization.role.admin", English: "Admin"}
	textMember      = ui.Text{Key: "organization.role.member", English: "Member"}
	textChange      = ui.Text{Key: "organization.change", English: "Change role"}
	textRemove      = ui.Text{Key: "organization.remove", English: "Remove"}
	textMore        = ui.Text{Key: "organization.more", English: "More members"}
	textInvitations = ui.Text{Key: "organization.invitations", English: "Invitations"}
	textInvite      = ui.Text{Key: "organization.invite", English: "Send invitation"}
	textEmail       = ui.Text{Key: "organization.email", English: "Email"}
	textResend      = ui.Text{Key: "organization.resend", English: "Send again"}
	textRevoke      = ui.Text{Key: "organization.revoke", English: "Revoke"}
	textExpires     = ui.Text{Key: "organization.expires", English: "Expires %s"}
	textSettings    = ui.Text{Key: "organization.settings", English: "Settings"}
	textSave        = ui.Text{Key: "organization.save", English: "Save"}
	textSecurity    = ui.Text{Key: "organization.security", English: "Security"}
	textFactorOn    = ui.Text{
		Key:     "organization.factor.on",
		English: "Members must sign in with a second factor to use this organization.",
	}
	textFactorOff = ui.Text{
		Key: "organization.factor.off", English: "Members can use this organization without a second factor.",
	}
	textFactorRequire = ui.Text{Key: "organization.factor.require", English: "Require a second factor"}
	textFactorRelax   = ui.Text{Key: "organization.factor.relax", English: "Stop requiring a second factor"}
	textOrganization  = ui.Text{Key: "organization.one", English: "Organization"}
	textSlugChange    = ui.Text{Key: "organization.slug.change", English: "Short name for URLs"}
	textLeave         = ui.Text{Key: "organization.leave", English: "Leave organization"}
	textTransfer      = ui.Text{Key: "organization.transfer", English: "Transfer ownership"}
	textDelete        = ui.Text{Key: "organization.delete", English: "Delete organization"}
	textConfirm       = ui.Text{Key: "organization.confirm", English: "To delete it for all members, type “%s”."}
	textInvitation    = ui.Text{Key: "organization.invitation", English: "Invitation"}
	textInvitedTo     = ui.Text{Key: "organization.invited-to", English: "You've been invited to join %s."}
	textAccept        = ui.Text{Key: "organization.accept", English: "Accept invitation"}
	textBack          = ui.Text{Key: "organization.back", English: "All organizations"}

	textOffer       = ui.Text{Key: "organization.offer", English: "Join your team"}
	textOfferLead   = ui.Text{Key: "organization.offer.lead", English: "Your email address lets you join %s."}
	textJoin        = ui.Text{Key: "organization.join", English: "Join"}
	textAsk         = ui.Text{Key: "organization.ask", English: "Ask to join"}
	textAskLead     = ui.Text{Key: "organization.ask.lead", English: "An admin of %s decides whether you can join."}
	textRequests    = ui.Text{Key: "organization.requests", English: "Requests to join"}
	textRequestsOn  = ui.Text{Key: "organization.requests.on", English: "Signed-in users with this link can ask to join:"}
	textRequestsOff = ui.Text{Key: "organization.requests.off", English: "Users can't ask to join this organization."}
	textAllow       = ui.Text{Key: "organization.requests.allow", English: "Allow requests"}
	textDisallow    = ui.Text{Key: "organization.requests.disallow", English: "Stop allowing requests"}
	textAskedOn     = ui.Text{Key: "organization.asked-on", English: "Asked on %s"}
	textAdmit       = ui.Text{Key: "organization.admit", English: "Accept"}
	textDecline     = ui.Text{Key: "organization.decline", English: "Decline"}
	textDomains     = ui.Text{Key: "organization.domains", English: "Domains"}
	textDomainsLead = ui.Text{
		Key:     "organization.domains.lead",
		English: "People with a verified email address at your domain can join without an invitation.",
	}
	textDomain          = ui.Text{Key: "organization.domain", English: "Domain"}
	textDomainVerified  = ui.Text{Key: "organization.domain.verified", English: "Verified"}
	textDomainPending   = ui.Text{Key: "organization.domain.pending", English: "Not verified"}
	textDomainRecord    = ui.Text{Key: "organization.domain.record", English: "Add this TXT record to your DNS:"}
	textDomainValue     = ui.Text{Key: "organization.domain.value", English: "Value"}
	textDomainAdd       = ui.Text{Key: "organization.domain.add", English: "Add domain"}
	textDomainVerify    = ui.Text{Key: "organization.domain.verify", English: "Verify"}
	textDomainOffer     = ui.Text{Key: "organization.domain.offer", English: "People are offered to join"}
	textDomainAutomatic = ui.Text{Key: "organization.domain.automatic", English: "People join when they sign in"}
	textDomainHow       = ui.Text{Key: "organization.domain.how", English: "How people join"}

	textKeys     = ui.Text{Key: "organization.keys", English: "API keys"}
	textKeysLead = ui.Text{
		Key:     "organization.keys.lead",
		English: "Programs use these keys to act for this organization. A key stays when the member who created it leaves.",
	}
	textKeyCreated = ui.Text{Key: "organization.keys.created", English: "Your new API key"}
	textKeyCopy    = ui.Text{
		Key: "organization.keys.copy", English: "Copy your new API key now. You won't be able to see it again.",
	}
	textKeyNew      = ui.Text{Key: "organization.keys.new", English: "New API key"}
	textKeyScopes   = ui.Text{Key: "organization.keys.scopes", English: "What this key can do"}
	textKeyLifetime = ui.Text{Key: "organization.keys.lifetime", English: "Expires after"}
	textKeyDays     = ui.Text{Key: "organization.keys.days", English: "%s days"}
	textKeyCreate   = ui.Text{Key: "organization.keys.create", English: "Create API key"}
	textKeyBy       = ui.Text{Key: "organization.keys.by", English: "Created by %s"}
	textKeyExpired  = ui.Text{Key: "organization.keys.expired", English: "Expired"}
	textKeyUsed     = ui.Text{Key: "organization.keys.used", English: "Last used %s"}
	textKeyUnused   = ui.Text{Key: "organization.keys.unused", English: "Never used"}
	textKeyRevoked  = ui.Text{Key: "organization.keys.revoked", English: "API key revoked."}

	textDoneRequested = ui.Text{Key: "organization.done.requested", English: "You asked to join. An admin decides."}
	textDoneDeclined  = ui.Text{Key: "organization.done.declined", English: "Request declined."}
	textDoneAdmitted  = ui.Text{Key: "organization.done.admitted", English: "The user is a member now."}
	textDoneDomain    = ui.Text{Key: "organization.done.domain", English: "Domain verified."}

	textDoneCreated  = ui.Text{Key: "organization.done.created", English: "Organization created."}
	textDoneSwitched = ui.Text{Key: "organization.done.switched", English: "Organization selected."}
	textDoneSaved    = ui.Text{Key: "organization.done.saved", English: "Changes saved."}
	textDoneRemoved  = ui.Text{Key: "organization.done.removed", English: "Member removed."}
	textDoneLeft     = ui.Text{Key: "organization.done.left", English: "You left the organization."}
	textDoneDeleted  = ui.Text{Key: "organization.done.deleted", English: "Organization deleted."}
	textDoneInvited  = ui.Text{Key: "organization.done.invited", English: "Invitation sent."}
	textDoneRevoked  = ui.Text{Key: "organization.done.revoked", English: "Invitation revoked."}
	textDoneJoined   = ui.Text{Key: "organization.done.joined", English: "You joined the organization."}

	textProblemName = ui.Text{Key: "organization.problem.name", English: "Enter a name of at most 64 characters."}
	textProblemSlug = ui.Text{
		Key: "organization.problem.slug", English: "Use 2 to 48 lowercase letters, digits, and single hyphens.",
	}
	textProblemTaken = ui.Text{Key: "organization.problem.taken", English: "This short name is taken."}
	textProblemInput = ui.Text{Key: "organization.problem.input", English: "Check your input and try again."}
	textProblemRole  = ui.Text{Key: "organization.problem.role", English: "Choose a role from the list."}
	textProblemOwner = ui.Text{
		Key: "organization.problem.owner", English: "An organization needs an owner. Transfer ownership first.",
	}
	textProblemOwners = ui.Text{Key: "organization.problem.owners", English: "This organization has too many owners."}
	textProblemFull   = ui.Text{Key: "organization.problem.full", English: "This organization has no free seats."}
	textProblemMany   = ui.Text{
		Key: "organization.problem.many", English: "You're a member of too many organizations. Leave one first.",
	}
	textProblemMember  = ui.Text{Key: "organization.problem.member", English: "You're already a member."}
	textProblemInvites = ui.Text{
		Key: "organization.problem.invites", English: "Too many invitations are open. Revoke one you no longer need.",
	}
	textProblemEmail   = ui.Text{Key: "organization.problem.email", English: "Enter a valid email address."}
	textProblemAddress = ui.Text{
		Key: "organization.problem.address",
		English: "This invitation is for another email address, or you haven't verified yours. Sign in with the invited " +
			"address and verify it.",
	}
	textProblemDenied  = ui.Text{Key: "organization.problem.denied", English: "Your role doesn't allow this."}
	textProblemConfirm = ui.Text{
		Key: "organization.problem.confirm", English: "Type the short name exactly to delete the organization.",
	}
	textProblemGone = ui.Text{
		Key: "organization.problem.gone", English: "This organization, member, or invitation no longer exists.",
	}
	textProblemBusy = ui.Text{
		Key: "organization.problem.busy", English: "Another member is changing this. Try again.",
	}
	textProblemMail = ui.Text{
		Key: "organization.problem.mail", English: "We couldn't send the invitation. Try again later.",
	}
	textProblemUnverified = ui.Text{
		Key: "organization.problem.unverified", English: "Verify your email address first.",
	}
	textProblemRequested = ui.Text{
		Key: "organization.problem.requested", English: "You've already asked to join this organization.",
	}
	textProblemRequests = ui.Text{
		Key: "organization.problem.requests", English: "Too many requests to join are open. Try again later.",
	}
	textProblemDomain = ui.Text{
		Key: "organization.problem.domain", English: "Enter a domain such as example.com.",
	}
	textProblemPublic = ui.Text{
		Key: "organization.problem.public", English: "This domain belongs to a mail service. Enter your own.",
	}
	textProblemDomains = ui.Text{
		Key: "organization.problem.domains", English: "This organization has too many domains. Remove one first.",
	}
	textProblemRecord = ui.Text{
		Key:     "organization.problem.record",
		English: "We couldn't find the TXT record yet. New records can take a few hours to appear.",
	}
	textProblemLookup = ui.Text{
		Key: "organization.problem.lookup", English: "We couldn't look up the domain. Try again later.",
	}
	textProblemWait = ui.Text{
		Key: "organization.problem.wait", English: "Wait a few seconds and try again.",
	}
	textProblemDomainTaken = ui.Text{
		Key: "organization.problem.domain-taken", English: "This domain belongs to another organization.",
	}
	textProblemKeyScope = ui.Text{Key: "organization.problem.key-scope", English: "Choose what the key can do."}
	textProblemKeyTTL   = ui.Text{Key: "organization.problem.key-lifetime", English: "Choose a shorter lifetime."}
	textProblemKeys     = ui.Text{
		Key: "organization.problem.keys", English: "This organization has too many API keys. Revoke one you no longer need.",
	}
	textProblemBrowser = ui.Text{
		Key: "organization.problem.browser", English: "Manage your organizations in a browser.",
	}
)

// The messages after a change.
const (
	doneCreated  = "created"
	doneSwitched = "switched"
	doneSaved    = "saved"
	doneRemoved  = "removed"
	doneLeft     = "left"
	doneDeleted  = "deleted"
	doneInvited  = "invited"
	doneRevoked  = "revoked"
	doneJoined   = "joined"

	doneRequested = "requested"
	doneDeclined  = "declined"
	doneAdmitted  = "admitted"
	doneDomain    = "domain-verified"

	doneKeyRevoked = "key-revoked"
)

func doneText(done string) ui.Text {
	return map[string]ui.Text{
		doneCreated: textDoneCreated, doneSwitched: textDoneSwitched, doneSaved: textDoneSaved,
		doneRemoved: textDoneRemoved, doneLeft: textDoneLeft, doneDeleted: textDoneDeleted, doneInvited: textDoneInvited,
		doneRevoked: textDoneRevoked, doneJoined: textDoneJoined, doneRequested: textDoneRequested,
		doneDeclined: textDoneDeclined, doneAdmitted: textDoneAdmitted, doneDomain: textDoneDomain,
		doneKeyRevoked: textKeyRevoked,
	}[done]
}

var errConfirm = errors.New("organization: the typed confirmation is wrong")

// The codes of problem responses without an error in the table.
const (
	codeBrowser = "browser_required"
	codeCursor  = "cursor_invalid"
	codeMail    = "email_not_sent"
)

// problems lists the problem of each error of a change.
var problems = []struct {
	err    error
	status int
	code   string
	text   ui.Text
}{
	{ErrName, 422, "name_invalid", textProblemName},
	{ErrSlug, 422, "slug_invalid", textProblemSlug},
	{ErrSlugTaken, 409, "slug_taken", textProblemTaken},
	{ErrLogo, 422, "logo_invalid", textProblemInput},
	{ErrMetadata, 422, "metadata_invalid", textProblemInput},
	{ErrRole, 422, "role_invalid", textProblemRole},
	{ErrLastOwner, 409, "last_owner", textProblemOwner},
	{ErrOwners, 409, "too_many_owners", textProblemOwners},
	{ErrFull, 409, "no_seats", textProblemFull},
	{ErrTooMany, 409, "too_many_organizations", textProblemMany},
	{ErrMember, 409, "already_member", textProblemMember},
	{ErrInvitations, 409, "too_many_invitations", textProblemInvites},
	{ErrEmail, 422, "email_invalid", textProblemEmail},
	{ErrAddress, 403, "address_mismatch", textProblemAddress},
	{ErrUnverified, 403, "address_unverified", textProblemUnverified},
	{ErrRequested, 409, "already_requested", textProblemRequested},
	{ErrRequests, 409, "too_many_requests", textProblemRequests},
	{ErrDomain, 422, "domain_invalid", textProblemDomain},
	{ErrPublicDomain, 422, "domain_public", textProblemPublic},
	{ErrDomains, 409, "too_many_domains", textProblemDomains},
	{ErrDomainRecord, 409, "domain_unverified", textProblemRecord},
	{ErrDomainLookup, 503, "domain_unavailable", textProblemLookup},
	{ErrDomainWait, 429, "domain_wait", textProblemWait},
	{ErrDomainTaken, 409, "domain_taken", textProblemDomainTaken},
	{ErrKeyName, 422, "name_invalid", textProblemName},
	{ErrKeyScope, 422, "scope_invalid", textProblemKeyScope},
	{ErrKeyTTL, 422, "lifetime_invalid", textProblemKeyTTL},
	{ErrKeys, 409, "too_many_keys", textProblemKeys},
	{errDenied, 403, "role_denied", textProblemDenied},
	{errConfirm, 422, "confirmation_required", textProblemConfirm},
	{core.ErrNotFound, http.StatusNotFound, "not_found", textProblemGone},
	{core.ErrConflict, http.StatusConflict, "conflict", textProblemBusy},
}

// problemOf returns the problem of an error of a change, or nil for another error.
func problemOf(err error) *core.Problem {
	for _, p := range problems {
		if errors.Is(err, p.err) {
			return &core.Problem{Status: p.status, Code: p.code, Text: p.text}
		}
	}
	return nil
}

// problemText returns the message of a problem code.
func problemText(code string) ui.Text {
	for _, p := range problems {
		if p.code == code {
			return p.text
		}
	}
	return ui.Text{}
}
