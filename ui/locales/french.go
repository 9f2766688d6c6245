package locales

import "github.com/latchkey-go/latchkey/ui"

// French returns the texts in French, with the formal address "vous". The caller owns the map.
//
//nolint:funlen,gosec // a table of texts without credentials
func French() ui.Locale {
	return ui.Locale{Tag: "fr", Texts: map[string]string{
		"date": "2 January 2006",

		"moment": "2 January 2006, 15:04 UTC",

		"months": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",

		"report": "Si vous signalez ce problème, indiquez le code %s",

		"report.copy":   "Copier",
		"report.copied": "Copié",

		"logo": "Logo",

		"signin.title":         "Connexion",
		"signin.heading":       "Se connecter",
		"signin.with":          "Se connecter avec %s",
		"signin.none":          "Aucun moyen de connexion n’a encore été configuré.",
		"signin.email":         "Adresse e-mail",
		"signin.email.example": "nom@example.com",

		"challenge.noscript":      "Activez JavaScript pour confirmer que vous êtes humain.",
		"signin.challenge":        "Nous n’avons pas pu confirmer que vous êtes humain. Veuillez réessayer.",
		"passkey.noscript":        "Les clés d’accès nécessitent JavaScript, qui est désactivé dans ce navigateur.",
		"passkey.waiting":         "En attente de votre clé d’accès…",
		"passkey.cancelled":       "L’opération a été annulée. Vous pouvez réessayer.",
		"passkey.failed":          "Cela n’a pas fonctionné. Veuillez réessayer.",
		"passkey.unsupported":     "Ce navigateur ne prend pas en charge les clés d’accès.",
		"passkey.sign-up.heading": "Créer votre compte",
		"passkey.sign-up.body": "" +
			"Connectez-vous avec une clé d’accès au lieu d’un mot de passe. Confirmez d’abord votre adresse " +
			"e-mail.",
		"passkey.sign-up.button": "Continuer",
		"passkey.sign-up.sent": "" +
			"Si cette adresse peut servir à une inscription, nous avons envoyé un lien. Ouvrez-le pour créer " +
			"votre clé d’accès.",
		"passkey.sign-up.sent-code": "" +
			"Si cette adresse peut servir à une inscription, nous avons envoyé un code et un lien. Saisissez " +
			"le code ici ou ouvrez le lien pour créer votre clé d’accès.",
		"passkey.sign-up.exists": "Cette adresse a déjà un compte. Connectez-vous.",
		"passkey.create.heading": "Créer votre clé d’accès",
		"passkey.create.body": "" +
			"Votre appareil vous demandera votre empreinte, votre visage ou votre code. Vous vous connecterez " +
			"ensuite ainsi à ce compte :",
		"passkey.create.other": "" +
			"Vous avez ouvert ce lien dans un autre navigateur. Pour continuer ici, créez la clé d’accès sur " +
			"cet appareil. Vous ne vous êtes pas inscrit ? Fermez cette page : aucun compte ne sera créé.",
		"passkey.create.button": "Créer une clé d’accès",
		"passkey.create.failed": "Nous n’avons pas pu vérifier votre clé d’accès. Réessayez.",

		"signout.title":    "Déconnexion",
		"signout.heading":  "Se déconnecter",
		"signout.question": "Voulez-vous vous déconnecter ?",
		"signout.button":   "Se déconnecter",

		"verify.title":   "Vérifiez vos e-mails",
		"verify.heading": "Consultez vos e-mails",
		"verify.body":    "Un lien de connexion vous a été envoyé. Vous pouvez fermer cette page.",

		"confirm.as":   "Se connecter en tant que %s ?",
		"confirm.body": "Continuez pour vous connecter.",

		"signin.failed":     "Cela n’a pas fonctionné. Réessayez ou choisissez un autre moyen de connexion.",
		"signin.not-linked": "Un compte existe déjà avec cette adresse e-mail. Connectez-vous comme auparavant.",
		"signin.not-mailed": "L’e-mail n’a pas pu être envoyé. Vérifiez l’adresse et réessayez.",
		"signin.no-match":   "Ces informations ne correspondent à aucun compte. Vérifiez-les et réessayez.",
		"signin.incorrect":  "Adresse e-mail ou mot de passe incorrect.",
		"signin.mail-only": "" +
			"Trop de mots de passe erronés à la suite. Choisissez-en un nouveau par e-mail ou connectez-vous autrement.",
		"signin.required": "Connectez-vous pour continuer.",
		"signin.stale": "" +
			"Ce service n'a pas confirmé que vous venez de vous connecter. Utilisez un autre moyen de " +
			"connexion.",
		"signin.other": "La connexion a échoué. Veuillez réessayer.",
		"reauth.none": "" +
			"Aucun de vos moyens de connexion ne permet de le confirmer. Ajoutez une clé d'accès à votre " +
			"compte.",
		"reauth.body": "" +
			"Vous êtes connecté en tant que %s. Pour votre sécurité, confirmez-le avec l'un de vos moyens " +
			"de connexion.",
		"reauth.heading": "Confirmez qu'il s'agit bien de vous",
		"signin.other-user": "" +
			"Cette connexion appartient à un autre compte. Utilisez le compte auquel vous êtes connecté.",
		"code.use-link": "Trop de codes incorrects. Ouvrez plutôt le lien de l'e-mail dans ce navigateur.",
		"code.too-many": "Trop de codes incorrects. Veuillez réessayer plus tard.",
		"code.expired":  "Ce code n'est plus valable. Demandez-en un nouveau.",
		"code.wrong":    "Ce code n'est pas correct. Essais restants : %s.",
		"code.mail":     "M'envoyer un code par e-mail",
		"signin.guest":  "Continuer en tant qu’invité",
		"code.other":    "Utiliser un autre moyen",
		"code.again":    "Envoyer un nouveau code",
		"code.label":    "Code",
		"code.sent":     "Nous avons envoyé un code à %s. Saisissez-le ici.",
		"code.or-link": "" +
			"Nous vous avons envoyé un code et un lien par e-mail. Saisissez le code ici ou ouvrez le lien.",
		"code.body": "Nous vous avons envoyé un code par e-mail. Saisissez-le ici.",

		"switch.heading":        "Vous êtes déjà connecté",
		"switch.keep":           "Rester connecté en tant que %s",
		"switch.other":          "Passer à %s",
		"error.expired.heading": "Connexion expirée",
		"error.expired.body":    "Vous avez commencé à vous connecter il y a plus de 15 minutes ou dans un autre navigateur.",
		"error.browser.heading": "Autre navigateur",
		"error.browser.body": "Vous avez commencé à vous connecter dans un autre navigateur. " +
			"Reconnectez-vous pour continuer ici.",
		"error.used.heading": "Déjà utilisée",
		"error.used.body":    "Cette connexion a déjà été terminée ou annulée. Reconnectez-vous pour continuer.",
		"error.again":        "Se reconnecter",

		"error.forbidden.heading": "Vous n’avez pas accès à cette page",
		"error.forbidden.body":    "Votre compte n’est pas autorisé à l’ouvrir.",
		"error.forbidden.back":    "Retour",
		"error.forbidden.other":   "Utiliser un autre compte",
		"error.not-found.heading": "Page introuvable",
		"error.not-found.body":    "Il n’y a rien à cette adresse. Vérifiez qu’elle est correcte.",
		"error.not-found.home":    "Aller à la page d’accueil",

		"error.title":                 "Erreur",
		"error.configuration.heading": "Erreur du serveur",
		"error.configuration.body": "" +
			"La connexion n’est pas correctement configurée sur ce site. Vous n’avez rien fait de mal ; ses " +
			"responsables trouveront les détails dans son journal.",
		"error.denied.heading":   "Accès refusé",
		"error.denied.body":      "Ce compte ne peut pas se connecter ici. Si vous en avez un autre, essayez-le.",
		"error.too-many.heading": "Trop de tentatives",
		"error.too-many.body":    "Patientez un moment, puis réessayez.",
		"error.busy.heading":     "Un instant",
		"error.busy.body": "" +
			"Ce site est très sollicité et n’a pas pu répondre à temps. Vous n’avez rien fait de mal ; " +
			"réessayez dans un instant.",
		"error.verification.heading": "Connexion impossible",
		"error.verification.body":    "Ce lien de connexion a déjà été utilisé ou a expiré. Demandez-en un nouveau.",
		"error.other.heading":        "Erreur",
		"error.other.body":           "Une erreur s’est produite en chemin. Revenez en arrière et réessayez.",

		"problem.again": "Reconnectez-vous d’abord.",
		"problem.guest": "Connectez-vous d’abord. Un invité ne peut pas faire cela.",

		"status.400": "Requête incorrecte",
		"status.401": "Non authentifié",
		"status.403": "Interdit",
		"status.404": "Introuvable",
		"status.405": "Méthode non autorisée",
		"status.409": "Conflit",
		"status.410": "N’existe plus",
		"status.413": "Requête trop volumineuse",
		"status.415": "Format non pris en charge",
		"status.422": "Requête non traitable",
		"status.429": "Trop de requêtes",
		"status.500": "Erreur interne du serveur",
		"status.503": "Service indisponible",

		"label.Email or username": "E-mail ou nom d'utilisateur",
		"label.Email":             "Adresse e-mail",

		"provider.Email": "un e-mail",

		"label.Password": "Mot de passe",
		"label.Username": "Nom d’utilisateur",
		"label.Name":     "Nom",

		"provider.Passkey":     "une clé d’accès",
		"provider.Credentials": "vos identifiants",
		"provider.Password":    "un mot de passe",

		"label.Forgot your password?":            "Mot de passe oublié ?",
		"label.Create an account":                "Créer un compte",
		"label.Create an account with a passkey": "Créer un compte avec une clé d’accès",
		"label.New here?":                        "Nouveau ici ?",

		"email.title":           "Votre compte",
		"email.time":            "Date : %s",
		"email.device":          "Appareil : %s",
		"email.why.account":     "%s a envoyé cet e-mail parce qu’il concerne votre compte.",
		"email.why.entered":     "%s a envoyé cet e-mail parce que cette adresse y a été saisie.",
		"email.why.invited":     "%s a envoyé cet e-mail parce qu’une invitation vous a été adressée.",
		"email.network":         "Plage d’adresses IP : %s",
		"email.until":           "Le lien est valable jusqu’au %s.",
		"email.code":            "Code : %s",
		"email.otherwise":       "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
		"email.sign-in.subject": "Connexion à %s",
		"email.sign-in.button":  "Se connecter",
		"email.sign-in.footer":  "Si vous n’avez pas demandé cet e-mail, vous pouvez l’ignorer.",
		"email.reauth.footer": "" +
			"Ne communiquez ce code à personne : nous ne le demandons nulle part ailleurs. Si vous ne " +
			"l'avez pas demandé, fermez toutes vos sessions.",
		"email.reauth.body":    "Saisissez ce code sur la page où vous l'avez demandé. Il est valable 10 minutes.",
		"email.reauth.subject": "Votre code pour %s",
		"email.verify.subject": "Confirmez votre adresse pour %s",
		"email.verify.button":  "Confirmer mon adresse",
		"email.verify.body": "" +
			"Quelqu’un, vous nous l’espérons, souhaite s’inscrire avec cette adresse. Ouvrez le lien dans le " +
			"navigateur où vous vous êtes inscrit ; tout autre demandera le mot de passe qui y a été choisi.",
		"email.verify.footer":  "Si ce n’était pas vous, ignorez cet e-mail : aucun compte ne sera créé.",
		"email.exists.subject": "Vous avez un compte sur %s",
		"email.exists.button":  "Se connecter",
		"email.exists.body": "" +
			"Quelqu’un, peut-être vous, a tenté de s’inscrire avec cette adresse, qui a déjà un compte. Rien " +
			"n’a changé. Connectez-vous avec elle, ou choisissez un nouveau mot de passe si vous avez oublié " +
			"le vôtre.",
		"email.exists.footer":          "Si ce n’était pas vous, vous n’avez rien à faire.",
		"email.verify-passkey.subject": "Confirmez votre adresse pour %s",
		"email.verify-passkey.button":  "Créer ma clé d’accès",
		"email.verify-passkey.body": "" +
			"Confirmez votre adresse et créez une clé d’accès pour terminer la création de votre compte.",
		"email.verify-passkey.footer":  "Si ce n’était pas vous, ignorez cet e-mail : aucun compte ne sera créé.",
		"email.exists-passkey.subject": "Vous avez un compte sur %s",
		"email.exists-passkey.button":  "Se connecter",
		"email.exists-passkey.body": "" +
			"Quelqu’un, peut-être vous, a tenté de s’inscrire avec cette adresse, qui a déjà un compte. Rien " +
			"n’a changé. Connectez-vous comme d’habitude.",
		"email.exists-passkey.footer": "Si ce n’était pas vous, vous n’avez rien à faire.",
		"email.reset.subject":         "Choisissez un nouveau mot de passe pour %s",
		"email.reset.button":          "Choisir un mot de passe",
		"email.reset.body": "" +
			"Quelqu’un a demandé à choisir un nouveau mot de passe pour le compte associé à cette adresse.",
		"email.reset.footer":             "Si ce n’était pas vous, ignorez cet e-mail : le mot de passe reste inchangé.",
		"email.password-changed.subject": "Votre mot de passe pour %s a changé",
		"email.password-changed.button":  "Ce n’était pas moi",
		"email.password-changed.body":    "Le mot de passe de votre compte a été défini, modifié ou supprimé.",
		"email.password-changed.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, choisissez un nouveau mot de passe maintenant.",
		"email.email-change.subject":  "Confirmez votre nouvelle adresse pour %s",
		"email.email-change.button":   "Confirmer mon adresse",
		"email.email-change.body":     "Vous avez demandé à utiliser désormais cette adresse pour votre compte.",
		"email.email-change.footer":   "Si ce n’était pas vous, ignorez cet e-mail : rien ne change.",
		"email.email-changed.subject": "Votre adresse pour %s a changé",
		"email.email-changed.button":  "Annuler la modification",
		"email.email-changed.body":    "Votre compte avait cette adresse et en a maintenant une autre.",
		"email.email-changed.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, annulez la modification.",
		"email.email-changed.sessions": "Cela met aussi fin à toutes les sessions du compte.",
		"email.service":                "Service : %s",
		"email.passkey-added.subject":  "Nouvelle clé d’accès pour %s",
		"email.passkey-added.button":   "Ce n’était pas moi",
		"email.passkey-added.body": "" +
			"Une clé d’accès a été ajoutée à votre compte. Elle permet de s’y connecter.",
		"email.passkey-added.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.passkey-removed.subject": "Clé d’accès supprimée pour %s",
		"email.passkey-removed.button":  "Ce n’était pas moi",
		"email.passkey-removed.body": "" +
			"Une clé d’accès de votre compte a été supprimée. Elle ne permet plus de s’y connecter.",
		"email.passkey-removed.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.account-linked.subject": "Nouveau moyen de connexion pour %s",
		"email.account-linked.button":  "Ce n’était pas moi",
		"email.account-linked.body": "" +
			"Un compte d’un autre service a été associé à votre compte. Il permet de s’y connecter.",
		"email.account-linked.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.account-unlinked.subject": "Moyen de connexion supprimé pour %s",
		"email.account-unlinked.button":  "Ce n’était pas moi",
		"email.account-unlinked.body": "" +
			"Un compte d’un autre service a été dissocié de votre compte. Il ne permet plus de s’y " +
			"connecter.",
		"email.account-unlinked.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.factor-added.subject": "Nouveau second facteur pour %s",
		"email.factor-added.button":  "Ce n’était pas moi",
		"email.factor-added.body": "" +
			"Un second facteur, par exemple une application d’authentification, a été ajouté à votre " +
			"compte.",
		"email.factor-added.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre " +
			"compte maintenant.",
		"email.factor-removed.subject": "Second facteur supprimé pour %s",
		"email.factor-removed.button":  "Ce n’était pas moi",
		"email.factor-removed.body":    "Un second facteur a été supprimé de votre compte.",
		"email.factor-removed.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre " +
			"compte maintenant.",
		"email.factors-reset.subject": "Seconds facteurs réinitialisés pour %s",
		"email.factors-reset.button":  "Ce n’était pas moi",
		"email.factors-reset.body":    "L’assistance a supprimé tous les seconds facteurs de votre compte.",
		"email.factors-reset.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre " +
			"compte maintenant.",
		"email.recovery-used.subject": "Code de récupération utilisé pour %s",
		"email.recovery-used.button":  "Ce n’était pas moi",
		"email.recovery-used.body": "Un de vos codes de récupération a servi à se connecter. Ce code n’est " +
			"plus valable.",
		"email.recovery-used.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre " +
			"compte maintenant.",
		"email.recovery-renewed.subject": "Nouveaux codes de récupération pour %s",
		"email.recovery-renewed.button":  "Ce n’était pas moi",
		"email.recovery-renewed.body": "" +
			"De nouveaux codes de récupération ont été créés pour votre compte. Les anciens codes ne " +
			"sont plus valables.",
		"email.recovery-renewed.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte " +
			"maintenant.",
		"email.new-device.subject": "Nouvelle connexion à %s",
		"email.new-device.button":  "Ce n’était pas moi",
		"email.new-device.body":    "Quelqu’un s’est connecté à votre compte dans un navigateur inconnu jusqu’ici.",
		"email.new-device.footer": "Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte " +
			"maintenant.",
		"email.invite.subject": "Vous êtes invité à rejoindre %s",
		"email.invite.button":  "Accepter l’invitation",
		"email.invite.body":    "Vous pouvez vous inscrire avec cette adresse.",
		"email.invite.footer":  "Si vous ne le souhaitez pas, ignorez cet e-mail : aucun compte ne sera créé.",

		"email.deletion-scheduled.subject": "Votre compte sur %s va être supprimé",
		"email.deletion-scheduled.button":  "Conserver mon compte",
		"email.deletion-scheduled.body": "" +
			"Vous avez demandé la suppression de votre compte. Nous le supprimerons avec toutes ses données " +
			"à la date ci-dessous. D’ici là, vous pouvez le conserver.",
		"email.deletion-scheduled.footer": "" +
			"Si ce n’était pas vous, conservez votre compte et choisissez un nouveau mot de passe.",

		"email.deleted.subject": "Votre compte sur %s a été supprimé",
		"email.deleted.body":    "Votre compte a été supprimé.",
		"email.deleted.footer":  "Si ce n’était pas vous, adressez-vous aux responsables du site.",

		"signin.to":             "Se connecter à %s",
		"signin.mail-link":      "M’envoyer un lien de connexion",
		"signin.show":           "Afficher le mot de passe",
		"signin.last":           "Dernière utilisation",
		"signin.remember":       "Rester connecté",
		"signin.who":            "Vous êtes connecté en tant que %s.",
		"impersonation.who":     "Vous utilisez le compte de %s.",
		"impersonation.title":   "Compte d’une autre personne",
		"impersonation.end":     "Revenir à votre compte",
		"impersonation.refused": "Cette action est impossible lorsque vous utilisez le compte d’une autre personne.",
		"impersonation.too-large": "Les deux sessions réunies sont trop volumineuses pour ce site. " +
			"Ses exploitants trouvent la limite dans le journal.",
		"signin.continue": "Continuer",

		"terms": "Conditions d’utilisation",

		"privacy": "Confidentialité",

		"cancel": "Annuler",

		"verify.sent": "Il est envoyé à %s.",

		"signin.or": "ou",
		"signin.canceled": "" +
			"La connexion a été annulée ou n'a pas abouti. Réessayez ou utilisez une autre méthode.",

		"password.sign-up.heading": "Créer un compte",
		"password.sign-up.button":  "Créer un compte",
		"password.sign-up.have":    "J’ai déjà un compte",
		"password.email":           "Adresse e-mail",
		"password.name":            "Nom (facultatif)",
		"password.password":        "Mot de passe",
		"password.new":             "Nouveau mot de passe",
		"password.current":         "Mot de passe actuel",
		"password.rule":            "Au moins %s caractères. Quelques mots à la suite se retiennent facilement.",
		"password.sent.body": "" +
			"Si cette adresse peut être utilisée ici, un e-mail est en route. Ouvrez le lien qu’il contient " +
			"dans ce navigateur.",
		"password.sent.reset": "" +
			"Si un compte existe pour cette adresse, nous avons " +
			"envoyé un lien pour réinitialiser le mot de passe.",
		"password.sent.code": "" +
			"Si cette adresse peut être utilisée ici, un code et un lien sont en route. Saisissez " +
			"le code ici ou ouvrez le lien dans ce navigateur.",
		"password.sent.reset-code": "" +
			"Si un compte existe pour cette adresse, nous avons envoyé un code et un lien pour " +
			"réinitialiser le mot de passe. Saisissez le code ici ou ouvrez le lien.",
		"password.confirm.heading": "Confirmez votre adresse",
		"password.confirm.body": "" +
			"Ce n’est pas le navigateur où le compte a été demandé. Saisissez le mot de passe qui y a été " +
			"choisi. Si vous ne vous êtes pas inscrit, fermez cette page : aucun compte ne sera créé.",
		"password.confirm.button": "Confirmer et se connecter",
		"password.confirm.device": "" +
			"Vous ne connaissez pas le mot de passe ? Ouvrez ce lien sur l’appareil utilisé pour vous inscrire.",
		"password.confirm.start-over": "Recommencer",
		"password.forgot.heading":     "Mot de passe oublié ?",
		"password.forgot.body":        "Saisissez votre adresse et nous vous enverrons un lien pour en choisir un nouveau.",
		"password.forgot.button":      "Envoyer le lien",
		"password.forgot.back":        "Retour à la connexion",
		"password.reset.heading":      "Choisissez un nouveau mot de passe",
		"password.reset.body":         "Tous les appareils connectés seront déconnectés.",
		"password.reset.methods": "" +
			"Ces moyens de connexion ont été ajoutés au cours du dernier mois. Cochez ceux que vous ne " +
			"reconnaissez pas, nous les supprimerons :",
		"password.reset.added":    "ajouté le %s",
		"password.passkey":        "Clé d’accès",
		"password.reset.button":   "Enregistrer le mot de passe",
		"password.change.heading": "Changer de mot de passe",
		"password.change.button":  "Changer le mot de passe",
		"password.change.forgot":  "Je ne connais pas mon mot de passe actuel",
		"password.done.heading":   "Votre mot de passe est enregistré",
		"password.done.body": "" +
			"Les autres appareils ont été déconnectés et nous vous avons envoyé un e-mail à ce sujet.",
		"password.done.only": "Nous vous avons envoyé un e-mail à ce sujet.",
		"password.done.removed": "" +
			"Nous avons supprimé les moyens de connexion que vous avez cochés ou qui ont été ajoutés avant " +
			"la vérification de votre adresse : %s. Vous pourrez rajouter les vôtres après vous être " +
			"connecté.",
		"password.done.sign-in":  "Se connecter",
		"password.done.go-on":    "Continuer",
		"password.closed":        "Il n’est pas possible de s’inscrire soi-même ici.",
		"password.changed":       "Votre mot de passe vient d’être changé ailleurs. Réessayez avec le nouveau.",
		"password.wrong":         "Ce n’est pas votre mot de passe actuel.",
		"password.wrong-sign-up": "Saisissez le mot de passe avec lequel vous vous êtes inscrit.",
		"password.other": "Un autre lien a été ouvert depuis dans ce navigateur. " +
			"Rien n’a changé. Ouvrez de nouveau le lien de votre e-mail.",
		"password.link": "" +
			"Ce lien a déjà été utilisé, a expiré ou a été coupé par votre messagerie. Demandez-en un " +
			"nouveau.",
		"password.short": "" +
			"Utilisez un mot de passe d’au moins %s caractères. Quelques mots à la suite se retiennent " +
			"facilement.",
		"password.long": "Utilisez un mot de passe plus court.",
		"password.context": "" +
			"Ce mot de passe est composé de votre adresse ou du nom de ce site. Choisissez-en un autre.",
		"password.common":           "Ce mot de passe est de ceux que l’on essaie en premier. Choisissez-en un autre.",
		"password.breached":         "Ce mot de passe est apparu ailleurs dans une fuite de données. Choisissez-en un autre.",
		"password.username.heading": "Choisir un nom d'utilisateur",
		"password.username.label":   "Nom d'utilisateur",
		"password.username.body": "" +
			"Vous pouvez vous connecter avec lui au lieu de votre e-mail. Vous " +
			"pourrez le modifier plus tard, mais pas tout de suite.",
		"password.username.button": "Enregistrer le nom d'utilisateur",
		"password.username.invalid": "" +
			"Utilisez de 3 à 32 lettres et chiffres. Les points, tirets et traits " +
			"de soulignement sont autorisés entre eux.",
		"password.username.taken": "Ce nom d'utilisateur n'est pas disponible. Choisissez-en un autre.",
		"password.username.soon": "" +
			"Vous avez modifié votre nom d'utilisateur récemment. Réessayez plus " +
			"tard.",
		"password.username.missing": "Choisissez d'abord un nom d'utilisateur.",
		"password.email.optional":   "E-mail (facultatif)",
		"password.email.hint":       "Sans e-mail, seul un code de secours permet de réinitialiser votre mot de passe.",
		"password.codes.body": "" +
			"Si vous oubliez votre mot de passe, ces codes vous redonnent accès à votre compte. Chaque " +
			"code ne fonctionne qu'une fois. Nous ne les affichons que maintenant.",
		"password.recover.heading": "Utiliser un code de secours",
		"password.recover.body": "" +
			"Saisissez votre nom d'utilisateur et l'un de vos codes de secours, puis choisissez un " +
			"nouveau mot de passe.",
		"password.recover.wrong": "Ce nom d'utilisateur ou ce code de secours n'est pas correct.",
		"password.recovery.left": "Codes de secours restants : %s.",
		"password.recovery.low": "" +
			"Codes de secours restants : %s. Connectez-vous et créez-en de nouveaux sur la page de " +
			"votre compte.",
		"password.recovery.body":   "Les nouveaux codes remplacent tous ceux que vous avez.",
		"password.recovery.remove": "Supprimer tous les codes",
		"password.recovery.only": "" +
			"Ajoutez d'abord une adresse e-mail. Sans elle, ces codes sont le seul moyen de retrouver " +
			"votre compte.",
		"password.exposed.code": "" +
			"Votre mot de passe est apparu dans une fuite de données : d'autres personnes peuvent donc " +
			"le connaître. Choisissez-en un nouveau avec l'un de vos codes de secours.",
		"password.done.alone": "Vos autres appareils ont été déconnectés.",
		"password.exposed.body": "" +
			"Votre mot de passe est apparu dans une fuite de données : d'autres personnes peuvent donc " +
			"le connaître. Nous allons vous envoyer un code par e-mail. Saisissez-le ici, puis " +
			"choisissez un nouveau mot de passe.",
		"password.exposed.none": "" +
			"Votre mot de passe est apparu dans une fuite de données : d'autres personnes peuvent donc " +
			"le connaître. Votre compte n'a pas d'adresse e-mail, nous ne pouvons donc pas vérifier que " +
			"c'est bien vous. Connectez-vous d'une autre façon ou contactez l'assistance.",
		"password.exposed.button": "M'envoyer un code par e-mail",
		"password.exposed.again":  "M'envoyer un autre code",
		"password.address":        "Vérifiez l’adresse.",
		"password.bad-name":       "Utilisez un nom plus court ou plus simple.",
		"password.field.invalid":  "Ce texte est trop long ou contient des caractères non autorisés.",
		"password.field.required": "Remplissez ce champ.",
		"password.busy":           "Trop de personnes se connectent en ce moment. Réessayez dans quelques secondes.",

		"factor.heading":   "Validation en deux étapes",
		"factor.enter.app": "Saisissez le code de votre application d’authentification.",
		"factor.enter.recovery": "" +
			"Saisissez l’un de vos codes de secours. Chaque code ne fonctionne qu’une fois.",
		"factor.code":          "Code",
		"factor.recovery-code": "Code de secours",
		"factor.continue":      "Continuer",
		"factor.cancel":        "Annuler",
		"factor.other":         "Utiliser une autre méthode",
		"factor.use.app":       "Application d’authentification",
		"factor.use.recovery":  "Code de secours",
		"factor.lost":          "J’ai perdu mon téléphone",
		"factor.lost.body": "" +
			"Utilisez un code de secours enregistré lors de l’activation de la validation en deux étapes. " +
			"Retirez ensuite le téléphone perdu de votre compte.",
		"factor.lost.none": "" +
			"Il ne vous reste aucun code de secours. Contactez l’assistance pour récupérer votre compte.",
		"factor.enroll.heading": "Configurer une application d’authentification",
		"factor.enroll.scan": "" +
			"Scannez ce code QR avec une application d’authentification sur votre téléphone.",
		"factor.enroll.qr":       "Code QR contenant la clé de configuration",
		"factor.enroll.type":     "Ou saisissez cette clé de configuration dans l’application :",
		"factor.enroll.required": "Votre compte nécessite la validation en deux étapes.",
		"factor.enroll.name":     "Nom de cette application (facultatif)",
		"factor.enroll.code":     "Code de l’application",
		"factor.enroll.others":   "Fermer toutes les autres sessions",
		"factor.enroll.button":   "Activer",
		"factor.codes.heading":   "Enregistrez vos codes de secours",
		"factor.codes.body": "" +
			"Si vous perdez votre téléphone, ces codes sont le seul accès à votre compte. Chaque code ne " +
			"fonctionne qu’une fois. Nous ne les affichons que maintenant.",
		"factor.codes.download": "Télécharger",
		"factor.codes.copy":     "Copier",
		"factor.codes.copied":   "Copié",
		"factor.codes.print":    "Imprimer",
		"factor.codes.saved":    "Je les ai enregistrés",
		"factor.off": "" +
			"Désactivée. Ajoutez une deuxième étape pour que votre mot de passe ne suffise pas à lui seul.",
		"factor.app":           "Application d’authentification",
		"factor.added":         "Ajoutée le %s",
		"factor.last-used":     "dernière utilisation le %s",
		"factor.remove":        "Retirer",
		"factor.add":           "Ajouter une application d’authentification",
		"factor.recovery":      "Codes de secours",
		"factor.recovery.left": "Il en reste %s",
		"factor.recovery.low":  "Il vous reste peu de codes de secours. Créez-en de nouveaux.",
		"factor.recovery.new":  "Créer de nouveaux codes",
		"factor.done.added":    "L’application d’authentification a été ajoutée.",
		"factor.done.removed":  "L’application d’authentification a été retirée.",
		"factor.done.saved":    "La validation en deux étapes est activée.",
		"factor.problem.wrong": "" +
			"Ce code n’est pas correct. Vérifiez que l’heure de votre téléphone est juste.",
		"factor.problem.used": "Ce code a déjà été utilisé. Attendez le suivant.",
		"factor.problem.many": "" +
			"Trop de codes incorrects. Utilisez une autre méthode ou réessayez demain.",
		"factor.problem.many-here": "Trop de codes incorrects. Reconnectez-vous.",
		"factor.problem.expired":   "Cette connexion a expiré. Reconnectez-vous.",
		"factor.problem.busy":      "Une autre modification est en cours. Réessayez dans un instant.",
		"factor.problem.full": "" +
			"Vous avez atteint le nombre maximal d’applications d’authentification. Retirez-en une d’abord.",
		"factor.problem.enroll":    "Configurez d’abord la validation en deux étapes.",
		"factor.problem.factor":    "Confirmez d’abord avec votre deuxième étape.",
		"factor.methods":           "Méthodes",
		"factor.lost.support":      "Il ne vous reste aucun code de secours.",
		"factor.support":           "Contacter l’assistance",
		"factor.enter.passkey":     "Confirmez avec votre clé d’accès ou votre clé de sécurité.",
		"factor.use.passkey":       "Clé d’accès ou clé de sécurité",
		"factor.passkey.noscript":  "Activez JavaScript pour utiliser une clé d’accès.",
		"factor.trust":             "Ne plus demander dans ce navigateur pendant %s jours",
		"factor.later":             "Vous pouvez le faire plus tard, jusqu’au %s.",
		"factor.not-now":           "Pas maintenant",
		"factor.passkeys":          "Clés d’accès",
		"factor.passkeys.on":       "Peuvent confirmer une connexion",
		"factor.passkeys.off":      "Non utilisées comme deuxième étape",
		"factor.passkeys.use":      "Activer",
		"factor.passkeys.stop":     "Désactiver",
		"factor.browsers":          "Navigateurs de confiance",
		"factor.browsers.forget":   "Tout oublier",
		"factor.done.passkeys-on":  "Vos clés d’accès sont désormais une deuxième étape.",
		"factor.done.passkeys-off": "Vos clés d’accès ne sont plus une deuxième étape.",
		"factor.done.forgotten":    "Tous les navigateurs demanderont à nouveau la deuxième étape.",
		"factor.problem.passkey": "" +
			"Cette clé d’accès n’a pas fonctionné. Réessayez ou utilisez une autre méthode.",
		"factor.problem.no-passkey":    "Ajoutez d’abord une clé d’accès.",
		"email.factor-guessed.subject": "Tentatives de deviner votre code sur %s",
		"email.factor-guessed.body": "" +
			"Quelqu’un a passé la première étape de la connexion à votre compte, puis a saisi plusieurs " +
			"codes incorrects. La connexion n’a pas abouti.",
		"email.factor-guessed.button": "Ce n’était pas moi",
		"email.factor-guessed.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, quelqu’un connaît peut-être votre mot de " +
			"passe : choisissez-en un nouveau maintenant.",

		"email.deletion": "Suppression : %s",

		"email.expires":             "Expire le : %s",
		"email.key-created.subject": "Nouvelle clé API pour %s",
		"email.key-created.button":  "Ce n’était pas moi",
		"email.key-created.body": "" +
			"Une clé API a été créée pour votre compte. Des programmes peuvent l’utiliser pour agir en " +
			"votre nom.",
		"email.key-created.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.organization":                "Organisation : %s",
		"email.organization-invite.subject": "Vous êtes invité à rejoindre une organisation sur %s",
		"email.organization-invite.button":  "Voir l’invitation",
		"email.organization-invite.body": "" +
			"Un membre vous invite à rejoindre son organisation. Pour accepter, connectez-vous ou inscrivez-vous " +
			"avec cette adresse e-mail.",
		"email.organization-invite.footer": "" +
			"Vous ne connaissez pas l’expéditeur ? Ignorez cet e-mail et rien ne changera.",
		"email.organization-key.subject": "Nouvelle clé API d’une organisation sur %s",
		"email.organization-key.button":  "Ce n’était pas moi",
		"email.organization-key.body": "" +
			"Votre compte a servi à créer une clé API d’une organisation. Des programmes peuvent l’utiliser " +
			"pour agir au nom de cette organisation.",
		"email.organization-key.footer": "" +
			"Si c’était vous, vous n’avez rien à faire. Sinon, sécurisez votre compte maintenant.",
		"email.organization-request.subject": "Demande pour rejoindre votre organisation sur %s",
		"email.organization-request.button":  "Voir les demandes",
		"email.organization-request.body": "" +
			"Quelqu’un demande à rejoindre votre organisation. Vous pouvez accepter ou refuser la demande.",
		"email.organization-request.footer": "" +
			"Vous recevez au plus un de ces e-mails par heure. La page affiche toutes les demandes.",
		"email.organization-joined.subject": "Vous avez rejoint une organisation sur %s",
		"email.organization-joined.button":  "Voir vos organisations",
		"email.organization-joined.body":    "Votre demande a été acceptée. Vous êtes maintenant membre de l’organisation.",
		"email.organization-joined.footer":  "Vous pouvez quitter l’organisation à tout moment.",
		"email.key-expiring.subject":        "Votre clé API pour %s expire bientôt",
		"email.key-expiring.button":         "Gérer les clés API",
		"email.key-expiring.body": "" +
			"Une de vos clés API expire bientôt. Les programmes qui l’utilisent cesseront de fonctionner.",
		"email.key-expiring.footer": "" +
			"Remplacez la clé si vous en avez encore besoin. Sinon, vous n’avez rien à faire.",

		"webhooks.heading": "Webhooks",
		"webhooks.intro": "" +
			"Les points de terminaison reçoivent les événements de tous les utilisateurs. N’ajoutez que des " +
			"serveurs de confiance.",
		"webhooks.endpoints":           "Points de terminaison",
		"webhooks.none":                "Aucun point de terminaison.",
		"webhooks.manage":              "Gérer",
		"webhooks.back":                "Tous les points de terminaison",
		"webhooks.configured":          "Configuration",
		"webhooks.disabled":            "Désactivé",
		"webhooks.failing":             "En échec",
		"webhooks.all":                 "Tous les événements",
		"webhooks.new":                 "Nouveau point de terminaison",
		"webhooks.url":                 "URL",
		"webhooks.description":         "Description (facultatif)",
		"webhooks.events":              "Événements, séparés par des espaces (facultatif)",
		"webhooks.create":              "Ajouter le point de terminaison",
		"webhooks.secret":              "Secret de signature",
		"webhooks.copy":                "Copiez le secret de signature maintenant. Vous ne pourrez plus l’afficher.",
		"webhooks.actions":             "Actions",
		"webhooks.test":                "Envoyer un événement de test",
		"webhooks.rotate":              "Remplacer le secret",
		"webhooks.disable":             "Désactiver",
		"webhooks.enable":              "Activer",
		"webhooks.delete":              "Supprimer le point de terminaison",
		"webhooks.failed":              "Envois échoués",
		"webhooks.failed.none":         "Aucun envoi échoué.",
		"webhooks.replay":              "Renvoyer",
		"webhooks.replay.all":          "Tout renvoyer",
		"webhooks.problem.url":         "Saisissez l’URL https d’un serveur sur Internet.",
		"webhooks.problem.description": "Saisissez une description de 100 caractères au maximum.",
		"webhooks.problem.events":      "Saisissez des noms d’événements, par exemple user.created ou user.*.",
		"webhooks.problem.many": "" +
			"Vous avez trop de points de terminaison. Supprimez-en un dont vous n’avez plus besoin.",
		"webhooks.problem.gone": "Ce point de terminaison ou cet envoi n’existe plus.",
		"webhooks.problem.configured": "" +
			"Ce point de terminaison fait partie de la configuration du site et ne peut être modifié que là.",
		"webhooks.problem.disabled":      "Activez d’abord le point de terminaison.",
		"webhooks.problem.browser":       "Gérez les webhooks dans un navigateur.",
		"webhooks.problem.test":          "Le point de terminaison n’a pas accepté l’événement de test : %s",
		"webhooks.done.create":           "Point de terminaison ajouté.",
		"webhooks.done.test":             "Le point de terminaison a accepté l’événement de test.",
		"webhooks.done.rotate":           "Secret remplacé. Le secret précédent reste valable un jour.",
		"webhooks.done.disable":          "Point de terminaison désactivé.",
		"webhooks.done.enable":           "Point de terminaison activé.",
		"webhooks.done.delete":           "Point de terminaison supprimé.",
		"webhooks.done.replay":           "Les envois échoués seront renvoyés.",
		"email.webhook-disabled.subject": "Webhooks de %s : point de terminaison désactivé",
		"email.webhook-disabled.button":  "Gérer les webhooks",
		"email.webhook-disabled.body": "" +
			"Un point de terminaison n’a accepté aucun événement pendant des jours, ou a indiqué qu’il n’existe " +
			"plus. Nous ne lui envoyons plus d’événements.",
		"email.webhook-disabled.footer": "" +
			"Corrigez le problème et réactivez le point de terminaison, ou supprimez-le.",

		"apikey.heading": "Clés API",
		"apikey.intro": "Un programme utilise une clé API pour agir en votre nom. Toute personne qui possède une " +
			"clé peut s’en servir : gardez vos clés secrètes.",
		"apikey.manage":           "Gérer les clés API",
		"apikey.none":             "Aucune clé API pour le moment.",
		"apikey.yours":            "Vos clés API",
		"apikey.created":          "Votre nouvelle clé API",
		"apikey.new":              "Nouvelle clé API",
		"apikey.copy":             "Copiez votre nouvelle clé API maintenant. Elle ne sera plus affichée.",
		"apikey.name":             "Nom",
		"apikey.scopes":           "Ce que cette clé peut faire",
		"apikey.lifetime":         "Expire après",
		"apikey.days":             "%s jours",
		"apikey.networks":         "Adresses IP autorisées (facultatif)",
		"apikey.create":           "Créer une clé API",
		"apikey.rotate":           "Remplacer",
		"apikey.revoke":           "Révoquer",
		"apikey.expired":          "Expirée",
		"apikey.expires":          "Expire le %s",
		"apikey.used":             "Dernière utilisation le %s",
		"apikey.unused":           "Jamais utilisée",
		"apikey.revoked":          "La clé API a été révoquée.",
		"apikey.problem.name":     "Saisissez un nom de 64 caractères au maximum.",
		"apikey.problem.scope":    "Choisissez ce que la clé peut faire.",
		"apikey.problem.lifetime": "Choisissez une durée plus courte.",
		"apikey.problem.network":  "Saisissez des adresses IP ou des réseaux, par exemple 192.0.2.7 ou 192.0.2.0/24.",
		"apikey.problem.many":     "Vous avez trop de clés API. Révoquez-en une dont vous n’avez plus besoin.",
		"apikey.problem.gone":     "Cette clé API n’existe plus.",
		"apikey.problem.browser":  "Gérez vos clés API dans un navigateur.",

		"organization.security": "Sécurité",
		"organization.factor.on": "" +
			"Les membres doivent se connecter avec un second facteur pour utiliser cette organisation.",
		"organization.factor.off":     "Les membres peuvent utiliser cette organisation sans second facteur.",
		"organization.factor.require": "Exiger un second facteur",
		"organization.factor.relax":   "Ne plus exiger de second facteur",
		"organization.one":            "Organisation",
		"organization.slug.change":    "Nom court pour les URL",
		"organization.heading":        "Organisations",
		"organization.none":           "Vous n’êtes encore membre d’aucune organisation.",
		"organization.yours":          "Vos organisations",
		"organization.selected":       "Sélectionnée",
		"organization.select":         "Sélectionner",
		"organization.open":           "Ouvrir",
		"organization.manage":         "Gérer les organisations",
		"organization.new":            "Nouvelle organisation",
		"organization.name":           "Nom",
		"organization.slug":           "Nom court pour les URL (facultatif)",
		"organization.create":         "Créer l’organisation",
		"organization.members":        "Membres",
		"organization.you":            "Vous",
		"organization.unnamed":        "Utilisateur sans nom",
		"organization.joined-on":      "Membre depuis le %s",
		"organization.role":           "Rôle",
		"organization.role.owner":     "Propriétaire",
		"organization.role.admin":     "Administrateur",
		"organization.role.member":    "Membre",
		"organization.change":         "Changer le rôle",
		"organization.remove":         "Retirer",
		"organization.more":           "Plus de membres",
		"organization.invitations":    "Invitations",
		"organization.invite":         "Envoyer l’invitation",
		"organization.email":          "E-mail",
		"organization.resend":         "Renvoyer",
		"organization.revoke":         "Révoquer",
		"organization.expires":        "Expire le %s",
		"organization.settings":       "Paramètres",
		"organization.save":           "Enregistrer",
		"organization.leave":          "Quitter l’organisation",
		"organization.transfer":       "Transférer la propriété",
		"organization.delete":         "Supprimer l’organisation",
		"organization.confirm":        "Pour la supprimer pour tous les membres, saisissez « %s ».",
		"organization.invitation":     "Invitation",
		"organization.invited-to":     "Vous êtes invité à rejoindre %s.",
		"organization.accept":         "Accepter l’invitation",
		"organization.back":           "Toutes les organisations",
		"organization.done.created":   "L’organisation a été créée.",
		"organization.done.switched":  "L’organisation a été sélectionnée.",
		"organization.done.saved":     "Les modifications ont été enregistrées.",
		"organization.done.removed":   "Le membre a été retiré.",
		"organization.done.left":      "Vous avez quitté l’organisation.",
		"organization.done.deleted":   "L’organisation a été supprimée.",
		"organization.done.invited":   "L’invitation a été envoyée.",
		"organization.done.revoked":   "L’invitation a été révoquée.",
		"organization.done.joined":    "Vous avez rejoint l’organisation.",
		"organization.problem.name":   "Saisissez un nom de 64 caractères au maximum.",
		"organization.problem.slug":   "Utilisez de 2 à 48 lettres minuscules, chiffres et traits d’union isolés.",
		"organization.problem.taken":  "Ce nom court est déjà pris.",
		"organization.problem.input":  "Vérifiez votre saisie et réessayez.",
		"organization.problem.role":   "Choisissez un rôle dans la liste.",
		"organization.problem.owner": "" +
			"Une organisation a besoin d’un propriétaire. Transférez d’abord la propriété.",
		"organization.problem.owners": "Cette organisation a trop de propriétaires.",
		"organization.problem.full":   "Cette organisation n’a plus de place disponible.",
		"organization.problem.many":   "Vous êtes membre de trop d’organisations. Quittez-en une d’abord.",
		"organization.problem.member": "Vous êtes déjà membre.",
		"organization.problem.invites": "" +
			"Trop d’invitations sont en attente. Révoquez-en une dont vous n’avez plus besoin.",
		"organization.problem.email": "Saisissez une adresse e-mail valide.",
		"organization.problem.address": "" +
			"Cette invitation est pour une autre adresse e-mail, ou la vôtre n’est pas confirmée. " +
			"Connectez-vous avec l’adresse invitée et confirmez-la.",
		"organization.problem.denied":    "Votre rôle ne le permet pas.",
		"organization.problem.confirm":   "Saisissez exactement le nom court pour supprimer l’organisation.",
		"organization.problem.gone":      "Cette organisation, ce membre ou cette invitation n’existe plus.",
		"organization.problem.busy":      "Une autre personne est en train de le modifier. Réessayez.",
		"organization.problem.mail":      "L’invitation n’a pas pu être envoyée. Réessayez plus tard.",
		"organization.problem.browser":   "Gérez vos organisations dans un navigateur.",
		"organization.offer":             "Rejoindre votre équipe",
		"organization.offer.lead":        "Votre adresse e-mail vous permet de rejoindre %s.",
		"organization.join":              "Rejoindre",
		"organization.ask":               "Demander à rejoindre",
		"organization.ask.lead":          "Un administrateur de %s décide si vous pouvez la rejoindre.",
		"organization.requests":          "Demandes d’adhésion",
		"organization.requests.on":       "Les utilisateurs connectés qui ont ce lien peuvent demander à rejoindre :",
		"organization.requests.off":      "Les utilisateurs ne peuvent pas demander à rejoindre cette organisation.",
		"organization.requests.allow":    "Autoriser les demandes",
		"organization.requests.disallow": "Ne plus autoriser les demandes",
		"organization.asked-on":          "Demande du %s",
		"organization.admit":             "Accepter",
		"organization.decline":           "Refuser",
		"organization.domains":           "Domaines",
		"organization.domains.lead": "" +
			"Les personnes ayant une adresse e-mail vérifiée de votre domaine peuvent rejoindre sans invitation.",
		"organization.domain":             "Domaine",
		"organization.domain.verified":    "Vérifié",
		"organization.domain.pending":     "Non vérifié",
		"organization.domain.record":      "Ajoutez cet enregistrement TXT à votre DNS :",
		"organization.domain.value":       "Valeur",
		"organization.domain.add":         "Ajouter un domaine",
		"organization.domain.verify":      "Vérifier",
		"organization.domain.offer":       "L’adhésion est proposée",
		"organization.domain.automatic":   "L’adhésion a lieu à la connexion",
		"organization.domain.how":         "Mode d’adhésion",
		"organization.done.requested":     "Vous avez demandé à rejoindre. Un administrateur décide.",
		"organization.done.declined":      "La demande a été refusée.",
		"organization.done.admitted":      "L’utilisateur est maintenant membre.",
		"organization.done.domain":        "Le domaine a été vérifié.",
		"organization.problem.unverified": "Vérifiez d’abord votre adresse e-mail.",
		"organization.problem.requested":  "Vous avez déjà demandé à rejoindre cette organisation.",
		"organization.problem.requests":   "Trop de demandes d’adhésion sont en attente. Réessayez plus tard.",
		"organization.problem.domain":     "Saisissez un domaine tel que example.com.",
		"organization.problem.public":     "Ce domaine appartient à un service de messagerie. Saisissez le vôtre.",
		"organization.problem.domains":    "Cette organisation a trop de domaines. Supprimez-en un d’abord.",
		"organization.problem.record": "" +
			"Nous n’avons pas encore trouvé l’enregistrement TXT. Son apparition peut prendre quelques heures.",
		"organization.problem.lookup":       "Impossible d’interroger le domaine. Réessayez plus tard.",
		"organization.problem.wait":         "Attendez quelques secondes et réessayez.",
		"organization.problem.domain-taken": "Ce domaine appartient à une autre organisation.",
		"organization.keys":                 "Clés API",
		"organization.keys.lead": "" +
			"Des programmes utilisent ces clés pour agir au nom de cette organisation. Une clé reste valable " +
			"quand le membre qui l’a créée part.",
		"organization.keys.created":         "Votre nouvelle clé API",
		"organization.keys.copy":            "Copiez votre nouvelle clé API maintenant. Elle ne sera plus affichée.",
		"organization.keys.new":             "Nouvelle clé API",
		"organization.keys.scopes":          "Ce que cette clé peut faire",
		"organization.keys.lifetime":        "Expire après",
		"organization.keys.days":            "%s jours",
		"organization.keys.create":          "Créer une clé API",
		"organization.keys.by":              "Créée par %s",
		"organization.keys.expired":         "Expirée",
		"organization.keys.used":            "Dernière utilisation le %s",
		"organization.keys.unused":          "Jamais utilisée",
		"organization.keys.revoked":         "La clé API a été révoquée.",
		"organization.problem.key-scope":    "Choisissez ce que la clé peut faire.",
		"organization.problem.key-lifetime": "Choisissez une durée plus courte.",
		"organization.problem.keys": "" +
			"Cette organisation a trop de clés API. Révoquez-en une dont vous n’avez plus besoin.",

		"signin.accounts":     "Choisir un compte",
		"accounts.heading":    "Comptes",
		"accounts.in-browser": "Comptes dans ce navigateur",
		"accounts.more":       "Autres options",
		"accounts.active":     "Actif",
		"accounts.signed-out": "Déconnecté",
		"accounts.unnamed":    "Compte sans nom",
		"accounts.continue":   "Continuer",
		"accounts.sign-in":    "Se connecter",
		"accounts.sign-out":   "Se déconnecter",
		"accounts.remove":     "Retirer",
		"accounts.add":        "Ajouter un compte",
		"accounts.add.hint": "" +
			"Vous vous connectez avec un autre compte. Votre compte actuel reste connecté, et vous pouvez y " +
			"revenir à tout moment depuis cette liste.",
		"accounts.sign-out-all": "Se déconnecter de tous les comptes",
		"accounts.manage":       "Gérer les comptes",
		"accounts.account":      "Compte",
		"accounts.unknown":      "Ce compte n’est plus dans ce navigateur.",
		"accounts.again":        "Reconnectez-vous à ce compte.",
		"accounts.browser":      "Les comptes d’un navigateur ne peuvent être modifiés que dans ce navigateur.",
		"accounts.cross-origin": "Un autre site ne peut pas utiliser les comptes de ce navigateur.",
		"problem.accounts.full": "" +
			"Ce navigateur ne peut pas contenir d’autre compte. Déconnectez-vous d’abord de l’un d’eux.",

		"admin.heading":         "Utilisateurs",
		"admin.search":          "E-mail ou identifiant",
		"admin.find":            "Rechercher",
		"admin.none":            "Aucun utilisateur trouvé.",
		"admin.more":            "Plus d’utilisateurs",
		"admin.view":            "Afficher",
		"admin.back":            "Tous les utilisateurs",
		"admin.unnamed":         "Utilisateur sans nom",
		"admin.banned":          "Banni",
		"admin.admin":           "Administrateur",
		"admin.verified":        "Vérifié",
		"admin.unverified":      "Non vérifié",
		"admin.details":         "Détails",
		"admin.email":           "E-mail",
		"admin.id":              "Identifiant",
		"admin.methods":         "Méthodes de connexion",
		"admin.password":        "Mot de passe",
		"admin.passkey":         "Clé d’accès",
		"admin.added":           "Ajoutée le %s",
		"admin.nothing":         "Aucun élément.",
		"admin.sessions":        "Sessions actives",
		"admin.used":            "Dernière utilisation le %s",
		"admin.actor":           "Utilisée par l’administrateur %s",
		"admin.unknown-browser": "Navigateur inconnu",
		"admin.which":           "Sessions à fermer",
		"admin.all":             "Toutes les sessions",
		"admin.reason":          "Motif",
		"admin.end":             "Fermer les sessions",
		"admin.ban":             "Bannir l’utilisateur",
		"admin.ban.hint": "" +
			"Cela met fin aux sessions, aux applications et aux clés API de l’utilisateur, qui ne peut plus " +
			"se connecter.",
		"admin.until":      "Date de fin (facultatif)",
		"admin.ends":       "Prend fin le %s",
		"admin.no-end":     "Sans date de fin",
		"admin.unban":      "Lever le bannissement",
		"admin.reset":      "Envoyer un lien de réinitialisation",
		"admin.reset-link": "Créer un lien de réinitialisation",
		"admin.reset-link.hint": "" +
			"Cet utilisateur n’a pas d’adresse e-mail. Vérifiez son identité, puis donnez-lui le lien.",
		"admin.done.reset-link": "" +
			"Donnez ce lien à l’utilisateur. Il ne fonctionne qu’une fois, et nous ne l’affichons que " +
			"maintenant.",
		"admin.problem.has-email": "Cet utilisateur a une adresse e-mail. Envoyez-y le lien.",
		"admin.verify":            "Marquer l’e-mail comme vérifié",
		"admin.verify.hint": "" +
			"Faites-le seulement si vous êtes sûr que l’adresse appartient à l’utilisateur. Les méthodes de " +
			"connexion qui pourraient appartenir à quelqu’un d’autre sont supprimées.",
		"admin.factors":         "Réinitialiser la validation en deux étapes",
		"admin.delete":          "Supprimer l’utilisateur",
		"admin.delete.confirm":  "Pour supprimer l’utilisateur et toutes ses données, saisissez « %s ».",
		"admin.invite":          "Inviter un utilisateur",
		"admin.invite.send":     "Envoyer l’invitation",
		"admin.create":          "Créer un utilisateur",
		"admin.changes":         "Modifications",
		"admin.self":            "Vous ne pouvez pas modifier votre propre compte ici.",
		"admin.is-admin":        "Les administrateurs ne peuvent pas être modifiés ici.",
		"admin.schedule-delete": "Programmer la suppression",
		"admin.schedule-delete.hint": "" +
			"L’utilisateur est déconnecté partout. Il peut se connecter pour " +
			"garder le compte jusqu’à la suppression.",
		"admin.done.scheduled": "Suppression programmée.",
		"admin.impersonate":    "Utiliser ce compte",
		"admin.impersonate.hint": "Vous voyez le site comme cet utilisateur pendant une heure au maximum. Vous ne " +
			"pouvez pas modifier ses méthodes de connexion, ses clés ni ses organisations.",
		"admin.done.ended":         "Sessions fermées.",
		"admin.done.banned":        "Utilisateur banni.",
		"admin.done.created":       "Utilisateur créé.",
		"admin.done.unbanned":      "Bannissement levé.",
		"admin.done.reset":         "Lien envoyé.",
		"admin.done.verified":      "E-mail marqué comme vérifié.",
		"admin.done.factors":       "Validation en deux étapes réinitialisée.",
		"admin.done.deleted":       "Utilisateur supprimé.",
		"admin.done.invited":       "Invitation envoyée.",
		"admin.problem.reason":     "Saisissez un motif de 200 caractères au maximum.",
		"admin.problem.until":      "Choisissez une date de fin dans le futur.",
		"admin.problem.gone":       "Cet utilisateur ou cette session n’existe plus.",
		"admin.problem.not-banned": "Cet utilisateur n’est pas banni.",
		"admin.problem.busy":       "Un autre administrateur modifie cet utilisateur. Réessayez.",
		"admin.problem.confirm":    "Saisissez le texte exactement pour supprimer l’utilisateur.",
		"admin.problem.email":      "Saisissez une adresse e-mail valide.",
		"admin.problem.taken":      "Un utilisateur a déjà cette adresse.",
		"admin.problem.no-email":   "Cet utilisateur n’a pas d’adresse e-mail.",
		"admin.problem.verified":   "Cette adresse est déjà vérifiée.",
		"admin.problem.browser":    "Gérez les utilisateurs dans un navigateur.",
		"admin.problem.cursor":     "Cette page de la liste a expiré. Recommencez.",

		"tokens.ask":      "Se connecter à %s ?",
		"tokens.ask.user": "Vous êtes connecté en tant que %s.",
		"tokens.ask.body": "%s pourra :",
		"tokens.resource": "L’application aura accès à %s.",
		"tokens.ask.started": "N’autorisez que si vous avez lancé cette connexion vous-même, " +
			"sur un appareil qui affiche ce code :",
		"tokens.network":      "La demande vient de %s.",
		"tokens.allow":        "Autoriser",
		"tokens.deny":         "Ne pas autoriser",
		"tokens.device":       "Se connecter sur un appareil",
		"tokens.code.body":    "Saisissez le code affiché sur votre appareil.",
		"tokens.code":         "Code",
		"tokens.continue":     "Continuer",
		"tokens.code.wrong":   "Ce code est incorrect ou a expiré.",
		"tokens.done":         "Vous êtes connecté à %s. Revenez à votre appareil.",
		"tokens.denied":       "%s n’a pas été connecté.",
		"tokens.invalid":      "Cette connexion ne fonctionne pas",
		"tokens.invalid.body": "L’application a envoyé une demande invalide. Signalez-le à ses développeurs :",
		"tokens.apps":         "Applications",
		"tokens.apps.body":    "Les applications connectées à votre compte.",
		"tokens.apps.none":    "Aucune application n’est connectée.",
		"tokens.since":        "Depuis le %s",
		"tokens.used":         "Dernière utilisation le %s",
		"tokens.end":          "Déconnecter",
		"tokens.ended":        "L’application a été déconnectée.",
		"tokens.manage":       "Gérer les applications",
		"tokens.gone":         "Cette application n’est plus connectée.",
		"tokens.browser":      "Ouvrez cette page dans un navigateur.",
		"account.heading":     "Votre compte",
		"account.stale": "" +
			"Votre connexion date d’un moment. Avant toute modification, nous vous demanderons de vous " +
			"reconnecter.",
		"account.not-me.heading": "Ce n’était pas moi",
		"account.not-me.body": "" +
			"Nous allons sécuriser le compte de %s : tous les appareils seront déconnectés et la " +
			"modification sera annulée si possible.",
		"account.not-me.button":   "Sécuriser mon compte",
		"account.secured.heading": "Votre compte est sécurisé",
		"account.secured.body":    "Vérifiez maintenant les méthodes de connexion de %s.",
		"account.undone.heading":  "La modification est annulée",
		"account.undone.body":     "Votre compte utilise de nouveau l’adresse %s.",
		"account.undone.ended":    "Tous les appareils ont été déconnectés.",
		"account.undone.removed": "" +
			"Ces moyens de connexion ont été ajoutés après la modification. Nous les avons supprimés :",
		"account.undone.password":      "Choisir un nouveau mot de passe",
		"account.sign-in":              "Se connecter",
		"account.deleted.heading":      "Votre compte est supprimé",
		"account.deleted.body":         "Votre compte et toutes ses données ont été supprimés. Vous êtes déconnecté.",
		"account.methods.heading":      "Moyens de connexion",
		"account.methods.none":         "Rien n’est encore lié à votre compte.",
		"account.methods.link":         "Lien par e-mail",
		"account.methods.link-to":      "Nous l’envoyons à %s",
		"account.add":                  "Associer %s",
		"account.password":             "Mot de passe",
		"account.password.change":      "Modifier",
		"account.password.change-what": "le mot de passe",
		"account.password.none":        "Non défini",
		"account.password.choose":      "Définir un mot de passe",
		"account.remove":               "Supprimer",
		"account.disconnect":           "Dissocier",
		"account.rename":               "Renommer",
		"account.name":                 "Nom",
		"account.save":                 "Enregistrer",
		"account.passkey.add":          "Ajouter une clé d’accès",
		"account.passkey":              "Clé d’accès",
		"account.passkey.noscript":     "Les clés d’accès nécessitent JavaScript, qui est désactivé dans ce navigateur.",
		"account.sessions.heading":     "Où vous êtes connecté",
		"account.sessions.none": "" +
			"Ce site ne peut pas en dresser la liste. Déconnectez-vous vous-même sur chaque appareil.",
		"account.sessions.others":  "Se déconnecter partout ailleurs",
		"account.sessions.end":     "Déconnecter",
		"account.sessions.here":    "sur cet appareil",
		"account.sessions.support": "Un administrateur utilise votre compte",
		"account.sessions.since":   "Depuis : %s",
		"account.email.heading":    "Adresse e-mail",
		"account.email.code": "" +
			"Nous avons envoyé un e-mail à cette adresse. Saisissez ici le code qu’il contient ou " +
			"ouvrez son lien dans ce navigateur.",
		"account.email.none":        "Aucune",
		"account.email.new":         "Nouvelle adresse",
		"account.email.change":      "Modifier",
		"account.email.change-what": "l’adresse e-mail",
		"account.email.verify":      "Envoyer l’e-mail de vérification",

		"account.email.bounces": "" +
			"Les e-mails envoyés à cette adresse nous reviennent. Confirmez-la de nouveau ou changez-la.",

		"account.email.hint": "" +
			"Nous y envoyons un e-mail. Ouvrez son lien dans ce navigateur, et l’adresse est à vous. " +
			"L’ancienne adresse peut annuler la modification pendant sept jours.",
		"account.activity":      "Activité de sécurité récente",
		"account.activity.view": "Voir l’activité",
		"account.activity.back": "Votre compte",
		"account.activity.hint": "" +
			"Si vous ne reconnaissez pas un élément, changez votre mot de passe et déconnectez toutes " +
			"les autres sessions.",
		"account.activity.signin":          "Connexion",
		"account.activity.refused":         "Échec de connexion",
		"account.activity.reauth":          "Identité confirmée",
		"account.activity.ended":           "Sessions fermées",
		"account.activity.linked":          "Compte associé",
		"account.activity.unlinked":        "Compte dissocié",
		"account.activity.password":        "Mot de passe modifié",
		"account.activity.reset":           "Réinitialisation du mot de passe demandée",
		"account.activity.username":        "Nom d’utilisateur modifié",
		"account.activity.email":           "Adresse e-mail modifiée ou vérifiée",
		"account.activity.passkey":         "Clé d’accès ajoutée",
		"account.activity.passkey-removed": "Clé d’accès supprimée",
		"account.activity.secured":         "Compte sécurisé",
		"account.activity.factors":         "Validation en deux étapes modifiée",
		"account.activity.recovery":        "Code de récupération utilisé",
		"account.activity.codes":           "Codes de secours modifiés",
		"account.activity.key":             "Clé API créée",
		"account.activity.key-revoked":     "Clé API révoquée",
		"account.activity.app":             "Application connectée",
		"account.activity.app-ended":       "Application déconnectée",
		"account.activity.deletion":        "Suppression du compte demandée",
		"account.activity.kept":            "Suppression du compte annulée",
		"account.activity.exported":        "Données téléchargées",
		"account.activity.impersonated":    "Compte utilisé par l’assistance",
		"account.activity.banned":          "Compte suspendu",
		"account.activity.unbanned":        "Suspension levée",
		"account.activity.support":         "Par l’assistance",
		"account.download":                 "Vos données",
		"account.download.hint":            "Téléchargez ce que ce site a enregistré à votre sujet, dans un fichier JSON.",
		"account.download.button":          "Télécharger mes données",
		"account.delete.heading":           "Supprimer votre compte",
		"account.delete.hint":              "Tout ce qui s’y rattache disparaît aussi. C’est irréversible.",

		"account.delete.later": "" +
			"Nous supprimerons votre compte et toutes ses données le %s. D’ici là, vous pouvez vous " +
			"connecter pour le conserver.",
		"account.deletion.heading": "Votre compte va être supprimé",
		"account.deletion.added": "" +
			"Nous supprimerons votre compte et toutes ses données le %s. Vous êtes déconnecté partout. Pour " +
			"conserver votre compte, connectez-vous avant cette date.",
		"account.deletion.ask": "" +
			"Nous supprimerons votre compte et toutes ses données le %s. Voulez-vous le conserver ?",
		"account.deletion.started": "Votre compte est en cours de suppression. Il ne peut plus être rétabli.",
		"account.deletion.keep":    "Conserver mon compte",
		"account.kept.heading":     "Vous avez conservé votre compte",
		"account.kept.body":        "Il ne sera pas supprimé. Vous pouvez vous connecter comme avant.",

		"account.delete.ask":      "Je veux supprimer mon compte",
		"account.delete.phrase":   "Saisissez « %s » pour confirmer",
		"account.delete.button":   "Supprimer définitivement",
		"account.last":            "Votre dernier moyen de connexion",
		"account.this-device":     "Cet appareil",
		"account.not-confirmed":   "Non confirmée",
		"account.confirm.heading": "Modifier votre adresse",
		"account.confirm.body":    "Utiliser %s comme nouvelle adresse e-mail ?",
		"account.confirm.button":  "Confirmer",
		"account.undo.heading":    "Annuler la modification",
		"account.undo.body": "" +
			"L’adresse de votre compte redeviendra %s, " +
			"et toutes les sessions seront déconnectées.",
		"account.undo.only":     "L’adresse de votre compte redeviendra %s.",
		"account.done.unlinked": "Compte dissocié.",
		"account.done.passkey-removed": "" +
			"La clé d’accès est supprimée. Votre appareil la propose peut-être encore ; supprimez-la aussi " +
			"là-bas.",
		"account.done.passkey-named": "Le nom est modifié.",
		"account.done.ended":         "Cette session a été déconnectée.",
		"account.done.ended-others":  "Toutes les autres sessions ont été déconnectées.",
		"account.done.email-asked": "" +
			"Nous avons envoyé un e-mail à la nouvelle adresse. Ouvrez son lien dans ce navigateur ; d’ici " +
			"là, rien ne change.",
		"account.done.email-changed":  "Votre adresse est modifiée.",
		"account.done.email-verified": "Votre adresse e-mail est vérifiée.",
		"account.done.profile":        "Profil mis à jour.",
		"account.problem.last":        "C’est votre dernier moyen de connexion. Ajoutez-en d’abord un autre.",
		"account.problem.gone":        "Cela n’existe déjà plus. La page montre l’état actuel.",
		"account.problem.busy":        "Une autre modification est en cours. Réessayez dans un instant.",
		"account.problem.email":       "Ce n’est pas une adresse e-mail. Vérifiez-la et réessayez.",
		"account.problem.same":        "C’est déjà votre adresse.",
		"account.problem.link": "" +
			"Ce lien a déjà été utilisé, a expiré ou appartient à un autre navigateur. Rien n’a changé.",
		"account.problem.phrase":     "Rien n’a été supprimé : les mots ne correspondent pas.",
		"account.problem.name":       "Un nom a 64 caractères au maximum.",
		"account.problem.mail":       "L’e-mail n’a pas pu être envoyé. Réessayez dans un instant.",
		"account.problem.not-listed": "Sur ce site, les sessions ne peuvent pas être fermées une par une.",
		"account.problem.somebody-else": "" +
			"Vous n’êtes pas connecté avec le compte qui a commencé une modification ici. Elle n’a pas été faite.",
		"account.again.heading": "Continuer",
		"account.again.hint": "" +
			"Merci, vous vous êtes reconnecté. Rien n’a encore changé : appuyez sur le bouton pour continuer.",
		"account.problem.other":        "Cela n’a pas fonctionné. Réessayez.",
		"account.problem.profile-name": "Utilisez 100 caractères au maximum.",
		"account.problem.image":        "Saisissez une adresse d'image qui commence par https://.",
		"account.ago.now":              "à l’instant",
		"account.ago.minutes":          "il y a %s minutes",
		"account.ago.hour":             "il y a une heure",
		"account.ago.hours":            "il y a %s heures",
		"account.ago.yesterday":        "hier",
		"account.ago.days":             "il y a %s jours",
		"account.ago.on":               "le %s",
		"account.device":               "Un navigateur",
		"account.device.on":            "sur %s",
		"account.session.now":          "En cours d’utilisation",
		"account.session.used":         "Dernière utilisation %s",
		"account.session.made":         "connexion %s",
		"account.session.until":        "Jusqu’au %s",
		"account.passkey.made":         "première utilisation %s",
		"account.passkey.used":         "dernière utilisation %s",
		"account.passkey.synced":       "synchronisée entre vos appareils",
		"account.profile.heading":      "Profil",
		"account.profile.edit":         "Modifier le profil",
		"account.profile.image":        "URL de la photo",
		"account.profile.image-hint":   "L'adresse d'une image sur le web. Elle commence par https://.",
		"account.confirmed":            "Vérifiée",
		"home.back":                    "Retour à %s",

		"sent.open": "Ouvrir %s",

		"sent.again":           "Renvoyer l'e-mail",
		"sent.other":           "Utiliser une autre adresse",
		"sent.spam":            "Rien reçu ? Vérifiez vos courriers indésirables.",
		"signup.continue":      "Continuer avec %s",
		"signup.with":          "S'inscrire avec %s",
		"signup.agree":         "En continuant, vous acceptez : %s",
		"password-hint.count":  "%s caractères",
		"password-hint.enough": "Longueur suffisante",
	}}
}
