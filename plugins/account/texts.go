package account

import "github.com/latchkey-go/latchkey/ui"

// The texts of the page and its sections.
var (
	textHeading    = ui.Text{Key: "account.heading", English: "Your account"}
	textSignedInAs = ui.Text{Key: "account.who", English: "Signed in as %s"}
	textStale      = ui.Text{
		Key:     "account.stale",
		English: "You signed in a while ago. Before a change is made we ask you to sign in once more.",
	}
	textUndone     = ui.Text{Key: "account.undone.heading", English: "The change is undone"}
	textUndoneBody = ui.Text{
		Key:     "account.undone.body",
		English: "Your account uses %s again.",
	}
	textUndoneEnded   = ui.Text{Key: "account.undone.ended", English: "All devices have been signed out."}
	textUndoneRemoved = ui.Text{
		Key:     "account.undone.removed",
		English: "These sign-in methods were added after the change, so we removed them:",
	}
	textUndonePassword = ui.Text{Key: "account.undone.password", English: "Choose a new password"}
	textSignIn         = ui.Text{Key: "account.sign-in", English: "Sign in"}
	textDeleted        = ui.Text{Key: "account.deleted.heading", English: "Your account is deleted"}
	textDeletedBody    = ui.Text{
		Key:     "account.deleted.body",
		English: "Everything that belonged to it is gone, and you are signed out.",
	}
	textMethods            = ui.Text{Key: "account.methods.heading", English: "Ways to sign in"}
	textNothing            = ui.Text{Key: "account.methods.none", English: "Nothing is linked to your account yet."}
	textLink               = ui.Text{Key: "account.methods.link", English: "E-mail link"}
	textLinkTo             = ui.Text{Key: "account.methods.link-to", English: "We send it to %s"}
	textAdd                = ui.Text{Key: "account.add", English: "Add %s"}
	textPassword           = ui.Text{Key: "account.password", English: "Password"}
	textPasswordChange     = ui.Text{Key: "account.password.change", English: "Change"}
	textPasswordChangeWhat = ui.Text{Key: "account.password.change-what", English: "password"}
	textPasswordNone       = ui.Text{Key: "account.password.none", English: "You have none."}
	textPasswordChoose     = ui.Text{Key: "account.password.choose", English: "Choose one"}
	textPasswordChooseWhat = ui.Text{Key: "account.password.choose-what", English: "as your password"}
	textRemove             = ui.Text{Key: "account.remove", English: "Remove"}
	textRename             = ui.Text{Key: "account.rename", English: "Rename"}
	textName               = ui.Text{Key: "account.name", English: "Name"}
	textSave               = ui.Text{Key: "account.save", English: "Save"}
	textAddPasskey         = ui.Text{Key: "account.passkey.add", English: "Add a passkey"}
	textPasskey            = ui.Text{Key: "account.passkey", English: "Passkey"}
	textNoScript           = ui.Text{
		Key:     "account.passkey.noscript",
		English: "Passkeys need JavaScript, which is switched off in this browser.",
	}
	textSessions  = ui.Text{Key: "account.sessions.heading", English: "Where you are signed in"}
	textNotListed = ui.Text{
		Key:     "account.sessions.none",
		English: "This site cannot list them. Sign out on each device yourself.",
	}
	textOthers      = ui.Text{Key: "account.sessions.others", English: "Sign out everywhere else"}
	textSignOut     = ui.Text{Key: "account.sessions.end", English: "Sign out"}
	textThen        = ui.Text{Key: "account.then", English: ", %s"} // between facts about a session
	textHere        = ui.Text{Key: "account.sessions.here", English: "here"}
	textEmail       = ui.Text{Key: "account.email.heading", English: "E-mail address"}
	textNoEmail     = ui.Text{Key: "account.email.none", English: "None"}
	textNewEmail    = ui.Text{Key: "account.email.new", English: "New address"}
	textEmailChange = ui.Text{Key: "account.email.change", English: "Change"}
	textEmailWhat   = ui.Text{Key: "account.email.change-what", English: "e-mail address"}
	textEmailVerify = ui.Text{Key: "account.email.verify", English: "Send verification email"}
	textEmailHint   = ui.Text{
		Key: "account.email.hint",
		English: "We send a letter there. Open its link in this browser, and the address is yours. The old" +
			" address can take the change back in the next seven days.",
	}
	textDanger     = ui.Text{Key: "account.delete.heading", English: "Delete your account"}
	textDangerHint = ui.Text{
		Key:     "account.delete.hint",
		English: "Everything that belongs to it goes too. There is no way back.",
	}
	textDangerAsk      = ui.Text{Key: "account.delete.ask", English: "I want to delete my account"}
	textPhrase         = ui.Text{Key: "account.delete.phrase", English: "Type “%s”"}
	textDelete         = ui.Text{Key: "account.delete.button", English: "Delete for ever"}
	textLast           = ui.Text{Key: "account.last", English: "Your last way to sign in"}
	textThisDevice     = ui.Text{Key: "account.this-device", English: "This device"}
	textNotConfirmed   = ui.Text{Key: "account.not-confirmed", English: "Not confirmed"}
	textAskConfirm     = ui.Text{Key: "account.confirm.heading", English: "Change your address"}
	textAskConfirmBody = ui.Text{
		Key:     "account.confirm.body",
		English: "From now on your account has the address",
	}
	textAskConfirmButton = ui.Text{Key: "account.confirm.button", English: "Use this address"}
	textAskUndo          = ui.Text{Key: "account.undo.heading", English: "Undo the change"}
	textAskUndoBody      = ui.Text{
		Key: "account.undo.body",
		English: "Your account gets its old address back, and everybody who is signed in to it is signed " +
			"out:",
	}
	textAskUndoOnly = ui.Text{
		Key: "account.undo.only", English: "Your account gets its old address back:",
	}
	textDoneUnlinked = ui.Text{Key: "account.done.unlinked", English: "That account no longer opens yours."}
	textDoneRemoved  = ui.Text{
		Key:     "account.done.passkey-removed",
		English: "The passkey is removed. Your device may still offer it; delete it there too.",
	}
	textDoneNamed = ui.Text{Key: "account.done.passkey-named", English: "The name is changed."}
	textDoneEnded = ui.Text{
		Key:     "account.done.ended",
		English: "Done. Whoever was signed in there is signed out.",
	}
	textDoneAsked = ui.Text{
		Key: "account.done.email-asked",
		English: "We sent a letter to the new address. Open its link in this browser; until then nothing " +
			"changes.",
	}
	textDoneEmail    = ui.Text{Key: "account.done.email-changed", English: "Your address is changed."}
	textDoneVerified = ui.Text{
		Key: "account.done.email-verified", English: "Your email address is verified.",
	}
	textProblemLast = ui.Text{
		Key:     "account.problem.last",
		English: "This is your last way to sign in. Add another one first.",
	}
	textProblemGone = ui.Text{
		Key:     "account.problem.gone",
		English: "That is gone already. The page shows what is there now.",
	}
	textProblemBusy = ui.Text{
		Key:     "account.problem.busy",
		English: "Another change is under way. Try again in a moment.",
	}
	textProblemEmail = ui.Text{
		Key:     "account.problem.email",
		English: "That is not an e-mail address. Check it and try again.",
	}
	textProblemSame = ui.Text{Key: "account.problem.same", English: "That is your address already."}
	textProblemLink = ui.Text{
		Key: "account.problem.link",
		English: "This link was used before, has expired, or belongs to another browser. Nothing has " +
			"changed.",
	}
	textProblemPhrase = ui.Text{
		Key:     "account.problem.phrase",
		English: "Nothing was deleted: the words do not match.",
	}
	textProblemName = ui.Text{Key: "account.problem.name", English: "A name has 64 characters at most."}
	textProblemMail = ui.Text{
		Key:     "account.problem.mail",
		English: "The letter could not be sent. Try again in a moment.",
	}
	textProblemListed = ui.Text{
		Key:     "account.problem.not-listed",
		English: "Sessions cannot be ended one by one on this site.",
	}
	textProblemOtherUser = ui.Text{
		Key:     "account.problem.somebody-else",
		English: "You are signed in as somebody else than the one who began a change here. That change was not made.",
	}
	textAgain     = ui.Text{Key: "account.again.heading", English: "Go on"}
	textAgainHint = ui.Text{
		Key:     "account.again.hint",
		English: "Thank you, you have signed in again. Nothing has changed yet: press the button to go on.",
	}
	textProblemOther = ui.Text{Key: "account.problem.other", English: "That did not work. Try again."}
	textNow          = ui.Text{Key: "account.ago.now", English: "just now"}
	textMinutes      = ui.Text{Key: "account.ago.minutes", English: "%s minutes ago"}
	textHour         = ui.Text{Key: "account.ago.hour", English: "an hour ago"}
	textHours        = ui.Text{Key: "account.ago.hours", English: "%s hours ago"}
	textYesterday    = ui.Text{Key: "account.ago.yesterday", English: "yesterday"}
	textDays         = ui.Text{Key: "account.ago.days", English: "%s days ago"}
	textOnDay        = ui.Text{Key: "account.ago.on", English: "on %s"}
	textBrowser      = ui.Text{Key: "account.device", English: "A browser"}
	textOnSystem     = ui.Text{Key: "account.device.on", English: "on %s"}
	textInUse        = ui.Text{Key: "account.session.now", English: "In use now"}
	textLastUsed     = ui.Text{Key: "account.session.used", English: "Last used %s"}
	textSignedIn     = ui.Text{Key: "account.session.made", English: "signed in %s"}
	textFrom         = ui.Text{Key: "account.session.from", English: "from %s"}
	textUntil        = ui.Text{Key: "account.session.until", English: "Until %s"}
	textFirstSeen    = ui.Text{Key: "account.passkey.made", English: "first seen %s"}
	textPasskeyUsed  = ui.Text{Key: "account.passkey.used", English: "last used %s"}
	textSynced       = ui.Text{Key: "account.passkey.synced", English: "synced between your devices"}
)
