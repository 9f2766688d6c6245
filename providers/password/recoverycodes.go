package password

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/ui"
)

// kindRecovery is the kind of the records with recovery codes.
const kindRecovery = "username-recovery"

// recoverySet is the value of a record. Its key is the user's ID. All codes of a user are in one record, so that a
// compare-and-set decides between concurrent uses of a code.
type recoverySet struct {
	Made time.Time `json:"made"`
	// Salted is the salt of all codes, so that a guess is hashed once. Its Hash is empty.
	Salted recoverycode.Hash `json:"salted"`
	// Codes are the hashes of the unused codes by their number.
	Codes map[int][]byte `json:"codes"`
}

// same reports whether both sets were created together.
func (s *recoverySet) same(as *recoverySet) bool { return slices.Equal(s.Salted.Salt, as.Salted.Salt) }

// recoveryCodes creates and checks the codes that set a new password for a username. They are stored as salted hashes.
// The hashes do not depend on Config.Secrets: users without an address could not return after a rotation.
type recoveryCodes struct {
	host    *core.PluginHost // for the clock and random values
	records store.RecordStore
}

// make returns new codes in the form for users, and their set.
func (r *recoveryCodes) make() (shown []string, set *recoverySet, err error) {
	salted, err := recoverycode.NewHash(r.host.Rand, recoverycode.Rounds)
	if err != nil {
		return nil, nil, fmt.Errorf("password: create recovery codes: %w", err)
	}
	set = &recoverySet{r.host.Now().UTC().Truncate(time.Second), salted, map[int][]byte{}}
	for i := range recoverycode.Count {
		code, err := recoverycode.New(r.host.Rand, i)
		if err == nil {
			set.Codes[i], err = salted.Compute(code)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("password: create recovery codes: %w", err)
		}
		shown = append(shown, recoverycode.Format(code))
	}
	return shown, set, nil
}

// load returns the codes of a user and their record, or nil. For an empty ID it calls the store too.
func (r *recoveryCodes) load(ctx context.Context, userID string) (*recoverySet, *store.Record, error) {
	record, err := r.records.Record(ctx, kindRecovery, cmp.Or(userID, "-"))
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && record.UserID != userID:
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("password: read recovery codes: %w", err)
	}
	set := new(recoverySet)
	if err := json.Unmarshal(record.Value, set); err != nil {
		return nil, nil, fmt.Errorf("password: decode the recovery codes of user %q: %w", userID, err)
	}
	return set, record, nil
}

// left returns the number of unused codes of a user.
func (r *recoveryCodes) left(ctx context.Context, userID string) (int, error) {
	set, _, err := r.load(ctx, userID)
	if err != nil || set == nil {
		return 0, err
	}
	return len(set.Codes), nil
}

// write stores the codes of a user. before is the record that they replace, or nil. It returns core.ErrConflict if
// another request has changed the record.
func (r *recoveryCodes) write(ctx context.Context, userID string, set *recoverySet, before *store.Record) error {
	value, err := json.Marshal(set)
	if err != nil {
		return err
	}
	record := &store.Record{Kind: kindRecovery, Key: userID, UserID: userID, Value: value}
	if before == nil {
		return r.records.CreateRecord(ctx, record)
	}
	record.Version = before.Version
	err = r.records.UpdateRecord(ctx, record)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// maxCodeWrites is the maximum number of attempts to change the codes of a user while other requests change them.
const maxCodeWrites = 20

// change changes the codes of a user by compare-and-set. change receives nil if there are none, and returns what to
// store; its error stops the change.
func (r *recoveryCodes) change(
	ctx context.Context, userID string, change func(*recoverySet) (*recoverySet, error),
) error {
	for n := 1; ; n++ {
		set, record, err := r.load(ctx, userID)
		if err == nil {
			set, err = change(set)
		}
		if err != nil {
			return err
		}
		err = r.write(ctx, userID, set, record)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, core.ErrConflict):
			return fmt.Errorf("password: store recovery codes: %w", err)
		case n == maxCodeWrites:
			return busyProblem(errBusy)
		}
		if err := store.Pause(ctx, min(time.Duration(n), 10)*time.Millisecond); err != nil {
			return fmt.Errorf("password: store recovery codes: %w", err)
		}
	}
}

// remove deletes the codes of a user. It is no error if there are none.
func (r *recoveryCodes) remove(ctx context.Context, userID string) error {
	_, err := r.records.DeleteRecord(ctx, kindRecovery, userID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("password: delete recovery codes: %w", err)
	}
	return nil
}

// removeAudited deletes the codes of a user, and reports that to Config.Audit.
func (r *recoveryCodes) removeAudited(ctx context.Context, c *core.ActionRequest, userID string) error {
	e := audit.Event{Name: audit.RecoveryRemoved, Outcome: audit.OK, UserID: userID, Provider: ID}
	if err := c.Announce(ctx, e); err != nil {
		return err
	}
	if err := r.remove(ctx, userID); err != nil {
		return err
	}
	c.Audit(ctx, e)
	return nil
}

// errCodeUsed means that another request has used a code, or that new codes were created.
var errCodeUsed = errors.New("password: the recovery code was used")

// match returns the number of a typed code in a set, which is nil if the user is unknown or has no codes. It is -1 if
// the code is wrong. It computes one hash in any case, so that its time does not reveal users.
func (r *recoveryCodes) match(set *recoverySet, typed string) (int, error) {
	code := recoverycode.Clean(typed)
	number := recoverycode.Number(code)
	if number < 0 {
		code = ""
	}
	hash := recoverycode.Hash{Rounds: recoverycode.Rounds, Salt: make([]byte, 16)}
	if set != nil {
		hash = set.Salted
		hash.Hash = set.Codes[number]
	}
	sum, err := hash.Compute(code)
	if err != nil {
		return -1, fmt.Errorf("password: compare a recovery code: %w", err)
	}
	if !hash.Matches(sum) {
		return -1, nil
	}
	return number, nil
}

// use removes the code of a set. Of concurrent requests with one code, one succeeds; the others get errCodeUsed. It
// returns the number of remaining codes.
func (r *recoveryCodes) use(ctx context.Context, userID string, set *recoverySet, number int) (left int, err error) {
	err = r.change(ctx, userID, func(now *recoverySet) (*recoverySet, error) {
		if now == nil || now.Codes[number] == nil || !now.same(set) {
			return nil, errCodeUsed
		}
		delete(now.Codes, number)
		left = len(now.Codes)
		return now, nil
	})
	return left, err
}

// restore writes a used code back after a failure, unless the codes were replaced or removed.
func (r *recoveryCodes) restore(ctx context.Context, userID string, set *recoverySet, number int) {
	err := r.change(context.WithoutCancel(ctx), userID, func(now *recoverySet) (*recoverySet, error) {
		if now == nil || !now.same(set) {
			return nil, errCodeUsed
		}
		now.Codes[number] = set.Codes[number]
		return now, nil
	})
	if err != nil && !errors.Is(err, errCodeUsed) {
		r.host.Logger.WarnContext(ctx, "password: could not restore a recovery code after a failure", "user", userID,
			"error", err)
	}
}

// leftText returns the number of remaining codes, or a request to create new ones if few remain.
func leftText(left int) ui.Text {
	if left <= recoverycode.Low {
		return textRecoveryLow.With(strconv.Itoa(left))
	}
	return textRecoveryLeft.With(strconv.Itoa(left))
}

// redirectURL returns the URL of a response of core.ActionRequest.Redirect.
func redirectURL(r *core.Response) string {
	if r.Redirect != "" {
		return r.Redirect
	}
	var to struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(r.Body, &to)
	return to.URL
}

// codes shows new recovery codes, once. next is the response that the browser would get without them: the page links to
// its URL.
func (p *pages) codes(ctx context.Context, c *core.ActionRequest, next *core.Response, shown []string) *core.Response {
	to := redirectURL(next)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, nextStep{Next: "done", URL: to, RecoveryCodes: shown})
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, codesPage(page, shown, c.Host(), to))
}
