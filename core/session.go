package core

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/internal/sessionid"
	"github.com/latchkey-go/latchkey/ui"
)

// Session is the session of a signed-in user (docs/protocol.md §7.10). Its JSON form is the response of GET session.
// The fields marked server-side are not part of it.
type Session struct {
	// User is the signed-in user as the session callback returned it. By default it has name, email and image. User.ID is
	// always set for handlers, but the JSON form contains it only if the callback set it. Inside the callback it is empty:
	// read the ID from Token.Subject or from the stored User.
	User *User
	// Expires is when the session ends if it is not used before then.
	Expires time.Time
	// Extra are additional members that the session callback added.
	Extra Members

	// UserID is the ID of the signed-in user. Server-side: the browser does not receive it.
	UserID string
	// Token holds the claims under StrategyJWT. It is nil under StrategyDatabase. Server-side.
	Token *Token

	// The remaining fields are server-side. They are set only if a plugin asks for them or Session.Revocation is on. They
	// are empty for sessions that started before that, including sessions that Auth.js created.

	// ID identifies the session for its whole lifetime, until [ActionRequest.RenewSession] replaces it after a new
	// authentication. It is not a secret: it is derived from the token, and it cannot be used to sign in.
	ID string
	// AuthTime is when the user last authenticated, in whole seconds. The zero time means unknown and counts as long ago.
	AuthTime time.Time
	// Methods are the authentication methods that the user used. Empty means unknown.
	Methods []amr.Method
	// ACR is the authentication context class reference that the provider reported for the user's last federated
	// authentication: the claim acr of its ID token (OpenID Connect Core section 2). It is empty if there was none.
	ACR string
	// Actor is the ID of the user who impersonates this one. It is empty without impersonation. [NotImpersonated] is a
	// guard that refuses such sessions.
	Actor string

	// data is the application's data (Config.Data). It is nil if Config.Data is not set.
	data *sessiondata.Loaded
	// ownID is the User.ID that runCallback filled in for handlers. The JSON form leaves it out.
	ownID string
	// actorName is the address or the name of the user who impersonates this one.
	actorName string
	// readAt is when the session was read, by Config.Now. It is zero if the application built the Session.
	readAt time.Time
}

// MarshalJSON returns user, expires and the members of Extra.
func (s Session) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

func (s *Session) appendJSON(dst []byte) []byte {
	view, id := sessionstate.View{User: s.User, Expires: s.Expires, Extra: s.Extra}, ""
	if s.User != nil && s.User.ID != s.ownID {
		id = s.User.ID
	}
	return view.Append(dst, id)
}

// UnmarshalJSON parses the JSON form that an Auth.js client or server sends.
func (s *Session) UnmarshalJSON(data []byte) error {
	var view sessionstate.View
	if err := view.Parse(data); err != nil {
		return fmt.Errorf("core: session: %w", err)
	}
	*s = Session{User: view.User, Expires: view.Expires, Extra: view.Extra}
	return nil
}

// LogValue returns the user ID and the expiry, and no other field.
func (s Session) LogValue() slog.Value {
	return slog.GroupValue(slog.String("user_id", s.UserID), slog.Time("expires", s.Expires))
}

// publicID returns the ID of a session. stored is the token as the store contains it, or the claim sid.
func publicID(stored string) string { return sessionid.Of(stored).String() }

// visitorOf returns the user of a session for a page.
func visitorOf(s *Session) ui.Visitor {
	visitor := ui.Visitor{ID: s.UserID, Actor: s.actorName}
	if s.User != nil {
		visitor.Name, visitor.Email, visitor.Image = s.User.Name, s.User.Email, s.User.Image
	}
	return visitor
}
