package ui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"slices"

	"github.com/a-h/templ"
)

// State is what the components of a page may know about the request it answers. The request hook makes one per request
// and puts it into the context; it reaches the browser only as far as a component shows it.
type State struct {
	// Err is why the request hook refused this request, such as a host that no tenant has. Components fail with it.
	Err error
	// BasePath is where the actions live, "/auth" for instance.
	BasePath string
	// CSRFToken goes into the forms. The cookie that matches it must be on its way to the browser. Empty: FormToken makes
	// it.
	CSRFToken string
	// FormToken returns the token when a component first asks for it, so that pages without a form set no cookie; its
	// error says why there is none, such as an answer whose header is out. Nil: CSRFToken is all there is. The hook sets
	// it.
	FormToken func() (string, error)
	// InsecureNoCSRF says that the application switched the CSRF check off: forms then carry no token. Without it a form
	// without a token is an error.
	InsecureNoCSRF bool
	// SignInPath and SignOutPath are the pages that ask how to sign in and whether to sign out. Empty: BasePath/signin and
	// BasePath/signout.
	SignInPath, SignOutPath string
	// CallbackURL is where the visitor goes afterwards, unless a component says otherwise: the page that they are on.
	// Empty: the server decides.
	CallbackURL string
	// Theme is the look of the built-in pages, for templates that want to match it.
	Theme Theme
	// Locale is the language of the components. Zero: English.
	Locale Locale
	// Providers are the configured ways to sign in. The slice is shared between requests: do not change it.
	Providers []Provider
	// Visitor returns the signed-in visitor; nil, nil where nobody is signed in. It is called when a component first asks,
	// so that pages that do not ask cost no look-up; the hook remembers the answer. A nil Visitor: nobody is ever signed
	// in.
	Visitor func(context.Context) (*Visitor, error)
	// Report is called for every component that could not be drawn: what renders a page often drops the error. Nil: no
	// report.
	Report func(component string, err error)
}

// Visitor is the person who is signed in, as far as a page may show it. Empty fields are unknown.
type Visitor struct {
	// ID, Name, Email and Image are those of the session's user. Image is an unchecked URL from a provider: show it with
	// [Avatar].
	ID, Name, Email, Image string
}

type stateKey struct{}

// StateKey returns the key under which the [*State] is found in a context. It is for context types that answer the key
// themselves, which spares one allocation per request; other code uses [WithState].
func StateKey() any { return stateKey{} }

// WithState returns a context that carries s.
func WithState(ctx context.Context, s *State) context.Context {
	return context.WithValue(ctx, stateKey{}, s)
}

// StateFrom returns the state that the request hook put into ctx, and whether there is one.
func StateFrom(ctx context.Context) (*State, bool) {
	s, _ := ctx.Value(stateKey{}).(*State)
	return s, s != nil
}

// need returns the state for the named component, or an error that says what is missing. Without a state there is no
// [State.Report] either, and what renders a page often drops the error, so it goes to the default logger as well.
func need(ctx context.Context, component string) (*State, error) {
	s, ok := StateFrom(ctx)
	if ok && s.Err != nil { // the hook has logged it
		return nil, fmt.Errorf("ui: %s: the request hook refused this request: %w", component, s.Err)
	}
	if !ok {
		err := fmt.Errorf("ui: %s needs the request hook: no ui.State in the context; mount the hook in front of "+
			"this handler and render with the request's context: functions of ui.Funcs(context.Background()) are only "+
			"for parsing, and ui.Render binds them to a request", component)
		//nolint:sloglint // without the hook there is no other logger
		slog.ErrorContext(ctx, "ui: a component was not drawn", slog.Any("error", err))
		return nil, err
	}
	return s, nil
}

// drawn renders a component with the state of the page, and reports what keeps it from being drawn.
func drawn(component string, render func(ctx context.Context, w io.Writer, s *State) error) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		s, err := need(ctx, component)
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

// reportedError is an error that a component around the one that failed need not report again.
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

// CSRFField is the hidden field with the token that a form of an application's own needs, for html/template:
//
//	<form action="/auth/signin/github" method="POST">{{.CSRFField}} <button>Continue with GitHub</button></form>
//
// It is empty where the application switched the check off, and fails as [CSRFToken] does.
func CSRFField(ctx context.Context) (template.HTML, error) {
	token, err := CSRFToken(ctx)
	if err != nil || token == "" {
		return "", err
	}
	field := `<input type="hidden" name="csrfToken" value="` + templ.EscapeString(token) + `">`
	return template.HTML(field), nil //nolint:gosec // escaped
}

// CSRFToken returns the token for the field csrfToken of a form that an application draws itself, or for a script. It
// is empty where the application switched the check off. It fails without the request hook, and when the token is asked
// for too late: after the answer's header has been sent, a visitor who has no cookie yet cannot get one.
func CSRFToken(ctx context.Context) (string, error) {
	s, err := need(ctx, "CSRFToken")
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
		return Provider{}, fmt.Errorf("ui: SignIn needs a configured provider: there is no %q among %q", id, known)
	}
	return s.Providers[i], nil
}

// visitor returns the signed-in visitor, nil without one.
func (s *State) visitor(ctx context.Context) (*Visitor, error) {
	if s.Visitor == nil {
		return nil, nil
	}
	v, err := s.Visitor(ctx)
	if err != nil {
		return nil, fmt.Errorf("ui: load the visitor: %w", err)
	}
	return v, nil
}

// CurrentVisitor returns the signed-in visitor, nil without one. It fails without the request hook, and when the
// session cannot be loaded: an outage does not mean "not signed in".
func CurrentVisitor(ctx context.Context) (*Visitor, error) {
	s, err := need(ctx, "CurrentVisitor")
	if err != nil {
		return nil, err
	}
	return s.visitor(ctx)
}

var errNoBasePath = errors.New("ui: the components need State.BasePath: it is empty")
