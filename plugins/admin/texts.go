package admin

import (
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// The texts of the pages.
var (
	textHeading    = ui.Text{Key: "admin.heading", English: "Users"}
	textSearch     = ui.Text{Key: "admin.search", English: "Email or user ID"}
	textFind       = ui.Text{Key: "admin.find", English: "Find"}
	textNone       = ui.Text{Key: "admin.none", English: "No users found."}
	textMore       = ui.Text{Key: "admin.more", English: "More users"}
	textView       = ui.Text{Key: "admin.view", English: "View"}
	textBack       = ui.Text{Key: "admin.back", English: "All users"}
	textUnnamed    = ui.Text{Key: "admin.unnamed", English: "User without a name"}
	textBanned     = ui.Text{Key: "admin.banned", English: "Banned"}
	textAdmin      = ui.Text{Key: "admin.admin", English: "Administrator"}
	textVerified   = ui.Text{Key: "admin.verified", English: "Verified"}
	textUnverified = ui.Text{Key: "admin.unverified", English: "Not verified"}
	textDetails    = ui.Text{Key: "admin.details", English: "Details"}
	textEmail      = ui.Text{Key: "admin.email", English: "Email"}
	textID         = ui.Text{Key: "admin.id", English: "User ID"}
	textMethods    = ui.Text{Key: "admin.methods", English: "Sign-in methods"}
	textPassword   = ui.Text{Key: "admin.password", English: "Password"}
	textPasskey    = ui.Text{Key: "admin.passkey", English: "Passkey"}
	textAdded      = ui.Text{Key: "admin.added", English: "Added %s"}
	textNothing    = ui.Text{Key: "admin.nothing", English: "None."}
	textSessions   = ui.Text{Key: "admin.sessions", English: "Active sessions"}
	textUsed       = ui.Text{Key: "admin.used", English: "Last used %s"}
	textActor      = ui.Text{Key: "admin.actor", English: "In use by administrator %s"}
	textBrowser    = ui.Text{Key: "admin.unknown-browser", English: "Unknown browser"}
	textWhich      = ui.Text{Key: "admin.which", English: "Sessions to end"}
	textAll        = ui.Text{Key: "admin.all", English: "All sessions"}
	textReason     = ui.Text{Key: "admin.reason", English: "Reason"}
	textEnd        = ui.Text{Key: "admin.end", English: "End sessions"}
	textBan        = ui.Text{Key: "admin.ban", English: "Ban user"}
	textBanHint    = ui.Text{
		Key:     "admin.ban.hint",
		English: "This ends the user's sessions, apps, and API keys, and the user can't sign in.",
	}
	textUntil  = ui.Text{Key: "admin.until", English: "End date (optional)"}
	textEnds   = ui.Text{Key: "admin.ends", English: "Ends %s"}
	textNoEnd  = ui.Text{Key: "admin.no-end", English: "No end date"}
	textUnban  = ui.Text{Key: "admin.unban", English: "Lift ban"}
	textReset  = ui.Text{Key: "admin.reset", English: "Send password reset link"}
	textVerify = ui.Text{Key: "admin.verify", English: "Mark email as verified"}
	textSure   = ui.Text{
		Key: "admin.verify.hint",
		English: "Do this only if you're sure that the address belongs to the user. Sign-in methods that may belong to " +
			"someone else are removed.",
	}
	textFactors      = ui.Text{Key: "admin.factors", English: "Reset two-step verification"}
	textSchedule     = ui.Text{Key: "admin.schedule-delete", English: "Schedule deletion"}
	textScheduleHint = ui.Text{
		Key:     "admin.schedule-delete.hint",
		English: "This signs the user out everywhere. The user can sign in to keep the account until the deletion.",
	}
	textScheduled       = ui.Text{Key: "admin.done.scheduled", English: "Deletion scheduled."}
	textImpersonate     = ui.Text{Key: "admin.impersonate", English: "Use this account"}
	textImpersonateHint = ui.Text{
		Key: "admin.impersonate.hint",
		English: "You see the site as this user for up to an hour. You can't change their sign-in methods, keys, or " +
			"organizations.",
	}
	textDelete   = ui.Text{Key: "admin.delete", English: "Delete user"}
	textConfirm  = ui.Text{Key: "admin.delete.confirm", English: "To delete the user with all data, type “%s”."}
	textInvite   = ui.Text{Key: "admin.invite", English: "Invite user"}
	textSend     = ui.Text{Key: "admin.invite.send", English: "Send invitation"}
	textCreate   = ui.Text{Key: "admin.create", English: "Create user"}
	textChanges  = ui.Text{Key: "admin.changes", English: "Changes"}
	textSelf     = ui.Text{Key: "admin.self", English: "You can't change your own account here."}
	textIsAdmin  = ui.Text{Key: "admin.is-admin", English: "Administrators can't be changed here."}
	textEnded    = ui.Text{Key: "admin.done.ended", English: "Sessions ended."}
	textDoneBan  = ui.Text{Key: "admin.done.banned", English: "User banned."}
	textCreated  = ui.Text{Key: "admin.done.created", English: "User created."}
	textUnbanned = ui.Text{Key: "admin.done.unbanned", English: "Ban lifted."}

	textDoneReset    = ui.Text{Key: "admin.done.reset", English: "Link sent."}
	textDoneVerified = ui.Text{Key: "admin.done.verified", English: "Email marked as verified."}
	textDoneFactors  = ui.Text{Key: "admin.done.factors", English: "Two-step verification reset."}
	textDoneDeleted  = ui.Text{Key: "admin.done.deleted", English: "User deleted."}
	textDoneInvited  = ui.Text{Key: "admin.done.invited", English: "Invitation sent."}

	textProblemReason = ui.Text{Key: "admin.problem.reason", English: "Enter a reason of at most 200 characters."}
	textProblemUntil  = ui.Text{Key: "admin.problem.until", English: "Choose an end date in the future."}
	textProblemGone   = ui.Text{
		Key: "admin.problem.gone", English: "This user or session no longer exists.",
	}
	textProblemNotBanned = ui.Text{Key: "admin.problem.not-banned", English: "This user isn't banned."}
	textProblemBusy      = ui.Text{
		Key: "admin.problem.busy", English: "Another administrator is changing this user. Try again.",
	}
	textProblemConfirm  = ui.Text{Key: "admin.problem.confirm", English: "Type the text exactly to delete the user."}
	textProblemTaken    = ui.Text{Key: "admin.problem.taken", English: "A user has this address already."}
	textProblemEmail    = ui.Text{Key: "admin.problem.email", English: "Enter a valid email address."}
	textProblemNoEmail  = ui.Text{Key: "admin.problem.no-email", English: "This user has no email address."}
	textProblemVerified = ui.Text{Key: "admin.problem.verified", English: "This address is already verified."}
	textProblemBrowser  = ui.Text{Key: "admin.problem.browser", English: "Manage users in a browser."}
	textProblemCursor   = ui.Text{Key: "admin.problem.cursor", English: "This page of the list has expired. Start again."}
)

// The messages after a change.
const (
	doneEnded    = "ended"
	doneBanned   = "banned"
	doneUnbanned = "unbanned"
	doneReset    = "reset"
	doneVerified = "verified"
	doneFactors  = "factors"
	doneDeleted  = "deleted"
	doneInvited  = "invited"
	doneCreated  = "created"

	doneScheduled = "scheduled"
)

func doneText(done string) ui.Text {
	return map[string]ui.Text{
		doneEnded: textEnded, doneBanned: textDoneBan, doneUnbanned: textUnbanned, doneReset: textDoneReset,
		doneVerified: textDoneVerified, doneFactors: textDoneFactors, doneDeleted: textDoneDeleted,
		doneInvited: textDoneInvited, doneScheduled: textScheduled, doneCreated: textCreated,
	}[done]
}

var (
	errSelf      = errors.New("admin: an administrator cannot change their own account")
	errAdmin     = errors.New("admin: the user is an administrator")
	errNotBanned = errors.New("admin: the user is not banned")
	errConfirm   = errors.New("admin: the typed confirmation is wrong")
	errEmail     = errors.New("admin: the address is not valid")
	errTaken     = errors.New("admin: a user has the address")
	errNoEmail   = errors.New("admin: the user has no address")
	errVerified  = errors.New("admin: the address is already verified")
)

// The codes of problem responses without an error in the table.
const (
	codeBrowser = "browser_required"
	codeCursor  = "cursor_invalid"
)

// problems lists the problem of each error of a change.
var problems = []struct {
	err    error
	status int
	code   string
	text   ui.Text
}{
	{ErrReason, 422, "reason_invalid", textProblemReason},
	{ErrUntil, 422, "until_invalid", textProblemUntil},
	{errSelf, 403, "own_account", textSelf},
	{errAdmin, 403, "administrator", textIsAdmin},
	{errNotBanned, 409, "not_banned", textProblemNotBanned},
	{errConfirm, 422, "confirmation_required", textProblemConfirm},
	{errEmail, 422, "email_invalid", textProblemEmail}, {errTaken, 409, "email_taken", textProblemTaken},
	{errNoEmail, 409, "no_email", textProblemNoEmail},
	{errVerified, 409, "already_verified", textProblemVerified},
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
