package secondfactor

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	recoveryCount = 10
	// recoveryLength is the length of a code without hyphens. The first character is the number of the code, and each
	// of the others has 5 bits: 75 bits together.
	recoveryLength = 16
	// recoveryLow is the largest number of remaining codes that makes the pages ask for new ones.
	recoveryLow = 2
	// recoveryRounds are the PBKDF2 iterations. A code has less than 112 bits, so its hash must be salted and slow
	// (OWASP ASVS 5.0, 6.5.2); the 75 bits make more iterations unnecessary.
	recoveryRounds = 10_000
	recoveryKey    = 32
	// importedRounds are those of codes of another system. Such a code can have 50 bits.
	importedRounds = 100_000
)

// recoveryAlphabet is Crockford's base32, without I, L, O and U.
const recoveryAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// recoveryCodes creates and checks recovery codes. Each is a record of kind "recovery". A code is used up by deleting
// its record.
type recoveryCodes struct {
	host    *core.PluginHost
	records store.RecordStore
	states  *states
}

// recoveryHash is the value of a record.
type recoveryHash struct {
	Rounds int    `json:"n"`
	Salt   []byte `json:"s"`
	Hash   []byte `json:"h"`
}

func (h *recoveryHash) compute(code string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, code, h.Salt, h.Rounds, recoveryKey)
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
	codes := make([]string, recoveryCount)
	for i := range codes {
		code, err := r.newCode(i)
		if err == nil {
			err = r.store(ctx, userID, set, i, code)
		}
		if err != nil {
			return nil, fmt.Errorf("secondfactor: create a recovery code: %w", err)
		}
		codes[i] = code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:]
	}
	return codes, r.use(ctx, userID, set)
}

// errImported means that recovery codes of another system cannot be imported. It contains no code.
var errImported = errors.New("secondfactor: recovery codes to import: want 1 to 10 different codes of at least 8 " +
	"characters, each with a letter or of more than 10 digits")

// importCodes stores codes of another system, unless the user has codes. Their salt is the same, so that a code is
// hashed once to compare it with all.
func (r *recoveryCodes) importCodes(ctx context.Context, userID string, codes []string) error {
	if len(codes) == 0 || len(codes) > recoveryCount {
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
	h := recoveryHash{Rounds: importedRounds, Salt: make([]byte, 16)}
	if _, err := io.ReadFull(r.host.Rand, h.Salt); err != nil {
		return fmt.Errorf("secondfactor: random bytes: %w", err)
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
	for i := range recoveryCount {
		_, err := r.records.DeleteRecord(ctx, kindRecovery, recoveryName(userID, set, i))
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			r.host.Logger.WarnContext(ctx, "secondfactor: could not delete an old recovery code", "user", userID, "error", err)
		}
	}
}

func (r *recoveryCodes) newCode(number int) (string, error) {
	var random [recoveryLength - 1]byte
	if _, err := io.ReadFull(r.host.Rand, random[:]); err != nil {
		return "", err
	}
	code := []byte{recoveryAlphabet[number]}
	for _, b := range random {
		code = append(code, recoveryAlphabet[b%32])
	}
	return string(code), nil
}

func (r *recoveryCodes) store(ctx context.Context, userID, set string, number int, code string) error {
	h := recoveryHash{Rounds: recoveryRounds, Salt: make([]byte, 16)}
	if _, err := io.ReadFull(r.host.Rand, h.Salt); err != nil {
		return err
	}
	return r.write(ctx, userID, set, number, code, h)
}

// write stores the hash of a code.
func (r *recoveryCodes) write(
	ctx context.Context, userID, set string, number int, code string, h recoveryHash,
) (err error) {
	if h.Hash, err = h.compute(code); err != nil {
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
	for i := 0; unowned && err == nil && i < recoveryCount; i++ {
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

// isRecovery reports whether a user has typed a recovery code and not a code of an app, and returns it without
// separators. The characters I, L and O are replaced by the digits that they look like. A code of another system can be
// as short as that of an app, but contains one of A to Z.
func isRecovery(typed string) (code string, ok bool) {
	code = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(typed))
	return code, len(code) > 10 || strings.ContainsAny(code, recoveryAlphabet[10:])
}

// check checks a recovery code and uses it up. The attempt is counted before the comparison, and forgiven if the code
// is right. Of concurrent requests with one code, the one that deletes the record succeeds. use is called for a right
// code, and calls its argument to delete the record.
func (r *recoveryCodes) check(
	ctx context.Context, userID, code string, t try, use func(change func(context.Context) error) error,
) (notice bool, err error) {
	allowed, set, imported := false, "", false
	_, err = r.states.update(ctx, userID, func(st *state) error {
		now := r.host.Now()
		t.At, t.Cost, set, imported = now.Unix(), 1, st.Codes, st.Imported
		if allowed = st.allows(t, now); !allowed {
			return errUnchanged
		}
		notice = st.count(t, now)
		return nil
	})
	switch {
	case err != nil:
		return false, err
	case !allowed:
		return false, errMany
	}
	match := r.match
	if imported {
		match = r.matchImported
	}
	key, err := match(ctx, userID, set, code)
	if err == nil {
		err = use(func(ctx context.Context) error { return r.take(ctx, key) })
	}
	if err != nil {
		return notice, err
	}
	_, err = r.states.update(ctx, userID, func(st *state) error { st.forgive(t); return nil })
	return false, err
}

// match returns the key of the record of a code. The error of a wrong code is errWrong.
func (r *recoveryCodes) match(ctx context.Context, userID, set, code string) (key string, err error) {
	number := -1
	if len(code) == recoveryLength {
		number = strings.IndexByte(recoveryAlphabet[:recoveryCount], code[0])
	}
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
	sum, err := h.compute(code)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare(sum, h.Hash) == 0 {
		return "", errWrong
	}
	return key, nil
}

// matchImported is match for codes of another system: any of them can be the right one.
func (r *recoveryCodes) matchImported(ctx context.Context, userID, set, code string) (key string, err error) {
	var sum []byte
	for i := range recoveryCount {
		h, err := r.read(ctx, recoveryName(userID, set, i))
		if err != nil {
			return "", err
		}
		if h == nil {
			continue
		}
		if sum == nil { // all have the same salt
			if sum, err = h.compute(code); err != nil {
				return "", err
			}
		}
		if subtle.ConstantTimeCompare(sum, h.Hash) == 1 {
			key = recoveryName(userID, set, i)
		}
	}
	if key == "" {
		return "", errWrong
	}
	return key, nil
}

// read returns the hash of a code, or nil if the code was used.
func (r *recoveryCodes) read(ctx context.Context, key string) (*recoveryHash, error) {
	record, err := r.records.Record(ctx, kindRecovery, key)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("secondfactor: read a recovery code: %w", err)
	}
	var h recoveryHash
	if err := json.Unmarshal(record.Value, &h); err != nil {
		return nil, errors.New("secondfactor: a record of kind recovery is malformed")
	}
	return &h, nil
}

// take deletes the record of a code.
func (r *recoveryCodes) take(ctx context.Context, key string) error {
	switch _, err := r.records.DeleteRecord(ctx, kindRecovery, key); {
	case errors.Is(err, core.ErrNotFound): // another request used it
		return errUsed
	case err != nil:
		return fmt.Errorf("secondfactor: use a recovery code: %w", err)
	}
	return nil
}

// asText returns codes as the content of a text file.
func asText(host string, codes []string) string {
	return host + "\n\n" + strings.Join(codes, "\n") + "\n"
}

// dataURL returns a link to a text file that works without JavaScript.
func dataURL(text string) string {
	return "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}
