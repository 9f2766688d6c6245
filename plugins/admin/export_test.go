package admin

import "context"

// Finish runs the periodic task.
func (a *Admin) Finish(ctx context.Context) error { return a.finish(ctx) }
