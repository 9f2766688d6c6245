package emailcode

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/mailaddr"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

const (
	// budgetKind is the kind of the records of budgets.
	budgetKind = "code-budget"
	// burst wrong codes are possible immediately, and then one in every: at most 46 in a day. A guesser finds one of a
	// million codes within that day with a chance of 0.005 %.
	burst, every = 10, 40 * time.Minute
)

// Reauth is the purpose of codes for the re-authentication of a signed-in user.
const Reauth = "reauth"

// budgets returns the budgets that each try of a code uses. All codes for one address share one, and so do all codes
// that a signed-in user requested for other addresses. Re-authentication has a separate budget: only a browser with a
// session of the user can use it, so that guesses elsewhere do not stop the user.
func (c *Code) budgets() []string {
	of, err := mailaddr.Normalize(c.Address)
	if err != nil {
		of = strings.ToLower(strings.TrimSpace(c.Address))
	}
	switch {
	case c.Purpose == Reauth:
		return []string{of + "\x00" + Reauth}
	case c.UserID != "":
		return []string{of, "user\x00" + c.UserID}
	}
	return []string{of}
}

// take takes one try from each budget of a code.
func (s *Codes) take(ctx context.Context, c *Code) error {
	for _, budget := range c.budgets() {
		wait, err := s.spend(ctx, budget, true)
		if err != nil {
			return err
		}
		if wait > 0 {
			return &TooManyError{wait, c.Address}
		}
	}
	return nil
}

// giveBack returns a try to each budget of a code, because the code was right.
func (s *Codes) giveBack(ctx context.Context, c *Code) error {
	for _, budget := range c.budgets() {
		if _, err := s.spend(ctx, budget, false); err != nil {
			return err
		}
	}
	return nil
}

// spend takes one try from a budget, or returns it if taken is false. If the budget is exhausted, it takes nothing and
// returns the time until one more try is possible.
func (s *Codes) spend(ctx context.Context, budget string, taken bool) (wait time.Duration, err error) {
	key := purposekey.Digest(s.Secrets[0], budgetKind, budget)
	for range writes {
		r := &recordstore.Record{Kind: budgetKind, Key: key}
		stored, err := s.Records.Record(ctx, budgetKind, key)
		found := err == nil
		if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
			return 0, fmt.Errorf("read the budget of an address: %w", err)
		}
		now := s.Now()
		full := now // when the budget is full again
		if found {
			r.Version = stored.Version
			if full, err = parse(stored, now); err != nil {
				return 0, err
			}
		}
		if taken {
			if wait := full.Sub(now) - (burst-1)*every; wait > 0 {
				return wait, nil
			}
			full = full.Add(every)
		} else {
			full = full.Add(-every)
		}
		r.Value, r.Expires = []byte(strconv.FormatInt(full.UnixMilli(), 10)), now.Add(burst*every)
		if found {
			err = s.Records.UpdateRecord(ctx, r)
		} else {
			err = s.Records.CreateRecord(ctx, r)
		}
		switch {
		case err == nil:
			return 0, nil
		case !errors.Is(err, recordstore.ErrConflict) && !errors.Is(err, recordstore.ErrNotFound):
			return 0, fmt.Errorf("write the budget of an address: %w", err)
		}
	}
	return 0, ErrBusy
}

// parse returns when a budget is full again.
func parse(r *recordstore.Record, now time.Time) (time.Time, error) {
	milliseconds, err := strconv.ParseInt(string(r.Value), 10, 64)
	if err != nil {
		return now, errors.New("a stored budget is malformed")
	}
	full := time.UnixMilli(milliseconds)
	if full.Before(now) {
		return now, nil
	}
	if most := now.Add(burst * every); full.After(most) { // the clock was set back
		return most, nil
	}
	return full, nil
}
