package password

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// signIns checks sign-ins.
type signIns struct {
	users     core.Store
	passwords *passwords
	hashes    *hasher
	names     *usernames // nil without Options.Usernames
	breaches  *breaches  // nil without Options.BreachedAtSignIn
	log       *slog.Logger
	// management is not used here: the Provider points to it weakly, and it lives as long as the Auth.
	management any
}

// maxComparisons is the maximum number of comparisons for a password that changes during the sign-in.
const maxComparisons = 3

// admit checks the fields of POST callback/password. For unknown addresses and users without a password it does the
// same work, so that timing does not reveal accounts: one lookup of the user, one of the password, one hash. still
// checks the stored password again after the session is stored. A concurrent reset either finds and ends the session,
// or is seen by still.
func (s *signIns) admit(ctx context.Context, form map[string]string, _ *core.Request) (
	user *core.User, still func(ctx context.Context) error, err error,
) {
	password := form["password"]
	if password == "" || len(password) > maxPasswordBytes {
		return nil, nil, refused(audit.ReasonCredentials, "")
	}
	if _, ok := isMail(form["email"]); ok {
		user, err = userByEmail(ctx, s.users, form["email"])
	} else if s.names != nil {
		user, err = s.names.find(ctx, form["email"])
	} else {
		return nil, nil, refused(audit.ReasonCredentials, "")
	}
	if err != nil {
		return nil, nil, err
	}
	t := &typed{signIns: s, password: password}
	if t.stored, err = s.passwords.usable(ctx, user); err != nil {
		return nil, nil, err
	}
	if user != nil {
		t.id = user.ID
	}
	if err := t.compare(ctx); err != nil {
		return nil, nil, err
	}
	if user, err = t.recheck(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.update(ctx); err != nil {
		return nil, nil, err
	}
	return user, func(ctx context.Context) error { _, err := t.recheck(ctx); return err }, nil
}

// typed is a password that a user typed, and the stored one it was last compared with.
type typed struct {
	*signIns
	id       string // the user's ID, or "" if the address is unknown
	password string
	stored   *stored
	better   hashed // a hash to store instead, or "" if the stored one is current
}

// compare returns an error unless the password is the stored one.
func (t *typed) compare(ctx context.Context) (err error) {
	var right bool
	right, t.better, err = t.hashes.matches(ctx, t.password, t.stored)
	switch {
	case errors.Is(err, errBusy):
		return busyProblem(err)
	case err != nil: // a hash that cannot be computed gets the same response as a wrong password; the log has the cause
		t.log.ErrorContext(ctx, "password: could not compare a stored hash", "user", t.id, "error", err)
		return refused(audit.ReasonFault, t.id)
	case !right:
		return refused(audit.ReasonCredentials, t.id)
	}
	return nil
}

// recheck re-reads the stored password and compares again if it has changed, so that a sign-in cannot succeed with the
// old password after a reset. An attacker can make a comparison take long by filling the queue.
func (t *typed) recheck(ctx context.Context) (*core.User, error) {
	for n := 1; ; n++ {
		user, err := userByID(ctx, t.users, t.id)
		if err != nil {
			return nil, err
		}
		before := t.stored
		if t.stored, err = t.passwords.usable(ctx, user); err != nil {
			return nil, err
		}
		switch {
		case t.stored.same(before):
			return user, nil
		case n == maxComparisons: // the typed password may be right
			return nil, busyProblem(errBusy)
		}
		if err := t.compare(ctx); err != nil {
			return nil, err
		}
	}
}

// update replaces an old hash with a better one, and checks the password for breaches if that is due. A concurrent
// change of the password wins. If the password is known from a breach and that cannot be stored, the sign-in fails,
// because the gate of exposed would not hold it.
func (t *typed) update(ctx context.Context) error {
	p := t.stored.secret
	if t.better != "" {
		p.Hash = t.better
	}
	if checked := t.breaches.check(ctx, t.password, &p); !checked && t.better == "" {
		return nil
	}
	err := t.passwords.write(ctx, t.id, p, t.stored)
	found := p.Breached && !t.stored.Breached
	switch {
	case err == nil:
		t.stored = &stored{p, t.stored.version + 1}
	case found && errors.Is(err, core.ErrConflict):
		return busyProblem(errBusy)
	case found:
		return err
	case !errors.Is(err, core.ErrConflict):
		t.log.WarnContext(ctx, "password: could not update a stored hash", "user", t.id, "error", err)
	}
	return nil
}

// refused returns the error for wrong addresses and wrong passwords alike.
func refused(reason audit.Reason, userID string) error {
	return core.NewError(core.ErrCredentialsSignin, &audit.Denial{Reason: reason, UserID: userID})
}

const (
	// breachInterval is the minimum time between two checks of the same password.
	breachInterval = 30 * 24 * time.Hour
	// maxBreachWait is the maximum time that a check delays a sign-in.
	maxBreachWait = 300 * time.Millisecond
	// maxBreachChecks is the maximum number of concurrent checks, including those that nothing waits for any more.
	maxBreachChecks = 64
)

// breaches checks passwords at sign-ins. A nil *breaches checks nothing.
type breaches struct {
	policy *policy
	slots  chan struct{}
	now    func() time.Time
	log    *slog.Logger
}

var errBreachTime = errors.New("password: breached passwords: no result in time")

// check checks a right password if that is due, sets p.Checked and p.Breached, and returns true. If there is no result,
// p is not changed and the next sign-in checks again: an unavailable service must not prevent sign-ins.
func (b *breaches) check(ctx context.Context, password string, p *secret) (checked bool) {
	if b == nil || p.Breached {
		return false
	}
	now := b.now().UTC().Truncate(time.Second)
	if age := now.Sub(p.Checked); age >= 0 && age < breachInterval {
		return false
	}
	breached, err := b.ask(ctx, password)
	if err != nil {
		b.log.WarnContext(ctx, "password: could not check a password for breaches at a sign-in", "error", err)
		return false
	}
	p.Checked, p.Breached = now, breached
	return true
}

// ask calls Options.Breached, and returns after maxBreachWait even if that ignores its context.
func (b *breaches) ask(ctx context.Context, password string) (bool, error) {
	select {
	case b.slots <- struct{}{}:
	default:
		return false, errBreachTime
	}
	ctx, cancel := context.WithTimeout(ctx, maxBreachWait)
	defer cancel() // not in the goroutine: select may choose ctx.Done() although there is a result
	type result struct {
		breached bool
		err      error
	}
	results := make(chan result, 1)
	go func() {
		defer func() { <-b.slots }()
		breached, err := b.policy.ask(ctx, password)
		results <- result{breached, err}
	}()
	select {
	case r := <-results:
		return r.breached, r.err
	case <-ctx.Done():
		return false, errBreachTime
	}
}
