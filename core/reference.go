package core

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A reference is a short code that is in a log line and in the response that the user sees: on the page, in the header
// [ReferenceHeader], or in the JSON body. Each request has a different one. After most failures the browser is
// redirected to a page, which is another request, and the page's URL must be the same as in Auth.js. Therefore the site
// remembers the last reference of each browser for a minute. After that, or in another process, the page shows the
// browser's own code, which is also in the log line.

// ReferenceHeader is the header of the response to a failed request. Its value is the code in the log line.
const ReferenceHeader = "X-Auth-Reference"

// referenceLen is the length of a code: 40 bits.
const referenceLen = 8

// ref returns the code of the request. It is an HMAC (RFC 2104) of the request's number, so that it does not reveal the
// number of requests.
func (v *arrival) ref() string {
	if len(v.secrets) == 0 { // no Auth was selected
		return v.misconfigured
	}
	mac := v.referenceMAC("request")
	var number [16]byte
	binary.BigEndian.PutUint64(number[:8], v.failures.seed)
	binary.BigEndian.PutUint64(number[8:], v.number)
	mac.Write(number[:])
	return referenceOf(mac.Sum(nil))
}

// browserRef returns the code of the request's browser: an HMAC of its CSRF cookie or, if it has none yet, of its
// headers and its network.
func (v *arrival) browserRef() string {
	if len(v.secrets) == 0 {
		return v.misconfigured
	}
	mac := v.referenceMAC("reference")
	if v.cookies != nil {
		if value, ok := v.jar.Get(v.cookies.csrf.name()); ok {
			mac.Write([]byte(value))
			return referenceOf(mac.Sum(nil))
		}
	}
	for _, name := range []string{"User-Agent", "Accept-Language"} {
		mac.Write([]byte(strings.Join(v.r.Header[name], ",") + "\x00"))
	}
	network, _ := v.peer(v.r)
	mac.Write([]byte(network.String()))
	return referenceOf(mac.Sum(nil))
}

// lastRef returns the code to show on the page that the browser was redirected to after a failure.
func (v *arrival) lastRef() string {
	browser := v.browserRef()
	if code := v.failures.last(browser); code != "" {
		return code
	}
	return browser
}

func (s *site) referenceMAC(kind string) hash.Hash {
	mac := hmac.New(sha256.New, []byte(s.secrets[0]))
	mac.Write([]byte(kind + "\x00"))
	return mac
}

// failures numbers requests and remembers the last failed request of each browser. It is safe for concurrent use.
type failures struct {
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

func newFailures(now func() time.Time) *failures {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails; not Config.Rand, because the code is no secret
	return &failures{seed: binary.BigEndian.Uint64(seed[:]), now: now, failed: map[string]failedRequest{}}
}

// next returns the number of a request.
func (f *failures) next() uint64 {
	if f == nil {
		return 0
	}
	return f.numbers.Add(1)
}

// note remembers a failed request of a browser. If the map is full, it is cleared: pages then show the browser's code.
func (f *failures) note(browser, code string) {
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

// last returns the code of the last failure of a browser, or "" if it was more than rememberFailed ago.
func (f *failures) last(browser string) string {
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

// attrs returns the log attributes of a failed request, and remembers the failure for the page that the browser
// requests next. They contain nothing that the client sent, except the ID of a configured provider.
func (v *arrival) attrs() []slog.Attr {
	code, browser := v.ref(), v.browserRef()
	v.failures.note(browser, code)
	attrs := []slog.Attr{slog.String("reference", code)}
	if browser != code {
		attrs = append(attrs, slog.String("browser", browser))
	}
	if v.action != "" {
		attrs = append(attrs, slog.String("action", v.action))
	}
	if v.providerID != "" {
		attrs = append(attrs, slog.String("provider", v.providerID))
	}
	return attrs
}

// referenceOf returns the first 40 bits of b as text.
func referenceOf(b []byte) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz" // without i, l, o and u, which are easily confused
	bits := uint64(b[0])<<32 | uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	code := make([]byte, referenceLen)
	for i := range code {
		code[i] = digits[bits&31]
		bits >>= 5
	}
	return string(code)
}
