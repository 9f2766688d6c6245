package core

import (
	"strings"
	"time"
	"unicode"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// A sign-in page in two steps (PagesConfig.EmailFirst): the first one asks for the address, and the second one for the
// password or another method. The address is in an encrypted cookie in between.

// The values of the query parameter step of the sign-in page with PagesConfig.EmailFirst.
const (
	stepAddress  = "email"    // the first page, with the address that was typed
	stepPassword = "password" // the second page
)

const (
	addressTTL       = 10 * time.Minute
	maxTypedAddress  = 320 // bytes, as in RFC 3696 section 3
	addressParameter = "step"
)

// splitSignIn makes view one of the two pages of PagesConfig.EmailFirst. After a failure of a method on the second
// page, that page is shown again.
func (p *pages) splitSignIn(c *call, view *ui.SignInView) {
	if !p.config.EmailFirst {
		return
	}
	var typed string
	step := c.query.Get(addressParameter)
	switch view.Error {
	case string(ErrCredentialsSignin), string(autherr.TooManyFailures), "EmailSignin":
		step = stepPassword
	}
	if step != "" && p.plugins.readCookie(&c.arrival, plugincookies.Address, &typed) {
		view.Email = typed
	}
	if step == stepPassword && typed != "" {
		view.ChangeURL, _ = weburl.AddQuery(c.base+"/signin", "callbackUrl", view.CallbackURL, addressParameter, stepAddress)
		return
	}
	view.NextURL = c.base + "/signin"
}

// addressTyped handles POST signin without a provider: the first page of PagesConfig.EmailFirst. It looks nothing up,
// so the response is the same for every address.
func (p *pages) addressTyped(c *call) (*Response, error) {
	typed, _ := c.fields.Text("email")
	typed = strings.TrimSpace(typed)
	if !p.config.EmailFirst || typed == "" || len(typed) > maxTypedAddress ||
		strings.ContainsFunc(typed, unicode.IsControl) {
		return toSignInPage(c), nil
	}
	cookie, err := p.plugins.cookie(&c.arrival, plugincookies.Address, typed, p.plugins.now().Add(addressTTL))
	if err != nil {
		return nil, err
	}
	target, err := weburl.AddQuery(c.base+"/signin", "callbackUrl", c.callbackURL.Target, addressParameter, stepPassword)
	if err != nil {
		return nil, err
	}
	response := redirectTo(target)
	response.Cookies = append(response.Cookies, cookie)
	return response, nil
}
