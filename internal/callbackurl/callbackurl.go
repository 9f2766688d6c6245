// Package callbackurl decides where a browser continues after an action: it checks the requested URL, and the one that
// the browser's callback-url cookie contains.
package callbackurl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Limits of a callback URL, in bytes of its percent-encoded form in a cookie. A response can contain it in Location and
// in a cookie, and later requests repeat the cookie. A URL longer than maxKept is used by the current request but not
// stored, so a sign-in with a provider ends at the origin. A URL longer than maxAsked is not used.
const (
	maxKept  = 850
	maxAsked = 2000
)

// Rules are the rules of one site.
type Rules struct {
	Origin weburl.Origin
	// Home is the URL of the site's home page.
	Home string
	// AppSchemes are the schemes of links to native apps that are accepted.
	AppSchemes []string
	// Callback, if not nil, is the application's function that replaces [SameOrigin].
	Callback func(ctx context.Context, url string) (string, error)
}

// Choice contains the URL where the browser continues, and its value for the cookie.
type Choice struct {
	Target string // an absolute, normalized URL
	// Cookie is the new value of the callback-url cookie. It is empty if the browser already has it.
	Cookie string
}

// Choose decides where the browser continues: at the URL that the request asks for, else at the one in the cookie, else
// at the home page. A malformed URL in the request is an error; in the cookie it is ignored and overwritten, because it
// would otherwise break every page until the user deletes the cookie.
func (r *Rules) Choose(ctx context.Context, asked, remembered string) (Choice, error) {
	chosen := Choice{Target: r.Home}
	switch {
	case asked != "":
		target, err := r.Check(ctx, asked)
		if err != nil {
			return chosen, err
		}
		chosen.Target = target
	case remembered == r.Home && r.Callback == nil: // the common case
		return chosen, nil
	case remembered != "":
		if target, err := r.Check(ctx, remembered); err == nil {
			chosen.Target = target
		}
	}
	kept := chosen.Target
	if length := cookie.EncodedLen(kept); length > maxAsked {
		kept, chosen.Target = r.Origin.String(), r.Origin.String()
	} else if length > maxKept {
		kept = r.Origin.String()
	}
	if kept != remembered {
		chosen.Cookie = kept
	}
	return chosen, nil
}

// Check returns the normalized URL where the browser continues if a request asks for a URL: the result of Callback, or
// that of [SameOrigin]. A URL that a header or a browser could read in two ways is an error.
func (r *Rules) Check(ctx context.Context, asked string) (string, error) {
	if r.Callback == nil {
		target, err := SameOrigin(asked, r.Origin, r.AppSchemes)
		if target == r.Origin.String() {
			target = r.Home
		}
		return target, err
	}
	target, err := r.Callback(ctx, asked)
	if err != nil {
		return "", fmt.Errorf("redirect callback: %w", err)
	}
	if target == "" {
		return r.Home, nil
	}
	normal, err := weburl.Resolve(target, r.Origin)
	switch {
	case errors.Is(err, weburl.ErrForeign): // the application allowed another origin
		normal, err = weburl.Normalise(target)
	case errors.Is(err, weburl.ErrScheme):
		normal, err = weburl.AppLink(target, r.AppSchemes)
	}
	if err != nil {
		return "", fmt.Errorf("redirect callback returned neither an http(s) URL nor one of Config.AppSchemes: %w", err)
	}
	return normal, nil
}

// SameOrigin returns paths and URLs of the own origin and links to native apps, normalized, and the origin for any
// other URL. A malformed URL is an error.
func SameOrigin(asked string, origin weburl.Origin, appSchemes []string) (string, error) {
	target, err := weburl.Resolve(asked, origin)
	if errors.Is(err, weburl.ErrScheme) {
		if target, err = weburl.AppLink(asked, appSchemes); errors.Is(err, weburl.ErrScheme) {
			return origin.String(), nil
		}
	}
	switch {
	case errors.Is(err, weburl.ErrForeign), errors.Is(err, weburl.ErrTooLong):
		return origin.String(), nil
	case err != nil:
		return "", fmt.Errorf("callbackUrl: %w", err)
	}
	return target, nil
}

// Validate checks the format of a URL that a request asks for, before anything else runs. It accepts URLs of other
// origins and, if otherSchemes is true, of other schemes: the browser then continues at the origin.
func Validate(asked string, origin weburl.Origin, otherSchemes bool) error {
	if asked == "" {
		return nil
	}
	_, err := weburl.Resolve(asked, origin)
	switch {
	case err == nil, errors.Is(err, weburl.ErrForeign), errors.Is(err, weburl.ErrTooLong),
		otherSchemes && errors.Is(err, weburl.ErrScheme):
		return nil
	}
	return fmt.Errorf("callbackUrl is neither a path nor an http(s) URL: %w", err)
}

// PagePath returns the path of a page that the browser names as its own, such as a Referer. It is empty if the page is
// not of this origin.
func PagePath(page string, origin weburl.Origin) string {
	target, err := weburl.Resolve(page, origin)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(target, origin.String())
}
