package webhooks

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// The limits of the queues. What does not fit stays in the store for the periodic task.
const (
	sendersPerEndpoint = 4
	waitingPerEndpoint = 64
	eventSenders       = 8
	eventsWaiting      = 256
	claimSlack         = 20 * time.Second
)

type (
	eventJob    = outbox.Job[event]
	deliveryJob = outbox.Job[delivery]
)

// initQueues creates the queue of events, which become deliveries, and that of deliveries. Each endpoint has its own
// senders, so that a slow endpoint delays no other one.
func (w *Webhooks) initQueues() {
	config := outbox.Config{Now: w.host.Now, Lifetime: eventFor, Slack: claimSlack, Release: true}
	if w.records != nil && w.host.RecordLister != nil {
		config.Records, config.List = records{w.records}, lister{w.host.RecordLister}.list
	}
	events, deliveries := config, config
	events.Kind = eventKind
	events.Lane = func(key string) (string, outbox.Limits) {
		if !isEventID(key) {
			return "", outbox.Limits{}
		}
		return eventPrefix, outbox.Limits{Senders: eventSenders, Capacity: eventsWaiting}
	}
	deliveries.Kind, deliveries.Retries = deliveryKind, waits
	deliveries.Lane = func(key string) (string, outbox.Limits) {
		endpoint, _, _ := strings.Cut(key, ".")
		return endpoint + ".", outbox.Limits{Senders: sendersPerEndpoint, Capacity: waitingPerEndpoint}
	}
	w.events, w.deliveries = outbox.New(events, eventQueue{w}), outbox.New(deliveries, deliveryQueue{w})
}

// records are the records of a store, for package outbox.
type records struct{ of store.RecordStore }

func (s records) CreateRecord(ctx context.Context, r *recordstore.Record) error {
	return s.of.CreateRecord(ctx, (*store.Record)(r))
}

func (s records) Record(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.of.Record(ctx, kind, key)
	return (*recordstore.Record)(r), err
}

func (s records) UpdateRecord(ctx context.Context, r *recordstore.Record) error {
	return s.of.UpdateRecord(ctx, (*store.Record)(r))
}

func (s records) DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.of.DeleteRecord(ctx, kind, key)
	return (*recordstore.Record)(r), err
}

type lister struct{ of store.RecordLister }

func (s lister) list(ctx context.Context, kind, prefix, cursor string, limit int) (
	all []*recordstore.Record, next string, err error,
) {
	list, next, err := s.of.ListRecords(ctx, kind, prefix, cursor, limit)
	for _, r := range list {
		all = append(all, (*recordstore.Record)(r))
	}
	return all, next, err
}

// eventQueue creates the deliveries of events. It implements outbox.Handler.
type eventQueue struct{ *Webhooks }

func (eventQueue) Encode(e event) (json.RawMessage, error) { return json.Marshal(e) }

func (eventQueue) Decode(_ string, data json.RawMessage) (e event, err error) {
	return e, json.Unmarshal(data, &e)
}

// Send implements outbox.Handler. An error is one of the store, so that the event waits for the periodic task.
func (q eventQueue) Send(j *eventJob) error {
	if err := q.fanOut(j); err != nil {
		return outbox.Later(err)
	}
	return nil
}

func (q eventQueue) Made(j *eventJob) (bool, error) { return q.made(j) }

func (q eventQueue) Retrying(j *eventJob, err error, _ time.Duration) { q.Warn(j, err) }

// GiveUp implements outbox.Handler. The event stays in the store for the periodic task.
func (q eventQueue) GiveUp(j *eventJob, err error) { q.Warn(j, err) }

func (q eventQueue) Warn(j *eventJob, err error) { q.logStep(j.Context, err) }

func (q eventQueue) Fail(ctx context.Context, err error) { q.logStep(ctx, err) }

// deliveryQueue sends deliveries. It implements outbox.Handler.
type deliveryQueue struct{ *Webhooks }

func (deliveryQueue) Encode(d delivery) (json.RawMessage, error) { return json.Marshal(d.event) }

func (deliveryQueue) Decode(key string, data json.RawMessage) (delivery, error) {
	d := newDelivery(key)
	return d, json.Unmarshal(data, &d.event)
}

func (q deliveryQueue) Send(j *deliveryJob) error { return q.attempt(j) }

func (deliveryQueue) Made(*deliveryJob) (bool, error) { return true, nil }

func (q deliveryQueue) Retrying(j *deliveryJob, err error, wait time.Duration) {
	q.host.Logger.LogAttrs(j.Context, slog.LevelWarn, "webhooks: an event was not accepted and will be sent again",
		slog.String("endpoint", j.Value.endpoint), slog.String("event", j.Value.Type), slog.String("id", j.Value.id),
		slog.Int("attempt", j.Attempts+1), slog.Duration("after", wait), slog.Any("error", err))
}

func (q deliveryQueue) GiveUp(j *deliveryJob, err error) { q.logStep(j.Context, q.giveUp(j, err)) }

func (q deliveryQueue) Warn(j *deliveryJob, err error) { q.logStep(j.Context, err) }

func (q deliveryQueue) Fail(ctx context.Context, err error) { q.logStep(ctx, err) }

func (w *Webhooks) logStep(ctx context.Context, err error) {
	if err != nil {
		w.host.Logger.ErrorContext(ctx, "webhooks: a step failed and will be repeated", "error", err)
	}
}
