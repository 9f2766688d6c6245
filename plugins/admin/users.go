package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// listedUser is a user in a list.
type listedUser struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"emailVerified"`
	Banned        bool   `json:"banned"`
}

// userPage is the response to GET admin.
type userPage struct {
	Users []listedUser `json:"users"`
	// Next is the cursor of the next page, or empty.
	Next string `json:"next,omitempty"`
}

// fullUser is the response to GET admin/user. It contains no tokens, hashes of passwords or keys of records.
type fullUser struct {
	listedUser
	// Admin reports whether Options.IsAdmin protects the user.
	Admin bool `json:"admin"`
	// Ban is nil if the user is not banned.
	Ban *Ban `json:"ban"`
	// Password reports whether a password is stored. Methods are the linked accounts and the passkeys.
	Password bool     `json:"password"`
	Methods  []method `json:"methods"`
	// Sessions are the active sessions, or nil if they cannot be listed.
	Sessions []session `json:"sessions"`
	// Data is what other plugins have stored about the user; see core.UserData.
	Data map[string]any `json:"data"`

	data []core.UserData // in the order of the page
}

type method struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	Passkey  bool   `json:"passkey"`
	// Added is zero if it is unknown.
	Added time.Time `json:"added,omitzero"`
}

type session struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created,omitzero"`
	Seen     time.Time `json:"seen,omitzero"`
	Agent    string    `json:"agent"`
	Network  string    `json:"network"`
	Provider string    `json:"provider"`
	Expires  time.Time `json:"expires"`
	// Actor is the ID of the administrator who uses the account in this session, or empty.
	Actor string `json:"actor,omitempty"`
}

const (
	perPage  = 25
	maxQuery = 254
	// kindPassword is the kind of the records of providers/password.
	kindPassword = "password"
)

// isQuery reports whether a text can be an ID or the beginning of an address. Databases fail with some other texts.
func isQuery(s string) bool {
	return len(s) <= maxQuery && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// maxEmpty is the maximum number of empty pages that a request reads. Redis returns them between other pages.
const maxEmpty = 50

// list returns a page of the users with the ID q, or whose address begins with q. An empty q lists all users.
func (a *Admin) list(ctx context.Context, q, cursor string) (page *userPage, next string, err error) {
	var users []*core.User
	if !isQuery(q) {
		return &userPage{Users: []listedUser{}}, "", nil
	}
	next = cursor
	for range maxEmpty {
		if q == "" {
			users, next, err = a.host.UserFinder.ListUsers(ctx, next, perPage)
		} else {
			users, next, err = a.search(ctx, q, next)
		}
		if err != nil {
			return nil, "", fmt.Errorf("admin: list users: %w", err)
		}
		if len(users) > 0 || next == "" {
			break
		}
	}
	page = &userPage{Users: []listedUser{}}
	for _, u := range users {
		ban, err := a.BanOf(ctx, u.ID)
		if err != nil {
			return nil, "", err
		}
		page.Users = append(page.Users, listed(u, ban))
	}
	return page, next, nil
}

func (a *Admin) search(ctx context.Context, q, cursor string) (users []*core.User, next string, err error) {
	if cursor == "" {
		u, err := a.host.Store.User(ctx, q)
		if err == nil {
			return []*core.User{u}, "", nil
		}
		if !errors.Is(err, core.ErrNotFound) {
			return nil, "", err
		}
	}
	address := strings.ToLower(q)
	users, next, err = a.host.UserFinder.ListUsersByEmail(ctx, address, cursor, perPage)
	if !errors.Is(err, store.ErrUnsupported) {
		return users, next, err
	}
	u, err := a.host.Store.UserByEmail(ctx, address) // the database has no index for prefixes
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	return []*core.User{u}, "", nil
}

func listed(u *core.User, ban *Ban) listedUser {
	return listedUser{
		ID: u.ID, Name: u.Name, Email: u.Email, EmailVerified: u.Email != "" && !u.EmailVerified.IsZero(), Banned: ban != nil,
	}
}

// full reads what is stored about a user. It returns [core.ErrNotFound] if there is no such user.
func (a *Admin) full(ctx context.Context, id string) (*fullUser, error) {
	u, err := a.user(ctx, id)
	if err != nil {
		return nil, err
	}
	v := &fullUser{Methods: []method{}, Data: map[string]any{}, data: a.host.UserData()}
	if v.Ban, err = a.BanOf(ctx, u.ID); err != nil {
		return nil, err
	}
	v.listedUser = listed(u, v.Ban)
	if a.options.IsAdmin != nil {
		if v.Admin, err = a.options.IsAdmin(ctx, u.ID); err != nil {
			return nil, err
		}
	}
	passwords, err := a.records.UserRecords(ctx, u.ID, kindPassword)
	if err != nil {
		return nil, err
	}
	v.Password = len(passwords) > 0
	methods, err := a.host.SignInMethods(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range methods {
		v.Methods = append(v.Methods, method{m.Provider, m.Name, m.Passkey, m.Added})
	}
	if v.Sessions, err = a.sessions(ctx, u.ID); err != nil {
		return nil, err
	}
	for _, d := range v.data {
		if v.Data[d.Name], err = d.Read(ctx, u.ID); err != nil {
			return nil, fmt.Errorf("admin: read the data %s of a user: %w", d.Name, err)
		}
	}
	return v, nil
}

// user returns a user. An ID that cannot exist is not looked up.
func (a *Admin) user(ctx context.Context, id string) (*core.User, error) {
	if id == "" || !isQuery(id) {
		return nil, core.ErrNotFound
	}
	return a.host.Store.User(ctx, id)
}

// sessions lists the sessions of a user, or returns nil if the configuration cannot.
func (a *Admin) sessions(ctx context.Context, userID string) ([]session, error) {
	if !a.host.CanEndSessions() {
		return nil, nil
	}
	infos, err := a.host.Auth.Sessions(ctx, userID)
	if err != nil {
		return nil, err
	}
	all := make([]session, 0, len(infos))
	for _, s := range infos {
		each := session{
			ID: s.ID, Created: s.CreatedAt, Seen: s.LastSeen, Agent: s.UserAgent, Provider: s.Provider, Expires: s.Expires,
			Actor: s.Actor,
		}
		if s.Network.IsValid() {
			each.Network = s.Network.String()
		}
		all = append(all, each)
	}
	return all, nil
}
