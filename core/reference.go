package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// A reference is the short code that a log line shares with what the visitor sees: error page, sign-in page after a failure, or JSON
// answer. Most failures redirect, to a page that is another request, and the address must stay as it is. So the code is computed from
// what both requests carry: it names the browser rather than the failure, and leads to the browser's lines in the log.

// referenceLen is the length of a code: 40 bits, enough to tell the browsers of a log apart.
const referenceLen = 8

// ref is the code of the request's browser: an authentication code (RFC 2104) over its CSRF cookie or, where there is none yet, over
// what its requests look like, so that the code tells nothing of either.
func (x *exchange) ref() string {
	if len(x.secrets) == 0 {
		return x.randomReference()
	}
	mac := hmac.New(sha256.New, []byte(x.secrets[0]))
	mac.Write([]byte("reference\x00"))
	if x.cookies != nil {
		if value, ok := x.jar.Get(x.cookies.csrf.name()); ok {
			mac.Write([]byte(value))
			return referenceOf(mac.Sum(nil))
		}
	}
	for _, name := range []string{"User-Agent", "Accept-Language"} {
		mac.Write([]byte(strings.Join(x.r.Header[name], ",") + "\x00"))
	}
	network, _ := x.peer()
	mac.Write([]byte(network.String()))
	return referenceOf(mac.Sum(nil))
}

// randomReference is the code of a request where nothing is configured: then nothing redirects.
func (x *exchange) randomReference() string {
	if x.reference == "" {
		b, err := x.random(referenceLen)
		if err != nil {
			return "none"
		}
		x.reference = referenceOf(b)
	}
	return x.reference
}

// referenceOf spells the first bits of b.
func referenceOf(b []byte) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz" // without letters that are mistaken for others
	bits := uint64(b[0])<<32 | uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	code := make([]byte, referenceLen)
	for i := range code {
		code[i] = digits[bits&31]
		bits >>= 5
	}
	return string(code)
}

// ReferenceFrom returns the code under which the failures of this browser are in the log, for the application's own error and
// sign-in pages; "" without the request hook. It is the code that the built-in pages show.
func ReferenceFrom(ctx context.Context) string {
	v := VisitFrom(ctx)
	if v == nil {
		return ""
	}
	x := exchange{Auth: v.x.Auth, r: v.x.r, cookies: v.x.cookies, jar: v.x.jar, reference: v.x.reference} // its own: a Visit may be asked by several at a time
	return x.ref()
}
