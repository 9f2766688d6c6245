package pageheaders

import (
	"net/http"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/internal/negotiate"
)

type replaced bool

func (r replaced) Replaced() bool { return bool(r) }

func TestWrite(t *testing.T) {
	for name, test := range map[string]struct {
		collect func(o *Headers)
		cached  string
		bearer  bool
		cookies []string
		control []string
		vary    []string
	}{
		"nothing collected": {collect: func(*Headers) {}},
		"the session was read": {
			collect: func(o *Headers) { o.Note(Session) }, control: []string{"private"}, vary: []string{"Cookie"},
		},
		"a token was rendered, and bearer tokens are accepted": {
			collect: func(o *Headers) { o.Note(Token) }, bearer: true, control: []string{"private"},
			vary: []string{"Cookie", "Authorization"},
		},
		"only the language": {collect: func(o *Headers) { o.Note(Locale) }},
		"a cookie": {
			collect: func(o *Headers) { o.Keep("csrf", "csrf=1", true) }, cookies: []string{"csrf=1"},
			control: []string{"private"}, vary: []string{"Cookie"},
		},
		"the handler excludes caches": {
			collect: func(o *Headers) { o.Note(Session) }, cached: "no-store", control: []string{"no-store"},
			vary: []string{"Cookie"},
		},
		"a public page sets no session": {
			collect: func(o *Headers) { o.Keep("session.0", "session.0=1", true); o.Keep("csrf", "csrf=1", true) },
			cached:  "public", cookies: []string{"csrf=1"}, control: []string{"public"}, vary: []string{"Cookie"},
		},
		"a replaced session is not set": {
			collect: func(o *Headers) { o.RenewedBy(replaced(true)); o.Keep("session", "session=1", true) },
		},
		"a renewed session is set": {
			collect: func(o *Headers) { o.RenewedBy(replaced(false)); o.Keep("session", "session=1", true) },
			cookies: []string{"session=1"}, control: []string{"private"}, vary: []string{"Cookie"},
		},
		"the client stores no cookies": {collect: func(o *Headers) { o.Keep("session", "session=1", false) }},
		"the auth routes respond":      {collect: func(o *Headers) { o.Note(Session); o.Leave() }},
	} {
		t.Run(name, func(t *testing.T) {
			var o Headers
			test.collect(&o)
			h := http.Header{}
			if test.cached != "" {
				h.Set("Cache-Control", test.cached)
			}
			control := test.control
			o.Write(h, negotiate.CachingOf(h), "session", test.bearer)
			o.Write(h, negotiate.Caching{}, "session", test.bearer) // does nothing
			if !slices.Equal(h["Set-Cookie"], test.cookies) || !slices.Equal(h["Cache-Control"], control) ||
				!slices.Equal(h["Vary"], test.vary) {
				t.Errorf("%v", h)
			}
			if !o.Written() {
				t.Error("the collection has not ended")
			}
		})
	}
}

func TestLate(t *testing.T) {
	var o Headers
	if o.Written() || !o.Note(Session) || !o.Keep("a", "a=1", true) || !o.Keep("a", "a=1", false) {
		t.Error("the collection has ended")
	}
	o.Leave()
	if !o.Written() || o.Note(Token) || o.Keep("a", "a=1", true) || o.Keep("a", "a=1", false) {
		t.Error("the collection continues after its end")
	}
}

func TestVaryLocale(t *testing.T) {
	for _, test := range []struct{ rendered, perhaps, want bool }{
		{false, false, false}, {true, false, true}, {false, true, true},
	} {
		var o Headers
		if o.Note(Session); test.rendered {
			o.Note(Locale)
		}
		h := http.Header{}
		if o.VaryLocale(h, test.perhaps); (h.Get("Vary") == "Accept-Language") != test.want {
			t.Errorf("%v: %v", test, h)
		}
	}
}
