package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	// deliveryKind is an event for one endpoint that was not accepted yet. The key is the ID of the endpoint, a dot and
	// the ID of the event. failedKind is one that was given up.
	deliveryKind = "webhook-delivery"
	failedKind   = "webhook-failed"
	failedFor    = 30 * 24 * time.Hour // lifetime of a failed delivery

	claimFor   = 2 * time.Minute // duration of a claim
	claimSlack = 20 * time.Second
	timerFor   = 5 * time.Minute // longer waits end with the periodic task
)

// waits are the times between the attempts to deliver an event: about three days in total, as Standard Webhooks
// recommends. Up to a tenth is added.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	18 * time.Hour, 22 * time.Hour,
}

// delivery is the value of the record of a delivery. A delivery belongs to one process at a time: the one that has
// claimed it by compare-and-set, until Due.
type delivery struct {
	storedEvent
	// Due is when the next attempt may begin, or when the current claim ends, in Unix milliseconds.
	Due      int64 `json:"due"`
	Attempts int   `json:"attempts,omitempty"`
	// Error is the error of the last attempt, and Failed when the delivery was given up.
	Error  string    `json:"error,omitempty"`
	Failed time.Time `json:"failed,omitzero"`
}

// Delivery is an event that an endpoint has not accepted.
type Delivery struct {
	// ID is the ID of the event, in the header webhook-id. Endpoint is the ID of the endpoint.
	ID       string `json:"id"`
	Endpoint string `json:"endpoint"`
	// Type is the name of the event.
	Type string `json:"type"`
	// At is when the event occurred, and Failed when the delivery was given up.
	At     time.Time `json:"at"`
	Failed time.Time `json:"failed"`
	// Attempts is the number of requests. Error is the error of the last one.
	Attempts int    `json:"attempts"`
	Error    string `json:"error"`
}

// job is a delivery in memory.
type job struct {
	endpoint, event string
	stored          delivery
	record          *store.Record
	claimed         time.Time // end of the claim
}

func readDelivery(r *store.Record) (*job, error) {
	j := &job{record: r}
	var ok bool
	if j.endpoint, j.event, ok = strings.Cut(r.Key, "."); !ok {
		return nil, errors.New("webhooks: the key of a delivery is malformed")
	}
	if err := json.Unmarshal(r.Value, &j.stored); err != nil {
		return nil, fmt.Errorf("webhooks: the record of a delivery is malformed: %w", err)
	}
	return j, nil
}

// each calls f for each record of a kind whose key has a prefix. A record that the store returns twice is passed on
// twice.
func (w *Webhooks) each(ctx context.Context, kind, prefix string, f func(*store.Record) error) error {
	for cursor := ""; ; {
		page, next, err := w.host.RecordLister.ListRecords(ctx, kind, prefix, cursor, 100)
		if err != nil {
			return fmt.Errorf("webhooks: list records: %w", err)
		}
		for _, r := range page {
			if err := f(r); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// collect assigns the stored events to endpoints, and sends the deliveries that are due, also those of processes that
// have ended.
func (w *Webhooks) collect(ctx context.Context) error {
	if w.host == nil {
		return errNotReady
	}
	err := w.each(ctx, eventKind, "", func(r *store.Record) error {
		if r.Expires.Add(claimFor - eventFor).After(w.host.Now()) { // the process that has stored it may be at it
			return nil
		}
		return w.fanOut(ctx, r)
	})
	if err != nil {
		return err
	}
	all, err := w.endpoints(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		err := w.each(ctx, deliveryKind, e.ID+".", func(r *store.Record) error { return w.adopt(ctx, r) })
		if err != nil && !errors.Is(err, errFull) {
			return err
		}
	}
	return nil
}

// fanOut creates the deliveries of an event, and then deletes the event. If two processes do it at the same time, the
// keys of the deliveries are the same.
func (w *Webhooks) fanOut(ctx context.Context, r *store.Record) error {
	all, err := w.endpoints(ctx)
	if err != nil {
		return err
	}
	var event storedEvent
	if err := json.Unmarshal(r.Value, &event); err != nil {
		w.host.Logger.ErrorContext(ctx, "webhooks: an event cannot be read", "id", r.Key, "error", err)
		return nil // the others are sent
	}
	for _, e := range all {
		if !e.active() || !wants(e.Events, event.Type) || e.Created.After(event.At) {
			continue
		}
		j := &job{endpoint: e.ID, event: r.Key, stored: delivery{storedEvent: event}}
		if err := w.create(ctx, j); err != nil {
			return err
		}
	}
	if _, err := w.records.DeleteRecord(ctx, eventKind, r.Key); err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("webhooks: delete an event: %w", err)
	}
	return nil
}

// create stores a delivery that this process has claimed, and sends it in the background. It does nothing if the
// delivery exists.
func (w *Webhooks) create(ctx context.Context, j *job) error {
	now := w.host.Now()
	key := j.endpoint + "." + j.event
	j.record = &store.Record{Kind: deliveryKind, Key: key, Expires: now.Add(eventFor)}
	due, reserved := now, w.queue.reserve(j)
	if reserved {
		due = now.Add(claimFor)
	}
	value, err := j.until(due)
	if err == nil {
		j.record.Value = value
		err = w.records.CreateRecord(ctx, j.record)
	}
	switch {
	case errors.Is(err, core.ErrConflict):
		err = nil
	case err != nil:
		err = fmt.Errorf("webhooks: store a delivery: %w", err)
	case reserved:
		j.claimed = due
		w.queue.ready(j)
		return nil
	}
	if reserved {
		w.queue.finish(j)
	}
	return err
}

// until sets Due and returns the value of the record.
func (j *job) until(due time.Time) (json.RawMessage, error) {
	j.stored.Due = due.UnixMilli()
	return json.Marshal(j.stored)
}

// errClaimed says that another process has claimed or sent the delivery. errFull says that enough deliveries of the
// endpoint are in memory.
var (
	errClaimed = errors.New("another process has claimed the delivery")
	errFull    = errors.New("the queue of the endpoint is full")
)

// adopt claims a delivery that is due, and sends it in the background.
func (w *Webhooks) adopt(ctx context.Context, r *store.Record) error {
	now := w.host.Now()
	j, err := readDelivery(r)
	if err != nil {
		w.host.Logger.ErrorContext(ctx, "webhooks: a delivery cannot be read", "error", err)
		return nil
	}
	if j.stored.Due > now.UnixMilli() || !r.Expires.After(now) || w.queue.holds(r.Key) {
		return nil
	}
	if !w.queue.reserve(j) {
		return errFull
	}
	if err := w.claim(ctx, j, now.Add(claimFor)); err != nil {
		w.queue.finish(j)
		if errors.Is(err, errClaimed) {
			return nil
		}
		return err
	}
	w.queue.ready(j)
	return nil
}

// claim makes sure that no other process sends the delivery until a time.
func (w *Webhooks) claim(ctx context.Context, j *job, until time.Time) (err error) {
	if j.record.Value, err = j.until(until); err != nil {
		return err
	}
	switch err := w.records.UpdateRecord(ctx, j.record); {
	case errors.Is(err, core.ErrConflict), errors.Is(err, core.ErrNotFound):
		return errClaimed
	case err != nil:
		return fmt.Errorf("webhooks: claim a delivery: %w", err)
	}
	j.claimed = until
	return nil
}

// attempt sends a delivery once. If it is not accepted, it is sent again later, or given up.
func (w *Webhooks) attempt(ctx context.Context, j *job) error {
	now := w.host.Now()
	if now.Add(claimSlack).After(j.claimed) {
		if err := w.claim(ctx, j, now.Add(claimFor)); err != nil {
			return err
		}
	}
	e, err := w.current(ctx, j.endpoint)
	switch {
	case errors.Is(err, core.ErrNotFound): // it was deleted
		return w.remove(ctx, j)
	case err != nil:
		return err
	case !e.active():
		j.stored.Error = "the endpoint is disabled"
		return w.giveUp(ctx, j)
	}
	err = w.post(ctx, e, j.event, j.stored.Body)
	if err == nil {
		w.accepted(ctx, e)
		return w.remove(ctx, j)
	}
	j.stored.Attempts++
	j.stored.Error = err.Error()
	w.refused(ctx, e, err)
	if j.stored.Attempts > len(waits) || errors.Is(err, errStatus) && errorStatus(err) == http.StatusGone {
		return w.giveUp(ctx, j)
	}
	wait := waits[j.stored.Attempts-1]
	wait += time.Duration(rand.Int64N(int64(wait)/10 + 1)) //nolint:gosec // no secret
	w.host.Logger.LogAttrs(ctx, slog.LevelWarn, "webhooks: an event was not accepted and will be sent again",
		slog.String("endpoint", j.endpoint), slog.String("event", j.stored.Type), slog.String("id", j.event),
		slog.Int("attempt", j.stored.Attempts), slog.Duration("after", wait), slog.Any("error", err))
	if err := w.claim(ctx, j, w.host.Now().Add(wait)); err != nil {
		return err
	}
	if wait <= timerFor+timerFor/10 {
		w.queue.later(wait, j.record.Key)
	}
	return nil
}

func errorStatus(err error) int {
	var status statusError
	errors.As(err, &status)
	return int(status)
}

// current returns an endpoint. A change in another process can be missing for readAgain.
func (w *Webhooks) current(ctx context.Context, id string) (*endpoint, error) {
	all, err := w.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, core.ErrNotFound
}

// remove deletes the record of a delivery that was accepted.
func (w *Webhooks) remove(ctx context.Context, j *job) error {
	_, err := w.records.DeleteRecord(ctx, deliveryKind, j.record.Key)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("webhooks: delete a delivery: %w", err)
	}
	return nil
}

// giveUp makes a failed delivery of a delivery. If the process ends in between, another one does it again.
func (w *Webhooks) giveUp(ctx context.Context, j *job) error {
	now := w.host.Now()
	j.stored.Failed = now.UTC().Truncate(time.Millisecond)
	value, err := j.until(now)
	if err != nil {
		return err
	}
	err = w.records.CreateRecord(ctx, &store.Record{
		Kind: failedKind, Key: j.record.Key, Value: value, Expires: now.Add(failedFor),
	})
	if err != nil && !errors.Is(err, core.ErrConflict) {
		return fmt.Errorf("webhooks: store a failed delivery: %w", err)
	}
	w.host.Logger.LogAttrs(ctx, slog.LevelError, "webhooks: an event was given up; it can be sent again",
		slog.String("endpoint", j.endpoint), slog.String("event", j.stored.Type), slog.String("id", j.event),
		slog.Int("attempt", j.stored.Attempts), slog.String("error", j.stored.Error))
	return w.remove(ctx, j)
}

// accepted notes that an endpoint works.
func (w *Webhooks) accepted(ctx context.Context, e *endpoint) {
	if e.Failing.IsZero() {
		return
	}
	_, err := w.change(ctx, e.ID, func(e *endpoint) (bool, error) {
		changed := !e.Failing.IsZero() && e.active()
		e.Failing = time.Time{}
		return changed, nil
	})
	w.warn(ctx, e, err)
}

// refused notes that a request to an endpoint failed. It disables an endpoint that has failed for too long, and one
// that responds with 410 Gone.
func (w *Webhooks) refused(ctx context.Context, e *endpoint, cause error) {
	now := w.host.Now().UTC().Truncate(time.Millisecond)
	over := func(e *endpoint) bool {
		limit := w.options.DisableAfter
		return errorStatus(cause) == http.StatusGone ||
			limit >= 0 && !e.Failing.IsZero() && !now.Before(e.Failing.Add(limit))
	}
	if !e.Failing.IsZero() && !over(e) {
		return
	}
	disabled := false
	_, err := w.change(ctx, e.ID, func(e *endpoint) (bool, error) {
		disabled = false
		switch {
		case !e.active():
			return false, nil
		case over(e):
			e.Disabled, disabled = now, true
		case !e.Failing.IsZero():
			return false, nil
		default:
			e.Failing = now
		}
		return true, nil
	})
	w.warn(ctx, e, err)
	if err == nil && disabled {
		w.host.Logger.ErrorContext(ctx, "webhooks: an endpoint was disabled, because it accepts nothing", "endpoint", e.ID)
		w.host.Audit(ctx, audit.Event{Name: audit.WebhookDisabled, Outcome: audit.OK})
	}
}

// warn logs that the state of an endpoint was not stored.
func (w *Webhooks) warn(ctx context.Context, e *endpoint, err error) {
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		w.host.Logger.WarnContext(ctx, "webhooks: the state of an endpoint was not stored", "endpoint", e.ID, "error", err)
	}
}

// Failed returns the failed deliveries of an endpoint, at most limit of them.
func (w *Webhooks) Failed(ctx context.Context, endpointID string, limit int) ([]Delivery, error) {
	if w.host == nil {
		return nil, errNotReady
	}
	if !isEndpointID(endpointID) {
		return nil, core.ErrNotFound
	}
	all, seen := []Delivery{}, map[string]bool{}
	err := w.each(ctx, failedKind, endpointID+".", func(r *store.Record) error {
		if seen[r.Key] || !r.Expires.After(w.host.Now()) {
			return nil
		}
		seen[r.Key] = true
		j, err := readDelivery(r)
		if err != nil {
			return err
		}
		if len(all) >= limit {
			return errFull
		}
		all = append(all, Delivery{
			ID: j.event, Endpoint: j.endpoint, Type: j.stored.Type, At: j.stored.At, Failed: j.stored.Failed,
			Attempts: j.stored.Attempts, Error: j.stored.Error,
		})
		return nil
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	return all, err
}

// Replay sends a failed delivery again, with the same ID and the same body, for another three days.
func (w *Webhooks) Replay(ctx context.Context, endpointID, eventID string) error {
	if w.host == nil {
		return errNotReady
	}
	e, err := w.find(ctx, endpointID)
	switch {
	case err != nil:
		return err
	case !e.active():
		return errDisabled
	case !isEventID(eventID):
		return core.ErrNotFound
	}
	r, err := w.records.Record(ctx, failedKind, endpointID+"."+eventID)
	if err != nil {
		return err
	}
	failed, err := readDelivery(r)
	if err != nil {
		return err
	}
	again := &job{endpoint: endpointID, event: eventID, stored: delivery{storedEvent: failed.stored.storedEvent}}
	if err := w.create(ctx, again); err != nil {
		return err
	}
	if _, err := w.records.DeleteRecord(ctx, failedKind, r.Key); !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return nil
}

var errDisabled = errors.New("webhooks: the endpoint is disabled")

func isEventID(id string) bool {
	rest, ok := strings.CutPrefix(id, "msg_")
	return ok && len(rest) == 22 && !strings.ContainsAny(rest, ". ")
}

// Test sends a request of the type "webhook.test" to an endpoint, once, and returns its error. An endpoint can be
// tested while it is disabled.
func (w *Webhooks) Test(ctx context.Context, endpointID string) error {
	if w.host == nil {
		return errNotReady
	}
	e, err := w.find(ctx, endpointID)
	if err != nil {
		return err
	}
	id, err := w.newID("msg_")
	if err != nil {
		return err
	}
	body, err := json.Marshal(payload{Type: testEvent, Timestamp: w.host.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return err
	}
	return w.post(ctx, e, id, body)
}
