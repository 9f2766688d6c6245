package core

import "context"

// Guard decides whether a signed-in visitor may go on: nil lets them.
type Guard func(ctx context.Context, s *Session) error
