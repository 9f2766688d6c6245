package core

import (
	"context"

	"github.com/latchkey-go/latchkey/ui"
)

// settle selects the language of a request, once, before a response is written. asked is the language in the URL, or
// "".
func (l *locales) settle(ctx context.Context, v *arrival, asked string) {
	if l != nil {
		v.locale = l.choose(ctx, v, asked)
	}
}

// choose returns the language of the first source that has one: the Locale callback, the URL, the cookie with the
// language of an earlier URL, and the browser's settings. The default is the first language of the configuration.
func (l *locales) choose(ctx context.Context, v *arrival, asked string) *ui.Locale {
	decided := ""
	if l.decide != nil {
		var err error
		decided, err = guarded("Callbacks.Locale", func() (string, error) { return l.decide(ctx, v.r), nil })
		if err != nil {
			v.log.failure(ctx, asError(err, ErrAuth), v.attrs()...)
		}
	}
	return l.Choose(v.header("Accept-Language"), decided, asked, v.keptLocale())
}

// keptLocale returns the language in the cookie, or "".
func (v *arrival) keptLocale() (tag string) {
	if v.cookies != nil {
		spec := v.partCookie(localeCookie)
		tag, _ = v.jar.Get(spec.Name())
	}
	return tag
}

// askedLocale returns the language that the URL of a request to the auth routes requests: ui_locales (OpenID Connect
// Core section 3.1.2.1), or lang.
func (c *call) askedLocale() string {
	return or(c.query.Get("ui_locales"), c.query.Get("lang"))
}

// language returns the language of the response.
func (v *arrival) language() ui.Locale {
	switch {
	case v.locale != nil:
		return *v.locale
	case v.locales != nil: // the request was refused before the language was selected
		return *v.locales.Choose(v.header("Accept-Language"), v.keptLocale())
	}
	return ui.Locale{}
}

// spoken sets the headers that contain the response's language and say that it depends on the request (RFC 9110
// sections 8.5 and 12.5.5).
func (v *arrival) spoken(response *Response) {
	if v.locales == nil {
		return
	}
	response.set("Content-Language", or(v.language().Tag, "en"))
	v.varies(response, "Cookie")
}

// varies sets Vary to the request headers that the response depends on: fields, Authorization if bearer tokens are on,
// and Accept-Language if there are several languages.
func (v *arrival) varies(response *Response, fields string) {
	if v.readsAuthorization() {
		fields += ", Authorization"
	}
	if v.locales != nil {
		fields += ", Accept-Language"
	}
	response.set("Vary", fields)
}
