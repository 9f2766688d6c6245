package store

import "time"

// Session is the record behind a session of the database strategy. What applications call a session, the signed-in user
// and what the session callback added, is core's Session.
type Session struct {
	// Token is the random value in the cookie: a client that presents it is signed in.
	Token Secret
	// UserID is the user the session belongs to.
	UserID string
	// Expires is when the session ends.
	Expires time.Time
}
