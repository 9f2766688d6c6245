package password

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// hashed is an encoded password hash, made by the hasher or accepted by it from another system.
type hashed string

// hasher computes hashes and compares passwords, within the limits of its queue.
type hasher struct {
	costs   Params
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

func (h *hasher) make(password string) (hashed, error) {
	hash, err := h.costs.hash(h.random, []byte(password))
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
	e, err := parse(string(hash))
	return err == nil && e.params == h.costs
}

// compare compares a password with the stored one. current reports that its hash need not be replaced.
func (h *hasher) compare(password string, old *stored) (ok, current bool, err error) {
	if old == nil {
		h.computeDummy(password)
		return false, false, nil
	}
	if e, bad := parse(string(old.Hash)); bad == nil {
		if err = e.affordable(h.costs); err == nil {
			ok, current = e.matches([]byte(password)), e.params == h.costs
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
	if e, err := parse(encoded); err == nil {
		return hashed(encoded), e.affordable(h.costs)
	}
	if h.verifier(encoded) == nil {
		return "", errors.New("password: import: no Verifier of Options.LegacyHashes knows the hash: add the one of its format")
	}
	return hashed(encoded), nil
}

// busyProblem turns errBusy into a 503 response with Retry-After.
func busyProblem(err error) error {
	if !errors.Is(err, errBusy) {
		return err
	}
	return &core.Problem{
		Status: http.StatusServiceUnavailable, Code: codeBusy, RetryAfter: maxWait,
		Detail: textBusy.English, Text: textBusy, Cause: err,
	}
}
