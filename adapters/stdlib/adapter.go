// Package authhttp serves Latchkey with net/http.
//
//	a := authhttp.New(auth)
//	a.Mount(mux)                                          // sign-in page, callbacks, session JSON under /auth
//	mux.Handle("GET /", a.Hook(home))                     // authhttp.Session(r)
//	mux.Handle("GET /account", a.RequireSession(account)) // signed-in users only
//
// The package only translates between net/http and core, which makes all decisions. The adapters for gin and echo are
// built on it.
package authhttp

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Adapter translates requests and responses between net/http and core. It is safe for concurrent use. Create it with
// [New].
type Adapter struct{ auth *core.Auth }

// New returns an Adapter for auth, which was created with [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth} }

// ServeHTTP handles a request to the auth routes.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.Handle))
}

// Hook is a middleware that makes the session available to next. The session is read on first use, once per request.
// Its cookies are set just before the header is written, or when next returns.
func (a *Adapter) Hook(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if core.VisitOf(r.Context(), a.auth) != nil { // another hook of the same Auth has run
			next.ServeHTTP(w, r)
			return
		}
		visit := a.auth.Visit(r.Context(), Request(r))
		next.ServeHTTP(NewWriter(w, visit), r.WithContext(visit))
		visit.Commit(w.Header())
	})
}

// RequireSession is a middleware that lets only signed-in users through to next. Without a session, page requests are
// redirected to the sign-in page with 303, and other requests get 401 (docs/protocol.md §7.9). It includes
// [Adapter.Hook], and also works after it.
func (a *Adapter) RequireSession(next http.Handler) http.Handler { return a.Require()(next) }

// Require is RequireSession with guards, which run in order: a.Require(core.RecentSignIn(time.Hour))(next).
func (a *Adapter) Require(guards ...core.Guard) func(next http.Handler) http.Handler {
	return a.RequireWhere(nil, guards...)
}

// RequireWhere is Require for the requests that where selects, for example [core.PathPrefix]("/admin"). Use it to
// protect paths of a whole mux. Other requests pass, and their handlers can read the session.
func (a *Adapter) RequireWhere(where func(*core.Request) bool, guards ...core.Guard) func(http.Handler) http.Handler {
	return a.guard(func(v *core.Visit, r *http.Request) *core.Response {
		_, refusal := v.RequireWhere(core.At(where, r.URL.Path, ""), guards...)
		return refusal
	})
}

// RequirePrincipal is a middleware for programs and users: it lets requests through that have a session or a valid
// credential of a plugin, such as an API key, and that all guards allow, for example [core.Scopes].
// [core.PrincipalFrom] returns who makes the request. It includes [Adapter.Hook].
func (a *Adapter) RequirePrincipal(guards ...core.PrincipalGuard) func(http.Handler) http.Handler {
	return a.guard(func(v *core.Visit, _ *http.Request) *core.Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	})
}

// guard returns a middleware with the hook that sends the response of check, or calls the next handler if it is nil.
func (a *Adapter) guard(check func(*core.Visit, *http.Request) *core.Response) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refusal := check(core.VisitOf(r.Context(), a.auth), r); refusal != nil {
				Write(w, refusal)
				return
			}
			next.ServeHTTP(w, r)
		}))
	}
}

// Session returns the user's session, or nil if there is none. It needs the hook; see [core.SessionFrom].
func Session(r *http.Request) (*core.Session, error) { return core.SessionFrom(r.Context()) }

// LoadSession returns the user's session, or nil if there is none. It needs no hook. It may set headers of w, so call
// it before the header is written; see [core.Auth.Session].
func (a *Adapter) LoadSession(w http.ResponseWriter, r *http.Request) (*core.Session, error) {
	return a.auth.Session(r.Context(), Request(r), w.Header())
}

// SignIn handles the POST of a sign-in form in the application's own pages: see [core.Auth.SignIn].
func (a *Adapter) SignIn(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.SignIn))
}

// SignOut handles the POST of a sign-out form in the application's own pages: see [core.Auth.SignOut].
func (a *Adapter) SignOut(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.SignOut))
}

// StartSignIn starts a sign-in in a handler of the application that writes error responses itself. in is the input. If
// in is nil, the input is the form in the request, as in SignIn. If the sign-in fails, StartSignIn writes no response
// and returns the error (see [core.Response.Failure]), which is a *[core.InvalidInputError] for an invalid input.
func (a *Adapter) StartSignIn(w http.ResponseWriter, r *http.Request, in *core.SignInInput) error {
	return WriteOrFail(w, Ask(r, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignInWith(ctx, r, in)
	}))
}

// EndSession signs the user out in a handler of the application that writes error responses itself. in is the input. If
// it is nil, the fields of the form are used.
func (a *Adapter) EndSession(w http.ResponseWriter, r *http.Request, in *core.SignOutInput) error {
	return WriteOrFail(w, Ask(r, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignOutWith(ctx, r, in)
	}))
}

// Request translates a request of net/http. It does not parse the body. If a middleware has already parsed a form (with
// ParseForm, ParseMultipartForm or FormValue), core gets a body that is built from r.PostForm. It does not contain
// files, nor the query, which is in r.Form too.
func Request(r *http.Request) *core.Request {
	request, _ := read(r)
	return request
}

// Ask calls entry, a method of [core.Auth] that reads the body, such as [core.Auth.SignIn], with the result of
// [Request]. It restores the body that core has read, so that later handlers can read the fields, for example with
// r.PostFormValue.
func Ask(r *http.Request, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	request, parsed := read(r)
	noBody := r.Body == nil || r.Body == http.NoBody
	if r.Method != http.MethodPost || noBody || parsed || r.ContentLength > maxRestored {
		return entry(r.Context(), request)
	}
	read := &recordedBody{from: r.Body, length: r.ContentLength}
	request.Body = read
	response := entry(r.Context(), request)
	if read.recorded.Len() > 0 {
		r.Body = &restoredBody{io.MultiReader(&read.recorded, r.Body), r.Body}
	}
	return response
}

// The maximum number of bytes of a body that are restored, with a declared length (which core limits) and without one.
const (
	maxRestored        = 1 << 20
	maxRestoredChunked = 64 << 10
)

// recordedBody records the data that is read from a body. If the body is too long, it records nothing.
type recordedBody struct {
	from       io.Reader
	length     int64 // as declared; negative if unknown
	recorded   bytes.Buffer
	incomplete bool // recorded is not the whole body
}

// Read implements [io.Reader].
func (b *recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.from.Read(p)
	limit := maxRestored
	if b.length < 0 {
		limit = maxRestoredChunked
	}
	if b.incomplete = b.incomplete || b.recorded.Len()+n > limit; b.incomplete {
		b.recorded = bytes.Buffer{}
		return n, err
	}
	if b.recorded.Len() == 0 && b.length > 0 {
		b.recorded.Grow(int(min(b.length, maxRestored)))
	}
	b.recorded.Write(p[:n])
	return n, err
}

// AskWithBody is Ask for a router that has stored the body of r elsewhere.
func AskWithBody(
	r *http.Request, body []byte, entry func(context.Context, *core.Request) *core.Response,
) *core.Response {
	request := Request(r)
	request.Body = bytes.NewReader(body)
	return entry(r.Context(), request)
}

// restoredBody returns the bytes that were already read, then the rest of the body.
type restoredBody struct {
	io.Reader
	io.Closer
}

// read translates a request. parsed reports whether its body is built from a parsed form.
func read(r *http.Request) (request *core.Request, parsed bool) {
	scheme, target := "http", r.RequestURI
	if r.TLS != nil {
		scheme = "https"
	}
	if target == "" { // a request that was constructed, not received
		target = r.URL.RequestURI()
	}
	request = &core.Request{
		Method: r.Method, Target: target, Path: r.URL.Path, Hosts: []string{r.Host}, Scheme: scheme,
		RemoteAddr: r.RemoteAddr, Header: r.Header, Body: r.Body, ContentLength: r.ContentLength,
	}
	return request, len(r.PostForm) > 0 && readParsed(r, request)
}

// readParsed uses the fields of a form that was already parsed, and reports whether it did. If there are no fields, the
// body stays unchanged: ParseForm leaves an empty PostForm for JSON, and for a form that exceeds its limit.
func readParsed(r *http.Request, request *core.Request) bool {
	const urlEncoded = "application/x-www-form-urlencoded"
	lines := r.Header["Content-Type"]
	if len(lines) != 1 {
		return false
	}
	media, _, err := mime.ParseMediaType(lines[0])
	switch {
	case err != nil:
		return false
	case media == "multipart/form-data" && r.MultipartForm != nil:
		request.Header = r.Header.Clone()
		request.Header["Content-Type"] = []string{urlEncoded}
	case media != urlEncoded:
		return false
	}
	request.Body, request.ContentLength = strings.NewReader(r.PostForm.Encode()), 0
	return true
}

// Write writes a response of core. It adds nothing except Content-Length.
func Write(w http.ResponseWriter, response *core.Response) {
	h := w.Header()
	response.Fill(h)
	if len(response.Body) > 2048 { // net/http would send it in chunks
		h["Content-Length"] = []string{strconv.Itoa(len(response.Body))}
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body) // the client may have disconnected
}

// WriteOrFail writes a response of core. If the request failed, it writes nothing and returns the error, so that the
// caller can respond; see [core.Response.Failure].
func WriteOrFail(w http.ResponseWriter, response *core.Response) error {
	if err := response.Failure(w.Header()); err != nil {
		return err
	}
	Write(w, response)
	return nil
}
