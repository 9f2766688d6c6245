package organization

import "context"

// FinishDeletions runs the periodic task.
func (o *Organizations) FinishDeletions(ctx context.Context) error { return o.finishDeletions(ctx) }

// NameForEmail is nameForEmail.
var NameForEmail = nameForEmail

// CheckDomains runs the periodic task.
func (o *Organizations) CheckDomains(ctx context.Context) error { return o.checkDomains(ctx) }
