package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	endpointKind   = "webhook-endpoint" // the key is the ID of the endpoint
	endpointPrefix = "we_"
	secretPurpose  = "webhook secret"
	maxDescription = 100
	// readAgain is the time after which the endpoints are read again. Another process sees a change after it.
	readAgain = 10 * time.Second
)

// Endpoint receives webhooks.
type Endpoint struct {
	// ID is that of [Config], or "we_" and 22 random characters.
	ID string `json:"id"`
	// URL is the address, and Description the text of the manager who created the endpoint.
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
	// Events is the filter; see [Config].Events. If it is empty, all events are sent.
	Events []string `json:"events,omitempty"`
	// Configured reports that the endpoint is in Options.Endpoints.
	Configured bool `json:"configured,omitempty"`
	// Created is zero for an endpoint of the configuration.
	Created time.Time `json:"created,omitzero"`
	// Failing is when the first request failed since the last one that was accepted. It is zero if the last one was
	// accepted.
	Failing time.Time `json:"failing,omitzero"`
	// Disabled is when the endpoint was disabled. It is zero if events are sent.
	Disabled time.Time `json:"disabled,omitzero"`
}

// endpoint is an endpoint with its secrets.
type endpoint struct {
	Endpoint
	secrets  secrets
	internal bool
	record   *store.Record // nil for an endpoint of the configuration that never failed
}

// secrets are the secrets of an endpoint.
type secrets struct {
	Current core.Secret `json:"-"`
	// Previous signs too until Until, or always if Until is zero.
	Previous core.Secret `json:"-"`
	Until    time.Time   `json:"until,omitzero"`
}

// sealedSecrets is the encrypted form of secrets.
type sealedSecrets struct {
	Current  string    `json:"current"`
	Previous string    `json:"previous,omitempty"`
	Until    time.Time `json:"until,omitzero"`
}

// storedEndpoint is the value of a record. For an endpoint of the configuration it has only the state.
type storedEndpoint struct {
	URL         string    `json:"url,omitempty"`
	Description string    `json:"description,omitempty"`
	Events      []string  `json:"events,omitempty"`
	Secrets     string    `json:"secrets,omitempty"`
	Created     time.Time `json:"created,omitzero"`
	Failing     time.Time `json:"failing,omitzero"`
	Disabled    time.Time `json:"disabled,omitzero"`
}

func (e *endpoint) active() bool { return e.Disabled.IsZero() }

// signing returns the secrets that sign at a time, the newest first.
func (e *endpoint) signing(now time.Time) []core.Secret {
	if e.secrets.Previous != "" && (e.secrets.Until.IsZero() || now.Before(e.secrets.Until)) {
		return []core.Secret{e.secrets.Current, e.secrets.Previous}
	}
	return []core.Secret{e.secrets.Current}
}

func isConfigID(id string) bool {
	return id != "" && len(id) <= 32 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func isEndpointID(id string) bool {
	rest, made := strings.CutPrefix(id, endpointPrefix)
	return isConfigID(id) || made && len(rest) == 22 && strings.IndexFunc(rest, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	}) < 0
}

// endpoints returns all endpoints. Changes in other processes can be missing for readAgain.
func (w *Webhooks) endpoints(ctx context.Context) ([]endpoint, error) {
	if last, fresh, _ := w.lastRead(); fresh {
		return last, nil
	}
	w.reading.Lock()
	defer w.reading.Unlock()
	last, fresh, changes := w.lastRead()
	if fresh { // a concurrent request has read them
		return last, nil
	}
	now := w.host.Now()
	all, err := w.readEndpoints(ctx)
	if err != nil {
		if last != nil { // the store is unavailable: use the last result
			return last, nil
		}
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = all
	if w.changes == changes {
		w.readAt = now
	}
	return all, nil
}

// lastRead returns the endpoints of the last read, or nil, and the number of changes so far. It does not wait for the
// store.
func (w *Webhooks) lastRead() (last []endpoint, fresh bool, changes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	age := w.host.Now().Sub(w.readAt)
	return w.known, w.known != nil && age >= 0 && age < readAgain, w.changes
}

// forget makes the next request read the endpoints again.
func (w *Webhooks) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readAt = time.Time{}
	w.changes++
}

// readEndpoints reads all endpoints: those of the configuration in its order, then the others, the oldest first.
func (w *Webhooks) readEndpoints(ctx context.Context) ([]endpoint, error) {
	stored := map[string]*store.Record{}
	for cursor := ""; ; {
		page, next, err := w.host.RecordLister.ListRecords(ctx, endpointKind, "", cursor, store.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("webhooks: list endpoints: %w", err)
		}
		for _, r := range page {
			stored[r.Key] = r
		}
		if next == "" {
			break
		}
		cursor = next
	}
	all := []endpoint{}
	for i := range w.options.Endpoints {
		e, err := w.configured(&w.options.Endpoints[i], stored[w.options.Endpoints[i].ID])
		if err != nil {
			return nil, err
		}
		delete(stored, e.ID)
		all = append(all, *e)
	}
	managed := []endpoint{}
	for _, r := range stored {
		if !strings.HasPrefix(r.Key, endpointPrefix) { // it was in the configuration
			continue
		}
		e, err := w.managed(r)
		if err != nil {
			w.host.Logger.ErrorContext(ctx, "webhooks: an endpoint cannot be read and receives nothing", "endpoint", r.Key,
				"error", err)
			continue
		}
		managed = append(managed, *e)
	}
	slices.SortFunc(managed, func(a, b endpoint) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return append(all, managed...), nil
}

// configured returns an endpoint of the configuration with its state. r may be nil.
func (w *Webhooks) configured(c *Config, r *store.Record) (*endpoint, error) {
	e := &endpoint{
		Endpoint: Endpoint{ID: c.ID, URL: c.URL, Events: c.Events, Configured: true}, internal: c.Internal, record: r,
		secrets: secrets{Current: c.Secrets[0]},
	}
	if len(c.Secrets) > 1 {
		e.secrets.Previous = c.Secrets[1]
	}
	if r == nil {
		return e, nil
	}
	var v storedEndpoint
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("webhooks: the record of %s is malformed: %w", c.ID, err)
	}
	e.Failing, e.Disabled = v.Failing, v.Disabled
	return e, nil
}

// managed returns the endpoint of a record.
func (w *Webhooks) managed(r *store.Record) (*endpoint, error) {
	var v storedEndpoint
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("webhooks: the record of %s is malformed: %w", r.Key, err)
	}
	var s sealedSecrets
	if err := w.host.Decrypt(secretPurpose, v.Secrets, &s); err != nil {
		return nil, fmt.Errorf("webhooks: decrypt the secret of %s: %w", r.Key, err)
	}
	return &endpoint{
		Endpoint: Endpoint{
			ID: r.Key, URL: v.URL, Description: v.Description, Events: v.Events, Created: v.Created, Failing: v.Failing,
			Disabled: v.Disabled,
		},
		secrets: secrets{core.Secret(s.Current), core.Secret(s.Previous), s.Until}, record: r,
	}, nil
}

// find reads an endpoint from the store.
func (w *Webhooks) find(ctx context.Context, id string) (*endpoint, error) {
	if !isEndpointID(id) {
		return nil, core.ErrNotFound
	}
	r, err := w.records.Record(ctx, endpointKind, id)
	for i := range w.options.Endpoints {
		if w.options.Endpoints[i].ID == id && (err == nil || errors.Is(err, core.ErrNotFound)) {
			return w.configured(&w.options.Endpoints[i], r)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(id, endpointPrefix):
		return nil, core.ErrNotFound
	}
	return w.managed(r)
}

// write stores an endpoint if its record was not changed since it was read. Otherwise the error is [core.ErrConflict].
func (w *Webhooks) write(ctx context.Context, e *endpoint) (err error) {
	defer w.forget()
	v := storedEndpoint{Failing: e.Failing, Disabled: e.Disabled}
	if !e.Configured {
		v.URL, v.Description, v.Events, v.Created = e.URL, e.Description, e.Events, e.Created
		v.Secrets, err = w.host.Encrypt(secretPurpose, sealedSecrets{
			string(e.secrets.Current), string(e.secrets.Previous), e.secrets.Until,
		}, time.Time{})
		if err != nil {
			return err
		}
	}
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if e.record == nil {
		e.record = &store.Record{Kind: endpointKind, Key: e.ID, Value: value}
		return w.records.CreateRecord(ctx, e.record)
	}
	e.record.Value = value
	return w.records.UpdateRecord(ctx, e.record)
}

// maxTries is the number of attempts to change a record that other requests change too.
const maxTries = 5

// change updates an endpoint, and repeats this if another request has updated it. edit returns false if there is
// nothing to change.
func (w *Webhooks) change(ctx context.Context, id string, edit func(*endpoint) (bool, error)) (*endpoint, error) {
	for range maxTries {
		e, err := w.find(ctx, id)
		if err != nil {
			return nil, err
		}
		if changed, err := edit(e); err != nil || !changed {
			return e, err
		}
		if err := w.write(ctx, e); !errors.Is(err, core.ErrConflict) {
			return e, err
		}
	}
	return nil, core.ErrConflict
}

// NewEndpoint describes an endpoint to create.
type NewEndpoint struct {
	// URL is the address, with https. Its host must be on the internet.
	URL string
	// Description is at most 100 printable characters, or empty.
	Description string
	// Events is the filter; see [Config].Events.
	Events []string
}

// The errors of [Webhooks.Create].
var (
	ErrURL         = errors.New("webhooks: the URL must be an https URL on the internet of at most 512 bytes")
	ErrDescription = errors.New("webhooks: the description must have at most 100 printable characters")
	ErrEvents      = errors.New("webhooks: the filter contains a name that is no event: see webhooks.Events")
	ErrTooMany     = errors.New("webhooks: there are as many endpoints as Options.MaxEndpoints allows")
	errNotReady    = errors.New("webhooks: the plugin is not attached to an Auth: add it to Config.Plugins")
	errConfigured  = errors.New("webhooks: the endpoint is in the configuration")
)

func (n *NewEndpoint) check() error {
	switch {
	case checkURL(n.URL, false) != nil:
		return ErrURL
	case !utf8.ValidString(n.Description) || utf8.RuneCountInString(n.Description) > maxDescription ||
		strings.ContainsFunc(n.Description, func(r rune) bool { return !unicode.IsPrint(r) }):
		return ErrDescription
	case unknownEvent(n.Events) != "" || len(n.Events) > len(events):
		return ErrEvents
	}
	return nil
}

// Create creates an endpoint and returns it with its secret, which is stored encrypted. The errors are [ErrURL],
// [ErrDescription], [ErrEvents] and [ErrTooMany]. Other processes send events to it after at most 10 seconds.
func (w *Webhooks) Create(ctx context.Context, n NewEndpoint) (*Endpoint, core.Secret, error) {
	if w.host == nil {
		return nil, "", errNotReady
	}
	if err := n.check(); err != nil {
		return nil, "", err
	}
	all, err := w.readEndpoints(ctx)
	if err != nil {
		return nil, "", err
	}
	if len(all)-len(w.options.Endpoints) >= w.options.MaxEndpoints {
		return nil, "", ErrTooMany
	}
	id, err := w.newID(endpointPrefix)
	if err != nil {
		return nil, "", err
	}
	secret, err := w.newSecret()
	if err != nil {
		return nil, "", err
	}
	e := &endpoint{
		Endpoint: Endpoint{
			ID: id, URL: n.URL, Description: n.Description, Events: slices.Clone(n.Events),
			Created: w.host.Now().UTC().Truncate(time.Millisecond),
		},
		secrets: secrets{Current: secret},
	}
	if err := w.write(ctx, e); err != nil {
		return nil, "", fmt.Errorf("webhooks: %w", err)
	}
	return &e.Endpoint, secret, nil
}

// newSecret is [NewSecret] with the randomness of the configuration.
func (w *Webhooks) newSecret() (core.Secret, error) {
	key := make([]byte, 32)
	if _, err := io.ReadFull(w.host.Rand, key); err != nil {
		return "", fmt.Errorf("webhooks: %w", err)
	}
	return encodeSecret(key), nil
}

// Update replaces the address, the description and the filter of an endpoint.
func (w *Webhooks) Update(ctx context.Context, id string, n NewEndpoint) (*Endpoint, error) {
	if w.host == nil {
		return nil, errNotReady
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	return w.changed(ctx, id, func(e *endpoint) (bool, error) {
		if e.Configured {
			return false, errConfigured
		}
		e.URL, e.Description, e.Events = n.URL, n.Description, slices.Clone(n.Events)
		return true, nil
	})
}

func (w *Webhooks) changed(ctx context.Context, id string, edit func(*endpoint) (bool, error)) (*Endpoint, error) {
	if w.host == nil {
		return nil, errNotReady
	}
	e, err := w.change(ctx, id, edit)
	if err != nil {
		return nil, err
	}
	return &e.Endpoint, nil
}

// SetDisabled disables an endpoint, or enables it again. Nothing is sent to a disabled endpoint. Events that wait for
// it become failed deliveries.
func (w *Webhooks) SetDisabled(ctx context.Context, id string, disabled bool) (*Endpoint, error) {
	return w.changed(ctx, id, func(e *endpoint) (bool, error) {
		if disabled != e.active() {
			return false, nil
		}
		if e.Failing, e.Disabled = (time.Time{}), (time.Time{}); disabled {
			e.Disabled = w.host.Now().UTC().Truncate(time.Millisecond)
		}
		return true, nil
	})
}

// Rotate returns a new secret of an endpoint. The current one signs too for Options.Overlap.
func (w *Webhooks) Rotate(ctx context.Context, id string) (secret core.Secret, err error) {
	if w.host == nil {
		return "", errNotReady
	}
	if secret, err = w.newSecret(); err != nil {
		return "", err
	}
	_, err = w.change(ctx, id, func(e *endpoint) (bool, error) {
		if e.Configured {
			return false, errConfigured
		}
		e.secrets = secrets{secret, e.secrets.Current, w.host.Now().UTC().Add(w.options.Overlap)}
		return true, nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Delete deletes an endpoint and its deliveries. Other processes can send to it for 10 seconds.
func (w *Webhooks) Delete(ctx context.Context, id string) error {
	if w.host == nil {
		return errNotReady
	}
	switch e, err := w.find(ctx, id); {
	case err != nil:
		return err
	case e.Configured:
		return errConfigured
	}
	_, err := w.records.DeleteRecord(ctx, endpointKind, id)
	w.forget()
	if err != nil {
		return err
	}
	for _, kind := range []string{deliveryKind, failedKind} {
		err = errors.Join(err, w.each(ctx, kind, id+".", func(r *store.Record) error {
			if _, err := w.records.DeleteRecord(ctx, kind, r.Key); !errors.Is(err, core.ErrNotFound) {
				return err
			}
			return nil
		}))
	}
	return err
}

// List returns all endpoints: those of the configuration, then the others, the oldest first.
func (w *Webhooks) List(ctx context.Context) ([]Endpoint, error) {
	if w.host == nil {
		return nil, errNotReady
	}
	all, err := w.readEndpoints(ctx)
	list := make([]Endpoint, len(all))
	for i := range all {
		list[i] = all[i].Endpoint
	}
	return list, err
}
