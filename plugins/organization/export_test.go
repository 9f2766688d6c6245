package organization

import (
	"context"
	"encoding/json"

	"github.com/latchkey-go/latchkey/core"
)

// FinishDeletions runs the periodic task.
func (o *Organizations) FinishDeletions(ctx context.Context) error { return o.finishDeletions(ctx) }

// NameForEmail is nameForEmail.
var NameForEmail = nameForEmail

// CheckDomains runs the periodic task.
func (o *Organizations) CheckDomains(ctx context.Context) error { return o.checkDomains(ctx) }

// WriteJoinEmail returns the function that completes emails about requests to join.
func WriteJoinEmail(o *Organizations) func(context.Context, core.Email, json.RawMessage) (core.Email, error) {
	return o.writeJoinEmail
}
