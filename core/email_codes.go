package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/ui"
)

// A code that is sent by email is valid only in the browser that requested it. An encrypted cookie of that browser has
// a random key, and a record under the hash of the key has a keyed hash of the code. So an attacker who requests codes
// for an address can guess only their own codes. Each code has five tries, which are counted before the comparison. All
// tries for one address together have a budget, which is stored too: it counts across codes, browsers, networks and
// processes.

const (
	// codeKind is the kind of the records of codes, and codeBudgetKind that of the budgets.
	codeKind, codeBudgetKind = "code", "code-budget"
	// codeCookie begins the names of the cookies. The purpose of the code follows.
	codeCookie = "code-"
	// codeDigits is the number of digits of a code.
	codeDigits = 6
	// codeTries is the number of wrong codes after which a code is no longer accepted.
	codeTries = 5
	// codeLife is the lifetime of a code (OWASP ASVS 5.0 section 6.5.5).
	codeLife = 10 * time.Minute
	// codeBurst wrong codes for one address are possible immediately, and then one in codeEvery: at most 46 in a day. A
	// guesser finds one of a million codes within that day with a chance of 0.005 %.
	codeBurst, codeEvery = 10, 40 * time.Minute
	// codeWrites is the maximum number of attempts to write a record that concurrent requests change.
	codeWrites = 20
)

// codePurpose is what a code is for. A code for one purpose is not accepted for another.
type codePurpose string

const (
	codeReauth codePurpose = "reauth"
	codeSignIn codePurpose = "sign-in"
)

// emailCodes creates and checks the codes of a configuration. It is nil if the store has no records.
type emailCodes struct {
	records store.RecordStore
	plugins *plugins
	limits  *limits
	now     func() time.Time
}

// codeRecord is the stored part of a code.
type codeRecord struct {
	Purpose codePurpose `json:"p"`
	// Address is where the code was sent, and UserID the user, if there is one.
	Address string `json:"a"`
	UserID  string `json:"u,omitempty"`
	// Hash is the keyed hash of the code.
	Hash string `json:"h"`
	// Tries is the number of tries so far.
	Tries int `json:"n,omitempty"`
	// Data belongs to the purpose.
	Data string `json:"d,omitempty"`

	key     string // the key in the cookie
	version int64
	expires time.Time
}

// codeKey is the content of the cookie.
type codeKey struct {
	Key string `json:"key"`
}

// recordKey returns the key of a record. It is a hash, so that an attacker who reads the store cannot forge the cookie.
func (r *codeRecord) recordKey() string {
	sum := sha256.Sum256([]byte("code\x00" + string(r.Purpose) + "\x00" + r.key))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// digest returns the keyed hash of a code.
func (r *codeRecord) digest(secret, code string) string {
	return digest(secret, codeKind, r.key+"\x00"+string(r.Purpose)+"\x00"+r.Address+"\x00"+code)
}

// issue stores a new code for r.Purpose and returns it with the cookie of this browser. An earlier code of the browser
// for the same purpose is no longer accepted.
func (e *emailCodes) issue(ctx context.Context, c *call, r codeRecord) (code Secret, cookie Cookie, err error) {
	if old, err := e.find(ctx, c, r.Purpose); err == nil {
		if _, err := e.records.DeleteRecord(ctx, codeKind, old.recordKey()); err != nil && !errors.Is(err, ErrNotFound) {
			return "", Cookie{}, errorf(ErrStore, "delete an earlier code: %w", err)
		}
	} else if !errors.Is(err, ErrNotFound) {
		return "", Cookie{}, err
	}
	if r.key, err = randomText(c.rand); err != nil {
		return "", Cookie{}, err
	}
	text, err := e.newCode(c)
	if err != nil {
		return "", Cookie{}, err
	}
	r.Hash, r.Tries = r.digest(c.secrets[0], text), 0
	value, err := json.Marshal(r)
	if err != nil {
		return "", Cookie{}, err
	}
	expires := e.now().Add(codeLife)
	record := &store.Record{Kind: codeKind, Key: r.recordKey(), UserID: r.UserID, Value: value, Expires: expires}
	e.plugins.auth.sessions.rows.cleaning.perhaps()
	if err := e.records.CreateRecord(ctx, record); err != nil {
		return "", Cookie{}, errorf(ErrStore, "store a code: %w", err)
	}
	cookie, err = e.plugins.cookie(&c.arrival, codeCookie+string(r.Purpose), codeKey{r.key}, expires)
	return Secret(text), cookie, err
}

// newCode returns random digits, each with the same probability.
func (e *emailCodes) newCode(c *call) (string, error) {
	const codes = 1_000_000
	for {
		b, err := randomBytes(c.rand, 4)
		if err != nil {
			return "", err
		}
		if n := binary.BigEndian.Uint32(b); n < 1<<32/codes*codes {
			return fmt.Sprintf("%0*d", codeDigits, n%codes), nil
		}
	}
}

// requested reports whether this browser has requested a code for a purpose. It does not read the store.
func (e *emailCodes) requested(c *call, purpose codePurpose) bool {
	var name codeKey
	return e.plugins.readCookie(&c.arrival, codeCookie+string(purpose), &name)
}

// forget returns the cookie that removes a code from the browser.
func (e *emailCodes) forget(c *call, purpose codePurpose) Cookie {
	spec := c.partCookie(codeCookie + string(purpose))
	return spec.clear(spec.name())
}

// find returns the code that this browser requested for a purpose. The error matches ErrNotFound if there is none or it
// has expired. It changes nothing.
func (e *emailCodes) find(ctx context.Context, c *call, purpose codePurpose) (*codeRecord, error) {
	var name codeKey
	if !e.plugins.readCookie(&c.arrival, codeCookie+string(purpose), &name) {
		return nil, ErrNotFound
	}
	r := &codeRecord{Purpose: purpose, key: name.Key}
	stored, err := e.records.Record(ctx, codeKind, r.recordKey())
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, err
	case err != nil:
		return nil, errorf(ErrStore, "read a code: %w", err)
	case !stored.Expires.After(e.now()):
		return nil, ErrNotFound
	}
	found := &codeRecord{}
	if err := json.Unmarshal(stored.Value, found); err != nil || found.Purpose != purpose {
		return nil, errorf(ErrStore, "a stored code is malformed")
	}
	found.key, found.version, found.expires = name.Key, stored.Version, stored.Expires
	return found, nil
}

// check compares a typed code with the one that this browser requested, and consumes it if it is right. Of concurrent
// requests with the right code one succeeds. A refusal is a *Problem with the code code_wrong, code_expired or
// too_many.
func (e *emailCodes) check(ctx context.Context, c *call, purpose codePurpose, typed string) (*codeRecord, error) {
	if err := e.limits.ask(ctx, c, newAttempt(limit.AttemptCode, "")); err != nil {
		return nil, err
	}
	r, err := e.find(ctx, c, purpose)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errCodeExpired()
	case err != nil:
		return nil, err
	}
	typed = plainCode(typed)
	if len(typed) != codeDigits { // a slip of the user, which is no help to a guesser
		return nil, r.errWrong(codeTries - r.Tries)
	}
	if err := e.spend(ctx, c, r, true); err != nil {
		return nil, err
	}
	if r, err = e.count(ctx, c, r); err != nil {
		return nil, err
	}
	right := false
	for _, secret := range c.secrets {
		if random.Same(r.Hash, r.digest(secret, typed)) {
			right = true
		}
	}
	if !right {
		return nil, r.errWrong(codeTries - r.Tries)
	}
	_, err = e.records.DeleteRecord(ctx, codeKind, r.recordKey())
	switch {
	case errors.Is(err, ErrNotFound): // another request was faster
		return nil, errCodeExpired()
	case err != nil:
		return nil, errorf(ErrStore, "consume a code: %w", err)
	}
	e.limits.right(ctx, c, newAttempt(limit.AttemptCode, ""))
	return r, e.spend(ctx, c, r, false)
}

// plainCode removes what people and mail programs put between digits.
func plainCode(typed string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\t' || r == '\r' || r == '\n' || r == '\u200b' {
			return -1
		}
		return 'x'
	}, typed)
}

// count counts one try of a code before it is compared, so that concurrent requests have no more tries.
func (e *emailCodes) count(ctx context.Context, c *call, r *codeRecord) (*codeRecord, error) {
	for range codeWrites {
		if r.Tries >= codeTries {
			return nil, errCodeExpired()
		}
		r.Tries++
		value, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		stored := &store.Record{
			Kind: codeKind, Key: r.recordKey(), UserID: r.UserID, Value: value, Expires: r.expires, Version: r.version,
		}
		err = e.records.UpdateRecord(ctx, stored)
		switch {
		case err == nil:
			return r, nil
		case errors.Is(err, ErrConflict):
		case errors.Is(err, ErrNotFound):
			return nil, errCodeExpired()
		default:
			return nil, errorf(ErrStore, "count a try of a code: %w", err)
		}
		if r, err = e.find(ctx, c, r.Purpose); err != nil {
			if errors.Is(err, ErrNotFound) {
				return nil, errCodeExpired()
			}
			return nil, err
		}
	}
	return nil, errCodesBusy
}

var errCodesBusy = &Problem{
	Status: http.StatusServiceUnavailable, Code: "unavailable", RetryAfter: time.Second,
	Cause: errors.New("too many concurrent tries of codes for one address"),
}

// spend takes one try from the budget of an address, or returns it if taken is false. Re-authentication has a budget of
// its own: only a browser with a session of the user can use it, so that guesses elsewhere do not stop the user.
func (e *emailCodes) spend(ctx context.Context, c *call, r *codeRecord, taken bool) error {
	of := canonicalName(r.Address)
	if r.Purpose == codeReauth {
		of += "\x00" + string(r.Purpose)
	}
	key := digest(c.secrets[0], codeBudgetKind, of)
	for range codeWrites {
		stored, err := e.records.Record(ctx, codeBudgetKind, key)
		found := err == nil
		if err != nil && !errors.Is(err, ErrNotFound) {
			return errorf(ErrStore, "read the budget of an address: %w", err)
		}
		now := e.now()
		full := now // when the budget is full again
		if found {
			milliseconds, err := strconv.ParseInt(string(stored.Value), 10, 64)
			if err != nil {
				return errorf(ErrStore, "a stored budget is malformed")
			}
			if at := time.UnixMilli(milliseconds); at.After(now) {
				full = at
			}
			if most := now.Add(codeBurst * codeEvery); full.After(most) { // the clock was set back
				full = most
			}
		}
		if taken {
			if wait := full.Sub(now) - (codeBurst-1)*codeEvery; wait > 0 {
				return e.errTooMany(ctx, c, r.Address, wait)
			}
			full = full.Add(codeEvery)
		} else {
			full = full.Add(-codeEvery)
		}
		budget := &store.Record{
			Kind: codeBudgetKind, Key: key, Value: []byte(strconv.FormatInt(full.UnixMilli(), 10)),
			Expires: now.Add(codeBurst * codeEvery),
		}
		if found {
			budget.Version = stored.Version
			err = e.records.UpdateRecord(ctx, budget)
		} else {
			err = e.records.CreateRecord(ctx, budget)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound):
			return errorf(ErrStore, "write the budget of an address: %w", err)
		}
	}
	return errCodesBusy
}

var (
	textCodeWrong   = ui.Text{Key: "code.wrong", English: "That code isn't right. Attempts left: %s."}
	textCodeExpired = ui.Text{Key: "code.expired", English: "That code is no longer valid. Request a new one."}
	textCodeTooMany = ui.Text{Key: "code.too-many", English: "Too many wrong codes. Please try again later."}
)

// errWrong returns the refusal of a wrong code.
func (r *codeRecord) errWrong(left int) error {
	return &Problem{
		Status: http.StatusUnauthorized, Code: "code_wrong", Text: textCodeWrong.With(strconv.Itoa(left)),
		Members: map[string]any{"left": left},
		Cause:   &audit.Denial{Reason: audit.ReasonCode, UserID: r.UserID, Err: errors.New("the code is wrong")},
	}
}

func errCodeExpired() error {
	return &Problem{
		Status: http.StatusUnauthorized, Code: "code_expired", Text: textCodeExpired,
		Cause: auditReason(
			audit.ReasonCodeExpired,
			"no such code in this browser: it was used, has expired, or has no tries left",
		),
	}
}

// errTooMany refuses a code because the budget of its address is exhausted, and audits that.
func (e *emailCodes) errTooMany(ctx context.Context, c *call, address string, wait time.Duration) error {
	c.audit.note(ctx, &c.arrival, audit.Event{
		Name: audit.Limit, Outcome: audit.Refused, Attempt: string(limit.AttemptCode), Subject: address,
	})
	return &Problem{
		Status: http.StatusTooManyRequests, Code: "too_many", Text: textCodeTooMany, RetryAfter: wait,
		Cause: &tooMany{wait},
	}
}
