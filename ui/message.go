package ui

// SignInMessage is what the sign-in page says about an error, for sign-in pages of an application's own: name is the
// parameter error of their query, "CredentialsSignin" for instance. The name itself is looked up and nowhere shown, as
// a stranger can write it into a link; an unknown name gets a general text, and an empty one none.
func SignInMessage(name string) string {
	switch name {
	case "":
		return ""
	case "Signin", "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback":
		return "That did not work. Try again, or choose another way to sign in."
	case "OAuthAccountNotLinked":
		return "There is already an account with this e-mail address. Sign in the way you did before."
	case "EmailSignin":
		return "We could not send the e-mail. Check the address and try again."
	case "CredentialsSignin":
		return "Those details do not match an account. Check them and try again."
	case "SessionRequired":
		return "Sign in to see this page."
	}
	return "We could not sign you in. Please try again."
}

// errorMessage is what the error page says. The wording of title is part of the recorded behaviour, that of text is
// free.
type errorMessage struct {
	title, text string
	// signIn offers the way to the sign-in page, home the way to the application.
	signIn, home bool
}

// message is what the page says: the view's own sentence goes before the text of its error.
func (v ErrorView) message() errorMessage {
	m := messageFor(v.Error)
	if v.Detail != "" {
		m.text = v.Detail
	}
	return m
}

func messageFor(name string) errorMessage {
	switch name {
	case "Configuration":
		return errorMessage{title: "Server error", text: "Sign-in is not set up correctly on this site. You have done " +
			"nothing wrong; the people who run it can find the details in its log."}
	case "AccessDenied":
		return errorMessage{
			title: "Access Denied", text: "This account may not sign in here. If you have another one, try that.",
			signIn: true,
		}
	case "TooManyRequests":
		return errorMessage{title: "Too many attempts", text: "Wait a little while, then try again.", home: true}
	case "ServiceUnavailable":
		return errorMessage{
			title: "One moment", text: "This site is busy and could not answer in time. You have done nothing wrong; " +
				"try again in a moment.", home: true,
		}
	case "Verification":
		return errorMessage{
			title: "Unable to sign in", text: "This sign-in link was used before or has expired. Ask for a new one.",
			signIn: true,
		}
	}
	return errorMessage{title: "Error", text: "Something went wrong on the way. Go back and try once more.", home: true}
}
