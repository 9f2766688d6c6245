package core

import (
	"cmp"
	"context"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/ui"
)

// settleLocale selects the language of a request, once, before a response is written: that of the Locale callback, of
// the URL (asked, or ""), of the cookie with the language of an earlier URL, or of the browser's settings. The default
// is the first language of the configuration.
func (v *arrival) settleLocale(ctx context.Context, asked string) {
	if v.locales == nil {
		return
	}
	var chosen *ui.Locale
	if v.decideLocale != nil {
		tag, err := guarded("Callbacks.Locale", func() (string, error) { return v.decideLocale(ctx, v.r), nil })
		if err != nil {
			v.log.failure(ctx, errormarks.As(err, ErrAuth), v.attrs()...)
		}
		chosen = v.locales.Find(tag)
	}
	if chosen == nil {
		chosen = v.locales.Find(asked)
	}
	if chosen == nil {
		chosen = v.browserLocale()
	}
	v.locale = chosen
}

// browserLocale selects the language by the cookie and the Accept-Language header.
func (v *arrival) browserLocale() *ui.Locale {
	stored := ""
	if v.cookies != nil {
		spec := v.cookies.Plugin(plugincookies.Locale)
		stored, _ = v.jar.Get(spec.Name())
	}
	return v.locales.Browser(stored, v.header("Accept-Language"))
}

// askedLocale returns the language that the URL of a request to the auth routes requests: ui_locales (OpenID Connect
// Core section 3.1.2.1), or lang.
func (c *call) askedLocale() string {
	return cmp.Or(c.query.Get("ui_locales"), c.query.Get("lang"))
}

// language returns the language of the response.
func (v *arrival) language() ui.Locale {
	switch {
	case v.locale != nil:
		return *v.locale
	case v.locales != nil: // the request was refused before the language was selected
		return *v.browserLocale()
	}
	return ui.Locale{}
}

// spoken sets the headers that contain the response's language and say that it depends on the request (RFC 9110
// sections 8.5 and 12.5.5).
func (v *arrival) spoken(response *Response) {
	if v.locales == nil {
		return
	}
	response.set("Content-Language", cmp.Or(v.language().Tag, "en"))
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
