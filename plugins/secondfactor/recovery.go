package secondfactor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
)

// importedRounds are the PBKDF2 iterations for codes of another system. Such a code can have 50 bits.
const importedRounds = 100_000

// recoveryCodes creates and checks recovery codes. Each is a record of kind "recovery". A code is used up by deleting
// its record.
type recoveryCodes struct {
	host    *core.PluginHost
	records store.RecordStore
	states  *states
}

// recoveryName returns the key of the record of a code. set is state.Codes.
func recoveryName(userID, set string, number int) string {
	return userID + "." + set + "." + strconv.Itoa(number)
}

// replace creates a new set of codes and returns them in the form for users. The old set is valid until the
// new one is complete.
func (r *recoveryCodes) replace(ctx context.Context, userID string) ([]string, error) {
	set, err := r.states.newID()
	if err != nil {
		return nil, err
	}
	codes := make([]string, recoverycode.Count)
	for i := range codes {
		code, err := recoverycode.New(r.host.Rand, i)
		if err == nil {
			err = r.store(ctx, userID, set, i, code)
		}
		if err != nil {
			return nil, fmt.Errorf("secondfactor: create a recovery code: %w", err)
		}
		codes[i] = recoverycode.Format(code)
	}
	return codes, r.use(ctx, userID, set)
}

// errImported means that recovery codes of another system cannot be imported. It contains no code.
var errImported = errors.New("secondfactor: recovery codes to import: want 1 to 10 different codes of at least 8 " +
	"characters that are not digits only, or of more than 10 digits")

// importCodes stores codes of another system, unless the user has codes. Their salt is the same, so that a code is
// hashed once to compare it with all.
func (r *recoveryCodes) importCodes(ctx context.Context, userID string, codes []string) error {
	if len(codes) == 0 || len(codes) > recoverycode.Count {
		return errImported
	}
	var all []string
	for _, typed := range codes {
		code, ok := isRecovery(typed)
		if !ok || len(code) < 8 || len(code) > 100 || slices.Contains(all, code) {
			return errImported
		}
		all = append(all, code)
	}
	set, err := r.states.newID()
	if err != nil {
		return err
	}
	h, err := recoverycode.NewHash(r.host.Rand, importedRounds)
	if err != nil {
		return fmt.Errorf("secondfactor: %w", err)
	}
	for i, code := range all {
		if err := r.write(ctx, userID, set, i, code, h); err != nil {
			return fmt.Errorf("secondfactor: import a recovery code: %w", err)
		}
	}
	kept := false
	_, err = r.states.update(ctx, userID, func(st *state) error {
		if kept = st.Codes != ""; kept {
			return errUnchanged
		}
		st.Codes, st.Imported, st.Saved = set, true, true
		return nil
	})
	if err != nil || kept {
		r.discard(ctx, userID, set)
	}
	return err
}

// use makes a set of codes the valid one, and deletes the previous set. With an empty set no code is valid.
func (r *recoveryCodes) use(ctx context.Context, userID, set string) error {
	old := ""
	_, err := r.states.update(ctx, userID, func(st *state) error {
		old = st.Codes
		st.Codes, st.Imported, st.Saved = set, false, false
		return nil
	})
	if err != nil || old == "" {
		return err
	}
	r.discard(ctx, userID, old)
	return nil
}

// discard deletes the codes of a set that is not valid.
func (r *recoveryCodes) discard(ctx context.Context, userID, set string) {
	for i := range recoverycode.Count {
		_, err := r.records.DeleteRecord(ctx, kindRecovery, recoveryName(userID, set, i))
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			r.host.Logger.WarnContext(ctx, "secondfactor: could not delete an old recovery code", "user", userID, "error", err)
		}
	}
}

func (r *recoveryCodes) store(ctx context.Context, userID, set string, number int, code string) error {
	h, err := recoverycode.NewHash(r.host.Rand, recoverycode.Rounds)
	if err != nil {
		return err
	}
	return r.write(ctx, userID, set, number, code, h)
}

// write stores the hash of a code.
func (r *recoveryCodes) write(
	ctx context.Context, userID, set string, number int, code string, h recoverycode.Hash,
) (err error) {
	if h.Hash, err = h.Compute(code); err != nil {
		return err
	}
	value, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return r.states.create(ctx, &store.Record{
		Kind: kindRecovery, Key: recoveryName(userID, set, number), UserID: userID, Value: value,
	})
}

// left returns the number of remaining codes.
func (r *recoveryCodes) left(ctx context.Context, userID string, st *state) (n int, err error) {
	if st.Codes == "" {
		return 0, nil
	}
	records, err := r.records.UserRecords(ctx, userID, kindRecovery)
	for _, record := range records {
		if strings.HasPrefix(record.Key, userID+"."+st.Codes+".") {
			n++
		}
	}
	unowned := n == 0 // or there are none
	for i := 0; unowned && err == nil && i < recoverycode.Count; i++ {
		_, err = r.records.Record(ctx, kindRecovery, recoveryName(userID, st.Codes, i))
		switch {
		case err == nil:
			n++
		case errors.Is(err, core.ErrNotFound):
			err = nil
		}
	}
	if err != nil {
		return 0, fmt.Errorf("secondfactor: count the recovery codes: %w", err)
	}
	return n, nil
}

// isRecovery reports whether a user has typed a recovery code and not a code of an app, and returns the result of
// recoverycode.Clean. A code of another system can be as short as that of an app, but contains one of A to Z.
func isRecovery(typed string) (code string, ok bool) {
	code = recoverycode.Clean(typed)
	return code, len(code) > 10 || strings.ContainsFunc(code, func(c rune) bool { return 'A' <= c && c <= 'Z' })
}

// check checks a recovery code and uses it up. The attempt is counted before the comparison, and forgiven if the code
// is right. Of concurrent requests with one code, the one that deletes the record succeeds. use is called for a right
// code, and calls its argument to delete the record.
func (r *recoveryCodes) check(
	ctx context.Context, userID, code string, t try, use func(change func(context.Context) error) error,
) (taken *store.Record, notice bool, err error) {
	var refused error
	set, imported := "", false
	_, err = r.states.update(ctx, userID, func(st *state) error {
		now := r.host.Now()
		t.At, t.Cost, set, imported = now.Unix(), 1, st.Codes, st.Imported
		if refused = st.allows(t, now); refused != nil {
			return errUnchanged
		}
		notice = st.count(t, now)
		return nil
	})
	switch {
	case err != nil:
		return nil, false, err
	case refused != nil:
		return nil, false, refused
	}
	match := r.match
	if imported {
		match = r.matchImported
	}
	key, err := match(ctx, userID, set, code)
	if err == nil {
		err = use(func(ctx context.Context) error { taken, err = r.take(ctx, key); return err })
	}
	if err != nil {
		return nil, notice, err
	}
	if _, err = r.states.update(ctx, userID, func(st *state) error { st.forgive(t); return nil }); err != nil {
		r.host.Logger.WarnContext(ctx, "secondfactor: a right recovery code counts like a wrong one", "user", userID,
			"error", err)
	}
	return taken, false, nil
}

// match returns the key of the record of a code. The error of a wrong code is errWrong.
func (r *recoveryCodes) match(ctx context.Context, userID, set, code string) (key string, err error) {
	number := recoverycode.Number(code)
	if number < 0 || set == "" {
		return "", errWrong
	}
	key = recoveryName(userID, set, number)
	h, err := r.read(ctx, key)
	switch {
	case err != nil:
		return "", err
	case h == nil:
		return "", errWrong
	}
	sum, err := h.Compute(code)
	if err != nil {
		return "", err
	}
	if !h.Matches(sum) {
		return "", errWrong
	}
	return key, nil
}

// matchImported is match for codes of another system: any of them can be the right one.
func (r *recoveryCodes) matchImported(ctx context.Context, userID, set, code string) (key string, err error) {
	var sum []byte
	for i := range recoverycode.Count {
		h, err := r.read(ctx, recoveryName(userID, set, i))
		if err != nil {
			return "", err
		}
		if h == nil {
			continue
		}
		if sum == nil { // all have the same salt
			if sum, err = h.Compute(code); err != nil {
				return "", err
			}
		}
		if h.Matches(sum) {
			key = recoveryName(userID, set, i)
		}
	}
	if key == "" {
		return "", errWrong
	}
	return key, nil
}

// read returns the hash of a code, or nil if the code was used.
func (r *recoveryCodes) read(ctx context.Context, key string) (*recoverycode.Hash, error) {
	record, err := r.records.Record(ctx, kindRecovery, key)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("secondfactor: read a recovery code: %w", err)
	}
	var h recoverycode.Hash
	if err := json.Unmarshal(record.Value, &h); err != nil {
		return nil, errors.New("secondfactor: a record of kind recovery is malformed")
	}
	return &h, nil
}

// take deletes the record of a code, and returns it.
func (r *recoveryCodes) take(ctx context.Context, key string) (*store.Record, error) {
	taken, err := r.records.DeleteRecord(ctx, kindRecovery, key)
	switch {
	case errors.Is(err, core.ErrNotFound): // another request used it
		return nil, errUsed
	case err != nil:
		return nil, fmt.Errorf("secondfactor: use a recovery code: %w", err)
	}
	return taken, nil
}

// restore writes a used code back if the sign-in or the session did not get it. If the set was replaced meanwhile, the
// record is not valid: its key has the old set.
func (r *recoveryCodes) restore(ctx context.Context, taken *store.Record, failure error) {
	var problem *core.Problem
	if taken == nil || failure == nil || errors.As(failure, &problem) && problem.Status < 500 {
		return
	}
	again := *taken
	again.Version = 0
	if err := r.states.create(context.WithoutCancel(ctx), &again); err != nil {
		r.host.Logger.WarnContext(ctx, "secondfactor: could not restore a recovery code after a failure", "user",
			taken.UserID, "error", err)
	}
}
