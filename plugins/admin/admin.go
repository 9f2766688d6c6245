package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Options configures [New]. Only Guard is required.
type Options struct {
	// Guard decides who may use the pages and the API. It runs with each request, and returns [core.ErrForbidden] for
	// users who are no administrators. [core.HasRole] is such a guard.
	Guard core.Guard
	// IsAdmin reports whether a user is an administrator. Administrators cannot be changed here. If it is nil, an
	// administrator can ban another one. Administrators cannot change their own account here.
	IsAdmin func(ctx context.Context, userID string) (bool, error)
	// Fresh is the maximum time since the last sign-in of an administrator who changes something. The default is 15
	// minutes.
	Fresh time.Duration
	// Strong requires two factors for a change; see [core.Strong]. The default is false.
	Strong bool

	// SendReset emails a user a link to choose a new password, as SendReset of providers/password does. If it is nil, the
	// page has no form for it. The same applies to the functions below.
	SendReset func(ctx context.Context, userID string) error
	// ResetFactors removes the second factors of a user, as Reset of plugins/secondfactor does.
	ResetFactors func(ctx context.Context, userID string) error
	// Invite emails an invitation to an address, for example with Invite of plugins/account.
	Invite func(ctx context.Context, email string) error
	// Create creates a user with an address that is not verified, for example with Store.CreateUser and [core.NewID]. If it
	// returns [core.ErrConflict], another user has the address.
	Create func(ctx context.Context, email string) (*core.User, error)
	// Delete deletes the data of the application about a user, before the user is deleted with all data in the store. An
	// error stops the deletion. It is called again if a later step has failed.
	Delete func(ctx context.Context, u *core.User) error
	// ScheduleDelete schedules the deletion of a user and returns its time, as ScheduleDeletion of plugins/account does. A
	// sign-in before that can keep the account.
	ScheduleDelete func(ctx context.Context, userID string) (due time.Time, err error)
	// VerifyEmail lets administrators mark the address of a user as verified. With StrategyJWT, sessions of users whose
	// address is not verified then cost one query, as with plugins/account. The default is false.
	VerifyEmail bool
	// Impersonate lets administrators use the account of a user, in a session of one hour. It needs IsAdmin, and a change
	// with two factors even if Strong is false. The default is false.
	Impersonate bool
}

// Admin is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent use.
type Admin struct {
	options Options
	host    *core.PluginHost
	records store.RecordStore
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Admin {
	if o.Fresh == 0 {
		o.Fresh = 15 * time.Minute
	}
	return &Admin{options: o}
}

// Attach implements [core.Plugin].
func (a *Admin) Attach(h *core.PluginHost) error {
	if a.host != nil {
		return errors.New("already attached to an Auth: call admin.New for each Auth")
	}
	a.host, a.records = h, h.Records()
	if a.options.Guard == nil {
		h.AddConfigError("Options.Guard is nil: set a guard that only administrators pass, such as core.HasRole")
	}
	if a.options.Fresh < 0 {
		h.AddConfigError(fmt.Sprintf("Options.Fresh is %v: it must not be negative", a.options.Fresh))
	}
	if h.Store != nil && (h.UserFinder == nil || h.RecordLister == nil) {
		h.AddConfigError("the store is not a store.UserFinder and a store.RecordLister: use a store that lists users and " +
			"records")
	}
	if h.Store != nil && a.options.Delete != nil && h.UserDeleter == nil {
		h.AddConfigError("Options.Delete needs a Store that is a store.UserDeleter too (package core/store)")
	}
	if a.options.Impersonate {
		if a.options.IsAdmin == nil {
			h.AddConfigError("Options.Impersonate needs Options.IsAdmin, because administrators cannot be impersonated")
		}
		h.AllowImpersonation(name+"/"+verbEndImpersonation, a.checkImpersonation)
	}
	if a.options.VerifyEmail {
		h.VerifiesEmail()
	}
	h.TrackAuthentication() // for Options.Fresh
	h.EndsSessions()
	h.AddSignInGate(a.gate)
	h.AddUserCheck(a.check)
	h.AddTask(a.finish)
	for _, action := range a.actions() {
		h.AddAction(action)
	}
	return nil
}

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New.
func (a *Admin) Advise(report func(what, fix string)) {
	if !a.host.CanEndSessions() {
		report("sessions of banned users stay valid until they expire", "remove Session.Revocation.On: core.False")
	}
	if a.options.IsAdmin == nil {
		report("an administrator can ban the other administrators", "set IsAdmin of admin.Options")
	}
}
