package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// Member is the application's data about a signed-in user.
type Member struct {
	Team string
	Role string
}

// Roles returns the roles that core.HasRole checks.
func (m Member) Roles() []string { return []string{m.Role} }

func newAuth(db *sql.DB, store core.Store) (*core.Auth, *core.SessionData[Member], error) {
	member := &core.SessionData[Member]{Load: func(ctx context.Context, u *core.User) (m Member, err error) {
		const query = `SELECT team, role FROM members WHERE user_id = $1`
		err = db.QueryRowContext(ctx, query, u.ID).Scan(&m.Team, &m.Role)
		if err == sql.ErrNoRows {
			return Member{Role: "guest"}, nil
		}
		return m, err
	}}
	auth, err := core.New(core.Config{Store: store, Data: member, Providers: []core.Provider{providers.GitHub()}})
	return auth, member, err
}

func site(db *sql.DB, auth *core.Auth, member *core.SessionData[Member]) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	team := func(w http.ResponseWriter, r *http.Request) {
		session, m, err := member.FromContext(r.Context())
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%s of %s\n", session.User.Name, m.Team)
	}
	promote := func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		_, err := db.ExecContext(r.Context(), `UPDATE members SET role = 'owner' WHERE user_id = $1`, id)
		if err == nil {
			err = member.Refresh(r.Context(), id) // takes effect at the next request
		}
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
		}
	}
	mux.Handle("GET /team", a.Require(member.Guard(func(m Member) bool { return m.Team != "" }))(http.HandlerFunc(team)))
	mux.Handle("POST /people/{id}/promote", a.Require(core.HasRole(member, "owner"))(http.HandlerFunc(promote)))
	own := http.NewCrossOriginProtection()
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(mux)
}
