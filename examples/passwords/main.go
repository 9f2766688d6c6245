// The passwords example: users register with email address and password. Their sessions are in the database and can be
// ended: one device by signing out, all devices with a button on the page.
package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"flag"
	"html/template"
	"log"
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func main() {
	addr := flag.String("addr", "localhost:3000", "address to listen on")
	data := flag.String("data", "passwords.db", "file of the database")
	flag.Parse()
	db, err := sql.Open("sqlite", sqlite.DSN(*data))
	if err != nil {
		log.Fatal(err)
	}
	s, err := open(context.Background(), db, "http://"+*addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s", *addr)
	server := &http.Server{
		Addr: *addr, Handler: s.routes(),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

// site is the application: users and sessions are in the store, passwords in its own table.
type site struct {
	auth  *core.Auth
	store *sqlite.Store
	db    *sql.DB
}

func open(ctx context.Context, db *sql.DB, url string) (*site, error) {
	store, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := store.Migrate(ctx); err != nil {
		return nil, err
	}
	const table = `CREATE TABLE IF NOT EXISTS passwords (
		user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE, salt BLOB NOT NULL, hash BLOB NOT NULL)`
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, err
	}
	s := &site{store: store, db: db}
	s.auth, err = core.New(core.Config{ // AUTH_SECRET
		URL: url, Store: store, Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{providers.Credentials(s.authorize)},
	})
	return s, err
}

func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	a := authhttp.New(s.auth)
	a.Mount(mux)
	a.MountWellKnown(mux) // password managers open /.well-known/change-password
	mux.Handle("GET /{$}", a.Hook(http.HandlerFunc(s.home)))
	mux.HandleFunc("POST /register", s.register)
	mux.Handle("POST /everywhere", a.RequireSession(http.HandlerFunc(s.signOutEverywhere)))
	own := http.NewCrossOriginProtection()               // for this program's two forms
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(mux)
}

// authorize is called by the sign-in page. It returns the stored user, because the session is a row that refers to it.
func (s *site) authorize(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
	email, _ := core.NormalizeEmail(form["email"])
	user, err := s.store.UserByEmail(ctx, email)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	salt, want := make([]byte, saltSize), make([]byte, sha256.Size) // unknown addresses cost the same work
	if user != nil {
		const query = `SELECT salt, hash FROM passwords WHERE user_id = ?`
		err := s.db.QueryRowContext(ctx, query, user.ID).Scan(&salt, &want)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	got, err := hash(form["password"], salt)
	if err != nil || subtle.ConstantTimeCompare(got, want) != 1 {
		return nil, err
	}
	return user, nil
}

// register creates a user and signs them in. This does not verify the address: an application that needs a verified
// address sends a link first (providers.Email).
func (s *site) register(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	email, err := core.NormalizeEmail(r.FormValue("email"))
	if password := r.FormValue("password"); err != nil || len(password) < 8 || len(password) > 200 {
		http.Error(w, "An email address, and a password of 8 to 200 characters.", http.StatusBadRequest)
		return
	}
	user, err := s.store.CreateUser(r.Context(), &core.User{ID: core.NewID(), Email: email})
	if errors.Is(err, core.ErrConflict) {
		http.Error(w, "There is an account with this address already: sign in.", http.StatusConflict)
		return
	}
	if err == nil {
		err = s.setPassword(r.Context(), user.ID, r.FormValue("password"))
	}
	var cookies []core.Cookie
	if err == nil {
		cookies, err = s.auth.NewSession(r.Context(), authhttp.Request(r), user, core.SessionOptions{
			AuthTime: time.Now(), Methods: []amr.Method{amr.Password}, // the user has just chosen the password
		})
	}
	if err != nil {
		log.Print(err)
		http.Error(w, "That did not work.", http.StatusInternalServerError)
		return
	}
	for _, c := range cookies {
		w.Header().Add("Set-Cookie", c.String())
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// setPassword replaces a password. After a change of password, end the user's sessions too.
func (s *site) setPassword(ctx context.Context, userID, password string) error {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	sum, err := hash(password, salt)
	if err != nil {
		return err
	}
	const upsert = `INSERT INTO passwords (user_id, salt, hash) VALUES (?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET salt = excluded.salt, hash = excluded.hash`
	_, err = s.db.ExecContext(ctx, upsert, userID, salt, sum)
	return err
}

// signOutEverywhere ends all sessions of the current user.
func (s *site) signOutEverywhere(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	if err == nil {
		_, err = s.store.DeleteSessions(r.Context(), session.UserID)
	}
	if err != nil {
		log.Print(err)
		http.Error(w, "That did not work.", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

const (
	saltSize   = 16
	iterations = 600_000
)

// hash is slow on purpose.
func hash(password string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
}

func (s *site) home(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	if err != nil {
		http.Error(w, "The session could not be read.", http.StatusInternalServerError)
		return
	}
	if err := page.Execute(w, session); err != nil {
		log.Print(err)
	}
}

var page = template.Must(template.New("home").Parse(`<!doctype html><html lang="en"><title>Passwords</title>
{{if .}}<p>Hello, {{.User.Email}}. <a href="/auth/signout">Sign out</a></p>
<form method="post" action="/everywhere"><button>Sign out everywhere</button></form>
{{else}}<p><a href="/auth/signin">Sign in</a>, or register:</p>
<form method="post" action="/register"><label>Email <input type="email" name="email" required></label>
<label>Password <input type="password" name="password" minlength="8" autocomplete="new-password" required></label>
<button>Register</button></form>{{end}}
`))
