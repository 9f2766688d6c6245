package adaptertest

import "net/http"

// formRows are posts to the form actions.
func formRows() []row {
	refused := func(path string) reply {
		return reply{status: http.StatusSeeOther, cookies: anyNumber, header: map[string]string{"Location": path}}
	}
	return []row{
		{"a sign-in with a provider", "",
			post("/signin", "csrfToken=TOKEN&providerId=plain&redirectTo=%2Fafter&authorizationParams-prompt=login"),
			reply{status: http.StatusSeeOther, cookies: anyNumber,
				leads: []string{"https://op.example/authorize?", "prompt=login", "client_id=id"}}},
		{"a sign-in without a token", "", post("/signin", "providerId=plain"),
			refused("http://HOST/auth/signin?error=MissingCSRF")},
		{"a sign-in with a password", "",
			post("/signin", "csrfToken=TOKEN&providerId=credentials&name=Ada&password=right&redirectTo=%2Fafter"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "hello Ada",
				header: map[string]string{"Location": "http://HOST/after"}}},
		{"a wrong password", "", post("/signin", "csrfToken=TOKEN&providerId=credentials&name=Ada&password=wrong"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "nobody",
				leads: []string{"http://HOST/auth/signin?error=CredentialsSignin&code=credentials"}}},
		{"no provider: the sign-in page", "", post("/signin", "csrfToken=TOKEN"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, leads: []string{"http://HOST/auth/signin"}}},
		{"a sign-out", "Ada", post("/signout", "csrfToken=TOKEN&redirectTo=%2Fbye"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "nobody",
				header: map[string]string{"Location": "http://HOST/bye"}}},
		{"a sign-out without a token", "Ada", post("/signout", "redirectTo=%2Fbye"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "hello Ada",
				leads: []string{"MissingCSRF"}}},
	}
}

// tryRows are posts to the Try actions. Only the application writes error responses.
func tryRows() []row {
	fails := func(text string) reply {
		return reply{
			status: http.StatusUnprocessableEntity, body: text, cookies: anyNumber,
			header: map[string]string{"Location": ""},
		}
	}
	form := func(fields string) request {
		return post("/try/signin", "providerId=credentials&name=Ada&redirectTo=%2Fafter&"+fields)
	}
	return []row{
		{"a wrong password", "", form("password=wrong&csrfToken=TOKEN"), fails("CredentialsSignin")},
		{"a failure with a code", "", form("password=locked&csrfToken=TOKEN"), fails("CredentialsSignin locked")},
		{"an unknown token", "", form("password=right&csrfToken=x"), fails("MissingCSRF")},
		{"a success", "", form("password=right&csrfToken=TOKEN"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "hello Ada",
				header: map[string]string{"Location": "http://HOST/after"}}},
		{"a sign-out with an unknown token", "Ada", post("/try/signout", "csrfToken=x"), fails("MissingCSRF")},
		{"a sign-out", "Ada", post("/try/signout", "csrfToken=TOKEN"),
			reply{status: http.StatusSeeOther, cookies: anyNumber, then: "nobody"}},
	}
}

// callRows are JSON posts from components. The application's handler decodes them and calls the action.
func callRows() []row {
	fails := func(text string) reply {
		return reply{status: http.StatusUnprocessableEntity, body: text, cookies: anyNumber}
	}
	goes := func(to, then string) reply {
		return reply{
			status: http.StatusSeeOther, cookies: anyNumber, then: then, header: map[string]string{"Location": to},
		}
	}
	return []row{
		{"a provider that is none", "", call("/call/signin", `{"providerId":"nope"}`), fails(`{"failed":true,` +
			`"fieldErrors":{"providerId":["no provider of this id is configured"]},"formErrors":[]}`)},
		{"no object", "", call("/call/signin", `[]`),
			fails(`{"failed":true,"fieldErrors":{},"formErrors":["the input is no JSON object"]}`)},
		{"a field of another type", "", call("/call/signin", `{"redirectTo":1}`),
			fails(`{"failed":true,"fieldErrors":{"redirectTo":["expected a string"]},"formErrors":[]}`)},
		{"a failure with a code", "", call("/call/signin",
			`{"providerId":"credentials","csrfToken":"TOKEN","options":{"password":"locked"}}`),
			fails("CredentialsSignin locked")},
		{"a sign-in without a token", "", call("/call/signin", `{"providerId":"credentials"}`), fails("MissingCSRF")},
		{"a sign-out without a token", "Ada", call("/call/signout", `{}`), fails("MissingCSRF")},
		{"a sign-in with a provider", "", call("/call/signin",
			`{"providerId":"plain","authorizationParams":{"prompt":"login"},"csrfToken":"TOKEN"}`),
			reply{status: http.StatusSeeOther, cookies: anyNumber, leads: []string{"https://op.example/", "prompt=login"}}},
		{"a sign-in with a password", "", call("/call/signin", `{"providerId":"credentials","redirectTo":"/after",`+
			`"csrfToken":"TOKEN","options":{"name":"Ada","password":"right"}}`), goes("http://HOST/after", "hello Ada")},
		{"a sign-out", "Ada", call("/call/signout", `{"redirectTo":"/bye","csrfToken":"TOKEN"}`),
			goes("http://HOST/bye", "nobody")},
	}
}
