package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// appLink opens the app: an https link that the operating system reserves for this app (App Links, Universal Links).
const appLink = "https://app.example/app/signed-in"

var confirm = template.Must(template.New("confirm").Parse(`<!doctype html><html lang="en"><title>Open the app</title>
<p>Sign in to the app as {{.Email}}?</p>
<form method="post" action="/app">
<input type="hidden" name="challenge" value="{{.Challenge}}"><button>Continue</button>
</form>`))

// apps creates sessions for apps. users is the store of the Auth.
type apps struct {
	auth  *core.Auth
	users interface {
		core.Store
		store.VerificationTokenStore
	}
}

func site(auth *core.Auth, users interface {
	core.Store
	store.VerificationTokenStore
}) http.Handler {
	a, mux, app := authhttp.New(auth), http.NewServeMux(), apps{auth, users}
	a.Mount(mux)
	mux.Handle("GET /app", a.RequireSession(http.HandlerFunc(app.confirm)))
	own := http.NewCrossOriginProtection() // a form of another site cannot confirm
	mux.Handle("POST /app", own.Handler(a.RequireSession(http.HandlerFunc(app.grant))))
	mux.HandleFunc("POST /app/token", app.redeem)
	return mux
}

var challenges = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// confirm asks the user for consent, so that another app cannot get a session by opening a link.
func (a apps) confirm(w http.ResponseWriter, r *http.Request) {
	session, _ := authhttp.Session(r) // RequireSession has read it
	challenge := r.URL.Query().Get("challenge")
	if !challenges.MatchString(challenge) {
		http.Error(w, "Update the app.", http.StatusBadRequest)
		return
	}
	w.Header().Set("X-Frame-Options", "DENY")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = confirm.Execute(w, map[string]string{"Email": session.User.Email, "Challenge": challenge})
}

// grant stores a code for the user and the challenge, and opens the app with it.
func (a apps) grant(w http.ResponseWriter, r *http.Request) {
	session, _ := authhttp.Session(r)
	challenge, code := r.PostFormValue("challenge"), rand.Text()+"."+session.UserID
	if !challenges.MatchString(challenge) {
		http.Error(w, "Update the app.", http.StatusBadRequest)
		return
	}
	err := a.users.CreateVerificationToken(r.Context(), &store.VerificationToken{
		Identifier: "app " + challenge, Token: hash(code), Expires: time.Now().Add(time.Minute),
	})
	if err != nil {
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	http.Redirect(w, r, appLink+"?code="+url.QueryEscape(code), http.StatusSeeOther)
}

// redeem returns the token of a new session for a code and its verifier.
func (a apps) redeem(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	code := r.PostFormValue("code")
	stored, err := a.users.UseVerificationToken(r.Context(), "app "+hash(r.PostFormValue("verifier")), hash(code))
	var user *core.User
	if err == nil && time.Now().Before(stored.Expires) {
		user, err = a.users.User(r.Context(), code[strings.IndexByte(code, '.')+1:])
	}
	if user == nil && (err == nil || errors.Is(err, core.ErrNotFound)) {
		http.Error(w, "Sign in again.", http.StatusBadRequest)
		return
	}
	var token string
	if err == nil {
		token, err = a.newToken(r, user)
	}
	if err != nil {
		http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
}

// newToken starts a session and returns its token instead of setting its cookies.
func (a apps) newToken(r *http.Request, user *core.User) (string, error) {
	request := *authhttp.Request(r)
	request.Header = http.Header{"User-Agent": r.Header["User-Agent"]} // without cookies, so that no session is replaced
	cookies, err := a.auth.NewSession(r.Context(), &request, user)
	if err != nil {
		return "", err
	}
	for _, c := range cookies {
		request.Header.Add("Cookie", c.Name+"="+c.Value)
	}
	return a.auth.RawToken(r.Context(), &request)
}

// hash returns the SHA-256 of a text in base64url. The hash of a verifier is its challenge (RFC 7636 section 4.2).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
