package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
)

const (
	// deliveryKind is an event for one endpoint that was not accepted yet. The key is the ID of the endpoint, a dot and
	// the ID of the event. failedKind is one that was given up.
	deliveryKind = "webhook-delivery"
	failedKind   = "webhook-failed"
	failedFor    = 30 * 24 * time.Hour // lifetime of a failed delivery
)

// waits are the times between the attempts to deliver an event: about three days in total, as Standard Webhooks
// recommends. Up to a tenth is added.
var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	18 * time.Hour, 22 * time.Hour,
}

// delivery is an event for one endpoint.
type delivery struct {
	event
	endpoint, id string
}

// newDelivery returns a delivery without its event.
func newDelivery(key string) (d delivery) {
	d.endpoint, d.id, _ = strings.Cut(key, ".")
	return d
}

// failure is the value of the record of a failed delivery.
type failure struct {
	event
	Attempts int       `json:"attempts"`
	Error    string    `json:"error"`
	Failed   time.Time `json:"failed"`
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
	if err := w.events.Collect(ctx, ""); err != nil {
		return fmt.Errorf("webhooks: list events: %w", err)
	}
	all, err := w.endpoints(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := w.deliveries.Collect(ctx, e.ID+"."); err != nil {
			return fmt.Errorf("webhooks: list deliveries: %w", err)
		}
	}
	return nil
}

// fanOut creates the deliveries of an event. If two processes do it at the same time, the keys of the deliveries are
// the same.
func (w *Webhooks) fanOut(j *eventJob) error {
	all, err := w.endpoints(j.Context)
	if err != nil {
		return err
	}
	for _, e := range all {
		if !e.active() || !wants(e.Events, j.Value.Type) || e.Created.After(j.Value.At) {
			continue
		}
		if err := w.deliver(j.Context, e.ID, j.Key, j.Value); err != nil {
			return err
		}
	}
	return nil
}

// deliver stores a delivery, and sends it in the background.
func (w *Webhooks) deliver(ctx context.Context, endpoint, id string, e event) error {
	key := endpoint + "." + id
	d := newDelivery(key)
	d.event = e
	d.Change = nil
	err := w.deliveries.AddStored(&deliveryJob{Key: key, Value: d, Context: context.WithoutCancel(ctx)})
	if err != nil {
		return fmt.Errorf("webhooks: store a delivery: %w", err)
	}
	return nil
}

// attempt sends a delivery once.
func (w *Webhooks) attempt(j *deliveryJob) error {
	ctx := j.Context
	e, err := w.current(ctx, j.Value.endpoint)
	switch {
	case errors.Is(err, core.ErrNotFound): // it was deleted, and its deliveries too
		return nil
	case err != nil:
		return outbox.Later(err)
	case !e.active():
		return outbox.Final(errInactive)
	}
	if err = w.post(ctx, e, j.Value.id, j.Value.Body); err == nil {
		w.accepted(ctx, e)
		return nil
	}
	w.refused(ctx, e, err)
	if errorStatus(err) == http.StatusGone {
		return outbox.Final(err)
	}
	return err
}

// errInactive is the error of a delivery to an endpoint that was disabled meanwhile.
var errInactive = errors.New("the endpoint is disabled")

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

// giveUp makes a failed delivery of a delivery. If the process ends in between, another one does it again.
func (w *Webhooks) giveUp(j *deliveryJob, cause error) error {
	now := w.host.Now()
	failed := failure{j.Value.event, j.Attempts, cause.Error(), now.UTC().Truncate(time.Millisecond)}
	if !errors.Is(cause, errInactive) {
		failed.Attempts++
	}
	value, err := json.Marshal(failed)
	if err != nil {
		return err
	}
	err = w.records.CreateRecord(j.Context, &store.Record{
		Kind: failedKind, Key: j.Key, Value: value, Expires: now.Add(failedFor),
	})
	if err != nil && !errors.Is(err, core.ErrConflict) {
		return fmt.Errorf("webhooks: store a failed delivery: %w", err)
	}
	w.host.Logger.LogAttrs(j.Context, slog.LevelError, "webhooks: an event was given up; it can be sent again",
		slog.String("endpoint", j.Value.endpoint), slog.String("event", j.Value.Type), slog.String("id", j.Value.id),
		slog.Int("attempt", failed.Attempts), slog.String("error", failed.Error))
	w.deliveries.Remove(j)
	return nil
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
		f, err := readFailure(r)
		if err != nil {
			return err
		}
		if len(all) >= limit {
			return errEnough
		}
		d := newDelivery(r.Key)
		all = append(all, Delivery{
			ID: d.id, Endpoint: d.endpoint, Type: f.Type, At: f.At, Failed: f.Failed, Attempts: f.Attempts, Error: f.Error,
		})
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

// errEnough ends a list.
var errEnough = errors.New("enough")

func readFailure(r *store.Record) (f failure, err error) {
	if err := json.Unmarshal(r.Value, &f); err != nil {
		return f, fmt.Errorf("webhooks: the record of a failed delivery is malformed: %w", err)
	}
	return f, nil
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
	failed, err := readFailure(r)
	if err != nil {
		return err
	}
	if err := w.deliver(ctx, endpointID, eventID, failed.event); err != nil {
		return err
	}
	if _, err := w.records.DeleteRecord(ctx, failedKind, r.Key); !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return nil
}

var errDisabled = errors.New("webhooks: the endpoint is disabled")

func isEventID(id string) bool {
	rest, ok := strings.CutPrefix(id, eventPrefix)
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
	id, err := w.newID(eventPrefix)
	if err != nil {
		return err
	}
	body, err := json.Marshal(payload{Type: testEvent, Timestamp: w.host.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return err
	}
	return w.post(ctx, e, id, body)
}
