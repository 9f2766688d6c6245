package ui

import "cmp"

// SignInMessage is what the sign-in page says about an error, for sign-in pages of an application's own: name is the
// parameter error of their query, "CredentialsSignin" for instance. The name itself is looked up and nowhere shown, as
// a stranger can write it into a link; an unknown name gets a general text, and an empty one none. It is in English;
// [Locale.SignInMessage] has other languages.
func SignInMessage(name string) string { return Locale{}.SignInMessage(name) }

// SignInMessage is the function of that name in the language.
func (l Locale) SignInMessage(name string) string {
	switch name {
	case "":
		return ""
	case "Signin", "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback":
		return l.Say(textFailed)
	case "OAuthAccountNotLinked":
		return l.Say(textNotLinked)
	case "EmailSignin":
		return l.Say(textNotMailed)
	case "CredentialsSignin":
		return l.Say(textNoMatch)
	case "TooManyFailures":
		return l.Say(textMailOnly)
	case "SessionRequired":
		return l.Say(textRequired)
	case "StaleSignIn":
		return l.Say(textStale)
	}
	return l.Say(textOther)
}

// kindError is the kind of page that has no form.
const kindError = "error"

// errorMessage is what the error page says.
type errorMessage struct {
	title, text Text
	// signIn offers the way to the sign-in page, home the way to the application. again labels the former "Sign in
	// again".
	signIn, home, again bool
}

// action returns the label of the button that links to the sign-in page.
func (m errorMessage) action() Text {
	if m.again {
		return textSignInAgain
	}
	return textSignIn
}

// detail is the sentence of the page: the view's own goes before that of its error.
func (v ErrorView) detail(m errorMessage) string { return cmp.Or(v.Detail, v.Locale.Say(m.text)) }

func messageFor(name, reason string) errorMessage {
	switch name {
	case "Configuration":
		return configurationMessage(reason)
	case "AccessDenied":
		return errorMessage{title: textDenied, text: textDeniedBody, signIn: true}
	case "Forbidden":
		return errorMessage{title: textForbidden, text: textForbiddenBody}
	case "NotFound":
		return errorMessage{title: textNotFound, text: textNotFoundBody, signIn: true}
	case "NoTenant":
		return errorMessage{title: textNotFound, text: textNotFoundBody}
	case "TooManyRequests":
		return errorMessage{title: textTooMany, text: textTooManyBody, home: true}
	case "ServiceUnavailable":
		return errorMessage{title: textBusy, text: textBusyBody, home: true}
	case "Verification":
		return errorMessage{title: textUnable, text: textUnableBody, signIn: true}
	}
	return errorMessage{title: textError, text: textErrorBody, home: true}
}

// configurationMessage is the message of the type that also covers sign-ins that can no longer be completed.
func configurationMessage(reason string) errorMessage {
	switch reason {
	case "expired":
		return errorMessage{title: textExpired, text: textExpiredBody, signIn: true, again: true}
	case "browser":
		return errorMessage{title: textOtherBrowser, text: textOtherBrowserBody, signIn: true, again: true}
	case "used":
		return errorMessage{title: textUsed, text: textUsedBody, signIn: true, again: true}
	}
	return errorMessage{title: textServer, text: textServerBody}
}
