package oauthflow

import (
	"errors"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// A provider with response_mode=form_post answers with a POST from its own site. Any website can send such a POST, and
// the browser leaves the SameSite=Lax cookies out of it: the session and the CSRF token. So the POST decides nothing.
// It encrypts the answer into a cookie that is named after the flow, and redirects to the same address by GET. The
// browser sends all its cookies with the GET, which decides (docs/protocol.md §8.9). No code is in a URL, and no script
// is needed.

// maxFormAnswer is the maximum total size of the parameters, in bytes: they must fit into one cookie.
const maxFormAnswer = 1800

var answerParams = []string{"code", "state", "iss", "error", "error_description", "user"}

// formAnswer contains the parameters of a form_post callback. No parameter is repeated. It implements [oauth.Params].
type formAnswer map[string]string

// Get implements [oauth.Params].
func (p formAnswer) Get(name string) string { return p[name] }

// Count implements [oauth.Params].
func (p formAnswer) Count(name string) int {
	if _, there := p[name]; there {
		return 1
	}
	return 0
}

// StorePost stores a cross-site form_post callback for the GET request that follows. query is that request's query with
// its question mark, and stored the cookies. Both are empty if the callback belongs to no pending flow of this browser:
// the GET request, which has all cookies, then fails with the error.
func (f *Flow) StorePost(b *flowstate.Browser, fields form.Fields) (query string, stored []cookie.Cookie, err error) {
	answer, size := formAnswer{}, 0
	for _, name := range answerParams {
		if n := fields.Count(name); n > 1 {
			return "", nil, f.failed(autherr.InvalidCheck, "the callback has %s %d times", name, n)
		}
		if value, there := fields.Text(name); there {
			answer[name] = value
			size += len(value)
		}
	}
	if size > maxFormAnswer {
		return "", nil, f.failed(autherr.OAuthCallback, "the callback has %d bytes, which do not fit into a cookie", size)
	}
	key, c, err := b.StoreAnswer(&f.Provider, answer)
	switch {
	case errors.Is(err, flowstate.ErrNoFlow), errors.Is(err, flowstate.ErrOtherState):
		return "", nil, nil
	case err != nil:
		return "", nil, err
	}
	return "?flow=" + key, []cookie.Cookie{c}, nil
}

// failed returns an error that names the provider.
func (f *Flow) failed(t autherr.Type, format string, args ...any) error {
	return autherr.Errorf(t, "provider %q: "+format, append([]any{f.Provider.ID}, args...)...)
}

// params returns the parameters of the authorization response, and the cookies that delete the one that stores them.
// They are in the query, or with form_post in the cookie of the preceding POST.
func (f *Flow) params(r *CallbackRequest) (oauth.Params, []cookie.Cookie, error) {
	if !f.Provider.FormPost {
		return r.Query, nil, nil
	}
	answer, deletion, err := r.Browser.FindAnswer(&f.Provider, r.Query.Get("flow"))
	if err != nil {
		return nil, nil, err
	}
	return formAnswer(answer), []cookie.Cookie{deletion}, nil
}

// FirstConsent returns the user field that Apple posts together with the code or the ID token, only at the first
// sign-in. It contains the user's name. It is nil if the field is empty, too long or malformed.
func (f *Flow) FirstConsent(field string) map[string]any {
	if !f.Provider.FormPost || field == "" || len(field) > maxFormAnswer {
		return nil
	}
	user, err := exactjson.DecodeObjectTolerant([]byte(field), oidc.Trusted)
	if err != nil {
		return nil
	}
	return user
}
