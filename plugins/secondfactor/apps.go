package secondfactor

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// The results of a check that are not right.
var (
	errWrong = errors.New("secondfactor: the code is wrong")
	errUsed  = errors.New("secondfactor: the code was used before")
	// errMany means that a budget of the user is used up, and errManyHere that of the sign-in.
	errMany     = errors.New("secondfactor: too many wrong codes")
	errManyHere = errors.New("secondfactor: too many wrong codes in one sign-in")
)

// checkApp checks a code of an authenticator app, and uses it up. A wrong code is counted before the result is known
// to the client. notice reports that the user must be informed about the number of wrong codes.
func (s *states) checkApp(ctx context.Context, userID, code string, t try) (notice bool, err error) {
	var result error
	_, err = s.update(ctx, userID, func(st *state) error {
		now := s.host.Now()
		notice, t.At, t.Cost = false, now.Unix(), max(1, len(st.Apps))
		if result = st.allows(t, now); result != nil {
			return errUnchanged
		}
		if result, err = s.useStep(st, userID, code, now); err != nil {
			return err
		}
		if result != nil {
			notice = st.count(t, now)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return notice, result
}

// useStep finds the app that a code belongs to, and marks its time step as used. The result is errWrong, errUsed or
// nil. All apps are compared, so that the time does not reveal which one matched.
func (s *states) useStep(st *state, userID, code string, now time.Time) (result, err error) {
	result = errWrong
	for i := range st.Apps {
		a := &st.Apps[i]
		k, err := s.open(a, userID)
		if err != nil {
			return nil, err
		}
		step, ok := k.match(code, now, a.Step)
		switch {
		case !ok || result == nil:
		case step <= a.Step:
			result = errUsed
		default:
			result = nil
			a.Step, a.Used = step, now.Unix()
			if a.Key != s.keyID() { // the secrets were rotated
				if err := s.seal(a, userID, k); err != nil {
					return nil, err
				}
			}
		}
	}
	return result, nil
}

// Errors of adding.
var (
	errFull = errors.New("secondfactor: the user has the maximum number of authenticator apps")
	// errEnrolled means that the user has enrolled a factor since a sign-in was stored that requires enrollment.
	errEnrolled = errors.New("secondfactor: the user has a second factor now")
)

// newID returns a random ID for an app or a set of recovery codes.
func (s *states) newID() (string, error) {
	token, err := s.host.NewToken()
	if err != nil {
		return "", err
	}
	return token[:12], nil
}

// adding returns the change that enrolls an authenticator app, if code is a code of it. The time step of the code is
// used up. added has the ID and the name. If first is set, the user must not have a second factor. The result of a
// wrong code is errWrong.
func (s *states) adding(userID string, k *totpKey, added app, code string, first bool) func(*state) error {
	return func(st *state) error {
		now := s.host.Now()
		switch {
		case first && st.enrolled():
			return errEnrolled
		case len(st.Apps) >= maxApps:
			return errFull
		}
		added := added
		added.Made, added.Used = now.Unix(), now.Unix()
		for i := range st.Apps { // the form was sent twice: the code's time step is used
			old, err := s.open(&st.Apps[i], userID)
			if err != nil {
				return err
			}
			if subtle.ConstantTimeCompare(old.Secret, k.Secret) == 1 {
				return errUsed
			}
		}
		step, ok := k.match(code, now, 0)
		if !ok {
			return errWrong
		}
		added.Step = step
		if err := s.seal(&added, userID, k); err != nil {
			return err
		}
		st.Apps = append(st.Apps, added)
		return s.changed(st)
	}
}

// removing returns the change that removes an app. Its error is core.ErrNotFound if the user has none with this ID.
func (s *states) removing(id string) func(*state) error {
	return func(st *state) error {
		i := st.find(id)
		if i < 0 {
			return core.ErrNotFound
		}
		st.Apps = append(st.Apps[:i], st.Apps[i+1:]...)
		return s.changed(st)
	}
}

// switching returns the change that makes the user's passkeys a second factor, or no longer. Its error is errUnchanged
// if they are so already.
func (s *states) switching(on bool) func(*state) error {
	return func(st *state) error {
		if st.Passkeys == on {
			return errUnchanged
		}
		st.Passkeys = on
		return s.changed(st)
	}
}
