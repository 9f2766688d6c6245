package core_test

import ()

// actions are all requests that an action answers.
var actions = []struct{ method, path string }{
	{"GET", "session"}, {"GET", "csrf"}, {"GET", "providers"}, {"GET", "signin"}, {"GET", "signout"}, {"GET", "error"}, {"GET", "verify-request"}, {"GET", "callback/op"},
	{"GET", "callback/credentials"}, {"POST", "callback/op"}, {"POST", "callback/credentials"}, {"POST", "signin"}, {"POST", "signin/op"}, {"POST", "signout"}, {"POST", "session"},
}
