package core

import "context"

// newRules lists every action: the guards at one look.
func (a *Auth) newRules(s *signIns, l *logouts) map[route]rule {
	return map[route]rule{
		{"GET", "session"}:        {act: a.sessions.getSession, opens: true, session: true},
		{"GET", "csrf"}:           {act: a.site.csrf.getCSRF, opens: true},
		{"GET", "providers"}:      {act: newProviderList(a.providers).get, bare: true},
		{"GET", "signin"}:         {act: a.pages.signInPage, opens: true},
		{"GET", "signout"}:        {act: a.pages.signOutPage, opens: true},
		{"GET", "callback"}:       {act: s.callback, session: true}, // sets the opening cookies itself
		{"GET", "error"}:          {act: a.pages.errorPage, opens: true},
		{"GET", "verify-request"}: {act: a.pages.verifyRequestPage, opens: true},

		{"GET", "webauthn-options"}: {act: webAuthnOptions, opens: true, session: true},

		{"POST", "session"}:  {act: a.sessions.postSession, csrf: always, opens: true, session: true},
		{"POST", "signin"}:   {act: s.start, csrf: always, opens: true, session: true},
		{"POST", "signout"}:  {act: a.sessions.signOut, csrf: always, opens: true},
		{"POST", "callback"}: {act: s.callback, csrf: ifForm, session: true},

		{"POST", "backchannel-logout"}: {act: l.backChannelLogout, bare: true},
	}
}

// webAuthnOptions answers GET webauthn-options/<provider>.
func webAuthnOptions(ctx context.Context, c *call) (*Response, error) {
	if f, ok := c.flow.(ceremonies); ok {
		return f.options(ctx, c)
	}
	return nil, errorf(ErrInvalidProvider, "webauthn-options needs a provider of type webauthn: "+
		"webauthn-options/<provider id>")
}
