package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// maxToken is longer than any token of ours: what is longer is looked for nowhere.
const maxToken = 64

// remember keeps what a link is about.
func (a *Account) remember(ctx context.Context, kind, token, userID string, ends time.Time, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("account: link of kind %s: %w", kind, err)
	}
	err = a.records.CreateRecord(ctx, &store.Record{
		Kind: kind, Key: a.host.Digest("account "+kind, token), UserID: userID, Value: value, Expires: ends,
	})
	if err != nil {
		return fmt.Errorf("account: keep a link of kind %s: %w", kind, err)
	}
	return nil
}

// withdraw removes a link whose letter did not go out, so that it is not counted among those that are under way. What
// stays behind an error is logged and expires: nobody knows its token.
func (a *Account) withdraw(ctx context.Context, kind, token string) {
	_, err := a.records.DeleteRecord(context.WithoutCancel(ctx), kind, a.host.Digest("account "+kind, token))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		a.host.Logger.WarnContext(ctx, "account: a link that was not sent stays until it expires", "kind", kind,
			"error", err)
	}
}

// recall reads what a link is about into v, a pointer. [core.ErrNotFound]: there is no such link, or it has expired.
func (a *Account) recall(ctx context.Context, kind, token string, v any) (*store.Record, error) {
	if token == "" || len(token) > maxToken {
		return nil, core.ErrNotFound
	}
	for _, key := range a.host.Digests("account "+kind, token) {
		r, err := a.records.Record(ctx, kind, key)
		switch {
		case errors.Is(err, core.ErrNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("account: look a link of kind %s up: %w", kind, err)
		case !r.Expires.After(a.host.Now()) || json.Unmarshal(r.Value, v) != nil:
			return nil, core.ErrNotFound
		}
		return r, nil
	}
	return nil, core.ErrNotFound
}

// waiting is how many links of a kind a user has that work still.
func (a *Account) waiting(ctx context.Context, userID, kind string) (n int, err error) {
	records, err := a.records.UserRecords(ctx, userID, kind)
	if err != nil {
		return 0, fmt.Errorf("account: list the links of kind %s: %w", kind, err)
	}
	for _, r := range records {
		if r.Expires.After(a.host.Now()) {
			n++
		}
	}
	return n, nil
}

// sendWithin bounds how long a letter may take.
const sendWithin = 20 * time.Second

// send delivers a letter. c is nil for a letter that a program sends. The error tells the visitor to try again.
func (a *Account) send(ctx context.Context, c *core.Call, l core.Letter) error {
	l.Theme, l.Locale = a.host.Theme, a.host.Locale
	if c != nil {
		l.Host, l.Request, l.Locale = c.Host(), c.Request, c.Locale
	}
	ctx, end := context.WithTimeout(ctx, sendWithin)
	defer end()
	if err := l.Deliver(ctx, a.options.Mail); err != nil {
		return &core.Problem{
			Status: http.StatusServiceUnavailable, Code: codeMail, Text: problemText(codeMail),
			Cause: fmt.Errorf("account: send the %s letter: %w", l.Kind, err),
		}
	}
	return nil
}
