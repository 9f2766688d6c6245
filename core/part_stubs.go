package core

import "context"

// Method and Guard come with the facts of sessions, which replace this file.
type (
	// Method is a way in which a visitor has proved who they are.
	Method string
	// Guard decides whether a signed-in visitor may go on.
	Guard func(ctx context.Context, s *Session) error
)

// MethodPassword is a password.
const MethodPassword Method = "pwd"
