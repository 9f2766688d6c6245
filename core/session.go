package core

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Session is the signed-in user, and when the session ends (docs/protocol.md §7.10). Its JSON form is what GET session
// sends to the browser; the fields marked server-side are not part of it.
type Session struct {
	// User is the signed-in user as the session callback shows them: name, email and image by default. Its ID is there for
	// handlers, as UserID is, and is part of the JSON form only where the callback set it; the callback itself finds the
	// id in the Token's Subject or the stored User.
	User *User
	// Expires is when the session ends unless it is used before.
	Expires time.Time
	// Extra are further members that the session callback added.
	Extra Members

	// UserID is the id of the signed-in user. Server-side: the browser does not see it.
	UserID string
	// Token holds the claims under the jwt strategy; nil under the database strategy. Server-side.
	Token *Token

	// What follows are the facts of the session, server-side: they are known where a part of the configuration asks for
	// them, or Session.Revocation is on, and empty otherwise, as they are for a session that Auth.js began.

	// ID names the session for as long as it lasts, or until [Call.Reissue] gives it another with a proof. It is no
	// secret: it is derived from the token and signs nobody in.
	ID string
	// AuthTime is when the visitor last proved who they are, in whole seconds; zero: not known, which counts as long ago.
	AuthTime time.Time
	// Methods are how they proved it; empty: not known.
	Methods []Method
	// Actor is the id of the user who acts as this one; empty: nobody does.
	Actor string

	// data is that of Config.Data; nil without.
	data *sessionData
	// ownID is the User.ID that was filled in for the server's own use.
	ownID string
	// readAt is when the session was read, by the clock of its Auth; zero: the application made it.
	readAt time.Time
}

// asOf is the time at which the facts of a session are judged.
func (s *Session) asOf() time.Time {
	if s.readAt.IsZero() {
		return time.Now() //nolint:forbidigo // a session of the application's own, in a test for example
	}
	return s.readAt
}

// MarshalJSON writes user, expires and the further members.
func (s Session) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

func (s *Session) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if s.User != nil {
		id := s.User.ID
		if id == s.ownID {
			id = ""
		}
		dst = s.User.AppendJSON(exactjson.AppendName(dst, "user"), id)
	}
	if !s.Expires.IsZero() {
		dst = exactjson.AppendTime(exactjson.AppendName(dst, "expires"), s.Expires)
	}
	dst = exactjson.AppendMembers(dst, s.Extra, func(name string) bool {
		return name == "user" && s.User != nil || name == "expires" && !s.Expires.IsZero()
	})
	return append(dst, '}')
}

// UnmarshalJSON reads the JSON form: what an Auth.js client or server sends.
func (s *Session) UnmarshalJSON(data []byte) error {
	*s = Session{}
	err := exactjson.Object(data, func(name string, raw []byte) error {
		switch text, isText := exactjson.Text(raw); {
		case name == "user" && len(raw) > 0 && raw[0] == '{':
			s.User = &User{}
			return s.User.UnmarshalJSON(raw)
		case name == "expires" && isText:
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return fmt.Errorf("expires is no RFC 3339 time: %w", err)
			}
			s.Expires = at
		default:
			exactjson.Keep(&s.Extra, name, raw)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("core: session: %w", err)
	}
	return nil
}

// LogValue shows whose session it is, by id.
func (s Session) LogValue() slog.Value {
	return slog.GroupValue(slog.String("user_id", s.UserID), slog.Time("expires", s.Expires))
}
