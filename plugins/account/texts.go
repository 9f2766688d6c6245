package account

import "github.com/latchkey-go/latchkey/ui"

// The texts of the page and its sections.
var (
	textHeading   = ui.Text{Key: "account.heading", English: "Your account"}
	textProfile   = ui.Text{Key: "account.profile.heading", English: "Profile"}
	textEdit      = ui.Text{Key: "account.profile.edit", English: "Edit profile"}
	textImage     = ui.Text{Key: "account.profile.image", English: "Picture URL"}
	textImageHint = ui.Text{
		Key:     "account.profile.image-hint",
		English: "The address of a picture on the web. It starts with https://.",
	}
	textDoneProfile        = ui.Text{Key: "account.done.profile", English: "Profile updated."}
	textProblemProfileName = ui.Text{
		Key: "account.problem.profile-name", English: "Use 100 characters or fewer.",
	}
	textProblemImage = ui.Text{
		Key: "account.problem.image", English: "Enter a picture address that starts with https://.",
	}
	textConfirmed = ui.Text{Key: "account.confirmed", English: "Verified"}
	textStale     = ui.Text{
		Key:     "account.stale",
		English: "For your security, sign in again before you make changes.",
	}
	textUndone     = ui.Text{Key: "account.undone.heading", English: "Email change undone"}
	textUndoneBody = ui.Text{
		Key:     "account.undone.body",
		English: "Your account's email is %s again.",
	}
	textUndoneEnded   = ui.Text{Key: "account.undone.ended", English: "All devices have been signed out."}
	textUndoneRemoved = ui.Text{
		Key:     "account.undone.removed",
		English: "These sign-in methods were added after the change, so we removed them:",
	}
	textUndonePassword = ui.Text{Key: "account.undone.password", English: "Choose a new password"}
	textSignIn         = ui.Text{Key: "account.sign-in", English: "Sign in"}
	textDeleted        = ui.Text{Key: "account.deleted.heading", English: "Account deleted"}
	textDeletedBody    = ui.Text{
		Key:     "account.deleted.body",
		English: "Your account and all its data have been deleted. You're signed out.",
	}
	textMethods            = ui.Text{Key: "account.methods.heading", English: "Sign-in methods"}
	textNothing            = ui.Text{Key: "account.methods.none", English: "No sign-in methods yet."}
	textLink               = ui.Text{Key: "account.methods.link", English: "Email link"}
	textLinkTo             = ui.Text{Key: "account.methods.link-to", English: "Sent to %s"}
	textAdd                = ui.Text{Key: "account.add", English: "Connect %s"}
	textPassword           = ui.Text{Key: "account.password", English: "Password"}
	textPasswordChange     = ui.Text{Key: "account.password.change", English: "Change"}
	textPasswordChangeWhat = ui.Text{Key: "account.password.change-what", English: "password"}
	textPasswordNone       = ui.Text{Key: "account.password.none", English: "Not set"}
	textPasswordChoose     = ui.Text{Key: "account.password.choose", English: "Set a password"}
	textRemove             = ui.Text{Key: "account.remove", English: "Remove"}
	textDisconnect         = ui.Text{Key: "account.disconnect", English: "Disconnect"}
	textRename             = ui.Text{Key: "account.rename", English: "Rename"}
	textName               = ui.Text{Key: "account.name", English: "Name"}
	textSave               = ui.Text{Key: "account.save", English: "Save"}
	textAddPasskey         = ui.Text{Key: "account.passkey.add", English: "Add a passkey"}
	textPasskey            = ui.Text{Key: "account.passkey", English: "Passkey"}
	textNoScript           = ui.Text{
		Key:     "account.passkey.noscript",
		English: "Turn on JavaScript to add a passkey.",
	}
	textSessions  = ui.Text{Key: "account.sessions.heading", English: "Active sessions"}
	textNotListed = ui.Text{
		Key:     "account.sessions.none",
		English: "Sessions can't be listed here. To end a session, sign out on that device.",
	}
	textOthers    = ui.Text{Key: "account.sessions.others", English: "Sign out of all other sessions"}
	textSignOut   = ui.Text{Key: "account.sessions.end", English: "Sign out"}
	textSupport   = ui.Text{Key: "account.sessions.support", English: "An administrator is using your account"}
	textSince     = ui.Text{Key: "account.sessions.since", English: "Since %s"}
	textHere      = ui.Text{Key: "account.sessions.here", English: "on this device"}
	textEmail     = ui.Text{Key: "account.email.heading", English: "Email"}
	textEmailCode = ui.Text{
		Key:     "account.email.code",
		English: "We sent an email to that address. Enter the code in it here, or open its link in this browser.",
	}
	textNoEmail      = ui.Text{Key: "account.email.none", English: "Not set"}
	textEmailBounces = ui.Text{
		Key: "account.email.bounces", English: "Emails to this address come back. Verify it again, or change it.",
	}
	textNewEmail    = ui.Text{Key: "account.email.new", English: "New email"}
	textEmailChange = ui.Text{Key: "account.email.change", English: "Change"}
	textEmailWhat   = ui.Text{Key: "account.email.change-what", English: "email"}
	textEmailVerify = ui.Text{Key: "account.email.verify", English: "Send verification email"}
	textEmailHint   = ui.Text{
		Key: "account.email.hint",
		English: "We'll email a confirmation link to the new address. Open it in this browser to finish. You can undo " +
			"the change from your old address for 7 days.",
	}
	textDanger     = ui.Text{Key: "account.delete.heading", English: "Delete account"}
	textDangerHint = ui.Text{
		Key:     "account.delete.hint",
		English: "This permanently deletes your account and all its data. You can't undo this.",
	}
	textDangerLater = ui.Text{
		Key:     "account.delete.later",
		English: "We'll delete your account and all its data on %s. Until then, you can sign in to keep it.",
	}
	textDeletion      = ui.Text{Key: "account.deletion.heading", English: "Your account will be deleted"}
	textDeletionAdded = ui.Text{
		Key: "account.deletion.added",
		English: "We'll delete your account and all its data on %s. You're signed out everywhere. To keep your account, " +
			"sign in before that day.",
	}
	textDeletionAsk = ui.Text{
		Key: "account.deletion.ask", English: "We'll delete your account and all its data on %s. Do you want to keep it?",
	}
	textDeletionStarted = ui.Text{
		Key: "account.deletion.started", English: "Your account is being deleted. It can't be restored.",
	}
	textKeep           = ui.Text{Key: "account.deletion.keep", English: "Keep my account"}
	textKept           = ui.Text{Key: "account.kept.heading", English: "You kept your account"}
	textKeptBody       = ui.Text{Key: "account.kept.body", English: "It won't be deleted. You can sign in as before."}
	textDangerAsk      = ui.Text{Key: "account.delete.ask", English: "Delete account…"}
	textPhrase         = ui.Text{Key: "account.delete.phrase", English: "Type “%s” to confirm"}
	textDelete         = ui.Text{Key: "account.delete.button", English: "Delete account"}
	textLast           = ui.Text{Key: "account.last", English: "Your only sign-in method"}
	textThisDevice     = ui.Text{Key: "account.this-device", English: "This device"}
	textNotConfirmed   = ui.Text{Key: "account.not-confirmed", English: "Not verified"}
	textAskConfirm     = ui.Text{Key: "account.confirm.heading", English: "Confirm your new email"}
	textAskConfirmBody = ui.Text{
		Key:     "account.confirm.body",
		English: "Use %s as your new email?",
	}
	textAskConfirmButton = ui.Text{Key: "account.confirm.button", English: "Confirm"}
	textNotMe            = ui.Text{Key: "account.not-me.heading", English: "This wasn't me"}
	textNotMeBody        = ui.Text{
		Key: "account.not-me.body",
		English: "We'll secure the account of %s: all devices will be signed out, and the change will be undone if " +
			"possible.",
	}
	textNotMeButton = ui.Text{Key: "account.not-me.button", English: "Secure my account"}
	textSecured     = ui.Text{Key: "account.secured.heading", English: "Your account is secured"}
	textSecuredBody = ui.Text{
		Key: "account.secured.body", English: "Now review the sign-in methods of %s.",
	}
	textAskUndo     = ui.Text{Key: "account.undo.heading", English: "Undo email change"}
	textAskUndoBody = ui.Text{
		Key:     "account.undo.body",
		English: "Your account's email will change back to %s, and all sessions will be signed out.",
	}
	textAskUndoOnly = ui.Text{
		Key: "account.undo.only", English: "Your account's email will change back to %s.",
	}
	textDoneUnlinked = ui.Text{Key: "account.done.unlinked", English: "Account disconnected."}
	textDoneRemoved  = ui.Text{
		Key:     "account.done.passkey-removed",
		English: "Passkey removed. Your device may still offer it, so delete it there too.",
	}
	textDoneNamed       = ui.Text{Key: "account.done.passkey-named", English: "Passkey renamed."}
	textDoneEndedOthers = ui.Text{
		Key: "account.done.ended-others", English: "All other sessions have been signed out.",
	}
	textDoneEnded = ui.Text{
		Key:     "account.done.ended",
		English: "That session has been signed out.",
	}
	textDoneAsked = ui.Text{
		Key:     "account.done.email-asked",
		English: "We sent a confirmation link to your new email. Open it in this browser to finish.",
	}
	textDoneEmail    = ui.Text{Key: "account.done.email-changed", English: "Email updated."}
	textDoneVerified = ui.Text{
		Key: "account.done.email-verified", English: "Your email address is verified.",
	}
	textProblemLast = ui.Text{
		Key:     "account.problem.last",
		English: "This is your only sign-in method. Add another one before you remove it.",
	}
	textProblemGone = ui.Text{
		Key:     "account.problem.gone",
		English: "That no longer exists. The page now shows the current state.",
	}
	textProblemBusy = ui.Text{
		Key:     "account.problem.busy",
		English: "Another change is in progress. Try again in a moment.",
	}
	textProblemEmail = ui.Text{
		Key:     "account.problem.email",
		English: "Enter a valid email address.",
	}
	textProblemSame = ui.Text{Key: "account.problem.same", English: "That's already your email."}
	textProblemLink = ui.Text{
		Key:     "account.problem.link",
		English: "This link has expired, was already used, or was opened in a different browser. Nothing has changed.",
	}
	textProblemPhrase = ui.Text{
		Key:     "account.problem.phrase",
		English: "The text doesn't match. Your account was not deleted.",
	}
	textProblemName = ui.Text{Key: "account.problem.name", English: "Use 64 characters or fewer."}
	textProblemMail = ui.Text{
		Key:     "account.problem.mail",
		English: "We couldn't send the email. Try again in a moment.",
	}
	textProblemListed = ui.Text{
		Key:     "account.problem.not-listed",
		English: "Individual sessions can't be signed out on this site.",
	}
	textProblemOtherUser = ui.Text{
		Key:     "account.problem.somebody-else",
		English: "You're now signed in to a different account, so the change you started was not made.",
	}
	textAgain     = ui.Text{Key: "account.again.heading", English: "Finish your change"}
	textAgainHint = ui.Text{
		Key:     "account.again.hint",
		English: "You're signed in again. Nothing has changed yet. Press the button to finish.",
	}
	textProblemOther = ui.Text{Key: "account.problem.other", English: "Something went wrong. Try again."}
	textNow          = ui.Text{Key: "account.ago.now", English: "just now"}
	textMinutes      = ui.Text{Key: "account.ago.minutes", English: "%s minutes ago"}
	textHour         = ui.Text{Key: "account.ago.hour", English: "an hour ago"}
	textHours        = ui.Text{Key: "account.ago.hours", English: "%s hours ago"}
	textYesterday    = ui.Text{Key: "account.ago.yesterday", English: "yesterday"}
	textDays         = ui.Text{Key: "account.ago.days", English: "%s days ago"}
	textOnDay        = ui.Text{Key: "account.ago.on", English: "on %s"}
	textBrowser      = ui.Text{Key: "account.device", English: "Unknown browser"}
	textOnSystem     = ui.Text{Key: "account.device.on", English: "on %s"}
	textInUse        = ui.Text{Key: "account.session.now", English: "Active now"}
	textLastUsed     = ui.Text{Key: "account.session.used", English: "Last active %s"}
	textSignedIn     = ui.Text{Key: "account.session.made", English: "signed in %s"}
	textUntil        = ui.Text{Key: "account.session.until", English: "Expires %s"}
	textFirstSeen    = ui.Text{Key: "account.passkey.made", English: "added %s"}
	textPasskeyUsed  = ui.Text{Key: "account.passkey.used", English: "last used %s"}
	textSynced       = ui.Text{Key: "account.passkey.synced", English: "synced across your devices"}
)
