package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Activity is a security-relevant event of a user, as the account page shows it.
type Activity struct {
	// Time is when it happened, to the second. If Count is more than 1, it is the last time.
	Time time.Time `json:"time"`
	// Event is the name of the audit event, such as "signin" or "passkey.added".
	Event audit.Name `json:"event"`
	// Refused reports that the attempt failed. Count is the number of attempts, which are one entry for an hour.
	Refused bool `json:"refused,omitempty"`
	Count   int  `json:"count"`
	// Provider is the ID of the provider, or empty.
	Provider string `json:"provider,omitempty"`
	// Browser and System are the client's, and Network is the IP address or network that rate limits count. They are empty
	// if unknown.
	Browser string `json:"browser,omitempty"`
	System  string `json:"system,omitempty"`
	Network string `json:"network,omitempty"`
	// Support reports that an administrator did it.
	Support bool `json:"support,omitempty"`
}

const (
	kindActivity = "activity"
	// maxActivity is the number of entries of a user. activityAge is their maximum age.
	maxActivity = 40
	activityAge = 90 * 24 * time.Hour
	// activityMerged is the time in which refused attempts are one entry, so that attempts of an attacker do not replace
	// the other entries.
	activityMerged = time.Hour
	// maxActivityValue is less than the maximum size of a record.
	maxActivityValue = 8000
)

// Entries wait in memory until they are written in the background. If more wait, the new ones are lost; Config.Audit
// receives all events.
const (
	maxWaitingUsers   = 4096
	maxWaitingEntries = 16
	activityWriters   = 2
	activityTimeout   = 5 * time.Second
	activityTries     = 5
)

// activities stores the recent events of users: one record for each user, with a bounded list.
type activities struct {
	host    *core.PluginHost
	records store.RecordStore

	mu      sync.Mutex
	waiting map[string][]Activity
	writers int
	idle    sync.WaitGroup // of the writers
}

// activityTexts are the events that the list contains, with their texts.
var activityTexts = map[audit.Name]ui.Text{
	audit.SignIn: textActivitySignIn, audit.Reauth: textActivityReauth, audit.SessionsEnded: textActivityEnded,
	audit.AccountLinked: textActivityLinked, audit.AccountUnlinked: textActivityUnlinked,
	audit.PasswordSet: textActivityPassword, audit.PasswordChanged: textActivityPassword,
	audit.PasswordResetAsked: textActivityReset, audit.UsernameChanged: textActivityUsername,
	audit.EmailChanged: textActivityEmail, audit.EmailUndone: textActivityEmail,
	audit.PasskeyAdded: textActivityPasskey, audit.PasskeyRemoved: textActivityPasskeyGone,
	audit.AccountSecured: textActivitySecured, audit.FactorAdded: textActivityFactors,
	audit.FactorRemoved: textActivityFactors, audit.FactorsReset: textActivityFactors,
	audit.RecoveryUsed: textActivityRecovery, audit.RecoveryRenewed: textActivityCodes,
	audit.RecoveryRemoved: textActivityCodes,
	audit.KeyCreated:      textActivityKey, audit.KeyRotated: textActivityKey, audit.KeyRevoked: textActivityKeyGone,
	audit.AppSignedIn: textActivityApp, audit.AppEnded: textActivityAppGone,
	audit.DeletionScheduled: textActivityDeletion, audit.DeletionCanceled: textActivityKept,
	audit.DataExported: textActivityExported, audit.AdminImpersonated: textActivityImpersonated,
	audit.AdminSessionsEnded: textActivityEnded, audit.AdminResetSent: textActivityReset,
	audit.AdminEmailVerified: textActivityEmail, audit.AdminFactorsReset: textActivityFactors,
	audit.AdminBanned: textActivityBanned, audit.AdminUnbanned: textActivityUnbanned,
}

// showsRefusals reports whether the list contains refusals of an event. They are attempts to sign in.
func showsRefusals(name audit.Name) bool { return name == audit.SignIn || name == audit.Reauth }

// receive adds an audit event to the list of its user. It does not block.
func (l *activities) receive(ctx context.Context, e audit.Event) {
	_, listed := activityTexts[e.Name]
	refused := e.Outcome == audit.Refused && showsRefusals(e.Name)
	if e.UserID == "" || !listed || e.Outcome != audit.OK && !refused {
		return
	}
	a := Activity{
		Time: l.host.Now().UTC().Truncate(time.Second), Event: e.Name, Refused: refused, Count: max(1, e.Count),
		Provider: e.Provider, Support: e.ActorID != "" && e.ActorID != e.UserID,
	}
	if e.Peer.IsValid() {
		a.Network = e.Peer.String()
	}
	if a.Browser, a.System = ui.Device(e.Agent); a.Support {
		a.Browser, a.System, a.Network = "", "", ""
	}
	l.add(ctx, e.UserID, a)
}

func (l *activities) add(ctx context.Context, userID string, a Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, known := l.waiting[userID]
	if len(all) >= maxWaitingEntries || !known && len(l.waiting) >= maxWaitingUsers {
		return
	}
	l.waiting[userID] = append(all, a)
	if l.writers < activityWriters {
		l.writers++
		l.idle.Add(1)
		go l.write(context.WithoutCancel(ctx))
	}
}

// write writes the waiting entries, one user after the other, until none is left.
func (l *activities) write(ctx context.Context) {
	defer l.idle.Done()
	for {
		userID, entries := l.next()
		if userID == "" {
			return
		}
		limited, cancel := context.WithTimeout(ctx, activityTimeout)
		err := l.store(limited, userID, entries)
		cancel()
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			l.host.Logger.ErrorContext(ctx, "account: could not store the recent activity of a user", "error", err)
		}
	}
}

// next removes the entries of a user from those that wait.
func (l *activities) next() (userID string, entries []Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for userID, entries = range l.waiting {
		delete(l.waiting, userID)
		return userID, entries
	}
	l.writers--
	return "", nil
}

// store adds entries to the record of a user. Processes that write at the same time repeat their attempt.
func (l *activities) store(ctx context.Context, userID string, entries []Activity) (err error) {
	for range activityTries {
		var r *store.Record
		var list []Activity
		r, list, err = l.read(ctx, userID)
		created := errors.Is(err, core.ErrNotFound)
		if created {
			r = &store.Record{Kind: kindActivity, Key: userID, UserID: userID}
		} else if err != nil {
			return err
		}
		for _, a := range entries {
			list = merged(list, a)
		}
		if r.Value, err = encoded(list); err != nil {
			return err
		}
		r.Expires = l.host.Now().Add(activityAge)
		if created {
			err = l.records.CreateRecord(ctx, r)
		} else {
			err = l.records.UpdateRecord(ctx, r)
		}
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
	}
	return err
}

// read returns the record of a user and its entries that have not expired, the newest first.
func (l *activities) read(ctx context.Context, userID string) (*store.Record, []Activity, error) {
	r, err := l.records.Record(ctx, kindActivity, userID)
	if err != nil {
		return nil, nil, err
	}
	var list []Activity
	if err := json.Unmarshal(r.Value, &list); err != nil {
		return nil, nil, fmt.Errorf("account: decode the recent activity: %w", err)
	}
	from := l.host.Now().Add(-activityAge)
	return r, slices.DeleteFunc(list, func(a Activity) bool { return !a.Time.After(from) }), nil
}

// merged adds an entry in front of a list. Refused attempts within an hour are one entry.
func merged(list []Activity, a Activity) []Activity {
	same := func(b Activity) bool {
		return a.Refused && b.Refused && a.Event == b.Event && a.Time.Sub(b.Time) < activityMerged
	}
	if i := slices.IndexFunc(list, same); i >= 0 {
		a.Count += list[i].Count
		list = slices.Delete(list, i, i+1)
	}
	list = slices.Insert(list, 0, a)
	return list[:min(len(list), maxActivity)]
}

// encoded encodes a list. It leaves out the oldest entries if the value is too long for a record.
func encoded(list []Activity) (value []byte, err error) {
	for {
		if value, err = json.Marshal(list); err != nil || len(value) <= maxActivityValue {
			return value, err
		}
		list = list[:len(list)-1]
	}
}

// of returns the entries of a user, the newest first. It is never nil.
func (l *activities) of(ctx context.Context, userID string) ([]Activity, error) {
	_, list, err := l.read(ctx, userID)
	if errors.Is(err, core.ErrNotFound) {
		return []Activity{}, nil
	}
	return list, err
}

// activityOutput is the response to GET account/activity.
type activityOutput struct {
	Activity []Activity `json:"activity"`
}

// maxShown is the number of entries on the page.
const maxShown = 30

// activityView is the data of the page.
type activityView struct {
	locale           ui.Locale
	list             []Activity
	home, host, back string
	user             ui.Visitor
}

func (l *activities) actions(*reauth) []core.Action {
	return []core.Action{{Method: http.MethodGet, Verb: "activity", Require: signedIn, Handle: l.get}}
}

// get handles GET account/activity.
func (l *activities) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	list, err := l.of(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, activityOutput{list}), nil
	}
	page := c.Page("")
	v := &activityView{
		locale: page.Locale, list: list[:min(len(list), maxShown)], home: c.Home, host: c.Host(), back: c.URL("account"),
	}
	if u := session.User; u != nil {
		v.user = ui.Visitor{ID: session.UserID, Name: u.Name, Email: u.Email, Image: u.Image}
		page.Picture = u.Image
	}
	return c.Render(ctx, http.StatusOK, page, activityPage(page, v)), nil
}

func (v *activityView) sections() []ui.PageSection {
	return []ui.PageSection{{ID: "activity", Heading: v.locale.Say(textActivity), Content: activityRows(v)}}
}

// name returns the text of an entry.
func (v *activityView) name(a *Activity) string {
	text := activityTexts[a.Event]
	if a.Refused {
		text = textActivityRefused
	}
	return v.locale.Say(text)
}

// mark returns the label of an entry.
func (v *activityView) mark(a *Activity) string {
	switch {
	case a.Support:
		return v.locale.Say(textActivitySupport)
	case a.Count > 1:
		return "× " + strconv.Itoa(a.Count)
	}
	return ""
}

func (v *activityView) about(a *Activity) string {
	parts := []string{v.locale.Moment(a.Time)}
	for _, part := range []string{a.Browser, a.System, a.Network} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, separator)
}
