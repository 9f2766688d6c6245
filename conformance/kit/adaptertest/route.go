package adaptertest

import (
	"context"
	"io"

	"github.com/latchkey-go/latchkey/core"
)

// Site is the application that the adapter serves: the auth routes of Auth, which the adapter mounts, and Routes.
type Site struct {
	Auth *core.Auth
	// Before is the middleware for all routes, including the auth routes. Its steps have the kind Early.
	Before []Step
	Routes []Route
}

// Route is a page or a form action of the application.
type Route struct {
	// Method is the method of the route. If it is empty, the route handles all methods.
	Method string
	// Path has no parameters, so that it is the same for every router.
	Path string
	// Before is the middleware of the route, the outermost first.
	Before []Step
	// Do is called by the route's handler.
	Do func(Call)
}

// Step is a middleware.
type Step struct {
	// Auth is the Auth of the adapter that creates the middleware: the Site's Auth or another.
	Auth *core.Auth
	// Kind selects the method of the adapter that creates the middleware.
	Kind Kind
	// Where is the argument of RequireSessionWhere.
	Where func(*core.Request) bool
	// Guards are the arguments of RequireSession and RequireSessionWhere.
	Guards []core.Guard
	// PrincipalGuards are the arguments of RequirePrincipal.
	PrincipalGuards []core.PrincipalGuard
	// Do runs in a middleware of the kind Early before the next handler.
	Do func(Call)
}

// Kind is the kind of a [Step].
type Kind int

// The kinds of steps. The adapter creates the first four. Early is a middleware of the application that writes to the
// response first.
const (
	Hook Kind = iota
	RequireSession
	RequireSessionWhere
	RequirePrincipal
	Early
)

// Call is one request in a handler. Each method is a line that handlers of the framework would write.
type Call interface {
	// Write appends to the response body with the framework's own method.
	io.Writer
	// Context returns the context for rendering components. It contains the visit.
	Context() context.Context
	// Body returns the request body.
	Body() io.Reader
	// Field returns a field of a posted form with the framework's own method.
	Field(name string) string
	// Header sets a header field of the response.
	Header(name, value string)
	// Status sets the response status. It is called before anything is written.
	Status(code int)
	// Stream writes first and flushes it. After that, it calls then and writes its result, possibly when the handler has
	// returned.
	Stream(first string, then func() string)

	// Session calls Session of the adapter's package, which needs a hook.
	Session() (*core.Session, error)
	// Kept returns a function that reads the session. The function uses only values that the framework allows a goroutine
	// to keep.
	Kept() func() (*core.Session, error)
	// OneSession calls the method LoadSession of the adapter, which needs no hook.
	OneSession() (*core.Session, error)

	// SignIn, SignOut and the following methods call the adapter's form actions.
	SignIn()
	SignOut()
	StartSignIn(in *core.SignInInput) error
	EndSession(in *core.SignOutInput) error
}
