package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"io"
	"log/slog"
	"strings"
)

// A reference is the short code that a log line shares with what the visitor sees: error page, sign-in page after a
// failure, or JSON answer. Most failures redirect, to a page that is another request, and the address must stay as it
// is. So the code is computed from what both requests carry: it names the browser rather than the failure, and leads to
// the browser's lines in the log.

// referenceLen is the length of a code: 40 bits, enough to tell the browsers of a log apart.
const referenceLen = 8

// ref is the code of the request's browser: an authentication code (RFC 2104) over its CSRF cookie or, where there is
// none yet, over what its requests look like, so that the code shows nothing of either.
func (v *arrival) ref() string {
	if len(v.secrets) == 0 { // nothing is configured: then nothing redirects, and the code need not come again
		return v.misconfigured
	}
	mac := hmac.New(sha256.New, []byte(v.secrets[0]))
	mac.Write([]byte("reference\x00"))
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

// randomReference is the code of a request that no Auth answers.
func randomReference(source io.Reader) string {
	b, err := randomBytes(source, referenceLen)
	if err != nil {
		return "none"
	}
	return referenceOf(b)
}

// attrs says where a failure happened, in words that hold nothing a visitor typed but the ID of a provider that is
// configured.
func (v *arrival) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("reference", v.ref())}
	if v.action != "" {
		attrs = append(attrs, slog.String("action", v.action))
	}
	if v.providerID != "" {
		attrs = append(attrs, slog.String("provider", v.providerID))
	}
	return attrs
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
