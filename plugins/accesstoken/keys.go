package accesstoken

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/flight"
)

// kind is the kind of the record with the signing keys. Its key is the issuer.
const kind = "access-token-keys"

const (
	// keyLifetime is how long a key signs tokens.
	keyLifetime = 90 * 24 * time.Hour
	// publishedAhead is how long a key is published before it signs. It must be longer than jwksMaxAge, and services that
	// ignore Cache-Control often keep keys for hours.
	publishedAhead = 24 * time.Hour
	// publishedAfter is how long a key is published after its successor has started. Its last tokens expire before.
	publishedAfter = time.Hour
	// jwksMaxAge is the max-age of the published keys in Cache-Control.
	jwksMaxAge = 10 * time.Minute
	// readEvery is how often a process reads the record.
	readEvery = time.Minute
	// retryAfter is how long a process does not read the record again after a failure.
	retryAfter = 5 * time.Second
	// maxWrites is the maximum number of attempts to write the record while other processes change it.
	maxWrites = 10
)

// storedSet is the encrypted content of the record.
type storedSet struct {
	Keys []storedKey `json:"keys"` // sorted by Start
}

// storedKey is a private key. Its public key is derived from it, so that they cannot differ.
type storedKey struct {
	Alg Algorithm `json:"alg"`
	// Secret is the seed of an Ed25519 key (RFC 8032 section 5.1.5), or the number of a P-256 key.
	Secret []byte `json:"secret"`
	// Start is when the key starts to sign, in Unix seconds.
	Start int64 `json:"start"`
}

// storedValue is the value of the record. By identifies the entry of Config.Secrets that encrypted Sealed.
type storedValue struct {
	Sealed string `json:"sealed"`
	By     string `json:"by"`
}

// advance deletes keys that signed their last token long ago, and adds the next key in time. It reports whether it has
// changed the set.
func (s *storedSet) advance(now time.Time, alg Algorithm, random io.Reader) (changed bool, err error) {
	for len(s.Keys) > 1 && time.Unix(s.Keys[1].Start, 0).Add(publishedAfter).Before(now) {
		s.Keys, changed = s.Keys[1:], true
	}
	start := now
	if n := len(s.Keys); n > 0 {
		newest := s.Keys[n-1]
		since := now.Sub(time.Unix(newest.Start, 0))
		if since < 0 || newest.Alg == alg && since < keyLifetime-publishedAhead {
			return changed, nil
		}
		start = now.Add(publishedAhead)
	}
	secret, err := newSecret(alg, random)
	if err != nil {
		return changed, fmt.Errorf("generate a key: %w", err)
	}
	s.Keys = append(s.Keys, storedKey{Alg: alg, Secret: secret, Start: start.Unix()})
	return true, nil
}

// newSecret generates the secret of a key.
func newSecret(alg Algorithm, random io.Reader) ([]byte, error) {
	var last error
	for range 10 { // one random number in 2^32 is too large for the curve
		secret := make([]byte, 32)
		if _, err := io.ReadFull(random, secret); err != nil {
			return nil, err
		}
		if _, last = (storedKey{Alg: alg, Secret: secret}).signer(); last == nil {
			return secret, nil
		}
	}
	return nil, last
}

// signer returns the private key.
func (k storedKey) signer() (crypto.Signer, error) {
	switch {
	case k.Alg == EdDSA && len(k.Secret) == ed25519.SeedSize:
		return ed25519.NewKeyFromSeed(k.Secret), nil
	case k.Alg == ES256:
		return ecdsa.ParseRawPrivateKey(elliptic.P256(), k.Secret)
	}
	return nil, errors.New("the key has an unknown algorithm or length")
}

// signingKey is a published key with its private key. signer is nil for a key that is only published.
type signingKey struct {
	publishedKey
	signer crypto.Signer
	header string // the first part of its tokens
	start  time.Time
}

// keySet are the published keys, sorted by start.
type keySet struct {
	keys []*signingKey
	jwks []byte
}

// current returns the key that signs.
func (s *keySet) current(now time.Time) *signingKey {
	current := s.keys[0] // if the clocks of two processes differ, the first key may start in a moment
	for _, k := range s.keys {
		if k.signer != nil && !k.start.After(now) {
			current = k
		}
	}
	return current
}

// add adds a key.
func (s *keySet) add(public crypto.PublicKey, signer crypto.Signer, start time.Time) error {
	published, err := newPublishedKey(public)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(s.keys, func(k *signingKey) bool { return k.Kid == published.Kid }) {
		return nil
	}
	header, err := json.Marshal(map[string]string{"alg": string(published.Alg), "kid": published.Kid, "typ": "at+jwt"})
	s.keys = append(s.keys, &signingKey{published, signer, encoding.EncodeToString(header), start})
	return err
}

// encode sets the JWKS (RFC 7517 section 5).
func (s *keySet) encode() (err error) {
	document := struct {
		Keys []publishedKey `json:"keys"`
	}{}
	for _, k := range s.keys {
		document.Keys = append(document.Keys, k.publishedKey)
	}
	s.jwks, err = json.Marshal(document)
	return err
}

// keys are the keys of Options.Signer, or those in the store.
type keys struct {
	host    *core.PluginHost
	records store.RecordStore
	alg     Algorithm
	issuer  string
	fixed   *keySet // of Options.Signer
	reads   flight.Group[*keySet]

	mu  sync.Mutex
	set *keySet
	due time.Time // of the next read
}

// newKeys reports invalid keys as configuration errors.
func newKeys(h *core.PluginHost, o *Options) *keys {
	k := &keys{host: h, alg: o.Algorithm, issuer: o.Issuer, reads: flight.Group[*keySet]{Timeout: 30 * time.Second}}
	if o.Signer == nil {
		if len(o.PublishedKeys) > 0 {
			h.AddConfigError("Options.PublishedKeys is set without Options.Signer: leave it empty, because the plugin " +
				"publishes its own keys")
		}
		k.records = h.Records()
		return k
	}
	set := &keySet{}
	if err := set.add(o.Signer.Public(), o.Signer, time.Time{}); err != nil {
		h.AddConfigError("Options.Signer: " + err.Error())
		return k
	}
	for i, public := range o.PublishedKeys {
		if err := set.add(public, nil, time.Time{}); err != nil {
			h.AddConfigError(fmt.Sprintf("Options.PublishedKeys[%d]: %v", i, err))
		}
	}
	if err := set.encode(); err != nil {
		h.AddConfigError("Options.Signer: " + err.Error())
	}
	k.fixed = set
	return k
}

// get returns the keys. While the store does not respond, it returns the keys of the last read.
func (k *keys) get(ctx context.Context) (*keySet, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	k.mu.Lock()
	set, due := k.set, k.due
	k.mu.Unlock()
	if set != nil && k.host.Now().Before(due) {
		return set, nil
	}
	fresh, err := k.reads.Do(ctx, "", k.read)
	switch {
	case err == nil:
		return fresh, nil
	case set == nil:
		return nil, err
	}
	return set, nil
}

// read reads the record, and creates or changes it if that is due.
func (k *keys) read(ctx context.Context) (*keySet, error) {
	set, err := k.load(ctx)
	now := k.host.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.host.Logger.ErrorContext(ctx, "accesstoken: the signing keys cannot be read", slog.Any("error", err))
		k.due = now.Add(retryAfter)
		return nil, err
	}
	k.set, k.due = set, now.Add(readEvery)
	return set, nil
}

func (k *keys) load(ctx context.Context) (*keySet, error) {
	for range maxWrites {
		stored, record, stale, err := k.stored(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := stored.advance(k.host.Now(), k.alg, k.host.Rand)
		if err != nil {
			return nil, fmt.Errorf("accesstoken: %w", err)
		}
		if changed || stale {
			err := k.write(ctx, stored, record)
			if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
				continue // another process was faster
			}
			if err != nil {
				return nil, fmt.Errorf("accesstoken: write the signing keys: %w", err)
			}
		}
		return stored.open()
	}
	return nil, errors.New("accesstoken: too many processes change the signing keys")
}

var errUndecryptable = errors.New("accesstoken: the signing keys in the store cannot be decrypted")

// stored returns the stored keys, and their record. The record is nil if there is none. stale reports that an older
// entry of Config.Secrets encrypted it.
func (k *keys) stored(ctx context.Context) (set *storedSet, record *store.Record, stale bool, err error) {
	set = &storedSet{}
	record, err = k.records.Record(ctx, kind, k.issuer)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return set, nil, false, nil
	case err != nil:
		return nil, nil, false, fmt.Errorf("accesstoken: read the signing keys: %w", err)
	}
	var value storedValue
	if err := json.Unmarshal(record.Value, &value); err != nil {
		return nil, nil, false, errors.New("accesstoken: the record of the signing keys is malformed")
	}
	// New keys instead of an error would make every service refuse the tokens of the other processes.
	if err := k.host.Decrypt(k.purpose(), value.Sealed, set); err != nil || len(set.Keys) == 0 {
		return nil, nil, false, fmt.Errorf("%w: add the secret that encrypted them to Config.Secrets; if it is lost, delete "+
			"the record %s of %s", errUndecryptable, kind, k.issuer)
	}
	return set, record, value.By != k.secretID(), nil
}

// purpose contains the issuer, so that the record of another Auth in the same store cannot be used.
func (k *keys) purpose() string { return "access token keys " + k.issuer }

// secretID identifies the newest entry of Config.Secrets.
func (k *keys) secretID() string { return k.host.Digest("access token keys", "secret")[:8] }

// write encrypts and stores the keys.
func (k *keys) write(ctx context.Context, set *storedSet, record *store.Record) error {
	sealed, err := k.host.Encrypt(k.purpose(), set, time.Time{})
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedValue{sealed, k.secretID()})
	if err != nil {
		return err
	}
	if record == nil {
		return k.records.CreateRecord(ctx, &store.Record{Kind: kind, Key: k.issuer, Value: value})
	}
	record.Value = value
	return k.records.UpdateRecord(ctx, record)
}

// open derives the public keys.
func (s *storedSet) open() (*keySet, error) {
	set := &keySet{}
	for _, stored := range s.Keys {
		signer, err := stored.signer()
		if err != nil {
			return nil, fmt.Errorf("accesstoken: a signing key in the store is malformed: %w", err)
		}
		if err := set.add(signer.Public(), signer, time.Unix(stored.Start, 0)); err != nil {
			return nil, fmt.Errorf("accesstoken: a signing key in the store is malformed: %w", err)
		}
	}
	return set, set.encode()
}

// published returns the JWKS, for the verification of this application's own tokens.
func (t *Tokens) published(ctx context.Context) ([]byte, error) {
	set, err := t.keys.get(ctx)
	if err != nil {
		return nil, err
	}
	return set.jwks, nil
}

// document is /.well-known/jwks.json.
func (t *Tokens) document(ctx context.Context, _ string) (*core.Response, error) {
	set, err := t.keys.get(ctx)
	if err != nil {
		return nil, err
	}
	return &core.Response{Body: slices.Clone(set.jwks), Header: http.Header{
		"Content-Type":  {"application/jwk-set+json"},
		"Cache-Control": {"public, max-age=" + strconv.Itoa(int(jwksMaxAge.Seconds()))},
	}}, nil
}
