package core

import (
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/internal/csrf"
)

// "Remember me" (SessionConfig.RememberMe). The form of a sign-in method posts the choice in the field rememberMe. A
// sign-in that needs another request, such as the callback of a provider, finds it in a cookie. The session that starts
// stores the choice in its token: a claim under StrategyJWT, and a part of the random token under StrategyDatabase,
// because the table of Auth.js has no column for it.

const (
	rememberField = "rememberMe"
	// rememberFor is the lifetime of that cookie, which is that of sign-in links.
	rememberFor = 24 * time.Hour
)

// postedRemember returns the choice in a form. It returns false for there if the form has none, or if no page of this
// site has sent it: another website must not choose for the user.
func (c *call) postedRemember() (remember, there bool) {
	if c.r.Method != http.MethodPost || !c.csrf.Verified && c.csrf.SentFrom != csrf.ThisSite {
		return false, false
	}
	raw := string(c.fields.Raw(rememberField))
	return slices.Contains([]string{`"1"`, `"on"`, `"true"`, "true"}, raw), raw != ""
}

// rememberMe reports whether the user selected "Keep me signed in". A browser posts no field for a checkbox that is not
// selected, so a form that signs the user in itself has the last word.
func (c *call) rememberMe() bool {
	remember, there := c.postedRemember()
	if there || !c.plugin && (c.kind == TypeCredentials || c.kind == TypeWebAuthn) {
		return remember
	}
	return c.rememberedChoice()
}

// rememberedChoice reports whether the cookie says that the user selected "Keep me signed in".
func (c *call) rememberedChoice() bool {
	if c.cookies == nil {
		return false
	}
	spec := c.cookies.Plugin(plugincookies.Remember)
	value, _ := c.jar.Get(spec.Name())
	return value == "1"
}

// storeRemember returns the cookie that stores the choice until the session starts, or that deletes it. A choice is for
// one session: on a shared computer, the next user must choose again.
func (c *call) storeRemember(choice bool) []Cookie {
	spec := c.cookies.Plugin(plugincookies.Remember)
	value, there := c.jar.Get(spec.Name())
	switch {
	case choice && value != "1":
		spec.MaxAge = rememberFor
		return []Cookie{Cookie(spec.Set("1"))}
	case !choice && there:
		return []Cookie{Cookie(spec.Clear())}
	}
	return nil
}
