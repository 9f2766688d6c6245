// Command forms is an application on net/http and html/template with its own sign-in and sign-out pages. The form shows
// a wrong password. Sign in as ada@example.com with the password engine.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"html/template"
	"log"
	"net/http"
	"os"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/local"
	"github.com/latchkey-go/latchkey/ui"
)

//go:embed *.html
var files embed.FS

var pages = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).ParseFS(files, "*.html"))

// view is the data of the pages.
type view struct {
	RedirectTo, Error, Email string
	Session                  *core.Session
}

func show(w http.ResponseWriter, r *http.Request, name string, status int, v view) {
	var page bytes.Buffer
	own := template.Must(pages.Clone()).Funcs(ui.Funcs(r.Context()))
	if err := own.ExecuteTemplate(&page, name, v); err != nil {
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w)
}

// authorize looks up the user; a real application compares the hash of a password here.
func authorize(_ context.Context, fields map[string]string, _ *core.Request) (*core.User, error) {
	if fields["email"] != "ada@example.com" || fields["password"] != "engine" {
		return nil, nil
	}
	return &core.User{ID: "1", Name: "Ada Lovelace", Email: fields["email"]}, nil
}

func routes(auth *core.Auth) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		show(w, r, "home.html", http.StatusOK, view{})
	})
	mux.HandleFunc("GET /signin", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		show(w, r, "signin.html", http.StatusOK, view{RedirectTo: q.Get("callbackUrl"), Error: q.Get("error")})
	})
	mux.HandleFunc("POST /signin", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		in := core.SignInInput{
			ProviderID: "credentials", RedirectTo: r.PostFormValue("redirectTo"), CSRFToken: r.PostFormValue("csrfToken"),
			Fields: map[string]string{"email": r.PostFormValue("email"), "password": r.PostFormValue("password")},
		}
		if err := a.StartSignIn(w, r, &in); err != nil {
			v := view{RedirectTo: in.RedirectTo, Email: in.Fields["email"], Error: "Default"}
			if failure := (*core.Error)(nil); errors.As(err, &failure) {
				v.Error = failure.Type.Public()
			}
			show(w, r, "signin.html", http.StatusUnprocessableEntity, v)
		}
	})
	mux.HandleFunc("GET /signout", func(w http.ResponseWriter, r *http.Request) {
		show(w, r, "signout.html", http.StatusOK, view{})
	})
	mux.Handle("GET /account", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // the guard has read it
		show(w, r, "account.html", http.StatusOK, view{Session: session})
	})))
	return a.Hook(mux)
}

func open(url string) (*core.Auth, error) {
	return core.New(core.Config{
		URL: url, Pages: core.PagesConfig{SignIn: "/signin", SignOut: "/signout"},
		Providers: []core.Provider{&core.CredentialsProvider{Authorize: authorize}},
	})
}

func main() {
	addr := flag.String("addr", "", "address to listen on (default localhost:$PORT, or localhost:3000)")
	flag.Parse()
	auth, err := open("")
	if err != nil {
		log.Fatal(err)
	}
	listener, err := local.Listen(local.Addr(*addr, os.Getenv("PORT")))
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: routes(auth), ReadHeaderTimeout: 5 * time.Second}
	log.Printf("open %s", local.URL(listener.Addr().String())) //nolint:gosec // its own address
	log.Fatal(server.Serve(listener))
}
