package knownbrowser

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// kind is the kind of the records of Notices. There is one for each user.
const kind = "sign-in-notice"

// A sign-in in a new browser is reported if the first sign-in was at least newUserFor ago, and at most once in every.
const (
	newUserFor = 24 * time.Hour
	every      = time.Hour
)

// note is the content of a record, in Unix seconds.
type note struct {
	First  int64 `json:"first"` // the first sign-in since the feature is in use
	Mailed int64 `json:"mailed,omitempty"`
}

// Notices decides whether a user is informed about a sign-in in a new browser.
type Notices struct {
	Records recordstore.Store
	Now     func() time.Time
}

// Due returns the change that must be made before an email is sent about a sign-in, or nil if none is due. Of
// concurrent sign-ins, in any process, the change succeeds for one; for the others it returns recordstore.ErrConflict.
// key identifies the user. known reports whether the browser was known before.
func (n *Notices) Due(
	ctx context.Context, userID, key string, known bool,
) (change func(ctx context.Context) error, err error) {
	now := n.Now()
	r, err := n.Records.Record(ctx, kind, key)
	if errors.Is(err, recordstore.ErrNotFound) {
		r = &recordstore.Record{Kind: kind, Key: key, UserID: userID}
		if r.Value, err = json.Marshal(note{First: now.Unix()}); err != nil {
			return nil, err
		}
		return nil, n.Records.CreateRecord(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	var before note
	if err := json.Unmarshal(r.Value, &before); err != nil {
		return nil, err
	}
	first, mailed := time.Unix(before.First, 0), time.Unix(before.Mailed, 0)
	if known || now.Sub(first) < newUserFor || now.Sub(mailed) < every {
		return nil, nil
	}
	before.Mailed = now.Unix()
	if r.Value, err = json.Marshal(before); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return n.Records.UpdateRecord(ctx, r) }, nil
}
