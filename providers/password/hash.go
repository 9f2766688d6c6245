package password

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
)

// Params are the costs of argon2id (RFC 9106). The zero value means 19 MiB, 2 passes and 1 lane. Less than 7
// MiB, or than 35 MiB times passes, is a configuration error, except in a test program (see [testing.Testing]). There
// Params{Memory: 64} makes sign-ins fast.
type Params struct {
	// Memory is the memory of one hash computation, in KiB. The default is 19,456.
	Memory uint32
	// Time is the number of passes over the memory. The default is 2.
	Time uint32
	// Threads is the number of threads of one hash computation. The default is 1, which gives busy servers the most
	// throughput.
	Threads uint8
}

const (
	saltLength = 16
	keyLength  = 32
	// maxCostFactor limits the parameters of a stored hash to this multiple of the configured ones, so that an attacker
	// who can write a row cannot exhaust the process.
	maxCostFactor = 10
	// leastWork is the cost of the weakest recommended parameters, in KiB times passes. ASVS 5.0 appendix C lists 7,168
	// KiB with 5 passes as the smallest memory.
	leastWork   = 7168 * 5
	leastMemory = 7168
)

// withDefaults replaces zero fields by their defaults.
func (p Params) withDefaults() Params {
	if p.Memory == 0 {
		p.Memory = 19456
	}
	if p.Time == 0 {
		p.Time = 2
	}
	if p.Threads == 0 {
		p.Threads = 1
	}
	return p
}

// isTest reports whether this is a test program. Tests of check replace it.
var isTest = testing.Testing

// check returns an error if p, with its defaults set, is too weak or too costly. Test programs may set weak costs.
func (p Params) check() error {
	switch {
	case !isTest() && (p.Memory < leastMemory || uint64(p.Memory)*uint64(p.Time) < leastWork):
		return fmt.Errorf("the Hash of %d KiB and %d passes is too weak: use the zero value, or at least %d KiB, and "+
			"%d KiB times passes", p.Memory, p.Time, leastMemory, leastWork)
	case p.Memory > 1<<20 || p.Time > 100 || p.Threads > 16:
		return fmt.Errorf("the Hash of %d KiB, %d passes and %d lanes is a denial of service: use the zero value, or at "+
			"most %d KiB, 100 passes and 16 lanes", p.Memory, p.Time, p.Threads, 1<<20)
	}
	return nil
}

// encoded is a parsed hash of argon2id, or of argon2i if i is true.
type encoded struct {
	params    Params
	i         bool
	salt, key []byte
}

// errCostly rejects a hash that is too costly to compute.
var errCostly = errors.New("password: the parameters of the stored hash are more than ten times those of the " +
	"configuration: it is not computed")

// errMalformed rejects a hash that cannot be parsed. It does not contain the hash.
var errMalformed = errors.New("password: the stored hash is malformed")

// hash returns a hash in the PHC string format: $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>.
func (p Params) hash(random io.Reader, password []byte) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := io.ReadFull(random, salt); err != nil {
		return "", fmt.Errorf("password: salt: %w", err)
	}
	key := argon2.IDKey(password, salt, p.Time, p.Memory, p.Threads, keyLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Time, p.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// matches hashes password with the parameters of e and compares in constant time.
func (e *encoded) matches(password []byte) bool {
	p, compute := e.params, argon2.IDKey
	if e.i {
		compute = argon2.Key
	}
	key := compute(password, e.salt, p.Time, p.Memory, p.Threads, uint32(len(e.key))) //nolint:gosec // 16 to 64
	return subtle.ConstantTimeCompare(key, e.key) == 1
}

// affordable returns an error if the parameters are more than ten times the configured ones.
func (e *encoded) affordable(own Params) error {
	p := e.params
	if uint64(p.Memory) > maxCostFactor*uint64(own.Memory) || uint64(p.Threads) > maxCostFactor*uint64(own.Threads) ||
		uint64(p.Memory)*uint64(p.Time) > maxCostFactor*uint64(own.Memory)*uint64(own.Time) {
		return errCostly
	}
	return nil
}

// parse parses an argon2id hash, as this package stores it. Numbers are decimal without signs or leading zeros, so that
// each hash has only one encoding.
func parse(text string) (*encoded, error) { return parseArgon2(text, "argon2id") }

// parseArgon2 parses a hash of the given variant in the PHC string format.
func parseArgon2(text, variant string) (*encoded, error) {
	parts := strings.Split(text, "$")
	// The base64 decoder skips line breaks, so they are rejected here.
	if len(parts) != 6 || strings.ContainsAny(text, "\r\n") ||
		parts[0] != "" || parts[1] != variant || parts[2] != "v=19" {
		return nil, errMalformed
	}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return nil, errMalformed
	}
	memory, ok1 := number(costs[0], "m=", 32)
	passes, ok2 := number(costs[1], "t=", 32)
	lanes, ok3 := number(costs[2], "p=", 8)
	salt, err1 := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	key, err2 := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	switch {
	case !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil,
		memory < 8*lanes, len(salt) < 8 || len(salt) > 64, len(key) < 16 || len(key) > 64:
		return nil, errMalformed
	}
	params := Params{uint32(memory), uint32(passes), uint8(lanes)} //nolint:gosec // ParseUint bounds them
	return &encoded{params: params, i: variant == "argon2i", salt: salt, key: key}, nil
}

// number parses "<name><number>".
func number(text, name string, bits int) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, name)
	if !ok || digits == "" || digits[0] == '0' || digits[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, bits)
	return n, err == nil
}

// Verifier checks passwords against the hashes of another system. At the user's first sign-in such a hash is replaced
// by an argon2id hash. A Verifier must be safe for concurrent use.
type Verifier interface {
	// Knows reports whether a hash has the Verifier's format. It must be cheap.
	Knows(encoded string) bool
	// Verify reports whether the password matches a hash that Knows accepts. The password is exactly as typed. Verify
	// returns an error if the hash is malformed, or if its costs are too high, which it must check before it computes
	// anything.
	Verify(encoded string, password []byte) (bool, error)
}

// hasher computes hashes and compares passwords, within the limits of its queue.
type hasher struct {
	costs   Params
	peppers peppers
	imports []Verifier
	random  io.Reader
	queue   *queue
	pace    *pace
	now     func() time.Time
	// sleep pads a rejected comparison to the common duration, outside of the queue.
	sleep func(ctx context.Context, d time.Duration)
}

// hash returns the hash of a new password. It waits for a slot.
func (h *hasher) hash(ctx context.Context, password string) (hash hashed, err error) {
	busy := h.queue.do(ctx, func() { hash, err = h.make(password) })
	return hash, errors.Join(busy, err)
}

// make returns the hash of a new password, with the ID of its pepper: "{pepper:2026-1}$argon2id$…".
func (h *hasher) make(password string) (hashed, error) {
	id := h.peppers.newestID()
	typed, err := h.peppers.apply(id, []byte(password))
	if err != nil {
		return "", err
	}
	hash, err := h.costs.hash(h.random, typed)
	if id != "" {
		hash = pepperPrefix + id + "}" + hash
	}
	return hashed(hash), err
}

// matches reports whether a password is the stored one. better is a hash to store instead, if the stored one has other
// costs or is from another system. Without a stored password it does the same work. All rejections take the same time:
// see pace.
func (h *hasher) matches(ctx context.Context, password string, old *stored) (ok bool, better hashed, err error) {
	var took time.Duration
	busy := h.queue.do(ctx, func() { ok, better, took, err = h.compute(password, old) })
	if busy != nil {
		return false, "", busy
	}
	if !ok {
		if rest := h.pace.minimum(h.now()) - took; rest > 0 {
			h.sleep(ctx, rest)
		}
	}
	return ok, better, err
}

// compute compares, and returns the hash to store instead. took is the duration of the comparison.
func (h *hasher) compute(password string, old *stored) (ok bool, better hashed, took time.Duration, err error) {
	began := h.now()
	ok, current, err := h.compare(password, old)
	took = h.now().Sub(began)
	varied := old != nil && !h.isUsual(old.Hash)
	if varied && !h.pace.known() { // a hash of another system may cost less than ours
		h.computeDummy(password)
		took = h.now().Sub(began)
	}
	h.pace.record(h.now(), took, varied)
	if !ok || current || err != nil {
		return ok, "", took, err
	}
	better, err = h.make(password)
	return true, better, took, err
}

// isUsual reports whether a hash has the configured costs.
func (h *hasher) isUsual(hash hashed) bool {
	_, text := splitPepper(string(hash))
	e, err := parse(text)
	return err == nil && e.params == h.costs
}

// compare compares a password with the stored one. current reports that its hash need not be replaced.
func (h *hasher) compare(password string, old *stored) (ok, current bool, err error) {
	if old == nil {
		h.computeDummy(password)
		return false, false, nil
	}
	id, text := splitPepper(string(old.Hash))
	typed, err := h.peppers.apply(id, []byte(password))
	if err != nil {
		h.computeDummy(password)
		return false, false, err
	}
	if e, bad := parse(text); bad == nil {
		if err = e.affordable(h.costs); err == nil {
			ok, current = e.matches(typed), e.params == h.costs && id == h.peppers.newestID()
		}
		if verifier := h.verifier(string(old.Hash)); err == nil && !ok && verifier != nil { // it may normalize first
			ok, err = verifier.Verify(string(old.Hash), []byte(password))
			current = false // the new hash is of the password as typed
		}
	} else if verifier := h.verifier(string(old.Hash)); verifier != nil {
		ok, err = verifier.Verify(string(old.Hash), []byte(password))
	} else {
		err = errors.New("password: unknown hash format: add a Verifier to Options.LegacyHashes")
	}
	if err != nil {
		h.computeDummy(password)
		return false, false, err
	}
	return ok, current, nil
}

// computeDummy takes as long as a comparison.
func (h *hasher) computeDummy(password string) {
	nobody := encoded{params: h.costs, salt: make([]byte, saltLength), key: make([]byte, keyLength)}
	nobody.matches([]byte(password))
}

// verifier returns the first Verifier that knows the hash, or nil.
func (h *hasher) verifier(encoded string) Verifier {
	for _, v := range h.imports {
		if v.Knows(encoded) {
			return v
		}
	}
	return nil
}

// maxHashLength is the maximum length of an imported hash.
const maxHashLength = 4096

// admit checks a hash of another system before it is imported. Its errors do not contain the hash.
func (h *hasher) admit(encoded string) (hashed, error) {
	switch {
	case len(encoded) > maxHashLength:
		return "", fmt.Errorf("password: import: the hash is longer than %d bytes", maxHashLength)
	case strings.HasPrefix(strings.ToLower(encoded), "{noop}"):
		return "",
			errors.New("password: import: the password is not hashed: hash it with bcrypt, or call SendReset for its " +
				"owner instead")
	case unsalted(encoded):
		return "", errors.New("password: import: the hash is MD5 or SHA-1 without a salt, which is not secure: " +
			"call SendReset for its owner instead")
	}
	id, text := splitPepper(encoded)
	if _, err := h.peppers.apply(id, nil); err != nil {
		return "", fmt.Errorf("password: import: %w", err)
	}
	if e, err := parse(text); err == nil {
		return hashed(encoded), e.affordable(h.costs)
	}
	if h.verifier(encoded) == nil {
		return "", errors.New(
			"password: import: no Verifier of Options.LegacyHashes knows the hash: add the one of its format",
		)
	}
	return hashed(encoded), nil
}

const (
	// paceWindow is the time that a slow comparison counts.
	paceWindow = time.Hour
	// paceSlots is the number of slots of paceWindow.
	paceSlots = 12
	// maxPace is the maximum delay of a rejected sign-in. An accepted hash takes longer only on an overloaded machine.
	maxPace = 5 * time.Second
)

// pace makes all rejected comparisons take the same time if the stored hashes have different costs, because they are
// from other systems or have other parameters. Otherwise the response time would reveal which addresses have an
// account. The common duration is that of the slowest comparison in the last hour. After an hour without comparisons
// the previous value stays.
type pace struct {
	mu sync.Mutex
	// on reports whether hashes with several costs exist.
	on bool
	// slots contains the slowest comparison of each five minutes, and the number of that interval.
	slots [paceSlots]struct {
		number  int64
		slowest time.Duration
	}
	latest time.Duration // the last common duration
}

func slotOf(now time.Time) int64 { return now.UnixNano() / int64(paceWindow/paceSlots) }

// record stores the duration of a comparison. varied reports whether its hash has other costs than configured.
func (p *pace) record(now time.Time, took time.Duration, varied bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = p.on || varied
	number := slotOf(now)
	slot := &p.slots[uint64(number)%paceSlots] //nolint:gosec // the hash only spreads
	if slot.number != number {
		slot.number, slot.slowest = number, 0
	}
	slot.slowest = max(slot.slowest, min(took, maxPace))
}

// minimum returns the minimum duration of a rejected comparison, or zero if all hashes have the same costs.
func (p *pace) minimum(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return 0
	}
	number, slowest := slotOf(now), time.Duration(0)
	for _, slot := range p.slots {
		if age := number - slot.number; age >= 0 && age < paceSlots {
			slowest = max(slowest, slot.slowest)
		}
	}
	if slowest > 0 {
		p.latest = slowest
	}
	return p.latest
}

// known reports whether any comparison was recorded.
func (p *pace) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, slot := range p.slots {
		if slot.slowest > 0 {
			return true
		}
	}
	return false
}

// unsalted reports whether a hash is unsalted MD5 or SHA-1: 32 or 40 hexadecimal digits, or the equivalents of Django
// and LDAP. They are broken within hours, so they are not imported.
func unsalted(encoded string) bool { return unsaltedShape.MatchString(encoded) }

var unsaltedShape = regexp.MustCompile(`(?i)^(?:` +
	`(?:(?:unsalted_)?(?:md5|sha1)\$\$?|\{(?:md5|sha)\}|\$?(?:md5|sha1)[:$])?(?:[0-9a-f]{32}|[0-9a-f]{40})` +
	`|\{(?:md5|sha)\}[a-z0-9+/]{20,28}={0,2}` +
	`|\*[0-9a-f]{40})$`)

// adapted64 decodes the base64 of passlib, which uses "." instead of "+" and no padding.
func adapted64(text string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.ReplaceAll(text, ".", "+"))
}
