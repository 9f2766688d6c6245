package account

import "context"

// DeleteDue deletes the accounts whose time has come, as the task of the plugin does.
func (a *Account) DeleteDue(ctx context.Context) error { return a.handlers.schedule.run(ctx) }
