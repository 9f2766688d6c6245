// Package reference has the short codes that connect a response that a user sees with a line of the log. They reveal
// neither the number of requests nor anything about a browser.
package reference

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"
)

// Len is the length of a code: 40 bits.
const Len = 8

// Failures numbers requests and remembers the last failed request of each browser. The nil
// *Failures remembers nothing. It is safe for concurrent use.
type Failures struct {
	seed    uint64 // of this process
	numbers atomic.Uint64
	now     func() time.Time

	mu     sync.Mutex
	failed map[string]failedRequest
}

// failedRequest is the code and the time of a failed request.
type failedRequest struct {
	code string
	at   time.Time
}

const (
	// maxFailed bounds the number of browsers in failed.
	maxFailed = 1024
	// rememberFailed is the time until a failure is forgotten.
	rememberFailed = time.Minute
)

// New returns a Failures that remembers nothing. now is its clock.
func New(now func() time.Time) *Failures {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails; not Config.Rand, because the code is no secret
	return &Failures{seed: binary.BigEndian.Uint64(seed[:]), now: now, failed: map[string]failedRequest{}}
}

// Next returns the number of a request.
func (f *Failures) Next() uint64 {
	if f == nil {
		return 0
	}
	return f.numbers.Add(1)
}

// Note remembers a failed request of a browser. If the map is full, it is cleared: pages then show the browser's code.
func (f *Failures) Note(browser, code string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.failed) >= maxFailed {
		clear(f.failed)
	}
	f.failed[browser] = failedRequest{code, f.now()}
}

// Last returns the code of the last failure of a browser, or "" if it was more than rememberFailed ago.
func (f *Failures) Last(browser string) string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	failed, ok := f.failed[browser]
	if !ok || f.now().Sub(failed.at) > rememberFailed {
		return ""
	}
	return failed.code
}

// Code returns the code of a request with this number: an HMAC (RFC 2104).
func (f *Failures) Code(secret string, number uint64) string {
	var text [16]byte
	binary.BigEndian.PutUint64(text[:8], f.seed)
	binary.BigEndian.PutUint64(text[8:], number)
	return code(secret, "request", text[:])
}

// Browser returns the code of a browser, by a text that identifies it.
func Browser(secret, text string) string { return code(secret, "reference", []byte(text)) }

func code(secret, kind string, text []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(kind + "\x00"))
	mac.Write(text)
	return Of(mac.Sum(nil))
}

// Of returns the first 40 bits of b as text.
func Of(b []byte) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz" // without i, l, o and u, which are easily confused
	bits := uint64(b[0])<<32 | uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	code := make([]byte, Len)
	for i := range code {
		code[i] = digits[bits&31]
		bits >>= 5
	}
	return string(code)
}
