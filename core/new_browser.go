package core

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// signInNotice is the kind of the record that limits the emails about new browsers. There is one for each user.
const signInNotice = "sign-in-notice"

// A sign-in in a new browser is reported if the first sign-in was at least newUserFor ago, and at most once in
// newBrowserEvery.
const (
	newUserFor      = 24 * time.Hour
	newBrowserEvery = time.Hour
)

// browserNote is the content of the record, in Unix seconds.
type browserNote struct {
	First  int64 `json:"first"` // the first sign-in since the feature is in use
	Mailed int64 `json:"mailed,omitempty"`
}

// noticeBrowser emails a user who has signed in in a new browser. known reports whether the browser was known before.
// Of concurrent sign-ins, in any process, one sends the email. A failure is logged and does not affect the sign-in.
func (ps *plugins) noticeBrowser(ctx context.Context, c *call, who member, known bool) {
	records := ps.auth.store.records
	if ps.notices.mailer == nil || records == nil || ps.limits.known == nil || who.keepsSession {
		return
	}
	now, key := ps.now(), publicID("user "+who.user.ID)
	var note browserNote
	r, err := records.Record(ctx, signInNotice, key)
	switch {
	case errors.Is(err, ErrNotFound):
		r = &store.Record{Kind: signInNotice, Key: key, UserID: who.user.ID}
		if r.Value, err = json.Marshal(browserNote{First: now.Unix()}); err == nil {
			err = records.CreateRecord(ctx, r)
		}
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) { // a user of the application; a concurrent sign-in
			return
		}
	case err == nil:
		if err = json.Unmarshal(r.Value, &note); err != nil {
			break
		}
		first, mailed := time.Unix(note.First, 0), time.Unix(note.Mailed, 0)
		if known || now.Sub(first) < newUserFor || now.Sub(mailed) < newBrowserEvery {
			return
		}
		note.Mailed = now.Unix()
		if r.Value, err = json.Marshal(note); err == nil {
			err = records.UpdateRecord(ctx, r)
		}
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
			return
		}
		if err == nil {
			ps.notify(ctx, &c.arrival, who.user, SecurityNotice{Kind: EmailNewDevice, UserID: who.user.ID})
		}
	}
	if err != nil {
		c.log.failure(ctx, errorf(ErrStore, "notice of a new browser: %w", err), c.attrs()...)
	}
}
