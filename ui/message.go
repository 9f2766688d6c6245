package ui

import "cmp"

// SignInMessage returns the English message for an error on the sign-in page, for the application's own sign-in pages.
// name is the query parameter error, such as "CredentialsSignin". An unknown name gets a general text, an empty one
// gets "". The name itself must not be shown, because an attacker can put any text into a link.
// [Locale.SignInMessage] supports other languages.
func SignInMessage(name string) string { return Locale{}.SignInMessage(name) }

// SignInMessage is like the function [SignInMessage], in the language l.
func (l Locale) SignInMessage(name string) string {
	switch name {
	case "":
		return ""
	case "Signin", "OAuthSignin", "OAuthCreateAccount", "EmailCreateAccount", "Callback":
		return l.Say(textFailed)
	case canceled:
		return l.Say(textCanceled)
	case "OAuthAccountNotLinked":
		return l.Say(textNotLinked)
	case "EmailSignin":
		return l.Say(textNotMailed)
	case "CredentialsSignin":
		return l.Say(textNoMatch)
	case "TooManyFailures":
		return l.Say(textMailOnly)
	case "ChallengeFailed":
		return l.Say(textChallenge)
	case "SessionRequired":
		return l.Say(textRequired)
	case "StaleSignIn":
		return l.Say(textStale)
	case "OtherUser":
		return l.Say(textOtherUser)
	}
	return l.Say(textOther)
}

// canceled is the error after a provider has refused a sign-in, which its user usually canceled there.
const canceled = "OAuthCallbackError"

// kindError is the kind of the error page, which has no form.
const kindError = "error"

// errorMessage is the content of the error page.
type errorMessage struct {
	title, text Text
	// signIn shows the button to the sign-in page, home the link to the application. again labels the button "Sign in
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

// detail returns the sentence of the page: the view's Detail, or else that of its error.
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

// configurationMessage returns the message for "Configuration", which also covers sign-ins that cannot be completed any
// more.
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
