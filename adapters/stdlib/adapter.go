// Package authhttp serves Latchkey with net/http.
//
//	a := authhttp.New(auth)
//	a.Mount(mux)                                          // sign-in page, callbacks, session JSON under /auth
//	mux.Handle("GET /", a.Hook(home))                     // authhttp.Session(r)
//	mux.Handle("GET /account", a.RequireSession(account)) // signed-in users only
//
// It translates and decides nothing: every rule is core's. The adapters of gin and echo stand on it.
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

// Adapter carries requests between net/http and core. It is safe for concurrent use; make it with [New].
type Adapter struct{ auth *core.Auth }

// New returns an Adapter for an Auth, of [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth} }

// ServeHTTP answers a request to the auth routes.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.Handle))
}

// Hook makes the session available to next and what is behind it: read on first use, once per request. The visit's
// cookies are set just before the header goes out, or when next has returned.
func (a *Adapter) Hook(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if core.VisitOf(r.Context(), a.auth) != nil { // a hook of the same Auth is in front
			next.ServeHTTP(w, r)
			return
		}
		both := &struct { // one allocation
			incoming incoming
			writer   Writer
		}{}
		visit := a.auth.Visit(r.Context(), both.incoming.read(r))
		both.writer = Writer{w, visit}
		next.ServeHTTP(&both.writer, r.WithContext(visit))
		visit.Commit(w.Header())
	})
}

// RequireSession lets only signed-in visitors through to next: others get 303 to the sign-in page, or 401 where no page
// was asked for (docs/protocol.md §7.9). It is a hook too, and works behind another.
func (a *Adapter) RequireSession(next http.Handler) http.Handler { return a.Require()(next) }

// Require is RequireSession with guards, which are asked in their order: a.Require(core.Fresh(time.Hour))(next).
func (a *Adapter) Require(guards ...core.Guard) func(next http.Handler) http.Handler {
	return a.RequireWhere(nil, guards...)
}

// RequireWhere is Require for the requests that where picks, such as [core.Under]("/admin"): in front of a whole mux.
// Others pass, and have the hook.
func (a *Adapter) RequireWhere(where func(*core.Request) bool, guards ...core.Guard) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at := core.At(where, r.URL.Path, "")
			if _, refusal := core.VisitOf(r.Context(), a.auth).RequireWhere(at, guards...); refusal != nil {
				Write(w, refusal)
				return
			}
			next.ServeHTTP(w, r)
		}))
	}
}

// Session returns the visitor's session, nil without one, behind the hook; see [core.SessionFrom].
func Session(r *http.Request) (*core.Session, error) { return core.SessionFrom(r.Context()) }

// Session returns the visitor's session in one call, nil without one, with a hook in front or without. What it sets is
// in w's header: call it before the header goes out; see [core.Auth.Session].
func (a *Adapter) Session(w http.ResponseWriter, r *http.Request) (*core.Session, error) {
	return a.auth.Session(r.Context(), Request(r), w.Header())
}

// SignIn answers a form of the application that starts a sign-in: see [core.Auth.SignIn].
func (a *Adapter) SignIn(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.SignIn))
}

// SignOut answers a form of the application that signs out: see [core.Auth.SignOut].
func (a *Adapter) SignOut(w http.ResponseWriter, r *http.Request) {
	Write(w, Ask(r, a.auth.SignOut))
}

// TrySignIn is SignIn for handlers that answer failures themselves: where the sign-in fails it answers nothing and
// returns the error; see [core.Response.Failure].
func (a *Adapter) TrySignIn(w http.ResponseWriter, r *http.Request) error {
	return WriteOrFail(w, Ask(r, a.auth.SignIn))
}

// TrySignOut is SignOut for handlers that answer failures themselves, as TrySignIn is for sign-ins.
func (a *Adapter) TrySignOut(w http.ResponseWriter, r *http.Request) error {
	return WriteOrFail(w, Ask(r, a.auth.SignOut))
}

// TrySignInWith is TrySignIn for components: it starts a sign-in with an input of the application in place of a form;
// see [core.Auth.SignInWith]. What is wrong with the input is a *[core.InvalidInputError].
func (a *Adapter) TrySignInWith(w http.ResponseWriter, r *http.Request, in core.SignInInput) error {
	return WriteOrFail(w, a.auth.SignInWith(r.Context(), Request(r), in))
}

// TrySignOutWith is TrySignInWith for signing out.
func (a *Adapter) TrySignOutWith(w http.ResponseWriter, r *http.Request, in core.SignOutInput) error {
	return WriteOrFail(w, a.auth.SignOutWith(r.Context(), Request(r), in))
}

// Request translates a request of net/http and parses nothing: core does. If a middleware has parsed a form already
// (with ParseForm, ParseMultipartForm or FormValue), the body that core gets is made from r.PostForm. The
// query, which is in r.Form too, and files are left out.
func Request(r *http.Request) *core.Request { return new(incoming).read(r) }

// Ask calls a method of [core.Auth] that reads the body, such as [core.Auth.SignIn], with a request of [Request]. It
// puts the body that core has read back into r, so that later handlers can read the fields, with r.PostFormValue for
// example.
func Ask(r *http.Request, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	in := new(incoming)
	request := in.read(r)
	if r.Method != http.MethodPost || r.Body == nil || r.Body == http.NoBody || in.parsed || r.ContentLength > maxKept {
		return entry(r.Context(), request)
	}
	read := &recordedBody{from: r.Body, length: r.ContentLength}
	request.Body = read
	response := entry(r.Context(), request)
	if read.kept.Len() > 0 {
		r.Body = &restoredBody{io.MultiReader(&read.kept, r.Body), r.Body}
	}
	return response
}

// The number of bytes of a body that are put back: with a declared length, which core bounds, and without one.
const (
	maxKept        = 1 << 20
	maxKeptChunked = 64 << 10
)

// recordedBody stores what is read from a body. Of one that is too long it stores nothing.
type recordedBody struct {
	from   io.Reader
	length int64 // as declared; negative if it is not
	kept   bytes.Buffer
	lost   bool // kept is not all of it
}

// Read implements [io.Reader].
func (b *recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.from.Read(p)
	most := maxKept
	if b.length < 0 {
		most = maxKeptChunked
	}
	if b.lost = b.lost || b.kept.Len()+n > most; b.lost {
		b.kept = bytes.Buffer{}
		return n, err
	}
	if b.kept.Len() == 0 && b.length > 0 {
		b.kept.Grow(int(min(b.length, maxKept)))
	}
	b.kept.Write(p[:n])
	return n, err
}

// AskWithBody is Ask for a router that has kept the body of r elsewhere.
func AskWithBody(
	r *http.Request, body []byte, entry func(context.Context, *core.Request) *core.Response,
) *core.Response {
	request := Request(r)
	request.Body = bytes.NewReader(body)
	return entry(r.Context(), request)
}

// restoredBody returns the bytes that were read before, then the rest of the body.
type restoredBody struct {
	io.Reader
	io.Closer
}

// incoming is a request with room for its host: one allocation.
type incoming struct {
	request core.Request
	host    [1]string
	parsed  bool // the body is made from a form that was parsed before
}

func (in *incoming) read(r *http.Request) *core.Request {
	scheme, target := "http", r.RequestURI
	if r.TLS != nil {
		scheme = "https"
	}
	if target == "" { // a request that was made rather than received
		target = r.URL.RequestURI()
	}
	in.host[0] = r.Host
	in.request = core.Request{
		Method: r.Method, Target: target, Path: r.URL.Path, Hosts: in.host[:], Scheme: scheme, RemoteAddr: r.RemoteAddr,
		Header: r.Header, Body: r.Body, ContentLength: r.ContentLength,
	}
	if len(r.PostForm) > 0 {
		in.readParsed(r)
	}
	return &in.request
}

// readParsed takes the fields of a form that was parsed before. Without fields the body itself stays: ParseForm leaves
// an empty PostForm behind for JSON, and for a form that is too large for it.
func (in *incoming) readParsed(r *http.Request) {
	const urlEncoded = "application/x-www-form-urlencoded"
	lines := r.Header["Content-Type"]
	if len(lines) != 1 {
		return
	}
	media, _, err := mime.ParseMediaType(lines[0])
	switch {
	case err != nil:
		return
	case media == "multipart/form-data" && r.MultipartForm != nil:
		in.request.Header = r.Header.Clone()
		in.request.Header["Content-Type"] = []string{urlEncoded}
	case media != urlEncoded:
		return
	}
	in.parsed = true
	in.request.Body, in.request.ContentLength = strings.NewReader(r.PostForm.Encode()), 0
}

// Write writes an answer of core and adds nothing but its length.
func Write(w http.ResponseWriter, response *core.Response) {
	h := w.Header()
	response.Fill(h)
	if len(response.Body) > 2048 { // net/http would send it in chunks
		h["Content-Length"] = []string{strconv.Itoa(len(response.Body))}
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body) // the browser may have left
}

// WriteOrFail writes an answer of core, or returns why the request failed and leaves the answer to the caller; see
// [core.Response.Failure].
func WriteOrFail(w http.ResponseWriter, response *core.Response) error {
	if err := response.Failure(w.Header()); err != nil {
		return err
	}
	Write(w, response)
	return nil
}
