package core

import (
	"errors"

	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/oauth"
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

// redirectPost answers a cross-site form_post callback with a redirect. The browser sends SameSite=Lax cookies with the
// GET request that follows. A callback of no pending flow of this browser is dropped.
func (f *oauthFlow) redirectPost(c *call) (outcome, error) {
	out := outcome{bare: true, response: redirectTo(c.base + "/callback/" + f.ID)}
	answer, err := f.readPost(c.fields)
	if err != nil {
		return out, err
	}
	found, err := f.checks.of(c).find(f.oauthClient, answer.Get("state"))
	if err != nil {
		return out, nil //nolint:nilerr // the GET finds out, and has the user's session
	}
	tag := or(found.Tag, f.checks.hash("state", answer.Get("state")))
	claims := &Token{}
	_ = claims.Extra.Set("provider", f.ID)
	_ = claims.Extra.Set("answer", answer)
	spec := c.cookies.formAnswer.named(tag)
	sealed, err := f.checks.seal(spec.keys, claims, formAnswerTTL)
	if err != nil {
		return out, err
	}
	out.cookies = []Cookie{spec.setUntil(sealed, f.checks.now().Add(formAnswerTTL))}
	out.response.Redirect += "?flow=" + tag[:flowNameLength]
	return out, nil
}

// readPost reads the answer in a form.
func (f *oauthFlow) readPost(fields form.Fields) (formAnswer, error) {
	answer, size := formAnswer{}, 0
	for _, name := range answerParams {
		if fields.Count(name) > 1 {
			return nil, errorf(ErrInvalidCheck, "provider %q: the callback has %s %d times", f.ID, name, fields.Count(name))
		}
		if value, there := fields.Text(name); there {
			answer[name] = value
			size += len(value)
		}
	}
	if size > maxFormAnswer {
		return nil, errorf(ErrOAuthCallback, "provider %q: the callback has %d bytes, which do not fit into a cookie",
			f.ID, size)
	}
	return answer, nil
}

var errOtherAnswer = errors.New("it has the callback of another provider")

// answer returns the parameters of the provider's answer, and the cookies that delete the one that stores them. They
// are in the query, or with form_post in the cookie of the preceding POST.
func (f *oauthFlow) answer(c *call) (oauth.Params, []Cookie, error) {
	if !f.formPost {
		return c.query, nil, nil
	}
	tag := c.query.Get("flow")
	spec := c.cookies.formAnswer.named(tag)
	sealed, _ := c.jar.Get(spec.name())
	if len(tag) != flowNameLength || sealed == "" {
		return nil, nil, overf(ErrInvalidCheck, reasonExpired, "no cookie has the provider's answer: it was read before, "+
			"or is an answer to no sign-in of this browser")
	}
	claims, err := f.checks.open(spec.keys, sealed)
	answer := formAnswer{}
	if err == nil && (claims.Extra.Text("provider") != f.ID || !claims.Extra.Get("answer", &answer)) {
		err = errOtherAnswer
	}
	if err != nil {
		return nil, nil, overf(ErrInvalidCheck, reasonExpired, "the %s cookie cannot be read: %w", spec.name(), err)
	}
	return answer, []Cookie{spec.clear(spec.name())}, nil
}
