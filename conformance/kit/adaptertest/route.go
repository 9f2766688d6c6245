package adaptertest

import (
	"context"
	"io"

	"github.com/latchkey-go/latchkey/core"
)

// Site is an application as the kit describes it. It has the auth routes of Auth, which Mount of the adapter puts where
// they belong, and Routes of its own.
type Site struct {
	Auth *core.Auth
	// Before is the middleware in front of all routes, those of Auth included. Its steps are of kind Early.
	Before []Step
	Routes []Route
}

// Route is a page or a form action of the application.
type Route struct {
	// Method is the only one that it answers; empty: it answers all.
	Method string
	// Path is written the same for every router: it has no parameters.
	Path string
	// Before are what stands in front of the handler, the outermost first.
	Before []Step
	// Do is the handler.
	Do func(Call)
}

// Step is a middleware in front of a handler.
type Step struct {
	// Auth is whose adapter makes the middleware: that of the Site, or another.
	Auth *core.Auth
	// Kind says which method of the adapter makes it.
	Kind Kind
	// Where goes to RequireSessionWhere.
	Where func(*core.Request) bool
	// Guards go to RequireSession and RequireSessionWhere.
	Guards []core.Guard
	// Do is what a middleware of kind Early does before it hands the request on.
	Do func(Call)
}

// Kind is what a [Step] is.
type Kind int

// The kinds of steps: three that the adapter makes, and one of the application's own that writes to the answer first.
const (
	Hook Kind = iota
	RequireSession
	RequireSessionWhere
	Early
)

// Call is one request in the hands of a handler. Each method stands for what handlers of the framework do in a line.
type Call interface {
	// Write adds to the body, as the framework's own way of writing a part of an answer does.
	io.Writer
	// Context is the one that a handler renders a component with: it has the visit.
	Context() context.Context
	// Body is that of the request.
	Body() io.Reader
	// Field reads a field of a form that was posted, the way handlers of the framework do.
	Field(name string) string
	// Header sets a field of the answer.
	Header(name, value string)
	// Status sets the status of the answer, before anything is written.
	Status(code int)
	// Stream writes first, sends it on its way, and then writes what the function returns, which it may call when the
	// handler has returned.
	Stream(first string, then func() string)

	// Session is the adapter package's Session, for handlers behind a hook.
	Session() (*core.Session, error)
	// Kept returns a function that reads the session from what the framework lets a goroutine keep.
	Kept() func() (*core.Session, error)
	// OneSession is the adapter's Session, which needs no hook.
	OneSession() (*core.Session, error)

	// SignIn, SignOut and the others are the form actions and component calls of the adapter.
	SignIn()
	SignOut()
	TrySignIn() error
	TrySignOut() error
	TrySignInWith(in core.SignInInput) error
	TrySignOutWith(in core.SignOutInput) error
}
