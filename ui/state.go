package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// State has the facts about a request that the components of a page need. The request hook creates one for each request
// and stores it in the context. It reaches the browser only as far as a component renders it.
type State struct {
	// Err is the reason why the request hook rejected this request, such as an unknown tenant. All components fail with
	// it.
	Err error
	// BasePath is the base path of the auth routes, such as "/auth".
	BasePath string
	// CSRFToken is the token for forms. Its cookie must be set in this response or already be in the browser. If it is
	// empty, FormToken is called.
	CSRFToken string
	// FormToken creates the token when a component first needs it, so that pages without a form set no cookie. It returns
	// an error if that is not possible, for example after the response header was written. If it is nil, only CSRFToken is
	// used. The hook sets it.
	FormToken func() (string, error)
	// InsecureNoCSRF reports that the application disabled the CSRF check, so that forms contain no token. Otherwise a
	// form without a token is an error.
	InsecureNoCSRF bool
	// SignInPath and SignOutPath are the sign-in and sign-out pages. The defaults are BasePath/signin and
	// BasePath/signout.
	SignInPath, SignOutPath string
	// EndImpersonationURL is the URL that the form of [ImpersonationBanner] posts to. If it is empty, there is no
	// impersonation.
	EndImpersonationURL string
	// CallbackURL is the URL after a sign-in or sign-out, unless a component sets another: the current page. If it is
	// empty, the server decides.
	CallbackURL string
	// Theme is the theme of the built-in pages, for templates that match it.
	Theme Theme
	// Locale is the language of the components. The default is English.
	Locale Locale
	// OneTap is the prompt of [OneTap]. It is nil if no plugin offers one.
	OneTap *OneTapPrompt
	// Providers are the configured sign-in methods. Requests share the slice: do not change it.
	Providers []Provider
	// Visitor returns the signed-in user, or nil, nil if no user is signed in. It is called when a component first needs
	// the user, so that other pages need no lookup; the hook caches the result. If Visitor is nil, no user is ever signed
	// in.
	Visitor func(context.Context) (*Visitor, error)
	// Report, if not nil, is called with each component that fails to render, because template engines often drop the
	// error.
	Report func(component string, err error)
}

// Visitor is the signed-in user, as far as a page may show it. Empty fields are unknown.
type Visitor struct {
	// ID, Name, Email and Image are those of the session's user. Image is a URL from a provider that was not validated:
	// use [Avatar] to show it.
	ID, Name, Email, Image string
	// Actor is the address or the name of the administrator who impersonates the user. It is empty without impersonation.
	Actor string
}

// title returns the name of the user, or else the email address.
func (v Visitor) title() string { return cmp.Or(v.Name, v.Email, v.ID) }

// identity returns the email address of the user, or else the name.
func (v Visitor) identity() string { return cmp.Or(v.Email, v.Name, v.ID) }

// initials returns the first character of the first and of the last word of the title.
func (v Visitor) initials() string {
	words := strings.FieldsFunc(v.title(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if v.Name == "" && len(words) > 1 {
		words = words[:1] // of an address, the rest is its host
	}
	if len(words) > 2 {
		words = []string{words[0], words[len(words)-1]}
	}
	var b strings.Builder
	for _, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		b.WriteRune(unicode.ToUpper(first))
	}
	return b.String()
}

type stateKey struct{}

// StateKey returns the context key of the [*State]. It is for context types that implement Value for this key, which
// saves one allocation in each request. Other code uses [WithState].
func StateKey() any { return stateKey{} }

// WithState returns a context with s.
func WithState(ctx context.Context, s *State) context.Context {
	return context.WithValue(ctx, stateKey{}, s)
}

// StateFrom returns the state that the request hook stored in ctx, and whether there is one.
func StateFrom(ctx context.Context) (*State, bool) {
	s, _ := ctx.Value(stateKey{}).(*State)
	return s, s != nil
}

// requireState returns the state for the named component, or an error that says what is missing. Without a state there
// is no [State.Report], and template engines often drop the error, so requireState also writes it to the default
// logger.
func requireState(ctx context.Context, component string) (*State, error) {
	s, ok := StateFrom(ctx)
	if ok && s.Err != nil { // the hook has logged it
		return nil, fmt.Errorf("ui: %s: the request hook refused this request: %w", component, s.Err)
	}
	if !ok {
		err := fmt.Errorf("ui: %s needs the request hook: no ui.State in the context; mount the hook in front of "+
			"this handler and render with the request's context: functions of ui.Funcs(context.Background()) are only "+
			"for parsing, and ui.Render binds them to a request", component)
		//nolint:sloglint // without the hook there is no other logger
		slog.ErrorContext(ctx, "ui: could not render a component", slog.Any("error", err))
		return nil, err
	}
	return s, nil
}

// stateComponent returns a component that renders with the state of the page and reports its error.
func stateComponent(component string, render func(ctx context.Context, w io.Writer, s *State) error) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		s, err := requireState(ctx, component)
		if err != nil {
			return err
		}
		err = render(ctx, w, s)
		var known *reportedError
		if err == nil || s.Report == nil || errors.As(err, &known) {
			return err
		}
		s.Report(component, err)
		return &reportedError{err}
	})
}

// reportedError is an error that was reported, so that an enclosing component does not report it again.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// token returns the CSRF token for the forms of the named component.
func (s *State) token(component string) (string, error) {
	switch {
	case s.InsecureNoCSRF:
		return "", nil
	case s.CSRFToken != "":
		return s.CSRFToken, nil
	case s.FormToken == nil:
		return "", fmt.Errorf("ui: %s needs a CSRF token: State has neither CSRFToken nor FormToken", component)
	}
	token, err := s.FormToken()
	if err != nil {
		return "", fmt.Errorf("ui: %s: %w", component, err)
	}
	return token, nil
}

// CSRFField returns the hidden field with the CSRF token, for the application's own forms in html/template:
//
//	<form action="/auth/signin/github" method="POST">{{.CSRFField}} <button>Continue with GitHub</button></form>
//
// It is empty if the application disabled the CSRF check. It returns the errors of [CSRFToken].
func CSRFField(ctx context.Context) (template.HTML, error) {
	token, err := CSRFToken(ctx)
	if err != nil || token == "" {
		return "", err
	}
	field := `<input type="hidden" name="csrfToken" value="` + templ.EscapeString(token) + `">`
	return template.HTML(field), nil //nolint:gosec // escaped
}

// CSRFToken returns the value of the field csrfToken, for the application's own forms and scripts. It is empty if the
// application disabled the CSRF check. It returns an error without the request hook, and after the response header was
// written if the user has no CSRF cookie yet.
func CSRFToken(ctx context.Context) (string, error) {
	s, err := requireState(ctx, "CSRFToken")
	if err != nil {
		return "", err
	}
	return s.token("CSRFToken")
}

func (s *State) provider(id string) (Provider, error) {
	i := slices.IndexFunc(s.Providers, func(p Provider) bool { return p.ID == id })
	if i < 0 {
		known := make([]string, len(s.Providers))
		for i, p := range s.Providers {
			known[i] = p.ID
		}
		return Provider{}, fmt.Errorf("ui: SignIn needs a configured provider: %q is not among %q", id, known)
	}
	return s.Providers[i], nil
}

// visitor returns the signed-in user, or nil.
func (s *State) visitor(ctx context.Context) (*Visitor, error) {
	if s.Visitor == nil {
		return nil, nil
	}
	v, err := s.Visitor(ctx)
	if err != nil {
		return nil, fmt.Errorf("ui: load the user: %w", err)
	}
	return v, nil
}

// CurrentVisitor returns the signed-in user, or nil. It returns an error without the request hook, and if the session
// cannot be loaded: an unavailable store does not mean that no user is signed in.
func CurrentVisitor(ctx context.Context) (*Visitor, error) {
	s, err := requireState(ctx, "CurrentVisitor")
	if err != nil {
		return nil, err
	}
	return s.visitor(ctx)
}

var errNoBasePath = errors.New("ui: State.BasePath is empty")
