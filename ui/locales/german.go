package locales

import "github.com/latchkey-go/latchkey/ui"

// German returns the texts in German, with the formal address "Sie". The caller owns the map.
//
//nolint:funlen,gosec // a table of texts without credentials
func German() ui.Locale {
	return ui.Locale{Tag: "de", Texts: map[string]string{
		"date": "2. January 2006",

		"moment": "2. January 2006, 15:04 UTC",

		"months": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",

		"report": "Wenn Sie dies melden, nennen Sie bitte %s",

		"report.copy":   "Kopieren",
		"report.copied": "Kopiert",

		"logo": "Logo",

		"signin.title":         "Anmelden",
		"signin.heading":       "Anmelden",
		"signin.with":          "Mit %s anmelden",
		"signin.none":          "Es ist noch keine Anmeldemöglichkeit eingerichtet.",
		"signin.email":         "E-Mail-Adresse",
		"signin.email.example": "name@example.com",

		"challenge.noscript": "Schalten Sie JavaScript ein, um zu bestätigen, dass Sie ein Mensch sind.",
		"signin.challenge": "" +
			"Wir konnten nicht bestätigen, dass Sie ein Mensch sind. Bitte versuchen Sie es noch einmal.",
		"passkey.noscript":        "Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist.",
		"passkey.waiting":         "Warten auf Ihren Passkey …",
		"passkey.cancelled":       "Der Vorgang wurde abgebrochen. Sie können es noch einmal versuchen.",
		"passkey.failed":          "Das hat nicht funktioniert. Bitte versuchen Sie es noch einmal.",
		"passkey.unsupported":     "Dieser Browser unterstützt keine Passkeys.",
		"passkey.sign-up.heading": "Konto erstellen",
		"passkey.sign-up.body": "" +
			"Melden Sie sich mit einem Passkey statt mit einem Passwort an. Bestätigen Sie zuerst Ihre " +
			"E-Mail-Adresse.",
		"passkey.sign-up.button": "Weiter",
		"passkey.sign-up.sent": "" +
			"Wenn Sie sich mit dieser Adresse registrieren können, haben wir einen Link gesendet. Öffnen Sie " +
			"ihn, um Ihren Passkey zu erstellen.",
		"passkey.sign-up.sent-code": "" +
			"Wenn Sie sich mit dieser Adresse registrieren können, haben wir einen Code und einen Link " +
			"gesendet. Geben Sie den Code hier ein oder öffnen Sie den Link, um Ihren Passkey zu erstellen.",
		"passkey.sign-up.exists": "Zu dieser Adresse gibt es schon ein Konto. Melden Sie sich stattdessen an.",
		"passkey.create.heading": "Passkey erstellen",
		"passkey.create.body": "" +
			"Ihr Gerät fragt nach Ihrem Fingerabdruck, Ihrem Gesicht oder Ihrer PIN. Damit melden Sie sich " +
			"künftig bei diesem Konto an:",
		"passkey.create.other": "" +
			"Sie haben diesen Link in einem anderen Browser geöffnet. Um hier fortzufahren, erstellen Sie den " +
			"Passkey auf diesem Gerät. Sie haben sich nicht registriert? Schließen Sie diese Seite: Es wird " +
			"kein Konto angelegt.",
		"passkey.create.button": "Passkey erstellen",
		"passkey.create.failed": "Ihr Passkey konnte nicht überprüft werden. Versuchen Sie es noch einmal.",

		"signout.title":    "Abmelden",
		"signout.heading":  "Abmelden",
		"signout.question": "Möchten Sie sich abmelden?",
		"signout.button":   "Abmelden",

		"verify.title":   "E-Mail prüfen",
		"verify.heading": "Sehen Sie in Ihre E-Mails",
		"verify.body":    "Ein Anmeldelink ist zu Ihnen unterwegs. Sie können diese Seite schließen.",

		"confirm.as":   "Als %s anmelden?",
		"confirm.body": "Fahren Sie fort, um sich anzumelden.",

		"signin.failed":     "Das hat nicht funktioniert. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
		"signin.not-linked": "Zu dieser E-Mail-Adresse gibt es bereits ein Konto. Melden Sie sich so an wie bisher.",
		"signin.not-mailed": "" +
			"Die E-Mail konnte nicht gesendet werden. Prüfen Sie die Adresse, und versuchen Sie es noch " +
			"einmal.",
		"signin.no-match":  "Zu diesen Angaben gibt es kein Konto. Prüfen Sie sie, und versuchen Sie es noch einmal.",
		"signin.incorrect": "E-Mail-Adresse oder Passwort ist falsch.",
		"signin.mail-only": "" +
			"Zu viele falsche Passwörter hintereinander. Wählen Sie ein neues per E-Mail, oder melden Sie sich anders an.",
		"signin.required": "Melden Sie sich an, um fortzufahren.",
		"signin.stale": "" +
			"Dieser Dienst hat nicht bestätigt, dass Sie sich gerade angemeldet haben. Melden Sie sich " +
			"anders an.",
		"signin.other": "Die Anmeldung ist nicht gelungen. Bitte versuchen Sie es noch einmal.",
		"reauth.none": "" +
			"Mit keiner Ihrer Anmeldemöglichkeiten lässt sich das bestätigen. Fügen Sie Ihrem Konto einen " +
			"Passkey hinzu.",
		"reauth.body": "" +
			"Sie sind als %s angemeldet. Bestätigen Sie das zu Ihrer Sicherheit mit einer Ihrer " +
			"Anmeldemöglichkeiten.",
		"reauth.heading": "Bestätigen Sie, dass Sie es sind",
		"signin.other-user": "" +
			"Diese Anmeldung gehört zu einem anderen Konto. Verwenden Sie das Konto, mit dem Sie angemeldet " +
			"sind.",
		"code.use-link": "" +
			"Zu viele falsche Codes. Öffnen Sie stattdessen den Link aus der E-Mail in diesem Browser.",
		"code.too-many": "Zu viele falsche Codes. Bitte versuchen Sie es später noch einmal.",
		"code.expired":  "Dieser Code gilt nicht mehr. Fordern Sie einen neuen an.",
		"code.wrong":    "Dieser Code ist nicht richtig. Verbleibende Versuche: %s.",
		"code.mail":     "Code per E-Mail senden",
		"signin.guest":  "Als Gast fortfahren",
		"code.other":    "Andere Möglichkeit verwenden",
		"code.again":    "Neuen Code senden",
		"code.label":    "Code",
		"code.sent":     "Wir haben einen Code an %s gesendet. Geben Sie ihn hier ein.",
		"code.or-link": "" +
			"Wir haben Ihnen einen Code und einen Link per E-Mail gesendet. Geben Sie den Code hier ein, " +
			"oder öffnen Sie den Link.",
		"code.body": "Wir haben Ihnen einen Code per E-Mail gesendet. Geben Sie ihn hier ein.",

		"switch.heading":        "Sie sind bereits angemeldet",
		"switch.keep":           "Als %s angemeldet bleiben",
		"switch.other":          "Zu %s wechseln",
		"error.expired.heading": "Anmeldung abgelaufen",
		"error.expired.body":    "Sie haben die Anmeldung vor mehr als 15 Minuten oder in einem anderen Browser begonnen.",
		"error.browser.heading": "Anderer Browser",
		"error.browser.body":    "Sie haben die Anmeldung in einem anderen Browser begonnen. Melden Sie sich hier erneut an.",
		"error.used.heading":    "Bereits verwendet",
		"error.used.body":       "Diese Anmeldung wurde bereits abgeschlossen oder abgebrochen. Melden Sie sich erneut an.",
		"error.again":           "Erneut anmelden",

		"error.forbidden.heading": "Sie haben keinen Zugriff auf diese Seite",
		"error.forbidden.body":    "Ihr Konto darf diese Seite nicht öffnen.",
		"error.forbidden.back":    "Zurück",
		"error.forbidden.other":   "Anderes Konto verwenden",
		"error.not-found.heading": "Seite nicht gefunden",
		"error.not-found.body":    "Unter dieser Adresse gibt es nichts. Prüfen Sie sie auf Tippfehler.",
		"error.not-found.home":    "Zur Startseite",

		"error.title":                 "Fehler",
		"error.configuration.heading": "Serverfehler",
		"error.configuration.body": "" +
			"Die Anmeldung ist auf dieser Website nicht richtig eingerichtet. Sie haben nichts falsch " +
			"gemacht; wer sie betreibt, findet Näheres im Protokoll.",
		"error.denied.heading": "Zugang verweigert",
		"error.denied.body": "" +
			"Dieses Konto darf sich hier nicht anmelden. Wenn Sie ein anderes haben, versuchen Sie es damit.",
		"error.too-many.heading": "Zu viele Versuche",
		"error.too-many.body":    "Warten Sie einen Moment, und versuchen Sie es dann noch einmal.",
		"error.busy.heading":     "Einen Moment bitte",
		"error.busy.body": "" +
			"Diese Website ist ausgelastet und konnte nicht rechtzeitig antworten. Sie haben nichts falsch " +
			"gemacht; versuchen Sie es gleich noch einmal.",
		"error.verification.heading": "Anmeldung nicht möglich",
		"error.verification.body": "" +
			"Dieser Anmeldelink wurde schon benutzt oder ist abgelaufen. Fordern Sie einen neuen an.",
		"error.other.heading": "Fehler",
		"error.other.body":    "Unterwegs ist etwas schiefgegangen. Gehen Sie zurück, und versuchen Sie es noch einmal.",

		"problem.again": "Melden Sie sich zuerst noch einmal an.",
		"problem.guest": "Bitte melden Sie sich zuerst an. Als Gast ist das nicht möglich.",

		"status.400": "Ungültige Anfrage",
		"status.401": "Nicht angemeldet",
		"status.403": "Verboten",
		"status.404": "Nicht gefunden",
		"status.405": "Methode nicht erlaubt",
		"status.409": "Konflikt",
		"status.410": "Nicht mehr vorhanden",
		"status.413": "Anfrage zu groß",
		"status.415": "Format nicht unterstützt",
		"status.422": "Nicht verarbeitbar",
		"status.429": "Zu viele Anfragen",
		"status.500": "Interner Serverfehler",
		"status.503": "Dienst nicht verfügbar",

		"label.Email or username": "E-Mail-Adresse oder Benutzername",
		"label.Email":             "E-Mail-Adresse",

		"provider.Email": "E-Mail",

		"label.Password": "Passwort",
		"label.Username": "Benutzername",
		"label.Name":     "Name",

		"provider.Passkey":     "Passkey",
		"provider.Credentials": "Zugangsdaten",
		"provider.Password":    "Passwort",

		"label.Forgot your password?":            "Passwort vergessen?",
		"label.Create an account":                "Konto erstellen",
		"label.Create an account with a passkey": "Konto mit einem Passkey erstellen",
		"label.New here?":                        "Neu hier?",

		"email.title":           "Ihr Konto",
		"email.time":            "Zeitpunkt: %s",
		"email.device":          "Gerät: %s",
		"email.why.account":     "%s hat diese E-Mail gesendet, weil sie Ihr Konto betrifft.",
		"email.why.entered":     "%s hat diese E-Mail gesendet, weil diese Adresse dort eingegeben wurde.",
		"email.why.invited":     "%s hat diese E-Mail gesendet, weil Sie eingeladen wurden.",
		"email.network":         "IP-Bereich: %s",
		"email.until":           "Der Link gilt bis %s.",
		"email.code":            "Code: %s",
		"email.otherwise":       "Wenn die Schaltfläche nicht geht, öffnen Sie diese Adresse:",
		"email.sign-in.subject": "Bei %s anmelden",
		"email.sign-in.button":  "Anmelden",
		"email.sign-in.footer":  "Wenn Sie diese E-Mail nicht angefordert haben, können Sie sie ignorieren.",
		"email.reauth.footer": "" +
			"Geben Sie diesen Code niemandem: Wir fragen nirgendwo sonst danach. Wenn Sie ihn nicht " +
			"angefordert haben, beenden Sie alle Sitzungen.",
		"email.reauth.body": "" +
			"Geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben. Er gilt 10 " +
			"Minuten.",
		"email.reauth.subject": "Ihr Code für %s",
		"email.verify.subject": "Bestätigen Sie Ihre Adresse für %s",
		"email.verify.button":  "Adresse bestätigen",
		"email.verify.body": "" +
			"Jemand, hoffentlich Sie, möchte sich mit dieser Adresse registrieren. Öffnen Sie den Link in " +
			"dem Browser, in dem Sie sich registriert haben; jeder andere fragt nach dem dort gewählten " +
			"Passwort.",
		"email.verify.footer":  "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wird kein Konto angelegt.",
		"email.exists.subject": "Sie haben ein Konto bei %s",
		"email.exists.button":  "Anmelden",
		"email.exists.body": "" +
			"Jemand, vielleicht Sie, wollte sich mit dieser Adresse registrieren, zu der es schon ein Konto " +
			"gibt. Es hat sich nichts geändert. Melden Sie sich damit an, oder wählen Sie ein neues " +
			"Passwort, wenn Sie Ihres vergessen haben.",
		"email.exists.footer":          "Wenn Sie das nicht waren, brauchen Sie nichts zu tun.",
		"email.verify-passkey.subject": "Bestätigen Sie Ihre Adresse für %s",
		"email.verify-passkey.button":  "Passkey erstellen",
		"email.verify-passkey.body": "Bestätigen Sie Ihre Adresse und erstellen Sie einen Passkey, um Ihr " +
			"Konto anzulegen.",
		"email.verify-passkey.footer": "" +
			"Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wird kein Konto angelegt.",
		"email.exists-passkey.subject": "Sie haben ein Konto bei %s",
		"email.exists-passkey.button":  "Anmelden",
		"email.exists-passkey.body": "" +
			"Jemand, vielleicht Sie, wollte sich mit dieser Adresse registrieren, zu der es schon ein Konto " +
			"gibt. Es hat sich nichts geändert. Melden Sie sich wie gewohnt an.",
		"email.exists-passkey.footer": "Wenn Sie das nicht waren, brauchen Sie nichts zu tun.",
		"email.reset.subject":         "Wählen Sie ein neues Passwort für %s",
		"email.reset.button":          "Passwort wählen",
		"email.reset.body": "" +
			"Jemand hat darum gebeten, für das Konto mit dieser Adresse ein neues Passwort zu wählen.",
		"email.reset.footer": "" +
			"Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Das Passwort bleibt, wie es ist.",
		"email.password-changed.subject": "Ihr Passwort für %s wurde geändert",
		"email.password-changed.button":  "Das war ich nicht",
		"email.password-changed.body":    "Das Passwort Ihres Kontos wurde gesetzt, geändert oder entfernt.",
		"email.password-changed.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, wählen Sie jetzt ein neues Passwort.",
		"email.email-change.subject":  "Bestätigen Sie Ihre neue Adresse für %s",
		"email.email-change.button":   "Adresse bestätigen",
		"email.email-change.body":     "Sie möchten diese Adresse künftig für Ihr Konto verwenden.",
		"email.email-change.footer":   "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es ändert sich nichts.",
		"email.email-changed.subject": "Ihre Adresse für %s wurde geändert",
		"email.email-changed.button":  "Änderung rückgängig machen",
		"email.email-changed.body":    "Ihr Konto hatte diese Adresse und hat jetzt eine andere.",
		"email.email-changed.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, machen Sie die Änderung " +
			"rückgängig.",
		"email.email-changed.sessions": "Das beendet auch alle Sitzungen des Kontos.",
		"email.service":                "Dienst: %s",
		"email.passkey-added.subject":  "Neuer Passkey für %s",
		"email.passkey-added.button":   "Das war ich nicht",
		"email.passkey-added.body":     "Ihrem Konto wurde ein Passkey hinzugefügt. Man kann sich damit anmelden.",
		"email.passkey-added.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.passkey-removed.subject": "Passkey für %s entfernt",
		"email.passkey-removed.button":  "Das war ich nicht",
		"email.passkey-removed.body": "" +
			"Ein Passkey Ihres Kontos wurde entfernt. Man kann sich damit nicht mehr anmelden.",
		"email.passkey-removed.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.account-linked.subject": "Neue Anmeldemethode für %s",
		"email.account-linked.button":  "Das war ich nicht",
		"email.account-linked.body": "" +
			"Ihrem Konto wurde ein Konto bei einem anderen Dienst hinzugefügt. Man kann sich damit " +
			"anmelden.",
		"email.account-linked.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.account-unlinked.subject": "Anmeldemethode für %s entfernt",
		"email.account-unlinked.button":  "Das war ich nicht",
		"email.account-unlinked.body": "" +
			"Ein Konto bei einem anderen Dienst wurde von Ihrem Konto getrennt. Man kann sich damit nicht " +
			"mehr anmelden.",
		"email.account-unlinked.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.factor-added.subject": "Neuer zweiter Faktor für %s",
		"email.factor-added.button":  "Das war ich nicht",
		"email.factor-added.body": "Ihrem Konto wurde ein zweiter Faktor hinzugefügt, zum Beispiel eine " +
			"Authenticator-App.",
		"email.factor-added.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie " +
			"jetzt Ihr Konto.",
		"email.factor-removed.subject": "Zweiter Faktor für %s entfernt",
		"email.factor-removed.button":  "Das war ich nicht",
		"email.factor-removed.body":    "Ein zweiter Faktor Ihres Kontos wurde entfernt.",
		"email.factor-removed.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie " +
			"jetzt Ihr Konto.",
		"email.factors-reset.subject": "Zweite Faktoren für %s zurückgesetzt",
		"email.factors-reset.button":  "Das war ich nicht",
		"email.factors-reset.body":    "Der Support hat alle zweiten Faktoren Ihres Kontos entfernt.",
		"email.factors-reset.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie " +
			"jetzt Ihr Konto.",
		"email.recovery-used.subject": "Wiederherstellungscode für %s benutzt",
		"email.recovery-used.button":  "Das war ich nicht",
		"email.recovery-used.body": "" +
			"Jemand hat sich mit einem Ihrer Wiederherstellungscodes angemeldet. Dieser Code gilt " +
			"nicht mehr.",
		"email.recovery-used.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie " +
			"jetzt Ihr Konto.",
		"email.recovery-renewed.subject": "Neue Wiederherstellungscodes für %s",
		"email.recovery-renewed.button":  "Das war ich nicht",
		"email.recovery-renewed.body": "" +
			"Für Ihr Konto wurden neue Wiederherstellungscodes erstellt. Die bisherigen Codes gelten " +
			"nicht mehr.",
		"email.recovery-renewed.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie " +
			"jetzt Ihr Konto.",
		"email.new-device.subject": "Neue Anmeldung bei %s",
		"email.new-device.button":  "Das war ich nicht",
		"email.new-device.body": "" +
			"Jemand hat sich in einem Browser bei Ihrem Konto angemeldet, der bisher nicht bekannt war.",
		"email.new-device.footer": "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.invite.subject":    "Einladung zu %s",
		"email.invite.button":     "Einladung annehmen",
		"email.invite.body":       "Sie können sich mit dieser Adresse registrieren.",
		"email.invite.footer":     "Wenn Sie nicht möchten, ignorieren Sie diese E-Mail: Es wird kein Konto angelegt.",

		"email.deletion-scheduled.subject": "Ihr Konto bei %s wird gelöscht",
		"email.deletion-scheduled.button":  "Mein Konto behalten",
		"email.deletion-scheduled.body": "" +
			"Sie haben darum gebeten, Ihr Konto zu löschen. Wir löschen es und alle zugehörigen Daten zum " +
			"unten genannten Zeitpunkt. Bis dahin können Sie es behalten.",
		"email.deletion-scheduled.footer": "" +
			"Wenn Sie das nicht waren, behalten Sie Ihr Konto und wählen Sie ein neues Passwort.",

		"email.deleted.subject": "Ihr Konto bei %s wurde gelöscht",
		"email.deleted.body":    "Ihr Konto wurde gelöscht.",
		"email.deleted.footer":  "Wenn Sie das nicht waren, wenden Sie sich an die Betreiber der Website.",

		"signin.to":             "Bei %s anmelden",
		"signin.mail-link":      "Anmeldelink per E-Mail senden",
		"signin.show":           "Passwort anzeigen",
		"signin.last":           "Zuletzt benutzt",
		"signin.remember":       "Angemeldet bleiben",
		"signin.who":            "Sie sind als %s angemeldet.",
		"impersonation.who":     "Sie verwenden das Konto von %s.",
		"impersonation.title":   "Konto einer anderen Person",
		"impersonation.end":     "Zu Ihrem Konto zurückkehren",
		"impersonation.refused": "Das ist nicht möglich, während Sie das Konto einer anderen Person verwenden.",
		"impersonation.too-large": "Beide Sitzungen zusammen sind für diese Website zu groß. Die " +
			"Betreiber finden die Grenze im Protokoll.",
		"signin.continue": "Weiter",

		"terms": "Nutzungsbedingungen",

		"privacy": "Datenschutz",

		"cancel": "Abbrechen",

		"verify.sent": "Er geht an %s.",

		"signin.or": "oder",
		"signin.canceled": "" +
			"Die Anmeldung wurde abgebrochen oder nicht abgeschlossen. Versuchen Sie es noch einmal, " +
			"oder melden Sie sich anders an.",

		"password.sign-up.heading": "Konto erstellen",
		"password.sign-up.button":  "Konto erstellen",
		"password.sign-up.have":    "Ich habe bereits ein Konto",
		"password.email":           "E-Mail-Adresse",
		"password.name":            "Name (freiwillig)",
		"password.password":        "Passwort",
		"password.new":             "Neues Passwort",
		"password.current":         "Aktuelles Passwort",
		"password.rule":            "Mindestens %s Zeichen. Ein paar Wörter hintereinander kann man sich leicht merken.",
		"password.sent.body": "" +
			"Wenn die Adresse hier verwendet werden kann, ist eine E-Mail unterwegs. Öffnen Sie den Link " +
			"darin in diesem Browser.",
		"password.sent.reset": "" +
			"Wenn es zu dieser Adresse ein Konto gibt, " +
			"haben wir einen Link zum Zurücksetzen des Passworts gesendet.",
		"password.sent.code": "" +
			"Wenn die Adresse hier verwendet werden kann, sind ein Code und ein Link unterwegs. " +
			"Geben Sie den Code hier ein, oder öffnen Sie den Link in diesem Browser.",
		"password.sent.reset-code": "" +
			"Wenn es zu dieser Adresse ein Konto gibt, haben wir einen Code und einen Link zum " +
			"Zurücksetzen des Passworts gesendet. Geben Sie den Code hier ein, oder öffnen Sie " +
			"den Link.",
		"password.confirm.heading": "Bestätigen Sie Ihre Adresse",
		"password.confirm.body": "" +
			"In diesem Browser wurde das Konto nicht beantragt. Geben Sie das Passwort ein, das dort gewählt " +
			"wurde. Wenn Sie sich nicht registriert haben, schließen Sie diese Seite: Es wird kein Konto " +
			"angelegt.",
		"password.confirm.button": "Bestätigen und anmelden",
		"password.confirm.device": "" +
			"Sie kennen das Passwort nicht? Öffnen Sie diesen Link auf dem Gerät, auf dem Sie sich registriert haben.",
		"password.confirm.start-over": "Von vorn beginnen",
		"password.forgot.heading":     "Passwort vergessen?",
		"password.forgot.body": "" +
			"Geben Sie Ihre Adresse ein, und wir senden Ihnen einen Link, um ein neues zu wählen.",
		"password.forgot.button": "Link senden",
		"password.forgot.back":   "Zurück zur Anmeldung",
		"password.reset.heading": "Neues Passwort wählen",
		"password.reset.body":    "Alle angemeldeten Geräte werden abgemeldet.",
		"password.reset.methods": "" +
			"Diese Anmeldemethoden kamen im letzten Monat hinzu. Wählen Sie alle aus, die Sie nicht kennen. " +
			"Wir entfernen sie:",
		"password.reset.added":    "hinzugefügt am %s",
		"password.passkey":        "Passkey",
		"password.reset.button":   "Passwort speichern",
		"password.change.heading": "Passwort ändern",
		"password.change.button":  "Passwort ändern",
		"password.change.forgot":  "Ich kenne mein aktuelles Passwort nicht",
		"password.done.heading":   "Ihr Passwort ist gespeichert",
		"password.done.body":      "Andere Geräte wurden abgemeldet, und wir haben Ihnen dazu eine E-Mail gesendet.",
		"password.done.only":      "Wir haben Ihnen dazu eine E-Mail gesendet.",
		"password.done.removed": "" +
			"Wir haben Anmeldemethoden entfernt, die Sie ausgewählt haben oder die hinzukamen, bevor Ihre " +
			"Adresse bestätigt war: %s. Nach der Anmeldung können Sie Ihre eigenen wieder hinzufügen.",
		"password.done.sign-in": "Anmelden",
		"password.done.go-on":   "Weiter",
		"password.closed":       "Hier kann man sich nicht selbst registrieren.",
		"password.changed": "" +
			"Ihr Passwort wurde gerade an anderer Stelle geändert. Versuchen Sie es noch einmal mit dem " +
			"neuen.",
		"password.wrong":         "Das ist nicht Ihr aktuelles Passwort.",
		"password.wrong-sign-up": "Geben Sie das Passwort ein, mit dem Sie sich registriert haben.",
		"password.other": "In diesem Browser wurde seither ein anderer Link geöffnet. Nichts " +
			"wurde geändert. Öffnen Sie den Link Ihrer E-Mail noch einmal.",
		"password.link": "Dieser Link wurde schon benutzt, ist abgelaufen oder wurde von Ihrem Mailprogramm " +
			"abgeschnitten. Fordern Sie einen neuen an.",
		"password.short": "" +
			"Verwenden Sie ein Passwort mit mindestens %s Zeichen. Ein paar Wörter hintereinander kann man " +
			"sich leicht merken.",
		"password.long": "Verwenden Sie ein kürzeres Passwort.",
		"password.context": "" +
			"Dieses Passwort besteht aus Ihrer Adresse oder dem Namen dieser Website. Wählen Sie ein anderes.",
		"password.common":           "Dieses Passwort wird oft als Erstes ausprobiert. Wählen Sie ein anderes.",
		"password.breached":         "Dieses Passwort ist anderswo bei einem Datenleck aufgetaucht. Wählen Sie ein anderes.",
		"password.username.heading": "Benutzernamen wählen",
		"password.username.label":   "Benutzername",
		"password.username.body": "" +
			"Sie können sich damit statt mit Ihrer E-Mail-Adresse anmelden. Sie " +
			"können ihn später ändern, aber nicht sofort.",
		"password.username.button": "Benutzernamen speichern",
		"password.username.invalid": "" +
			"Verwenden Sie 3 bis 32 Buchstaben und Ziffern. Punkte, Bindestriche " +
			"und Unterstriche sind dazwischen erlaubt.",
		"password.username.taken": "Dieser Benutzername ist nicht verfügbar. Wählen Sie einen anderen.",
		"password.username.soon": "" +
			"Sie haben Ihren Benutzernamen vor Kurzem geändert. Versuchen Sie es " +
			"später noch einmal.",
		"password.username.missing": "Wählen Sie zuerst einen Benutzernamen.",
		"password.email.optional":   "E-Mail-Adresse (freiwillig)",
		"password.email.hint": "" +
			"Ohne E-Mail-Adresse können Sie Ihr Passwort nur mit einem Wiederherstellungscode " +
			"zurücksetzen.",
		"password.codes.body": "" +
			"Wenn Sie Ihr Passwort vergessen, kommen Sie mit diesen Codes wieder in Ihr Konto. Jeder " +
			"Code gilt einmal. Wir zeigen sie nur jetzt.",
		"password.recover.heading": "Wiederherstellungscode verwenden",
		"password.recover.body": "" +
			"Geben Sie Ihren Benutzernamen und einen Ihrer Wiederherstellungscodes ein, und wählen Sie " +
			"ein neues Passwort.",
		"password.recover.wrong": "Benutzername oder Wiederherstellungscode stimmt nicht.",
		"password.recovery.left": "Verbleibende Wiederherstellungscodes: %s.",
		"password.recovery.low": "" +
			"Verbleibende Wiederherstellungscodes: %s. Melden Sie sich an und erstellen Sie auf Ihrer " +
			"Kontoseite neue.",
		"password.recovery.body":   "Neue Codes ersetzen alle, die Sie jetzt haben.",
		"password.recovery.remove": "Alle Codes entfernen",
		"password.recovery.only": "" +
			"Fügen Sie zuerst eine E-Mail-Adresse hinzu. Ohne sie kommen Sie nur mit diesen Codes " +
			"wieder in Ihr Konto.",
		"password.exposed.code": "" +
			"Ihr Passwort ist bei einem Datenleck aufgetaucht, andere Personen könnten es also kennen. " +
			"Wählen Sie mit einem Ihrer Wiederherstellungscodes ein neues Passwort.",
		"password.done.alone": "Ihre anderen Geräte wurden abgemeldet.",
		"password.exposed.body": "" +
			"Ihr Passwort ist bei einem Datenleck aufgetaucht, andere Personen könnten es also kennen. " +
			"Wir senden Ihnen einen Code per E-Mail. Geben Sie ihn hier ein und wählen Sie dann ein " +
			"neues Passwort.",
		"password.exposed.none": "" +
			"Ihr Passwort ist bei einem Datenleck aufgetaucht, andere Personen könnten es also kennen. " +
			"Ihr Konto hat keine E-Mail-Adresse, daher können wir nicht prüfen, ob Sie es sind. Melden " +
			"Sie sich auf andere Weise an oder wenden Sie sich an den Support.",
		"password.exposed.button": "Code per E-Mail senden",
		"password.exposed.again":  "Weiteren Code senden",
		"password.address":        "Prüfen Sie die Adresse.",
		"password.bad-name":       "Verwenden Sie einen kürzeren oder einfacheren Namen.",
		"password.field.invalid":  "Die Eingabe ist zu lang oder enthält unzulässige Zeichen.",
		"password.field.required": "Füllen Sie dieses Feld aus.",
		"password.busy": "" +
			"Gerade melden sich zu viele Menschen an. Versuchen Sie es in ein paar Sekunden noch einmal.",

		"factor.heading":   "Bestätigung in zwei Schritten",
		"factor.enter.app": "Geben Sie den Code aus Ihrer Authenticator-App ein.",
		"factor.enter.recovery": "" +
			"Geben Sie einen Ihrer Wiederherstellungscodes ein. Jeder Code gilt einmal.",
		"factor.code":          "Code",
		"factor.recovery-code": "Wiederherstellungscode",
		"factor.continue":      "Weiter",
		"factor.cancel":        "Abbrechen",
		"factor.other":         "Andere Methode verwenden",
		"factor.use.app":       "Authenticator-App",
		"factor.use.recovery":  "Wiederherstellungscode",
		"factor.lost":          "Ich habe mein Telefon verloren",
		"factor.lost.body": "" +
			"Verwenden Sie einen Wiederherstellungscode, den Sie beim Einschalten gespeichert haben. " +
			"Entfernen Sie danach das verlorene Telefon aus Ihrem Konto.",
		"factor.lost.none": "" +
			"Sie haben keine Wiederherstellungscodes mehr. Wenden Sie sich an den Support, um wieder in Ihr " +
			"Konto zu kommen.",
		"factor.enroll.heading": "Authenticator-App einrichten",
		"factor.enroll.scan": "" +
			"Scannen Sie diesen QR-Code mit einer Authenticator-App auf Ihrem Telefon.",
		"factor.enroll.qr":       "QR-Code mit dem Einrichtungsschlüssel",
		"factor.enroll.type":     "Oder geben Sie diesen Einrichtungsschlüssel in die App ein:",
		"factor.enroll.required": "Ihr Konto braucht die Bestätigung in zwei Schritten.",
		"factor.enroll.name":     "Name dieser App (optional)",
		"factor.enroll.code":     "Code aus der App",
		"factor.enroll.others":   "Alle anderen Sitzungen abmelden",
		"factor.enroll.button":   "Einschalten",
		"factor.codes.heading":   "Speichern Sie Ihre Wieder\u00adherstellungs\u00adcodes",
		"factor.codes.body": "" +
			"Wenn Sie Ihr Telefon verlieren, kommen Sie nur mit diesen Codes in Ihr Konto. Jeder Code gilt " +
			"einmal. Wir zeigen sie nur jetzt.",
		"factor.codes.download": "Herunterladen",
		"factor.codes.copy":     "Kopieren",
		"factor.codes.copied":   "Kopiert",
		"factor.codes.print":    "Drucken",
		"factor.codes.saved":    "Ich habe sie gespeichert",
		"factor.off": "" +
			"Aus. Fügen Sie einen zweiten Schritt hinzu, damit Ihr Passwort allein nicht genügt.",
		"factor.app":           "Authenticator-App",
		"factor.added":         "Hinzugefügt am %s",
		"factor.last-used":     "zuletzt verwendet am %s",
		"factor.remove":        "Entfernen",
		"factor.add":           "Authenticator-App hinzufügen",
		"factor.recovery":      "Wiederherstellungscodes",
		"factor.recovery.left": "Noch %s übrig",
		"factor.recovery.low":  "Ihre Wiederherstellungscodes gehen zu Ende. Erstellen Sie neue.",
		"factor.recovery.new":  "Neue Codes erstellen",
		"factor.done.added":    "Die Authenticator-App wurde hinzugefügt.",
		"factor.done.removed":  "Die Authenticator-App wurde entfernt.",
		"factor.done.saved":    "Die Bestätigung in zwei Schritten ist eingeschaltet.",
		"factor.problem.wrong": "" +
			"Dieser Code ist nicht richtig. Prüfen Sie, ob die Uhrzeit auf Ihrem Telefon stimmt.",
		"factor.problem.used": "Dieser Code wurde schon benutzt. Warten Sie auf den nächsten.",
		"factor.problem.many": "" +
			"Zu viele falsche Codes. Verwenden Sie eine andere Methode, oder versuchen Sie es morgen noch " +
			"einmal.",
		"factor.problem.many-here": "Zu viele falsche Codes. Melden Sie sich noch einmal an.",
		"factor.problem.expired":   "Diese Anmeldung ist abgelaufen. Melden Sie sich noch einmal an.",
		"factor.problem.busy": "" +
			"Eine andere Änderung läuft gerade. Versuchen Sie es gleich noch einmal.",
		"factor.problem.full":      "Mehr Authenticator-Apps sind nicht möglich. Entfernen Sie zuerst eine.",
		"factor.problem.enroll":    "Richten Sie zuerst die Bestätigung in zwei Schritten ein.",
		"factor.problem.factor":    "Bestätigen Sie das zuerst mit Ihrem zweiten Schritt.",
		"factor.methods":           "Methoden",
		"factor.lost.support":      "Sie haben keine Wiederherstellungscodes mehr.",
		"factor.support":           "Support kontaktieren",
		"factor.enter.passkey":     "Bestätigen Sie mit Ihrem Passkey oder Sicherheitsschlüssel.",
		"factor.use.passkey":       "Passkey oder Sicherheitsschlüssel",
		"factor.passkey.noscript":  "Schalten Sie JavaScript ein, um einen Passkey zu verwenden.",
		"factor.trust":             "In diesem Browser %s Tage lang nicht mehr fragen",
		"factor.later":             "Sie können das später tun, bis zum %s.",
		"factor.not-now":           "Nicht jetzt",
		"factor.passkeys":          "Passkeys",
		"factor.passkeys.on":       "Können eine Anmeldung bestätigen",
		"factor.passkeys.off":      "Nicht als zweiter Schritt verwendet",
		"factor.passkeys.use":      "Einschalten",
		"factor.passkeys.stop":     "Ausschalten",
		"factor.browsers":          "Vertraute Browser",
		"factor.browsers.forget":   "Alle vergessen",
		"factor.done.passkeys-on":  "Ihre Passkeys sind jetzt ein zweiter Schritt.",
		"factor.done.passkeys-off": "Ihre Passkeys sind kein zweiter Schritt mehr.",
		"factor.done.forgotten":    "Alle Browser fragen wieder nach dem zweiten Schritt.",
		"factor.problem.passkey": "" +
			"Dieser Passkey hat nicht funktioniert. Versuchen Sie es noch einmal, oder verwenden Sie eine " +
			"andere Methode.",
		"factor.problem.no-passkey":    "Fügen Sie zuerst einen Passkey hinzu.",
		"email.factor-guessed.subject": "Jemand rät Codes für Ihr Konto bei %s",
		"email.factor-guessed.body": "" +
			"Jemand hat den ersten Schritt der Anmeldung bei Ihrem Konto geschafft und danach mehrere " +
			"falsche Codes eingegeben. Die Anmeldung ist nicht gelungen.",
		"email.factor-guessed.button": "Das war ich nicht",
		"email.factor-guessed.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, kennt vielleicht jemand Ihr " +
			"Passwort: Wählen Sie jetzt ein neues.",

		"email.deletion": "Löschung: %s",

		"email.expires":             "Läuft ab am: %s",
		"email.key-created.subject": "Neuer API-Schlüssel für %s",
		"email.key-created.button":  "Das war ich nicht",
		"email.key-created.body": "" +
			"Für Ihr Konto wurde ein API-Schlüssel erstellt. Programme können damit in Ihrem Namen handeln.",
		"email.key-created.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.organization":                "Organisation: %s",
		"email.organization-invite.subject": "Einladung zu einer Organisation auf %s",
		"email.organization-invite.button":  "Einladung ansehen",
		"email.organization-invite.body": "" +
			"Ein Mitglied hat Sie in seine Organisation eingeladen. Melden Sie sich mit dieser E-Mail-Adresse an " +
			"oder registrieren Sie sich, um die Einladung anzunehmen.",
		"email.organization-invite.footer": "" +
			"Sie kennen den Absender nicht? Ignorieren Sie diese E-Mail, dann ändert sich nichts.",
		"email.organization-key.subject": "Neuer API-Schlüssel einer Organisation auf %s",
		"email.organization-key.button":  "Das war ich nicht",
		"email.organization-key.body": "" +
			"Mit Ihrem Konto wurde ein API-Schlüssel einer Organisation erstellt. Programme können damit für " +
			"diese Organisation handeln.",
		"email.organization-key.footer": "" +
			"Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sichern Sie jetzt Ihr Konto.",
		"email.organization-request.subject": "Anfrage zum Beitritt zu Ihrer Organisation auf %s",
		"email.organization-request.button":  "Anfragen ansehen",
		"email.organization-request.body": "" +
			"Jemand möchte Ihrer Organisation beitreten. Sie können die Anfrage annehmen oder ablehnen.",
		"email.organization-request.footer": "" +
			"Sie erhalten höchstens eine dieser E-Mails pro Stunde. Die Seite zeigt alle Anfragen.",
		"email.organization-joined.subject": "Sie sind einer Organisation auf %s beigetreten",
		"email.organization-joined.button":  "Ihre Organisationen ansehen",
		"email.organization-joined.body": "" +
			"Ihre Anfrage zum Beitritt wurde angenommen. Sie sind jetzt Mitglied der Organisation.",
		"email.organization-joined.footer": "Sie können die Organisation jederzeit verlassen.",
		"email.key-expiring.subject":       "Ihr API-Schlüssel für %s läuft bald ab",
		"email.key-expiring.button":        "API-Schlüssel verwalten",
		"email.key-expiring.body": "" +
			"Einer Ihrer API-Schlüssel läuft bald ab. Programme, die ihn verwenden, funktionieren dann " +
			"nicht mehr.",
		"email.key-expiring.footer": "" +
			"Ersetzen Sie den Schlüssel, wenn Sie ihn noch brauchen. Sonst müssen Sie nichts tun.",

		"webhooks.heading": "Webhooks",
		"webhooks.intro": "" +
			"Endpunkte erhalten die Ereignisse aller Benutzer. Fügen Sie nur Server hinzu, denen Sie vertrauen.",
		"webhooks.endpoints":           "Endpunkte",
		"webhooks.none":                "Noch keine Endpunkte.",
		"webhooks.manage":              "Verwalten",
		"webhooks.back":                "Alle Endpunkte",
		"webhooks.configured":          "Konfiguration",
		"webhooks.disabled":            "Deaktiviert",
		"webhooks.failing":             "Fehlerhaft",
		"webhooks.all":                 "Alle Ereignisse",
		"webhooks.new":                 "Neuer Endpunkt",
		"webhooks.url":                 "URL",
		"webhooks.description":         "Beschreibung (optional)",
		"webhooks.events":              "Ereignisse, durch Leerzeichen getrennt (optional)",
		"webhooks.create":              "Endpunkt hinzufügen",
		"webhooks.secret":              "Signaturschlüssel",
		"webhooks.copy":                "Kopieren Sie den Signaturschlüssel jetzt. Er wird nicht noch einmal angezeigt.",
		"webhooks.actions":             "Aktionen",
		"webhooks.test":                "Testereignis senden",
		"webhooks.rotate":              "Schlüssel ersetzen",
		"webhooks.disable":             "Deaktivieren",
		"webhooks.enable":              "Aktivieren",
		"webhooks.delete":              "Endpunkt löschen",
		"webhooks.failed":              "Fehlgeschlagene Zustellungen",
		"webhooks.failed.none":         "Keine fehlgeschlagenen Zustellungen.",
		"webhooks.replay":              "Erneut senden",
		"webhooks.replay.all":          "Alle erneut senden",
		"webhooks.problem.url":         "Geben Sie die https-URL eines Servers im Internet ein.",
		"webhooks.problem.description": "Geben Sie eine Beschreibung mit höchstens 100 Zeichen ein.",
		"webhooks.problem.events":      "Geben Sie Namen von Ereignissen ein, zum Beispiel user.created oder user.*.",
		"webhooks.problem.many":        "Sie haben zu viele Endpunkte. Löschen Sie einen, den Sie nicht mehr brauchen.",
		"webhooks.problem.gone":        "Diesen Endpunkt oder diese Zustellung gibt es nicht mehr.",
		"webhooks.problem.configured": "" +
			"Dieser Endpunkt gehört zur Konfiguration der Website und kann nur dort geändert werden.",
		"webhooks.problem.disabled":      "Aktivieren Sie zuerst den Endpunkt.",
		"webhooks.problem.browser":       "Verwalten Sie Webhooks in einem Browser.",
		"webhooks.problem.test":          "Der Endpunkt hat das Testereignis nicht angenommen: %s",
		"webhooks.done.create":           "Endpunkt hinzugefügt.",
		"webhooks.done.test":             "Der Endpunkt hat das Testereignis angenommen.",
		"webhooks.done.rotate":           "Schlüssel ersetzt. Der bisherige Schlüssel gilt noch einen Tag.",
		"webhooks.done.disable":          "Endpunkt deaktiviert.",
		"webhooks.done.enable":           "Endpunkt aktiviert.",
		"webhooks.done.delete":           "Endpunkt gelöscht.",
		"webhooks.done.replay":           "Die fehlgeschlagenen Zustellungen werden erneut gesendet.",
		"email.webhook-disabled.subject": "Webhooks von %s: Endpunkt deaktiviert",
		"email.webhook-disabled.button":  "Webhooks verwalten",
		"email.webhook-disabled.body": "" +
			"Ein Endpunkt hat tagelang keine Ereignisse angenommen oder gemeldet, dass es ihn nicht mehr gibt. " +
			"Wir senden keine Ereignisse mehr an ihn.",
		"email.webhook-disabled.footer": "" +
			"Beheben Sie das Problem und aktivieren Sie den Endpunkt wieder, oder löschen Sie ihn.",

		"apikey.heading": "API-Schlüssel",
		"apikey.intro": "Mit einem API-Schlüssel handeln Programme in Ihrem Namen. Wer einen Schlüssel hat, kann " +
			"ihn benutzen. Halten Sie Ihre Schlüssel daher geheim.",
		"apikey.manage":           "API-Schlüssel verwalten",
		"apikey.none":             "Noch keine API-Schlüssel.",
		"apikey.yours":            "Ihre API-Schlüssel",
		"apikey.created":          "Ihr neuer API-Schlüssel",
		"apikey.new":              "Neuer API-Schlüssel",
		"apikey.copy":             "Kopieren Sie den neuen API-Schlüssel jetzt. Er wird nicht noch einmal angezeigt.",
		"apikey.name":             "Name",
		"apikey.scopes":           "Was dieser Schlüssel darf",
		"apikey.lifetime":         "Läuft ab nach",
		"apikey.days":             "%s Tagen",
		"apikey.networks":         "Erlaubte IP-Adressen (optional)",
		"apikey.create":           "API-Schlüssel erstellen",
		"apikey.rotate":           "Ersetzen",
		"apikey.revoke":           "Widerrufen",
		"apikey.expired":          "Abgelaufen",
		"apikey.expires":          "Läuft ab am %s",
		"apikey.used":             "Zuletzt benutzt am %s",
		"apikey.unused":           "Nie benutzt",
		"apikey.revoked":          "Der API-Schlüssel wurde widerrufen.",
		"apikey.problem.name":     "Geben Sie einen Namen mit höchstens 64 Zeichen ein.",
		"apikey.problem.scope":    "Wählen Sie aus, was der Schlüssel darf.",
		"apikey.problem.lifetime": "Wählen Sie eine kürzere Gültigkeit.",
		"apikey.problem.network":  "Geben Sie IP-Adressen oder Netze ein, zum Beispiel 192.0.2.7 oder 192.0.2.0/24.",
		"apikey.problem.many":     "Sie haben zu viele API-Schlüssel. Widerrufen Sie einen, den Sie nicht mehr brauchen.",
		"apikey.problem.gone":     "Diesen API-Schlüssel gibt es nicht mehr.",
		"apikey.problem.browser":  "Verwalten Sie Ihre API-Schlüssel in einem Browser.",

		"organization.security": "Sicherheit",
		"organization.factor.on": "" +
			"Mitglieder müssen sich mit einem zweiten Faktor anmelden, um diese Organisation zu nutzen.",
		"organization.factor.off":     "Mitglieder können diese Organisation ohne zweiten Faktor nutzen.",
		"organization.factor.require": "Zweiten Faktor verlangen",
		"organization.factor.relax":   "Zweiten Faktor nicht mehr verlangen",
		"organization.one":            "Organisation",
		"organization.slug.change":    "Kurzname für URLs",
		"organization.heading":        "Organisationen",
		"organization.none":           "Sie sind noch in keiner Organisation Mitglied.",
		"organization.yours":          "Ihre Organisationen",
		"organization.selected":       "Ausgewählt",
		"organization.select":         "Auswählen",
		"organization.open":           "Öffnen",
		"organization.manage":         "Organisationen verwalten",
		"organization.new":            "Neue Organisation",
		"organization.name":           "Name",
		"organization.slug":           "Kurzname für URLs (optional)",
		"organization.create":         "Organisation erstellen",
		"organization.members":        "Mitglieder",
		"organization.you":            "Sie",
		"organization.unnamed":        "Benutzer ohne Namen",
		"organization.joined-on":      "Beigetreten am %s",
		"organization.role":           "Rolle",
		"organization.role.owner":     "Inhaber",
		"organization.role.admin":     "Administrator",
		"organization.role.member":    "Mitglied",
		"organization.change":         "Rolle ändern",
		"organization.remove":         "Entfernen",
		"organization.more":           "Weitere Mitglieder",
		"organization.invitations":    "Einladungen",
		"organization.invite":         "Einladung senden",
		"organization.email":          "E-Mail",
		"organization.resend":         "Erneut senden",
		"organization.revoke":         "Zurückziehen",
		"organization.expires":        "Läuft ab am %s",
		"organization.settings":       "Einstellungen",
		"organization.save":           "Speichern",
		"organization.leave":          "Organisation verlassen",
		"organization.transfer":       "Inhaberschaft übertragen",
		"organization.delete":         "Organisation löschen",
		"organization.confirm":        "Geben Sie „%s“ ein, um sie für alle Mitglieder zu löschen.",
		"organization.invitation":     "Einladung",
		"organization.invited-to":     "Sie sind eingeladen, %s beizutreten.",
		"organization.accept":         "Einladung annehmen",
		"organization.back":           "Alle Organisationen",
		"organization.done.created":   "Die Organisation wurde erstellt.",
		"organization.done.switched":  "Die Organisation wurde ausgewählt.",
		"organization.done.saved":     "Die Änderungen wurden gespeichert.",
		"organization.done.removed":   "Das Mitglied wurde entfernt.",
		"organization.done.left":      "Sie haben die Organisation verlassen.",
		"organization.done.deleted":   "Die Organisation wurde gelöscht.",
		"organization.done.invited":   "Die Einladung wurde gesendet.",
		"organization.done.revoked":   "Die Einladung wurde zurückgezogen.",
		"organization.done.joined":    "Sie sind der Organisation beigetreten.",
		"organization.problem.name":   "Geben Sie einen Namen mit höchstens 64 Zeichen ein.",
		"organization.problem.slug":   "Verwenden Sie 2 bis 48 Kleinbuchstaben, Ziffern und einzelne Bindestriche.",
		"organization.problem.taken":  "Dieser Kurzname ist vergeben.",
		"organization.problem.input":  "Prüfen Sie Ihre Eingabe und versuchen Sie es noch einmal.",
		"organization.problem.role":   "Wählen Sie eine Rolle aus der Liste.",
		"organization.problem.owner": "" +
			"Eine Organisation braucht einen Inhaber. Übertragen Sie zuerst die Inhaberschaft.",
		"organization.problem.owners": "Diese Organisation hat zu viele Inhaber.",
		"organization.problem.full":   "In dieser Organisation ist kein Platz frei.",
		"organization.problem.many":   "Sie sind in zu vielen Organisationen Mitglied. Verlassen Sie zuerst eine.",
		"organization.problem.member": "Sie sind schon Mitglied.",
		"organization.problem.invites": "" +
			"Zu viele Einladungen sind offen. Ziehen Sie eine zurück, die Sie nicht mehr " +
			"brauchen.",
		"organization.problem.email": "Geben Sie eine gültige E-Mail-Adresse ein.",
		"organization.problem.address": "" +
			"Diese Einladung ist für eine andere E-Mail-Adresse, oder Ihre Adresse ist nicht " +
			"bestätigt. Melden Sie sich mit der eingeladenen Adresse an und bestätigen Sie sie.",
		"organization.problem.denied":  "Ihre Rolle erlaubt das nicht.",
		"organization.problem.confirm": "Geben Sie den Kurznamen genau ein, um die Organisation zu löschen.",
		"organization.problem.gone": "" +
			"Diese Organisation, dieses Mitglied oder diese Einladung gibt es nicht mehr.",
		"organization.problem.busy": "Jemand anderes ändert das gerade. Versuchen Sie es noch einmal.",
		"organization.problem.mail": "" +
			"Die Einladung konnte nicht gesendet werden. Versuchen Sie es später noch einmal.",
		"organization.problem.browser":   "Verwalten Sie Ihre Organisationen in einem Browser.",
		"organization.offer":             "Ihrem Team beitreten",
		"organization.offer.lead":        "Mit Ihrer E-Mail-Adresse können Sie %s beitreten.",
		"organization.join":              "Beitreten",
		"organization.ask":               "Um Beitritt bitten",
		"organization.ask.lead":          "Ein Administrator von %s entscheidet über Ihren Beitritt.",
		"organization.requests":          "Beitrittsanfragen",
		"organization.requests.on":       "Angemeldete Benutzer mit diesem Link können um Beitritt bitten:",
		"organization.requests.off":      "Benutzer können nicht um Beitritt bitten.",
		"organization.requests.allow":    "Anfragen erlauben",
		"organization.requests.disallow": "Anfragen nicht mehr erlauben",
		"organization.asked-on":          "Angefragt am %s",
		"organization.admit":             "Annehmen",
		"organization.decline":           "Ablehnen",
		"organization.domains":           "Domains",
		"organization.domains.lead": "" +
			"Personen mit einer bestätigten E-Mail-Adresse Ihrer Domain können ohne Einladung beitreten.",
		"organization.domain":             "Domain",
		"organization.domain.verified":    "Bestätigt",
		"organization.domain.pending":     "Nicht bestätigt",
		"organization.domain.record":      "Fügen Sie Ihrem DNS diesen TXT-Eintrag hinzu:",
		"organization.domain.value":       "Wert",
		"organization.domain.add":         "Domain hinzufügen",
		"organization.domain.verify":      "Prüfen",
		"organization.domain.offer":       "Der Beitritt wird angeboten",
		"organization.domain.automatic":   "Beitritt bei der Anmeldung",
		"organization.domain.how":         "Wie Personen beitreten",
		"organization.done.requested":     "Sie haben um Beitritt gebeten. Ein Administrator entscheidet.",
		"organization.done.declined":      "Die Anfrage wurde abgelehnt.",
		"organization.done.admitted":      "Der Benutzer ist jetzt Mitglied.",
		"organization.done.domain":        "Die Domain wurde bestätigt.",
		"organization.problem.unverified": "Bestätigen Sie zuerst Ihre E-Mail-Adresse.",
		"organization.problem.requested":  "Sie haben schon um Beitritt zu dieser Organisation gebeten.",
		"organization.problem.requests": "" +
			"Zu viele Beitrittsanfragen sind offen. Versuchen Sie es später noch einmal.",
		"organization.problem.domain":  "Geben Sie eine Domain wie example.com ein.",
		"organization.problem.public":  "Diese Domain gehört einem E-Mail-Dienst. Geben Sie Ihre eigene ein.",
		"organization.problem.domains": "Diese Organisation hat zu viele Domains. Entfernen Sie zuerst eine.",
		"organization.problem.record": "" +
			"Wir haben den TXT-Eintrag noch nicht gefunden. Neue Einträge brauchen manchmal einige Stunden.",
		"organization.problem.lookup": "" +
			"Die Domain konnte nicht abgefragt werden. Versuchen Sie es später noch einmal.",
		"organization.problem.wait":         "Warten Sie einige Sekunden und versuchen Sie es noch einmal.",
		"organization.problem.domain-taken": "Diese Domain gehört einer anderen Organisation.",
		"organization.keys":                 "API-Schlüssel",
		"organization.keys.lead": "" +
			"Programme handeln mit diesen Schlüsseln für diese Organisation. Ein Schlüssel bleibt, wenn das " +
			"Mitglied geht, das ihn erstellt hat.",
		"organization.keys.created": "Ihr neuer API-Schlüssel",
		"organization.keys.copy": "Kopieren Sie den neuen API-Schlüssel jetzt. " +
			"Er wird nicht noch einmal angezeigt.",
		"organization.keys.new":             "Neuer API-Schlüssel",
		"organization.keys.scopes":          "Was dieser Schlüssel darf",
		"organization.keys.lifetime":        "Läuft ab nach",
		"organization.keys.days":            "%s Tagen",
		"organization.keys.create":          "API-Schlüssel erstellen",
		"organization.keys.by":              "Erstellt von %s",
		"organization.keys.expired":         "Abgelaufen",
		"organization.keys.used":            "Zuletzt benutzt am %s",
		"organization.keys.unused":          "Nie benutzt",
		"organization.keys.revoked":         "Der API-Schlüssel wurde widerrufen.",
		"organization.problem.key-scope":    "Wählen Sie aus, was der Schlüssel darf.",
		"organization.problem.key-lifetime": "Wählen Sie eine kürzere Gültigkeit.",
		"organization.problem.keys": "" +
			"Diese Organisation hat zu viele API-Schlüssel. Widerrufen Sie einen, den Sie nicht mehr " +
			"brauchen.",

		"signin.accounts":     "Konto auswählen",
		"accounts.heading":    "Konten",
		"accounts.in-browser": "Konten in diesem Browser",
		"accounts.more":       "Weitere Optionen",
		"accounts.active":     "Aktiv",
		"accounts.signed-out": "Abgemeldet",
		"accounts.unnamed":    "Konto ohne Namen",
		"accounts.continue":   "Fortfahren",
		"accounts.sign-in":    "Anmelden",
		"accounts.sign-out":   "Abmelden",
		"accounts.remove":     "Entfernen",
		"accounts.add":        "Konto hinzufügen",
		"accounts.add.hint": "" +
			"Sie melden sich mit einem anderen Konto an. Ihr aktuelles Konto bleibt angemeldet, und Sie " +
			"können jederzeit über diese Liste zurückkehren.",
		"accounts.sign-out-all": "Von allen Konten abmelden",
		"accounts.manage":       "Konten verwalten",
		"accounts.account":      "Konto",
		"accounts.unknown":      "Dieses Konto ist nicht mehr in diesem Browser.",
		"accounts.again":        "Melden Sie sich noch einmal bei diesem Konto an.",
		"accounts.browser":      "Die Konten eines Browsers lassen sich nur in diesem Browser ändern.",
		"accounts.cross-origin": "Eine andere Website kann die Konten dieses Browsers nicht verwenden.",
		"problem.accounts.full": "In diesen Browser passt kein weiteres Konto. Melden Sie sich zuerst von einem ab.",

		"admin.heading":         "Benutzer",
		"admin.search":          "E-Mail oder Benutzer-ID",
		"admin.find":            "Suchen",
		"admin.none":            "Keine Benutzer gefunden.",
		"admin.more":            "Weitere Benutzer",
		"admin.view":            "Ansehen",
		"admin.back":            "Alle Benutzer",
		"admin.unnamed":         "Benutzer ohne Namen",
		"admin.banned":          "Gesperrt",
		"admin.admin":           "Administrator",
		"admin.verified":        "Bestätigt",
		"admin.unverified":      "Nicht bestätigt",
		"admin.details":         "Details",
		"admin.email":           "E-Mail",
		"admin.id":              "Benutzer-ID",
		"admin.methods":         "Anmeldemethoden",
		"admin.password":        "Passwort",
		"admin.passkey":         "Passkey",
		"admin.added":           "Hinzugefügt am %s",
		"admin.nothing":         "Keine.",
		"admin.sessions":        "Aktive Sitzungen",
		"admin.used":            "Zuletzt benutzt am %s",
		"admin.actor":           "Wird vom Administrator %s verwendet",
		"admin.unknown-browser": "Unbekannter Browser",
		"admin.which":           "Zu beendende Sitzungen",
		"admin.all":             "Alle Sitzungen",
		"admin.reason":          "Grund",
		"admin.end":             "Sitzungen beenden",
		"admin.ban":             "Benutzer sperren",
		"admin.ban.hint": "" +
			"Das beendet die Sitzungen, Apps und API-Schlüssel des Benutzers. Anmelden ist dann nicht " +
			"möglich.",
		"admin.until":      "Enddatum (optional)",
		"admin.ends":       "Endet am %s",
		"admin.no-end":     "Ohne Enddatum",
		"admin.unban":      "Sperre aufheben",
		"admin.reset":      "Link für neues Passwort senden",
		"admin.reset-link": "Link für neues Passwort erstellen",
		"admin.reset-link.hint": "" +
			"Dieser Benutzer hat keine E-Mail-Adresse. Stellen Sie sicher, dass er es ist, und geben " +
			"Sie ihm den Link.",
		"admin.done.reset-link": "" +
			"Geben Sie dem Benutzer diesen Link. Er gilt einmal, und wir zeigen ihn nur jetzt.",
		"admin.problem.has-email": "Dieser Benutzer hat eine E-Mail-Adresse. Senden Sie den Link dorthin.",
		"admin.verify":            "E-Mail als bestätigt markieren",
		"admin.verify.hint": "" +
			"Tun Sie das nur, wenn die Adresse sicher dem Benutzer gehört. Anmeldemethoden, die jemand " +
			"anderem gehören könnten, werden entfernt.",
		"admin.factors":         "Bestätigung in zwei Schritten zurücksetzen",
		"admin.delete":          "Benutzer löschen",
		"admin.delete.confirm":  "Um den Benutzer mit allen Daten zu löschen, geben Sie „%s“ ein.",
		"admin.invite":          "Benutzer einladen",
		"admin.invite.send":     "Einladung senden",
		"admin.create":          "Benutzer anlegen",
		"admin.changes":         "Änderungen",
		"admin.self":            "Ihr eigenes Konto können Sie hier nicht ändern.",
		"admin.is-admin":        "Administratoren können hier nicht geändert werden.",
		"admin.schedule-delete": "Löschung planen",
		"admin.schedule-delete.hint": "" +
			"Der Benutzer wird überall abgemeldet. Bis zur Löschung kann er sich " +
			"anmelden, um das Konto zu behalten.",
		"admin.done.scheduled": "Löschung geplant.",
		"admin.impersonate":    "Dieses Konto verwenden",
		"admin.impersonate.hint": "Sie sehen die Website bis zu eine Stunde lang wie dieser Benutzer. Anmeldemethoden, " +
			"Schlüssel und Organisationen können Sie nicht ändern.",
		"admin.done.ended":         "Sitzungen beendet.",
		"admin.done.banned":        "Benutzer gesperrt.",
		"admin.done.created":       "Benutzer angelegt.",
		"admin.done.unbanned":      "Sperre aufgehoben.",
		"admin.done.reset":         "Link gesendet.",
		"admin.done.verified":      "E-Mail als bestätigt markiert.",
		"admin.done.factors":       "Bestätigung in zwei Schritten zurückgesetzt.",
		"admin.done.deleted":       "Benutzer gelöscht.",
		"admin.done.invited":       "Einladung gesendet.",
		"admin.problem.reason":     "Geben Sie einen Grund mit höchstens 200 Zeichen ein.",
		"admin.problem.until":      "Wählen Sie ein Enddatum in der Zukunft.",
		"admin.problem.gone":       "Diesen Benutzer oder diese Sitzung gibt es nicht mehr.",
		"admin.problem.not-banned": "Dieser Benutzer ist nicht gesperrt.",
		"admin.problem.busy": "" +
			"Ein anderer Administrator ändert diesen Benutzer gerade. Versuchen Sie es noch einmal.",
		"admin.problem.confirm":  "Geben Sie den Text genau ein, um den Benutzer zu löschen.",
		"admin.problem.email":    "Geben Sie eine gültige E-Mail-Adresse ein.",
		"admin.problem.taken":    "Diese Adresse hat bereits ein Benutzer.",
		"admin.problem.no-email": "Dieser Benutzer hat keine E-Mail-Adresse.",
		"admin.problem.verified": "Diese Adresse ist schon bestätigt.",
		"admin.problem.browser":  "Verwalten Sie Benutzer in einem Browser.",
		"admin.problem.cursor":   "Diese Seite der Liste ist abgelaufen. Beginnen Sie von vorn.",

		"tokens.ask":      "Bei %s anmelden?",
		"tokens.ask.user": "Sie sind als %s angemeldet.",
		"tokens.ask.body": "%s kann dann:",
		"tokens.resource": "Die App erhält Zugriff auf %s.",
		"tokens.ask.started": "Erlauben Sie das nur, " +
			"wenn Sie es selbst gestartet haben, auf einem Gerät, das diesen Code zeigt:",
		"tokens.network":      "Die Anfrage kam von %s.",
		"tokens.allow":        "Erlauben",
		"tokens.deny":         "Nicht erlauben",
		"tokens.device":       "Auf einem Gerät anmelden",
		"tokens.code.body":    "Geben Sie den Code ein, den Ihr Gerät zeigt.",
		"tokens.code":         "Code",
		"tokens.continue":     "Weiter",
		"tokens.code.wrong":   "Dieser Code ist falsch oder abgelaufen.",
		"tokens.done":         "Sie sind bei %s angemeldet. Gehen Sie zurück zu Ihrem Gerät.",
		"tokens.denied":       "%s wurde nicht angemeldet.",
		"tokens.invalid":      "Diese Anmeldung funktioniert nicht",
		"tokens.invalid.body": "Die App hat eine ungültige Anfrage gesendet. Melden Sie das den Entwicklern:",
		"tokens.apps":         "Apps",
		"tokens.apps.body":    "Apps, die bei Ihrem Konto angemeldet sind.",
		"tokens.apps.none":    "Keine App ist angemeldet.",
		"tokens.since":        "Seit %s",
		"tokens.used":         "Zuletzt verwendet: %s",
		"tokens.end":          "Abmelden",
		"tokens.ended":        "Die App wurde abgemeldet.",
		"tokens.manage":       "Apps verwalten",
		"tokens.gone":         "Diese App ist nicht mehr angemeldet.",
		"tokens.browser":      "Öffnen Sie diese Seite in einem Browser.",
		"account.heading":     "Ihr Konto",
		"account.stale": "" +
			"Ihre Anmeldung liegt eine Weile zurück. Vor einer Änderung bitten wir Sie, sich noch einmal " +
			"anzumelden.",
		"account.not-me.heading": "Das war ich nicht",
		"account.not-me.body": "" +
			"Wir sichern das Konto von %s: Alle Geräte werden abgemeldet, und die Änderung wird " +
			"rückgängig gemacht, soweit das möglich ist.",
		"account.not-me.button":        "Mein Konto sichern",
		"account.secured.heading":      "Ihr Konto ist gesichert",
		"account.secured.body":         "Prüfen Sie nun die Anmeldemethoden von %s.",
		"account.undone.heading":       "Die Änderung ist rückgängig gemacht",
		"account.undone.body":          "Ihr Konto verwendet wieder die Adresse %s.",
		"account.undone.ended":         "Alle Geräte wurden abgemeldet.",
		"account.undone.removed":       "Diese Anmeldemethoden kamen nach der Änderung hinzu. Wir haben sie entfernt:",
		"account.undone.password":      "Neues Passwort wählen",
		"account.sign-in":              "Anmelden",
		"account.deleted.heading":      "Ihr Konto ist gelöscht",
		"account.deleted.body":         "Ihr Konto und alle seine Daten wurden gelöscht. Sie sind abgemeldet.",
		"account.methods.heading":      "Anmeldemöglichkeiten",
		"account.methods.none":         "Mit Ihrem Konto ist noch nichts verknüpft.",
		"account.methods.link":         "Link per E-Mail",
		"account.methods.link-to":      "Wir senden ihn an %s",
		"account.add":                  "%s verbinden",
		"account.password":             "Passwort",
		"account.password.change":      "Ändern",
		"account.password.change-what": "Passwort",
		"account.password.none":        "Nicht festgelegt",
		"account.password.choose":      "Passwort festlegen",
		"account.remove":               "Entfernen",
		"account.disconnect":           "Trennen",
		"account.rename":               "Umbenennen",
		"account.name":                 "Name",
		"account.save":                 "Speichern",
		"account.passkey.add":          "Passkey hinzufügen",
		"account.passkey":              "Passkey",
		"account.passkey.noscript":     "Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist.",
		"account.sessions.heading":     "Wo Sie angemeldet sind",
		"account.sessions.none":        "Diese Website kann das nicht auflisten. Melden Sie sich auf jedem Gerät selbst ab.",
		"account.sessions.others":      "Überall sonst abmelden",
		"account.sessions.end":         "Abmelden",
		"account.sessions.here":        "auf diesem Gerät",
		"account.sessions.support":     "Ein Administrator verwendet Ihr Konto",
		"account.sessions.since":       "Seit %s",
		"account.email.heading":        "E-Mail-Adresse",
		"account.email.code": "" +
			"Wir haben eine E-Mail an diese Adresse gesendet. Geben Sie den Code daraus hier ein, " +
			"oder öffnen Sie den Link in diesem Browser.",
		"account.email.none":        "Keine",
		"account.email.new":         "Neue Adresse",
		"account.email.change":      "Ändern",
		"account.email.change-what": "E-Mail-Adresse",
		"account.email.verify":      "Bestätigungs-E-Mail senden",

		"account.email.bounces": "" +
			"E-Mails an diese Adresse kommen zurück. Bestätigen Sie sie erneut, oder ändern Sie sie.",

		"account.email.hint": "" +
			"Wir senden eine E-Mail dorthin. Öffnen Sie ihren Link in diesem Browser, dann ist die Adresse " +
			"Ihre. Über die alte Adresse lässt sich die Änderung in den nächsten sieben Tagen zurücknehmen.",
		"account.activity":      "Letzte Sicherheitsereignisse",
		"account.activity.view": "Ereignisse ansehen",
		"account.activity.back": "Ihr Konto",
		"account.activity.hint": "" +
			"Wenn Sie hier etwas nicht kennen, ändern Sie Ihr Passwort und beenden Sie alle anderen " +
			"Sitzungen.",
		"account.activity.signin":          "Angemeldet",
		"account.activity.refused":         "Fehlgeschlagene Anmeldung",
		"account.activity.reauth":          "Identität bestätigt",
		"account.activity.ended":           "Sitzungen beendet",
		"account.activity.linked":          "Konto verbunden",
		"account.activity.unlinked":        "Konto getrennt",
		"account.activity.password":        "Passwort geändert",
		"account.activity.reset":           "Zurücksetzen des Passworts angefordert",
		"account.activity.username":        "Benutzername geändert",
		"account.activity.email":           "E-Mail-Adresse geändert oder bestätigt",
		"account.activity.passkey":         "Passkey hinzugefügt",
		"account.activity.passkey-removed": "Passkey entfernt",
		"account.activity.secured":         "Konto gesichert",
		"account.activity.factors":         "Bestätigung in zwei Schritten geändert",
		"account.activity.recovery":        "Wiederherstellungscode benutzt",
		"account.activity.codes":           "Wiederherstellungscodes geändert",
		"account.activity.key":             "API-Schlüssel erstellt",
		"account.activity.key-revoked":     "API-Schlüssel widerrufen",
		"account.activity.app":             "App angemeldet",
		"account.activity.app-ended":       "App abgemeldet",
		"account.activity.deletion":        "Löschung des Kontos angefordert",
		"account.activity.kept":            "Löschung des Kontos abgebrochen",
		"account.activity.exported":        "Daten heruntergeladen",
		"account.activity.impersonated":    "Konto vom Support benutzt",
		"account.activity.banned":          "Konto gesperrt",
		"account.activity.unbanned":        "Sperre aufgehoben",
		"account.activity.support":         "Vom Support",
		"account.download":                 "Ihre Daten",
		"account.download.hint":            "Laden Sie herunter, was diese Website über Sie gespeichert hat, als JSON-Datei.",
		"account.download.button":          "Meine Daten herunterladen",
		"account.delete.heading":           "Konto löschen",
		"account.delete.hint": "" +
			"Alles, was dazu gehört, wird mitgelöscht. Das lässt " +
			"sich nicht rückgängig machen.",

		"account.delete.later": "" +
			"Wir löschen Ihr Konto und alle zugehörigen Daten am %s. Bis dahin können Sie sich anmelden und " +
			"es behalten.",
		"account.deletion.heading": "Ihr Konto wird gelöscht",
		"account.deletion.added": "" +
			"Wir löschen Ihr Konto und alle zugehörigen Daten am %s. Sie sind überall abgemeldet. Wenn Sie " +
			"Ihr Konto behalten möchten, melden Sie sich vor diesem Tag an.",
		"account.deletion.ask":     "Wir löschen Ihr Konto und alle zugehörigen Daten am %s. Möchten Sie es behalten?",
		"account.deletion.started": "Ihr Konto wird gerade gelöscht. Es lässt sich nicht wiederherstellen.",
		"account.deletion.keep":    "Mein Konto behalten",
		"account.kept.heading":     "Sie haben Ihr Konto behalten",
		"account.kept.body":        "Es wird nicht gelöscht. Sie können sich wie bisher anmelden.",

		"account.delete.ask":      "Ich möchte mein Konto löschen",
		"account.delete.phrase":   "Geben Sie zur Bestätigung „%s“ ein",
		"account.delete.button":   "Endgültig löschen",
		"account.last":            "Ihre letzte Anmeldemöglichkeit",
		"account.this-device":     "Dieses Gerät",
		"account.not-confirmed":   "Nicht bestätigt",
		"account.confirm.heading": "Adresse ändern",
		"account.confirm.body":    "%s als neue E-Mail-Adresse verwenden?",
		"account.confirm.button":  "Bestätigen",
		"account.undo.heading":    "Änderung rückgängig machen",
		"account.undo.body":       "Ihr Konto bekommt wieder die Adresse %s, und alle Sitzungen werden abgemeldet.",
		"account.undo.only":       "Ihr Konto bekommt wieder die Adresse %s.",
		"account.done.unlinked":   "Konto getrennt.",
		"account.done.passkey-removed": "" +
			"Der Passkey ist entfernt. Ihr Gerät bietet ihn vielleicht noch an; löschen Sie ihn auch dort.",
		"account.done.passkey-named": "Der Name ist geändert.",
		"account.done.ended":         "Diese Sitzung wurde abgemeldet.",
		"account.done.ended-others":  "Alle anderen Sitzungen wurden abgemeldet.",
		"account.done.email-asked": "" +
			"Wir haben eine E-Mail an die neue Adresse gesendet. Öffnen Sie ihren Link in diesem Browser; " +
			"bis dahin ändert sich nichts.",
		"account.done.email-changed":  "Ihre Adresse ist geändert.",
		"account.done.email-verified": "Ihre E-Mail-Adresse ist bestätigt.",
		"account.done.profile":        "Profil gespeichert.",
		"account.problem.last":        "Das ist Ihre letzte Anmeldemöglichkeit. Fügen Sie erst eine andere hinzu.",
		"account.problem.gone":        "Das ist schon nicht mehr da. Die Seite zeigt den jetzigen Stand.",
		"account.problem.busy":        "Es läuft gerade eine andere Änderung. Versuchen Sie es gleich noch einmal.",
		"account.problem.email":       "Das ist keine E-Mail-Adresse. Prüfen Sie sie, und versuchen Sie es noch einmal.",
		"account.problem.same":        "Das ist bereits Ihre Adresse.",
		"account.problem.link": "" +
			"Dieser Link wurde schon benutzt, ist abgelaufen oder gehört zu einem anderen Browser. Es hat " +
			"sich nichts geändert.",
		"account.problem.phrase":     "Es wurde nichts gelöscht: Die Wörter stimmen nicht überein.",
		"account.problem.name":       "Ein Name hat höchstens 64 Zeichen.",
		"account.problem.mail":       "Die E-Mail konnte nicht gesendet werden. Versuchen Sie es gleich noch einmal.",
		"account.problem.not-listed": "Auf dieser Website lassen sich Sitzungen nicht einzeln beenden.",
		"account.problem.somebody-else": "" +
			"Sie sind als jemand anderes angemeldet als wer hier eine Änderung begonnen hat. Sie wurde nicht gemacht.",
		"account.again.heading": "Weiter",
		"account.again.hint": "" +
			"Danke, Sie haben sich noch einmal angemeldet. Noch ist nichts geändert: Der Knopf macht weiter.",
		"account.problem.other":        "Das hat nicht funktioniert. Versuchen Sie es noch einmal.",
		"account.problem.profile-name": "Verwenden Sie höchstens 100 Zeichen.",
		"account.problem.image":        "Geben Sie eine Bildadresse ein, die mit https:// beginnt.",
		"account.ago.now":              "gerade eben",
		"account.ago.minutes":          "vor %s Minuten",
		"account.ago.hour":             "vor einer Stunde",
		"account.ago.hours":            "vor %s Stunden",
		"account.ago.yesterday":        "gestern",
		"account.ago.days":             "vor %s Tagen",
		"account.ago.on":               "am %s",
		"account.device":               "Ein Browser",
		"account.device.on":            "auf %s",
		"account.session.now":          "Jetzt in Gebrauch",
		"account.session.used":         "Zuletzt benutzt %s",
		"account.session.made":         "angemeldet %s",
		"account.session.until":        "Bis %s",
		"account.passkey.made":         "zuerst gesehen %s",
		"account.passkey.used":         "zuletzt benutzt %s",
		"account.passkey.synced":       "zwischen Ihren Geräten abgeglichen",
		"account.profile.heading":      "Profil",
		"account.profile.edit":         "Profil bearbeiten",
		"account.profile.image":        "Adresse des Bildes",
		"account.profile.image-hint":   "Die Adresse eines Bildes im Web. Sie beginnt mit https://.",
		"account.confirmed":            "Bestätigt",
		"home.back":                    "Zurück zu %s",

		"sent.open": "%s öffnen",

		"sent.again":           "E-Mail erneut senden",
		"sent.other":           "Andere E-Mail-Adresse verwenden",
		"sent.spam":            "Nichts angekommen? Sehen Sie im Spam-Ordner nach.",
		"signup.continue":      "Weiter mit %s",
		"signup.with":          "Mit %s registrieren",
		"signup.agree":         "Mit dem Fortfahren stimmen Sie zu: %s",
		"password-hint.count":  "%s Zeichen",
		"password-hint.enough": "Lang genug",
	}}
}
