package account

import "context"

// WaitForActivity waits until the recent activity is written.
func (a *Account) WaitForActivity() { a.handlers.activities.idle.Wait() }

// WaitingActivity returns the number of entries of a user that wait.
func (a *Account) WaitingActivity(userID string) int {
	l := a.handlers.activities
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting[userID])
}

// The bounds of the recent activity.
const (
	MaxActivity        = maxActivity
	MaxWaitingEntries  = maxWaitingEntries
	ActivityAge        = activityAge
	MaxActivityValue   = maxActivityValue
	MaxActivityRetries = activityTries
)

// DeleteDue deletes the accounts whose time has come, as the task of the plugin does.
func (a *Account) DeleteDue(ctx context.Context) error { return a.handlers.schedule.run(ctx) }
