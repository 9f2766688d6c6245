package csrf

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

const (
	secret  = "one-secret-of-more-than-thirty-two-bytes"
	earlier = "another-secret-of-more-than-32-bytes"
	origin  = "https://app.example"
)

// hashed returns the hash in a CSRF cookie.
func hashed(token, secret string) string {
	sum := sha256.Sum256([]byte(token + secret))
	return hex.EncodeToString(sum[:])
}

// policy has the fields of a Guard that decide.
type policy struct{ sameOrigin, skip bool }

// TestCheck checks which requests a page of this site has sent, under each policy.
func TestCheck(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("0123456789abcdef", TokenLen/16)
	pair, planted := token+"%7C"+hashed(token, secret), token+"%7C"+hashed(token, "attacker")
	header := func(fields ...string) http.Header {
		h := http.Header{}
		for i := 0; i+1 < len(fields); i += 2 {
			h.Set(fields[i], fields[i+1])
		}
		return h
	}
	for name, row := range map[string]struct {
		cookies                   []string
		sent                      string
		header                    http.Header
		trusted                   bool
		strict, sameOrigin, skips bool // verified under these policies
	}{
		"the token":                 {cookies: []string{pair}, sent: token, strict: true, sameOrigin: true, skips: true},
		"nothing":                   {skips: true},
		"an empty token, no cookie": {sent: "", skips: true},
		"another token":             {cookies: []string{pair}, sent: strings.Repeat("f", TokenLen), skips: true},
		"a planted cookie":          {cookies: []string{planted}, sent: token, skips: true},
		"planted in front of ours": {
			cookies: []string{planted, planted, pair}, sent: token, strict: true, sameOrigin: true, skips: true,
		},
		"signed with another secret": {
			cookies: []string{token + "%7C" + hashed(token, earlier)}, sent: token, strict: true, sameOrigin: true,
			skips: true,
		},
		"this origin":            {header: header("Sec-Fetch-Site", "same-origin"), sameOrigin: true, skips: true},
		"this origin, by Origin": {header: header("Origin", origin), sameOrigin: true, skips: true},
		"another site":           {header: header("Sec-Fetch-Site", "cross-site")},
		"another site, with a token": {
			cookies: []string{pair}, sent: token, header: header("Sec-Fetch-Site", "cross-site"),
		},
		"a subdomain":     {header: header("Sec-Fetch-Site", "same-site")},
		"another origin":  {header: header("Origin", "https://evil.example")},
		"the origin null": {header: header("Origin", "null")},
		"a trusted origin": {
			header: header("Sec-Fetch-Site", "cross-site", "Origin", "https://spa.example"), trusted: true, sameOrigin: true,
			skips: true,
		},
		"a trusted origin, with the token": {
			cookies: []string{pair}, sent: token, header: header("Sec-Fetch-Site", "cross-site"), trusted: true,
			strict: true, sameOrigin: true, skips: true,
		},
	} {
		for rules, verified := range map[policy]bool{
			{}: row.strict, {sameOrigin: true}: row.sameOrigin, {skip: true}: row.skips,
		} {
			t.Run(name, func(t *testing.T) {
				g := Guard{rules.sameOrigin, rules.skip, []string{secret, earlier}, rand.Reader}
				var line []string
				for _, c := range row.cookies {
					line = append(line, "c="+c)
				}
				r := Request{
					Jar: cookie.Parse(
						[]string{strings.Join(line, "; ")},
					), Cookie: "c", Method: http.MethodPost, Header: row.header,
					Origin: origin, Sent: row.sent, Trusted: row.trusted,
				}
				got, err := g.Check(r)
				if err != nil || got.Verified != verified || (got.Refusal == "") != verified {
					t.Errorf("same origin %t, skip %t: %+v, %v", g.SameOrigin, g.Skip, got, err)
				}
				if fresh, tokenless := got.Fresh != "", g.Skip; tokenless && got.Token != "" ||
					!tokenless && len(got.Token) != TokenLen ||
					fresh && !strings.HasPrefix(got.Fresh, got.Token+"|") {
					t.Errorf("token %q, cookie %q", got.Token, got.Fresh)
				}
			})
		}
	}
}

// TestNoToken: without randomness there is no token.
func TestNoToken(t *testing.T) {
	t.Parallel()
	g := Guard{Secrets: []string{secret}, Rand: iotest.ErrReader(http.ErrBodyNotAllowed)}
	if got, err := g.Check(Request{}); err == nil || got.Token != "" || got.Fresh != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWrongHashes tries tens of thousands of wrong hashes and tokens, including some with a single wrong digit in any
// place. The constant time of the comparison is guaranteed by subtle.ConstantTimeCompare.
func TestWrongHashes(t *testing.T) {
	t.Parallel()
	x := &Guard{Secrets: []string{"one-secret-of-more-than-thirty-two-bytes", "another-secret-of-more-than-32-bytes"}}
	token := strings.Repeat("0123456789abcdef", 4)
	good := hashed(token, x.Secrets[0])
	for _, known := range []string{good, hashed(token, x.Secrets[1]), hashed(token, strings.Join(x.Secrets, ","))} {
		if !x.hashOK(token, known) {
			t.Fatal("a good hash is refused")
		}
	}
	refused := func(token, hash string) {
		t.Helper()
		if x.hashOK(token, hash) {
			t.Fatalf("%q passes for the hash of %q", hash, token)
		}
	}
	for i := range good {
		for _, digit := range "0123456789abcdefABCDEF|g\x00" {
			if wrong := good[:i] + string(digit) + good[i+1:]; wrong != good {
				refused(token, wrong)
			}
			if wrong := token[:i] + string(digit) + token[i+1:]; wrong != token {
				refused(wrong, good)
			}
		}
		refused(token, good[:i])
		refused(token[:i], good)
	}
	for i := range uint64(10_000) {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		wrong := hex.EncodeToString(sum[:])
		if i%2 == 0 {
			wrong = good[:2] + wrong[2:] // the first byte is right
		}
		refused(token, wrong)
		refused(wrong, good)
	}
}

// TestCSRFPair reads cookie values in the encodings that occur: as core writes them, with an unencoded bar, with
// further escape sequences, and some that only look like the first.
func TestCSRFPair(t *testing.T) {
	t.Parallel()
	token, hash := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4)
	for _, tt := range []struct {
		name, raw, token, hash string
		ok                     bool
	}{
		{"as we write it", token + "%7C" + hash, token, hash, true},
		{"in small letters", token + "%7c" + hash, token, hash, true},
		{"with the bar", token + "|" + hash, token, hash, true},
		{"escaped throughout", "%30" + token[1:] + "%7C" + hash[:63] + "%30", token, hash, true},
		{"an escape in the token", "%30" + token[1:] + "%7C" + hash, token, hash, true},
		{"an escape in the hash", token + "%7C%66" + hash[1:], token, hash, true},
		{"a token with an escape, as long as one without", "%30" + token[3:] + "%7C" + hash, "%30" + token[3:], hash, true},
		{"two bars", token[:32] + "%7C" + token[32:] + "%7C" + hash, token[:32], token[32:] + "|" + hash, true},
		{"a broken escape", token + "%G7C" + hash, token + "%G7C" + hash, "", false},
		{"no bar", token, token, "", false},
		{"empty", "", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if token, hash, ok := pair(tt.raw); token != tt.token || hash != tt.hash || ok != tt.ok {
				t.Errorf("%q, %q, %v", token, hash, ok)
			}
		})
	}
}

// TestTokensOfOneLength checks that a cookie with a valid hash but a token of another length is rejected.
func TestTokensOfOneLength(t *testing.T) {
	t.Parallel()
	const secret = "one-secret-of-more-than-thirty-two-bytes"
	g := &Guard{Secrets: []string{secret}}
	for length, good := range map[int]bool{
		TokenLen: true, TokenLen - 1: false, TokenLen + 1: false, 0: false,
	} {
		token := strings.Repeat("a", length)
		r := Request{Jar: cookie.Parse([]string{"c=" + token + "%7C" + hashed(token, secret)}), Cookie: "c"}
		if got, _ := g.tokenOf(r); (got != "") != good {
			t.Errorf("a token of %d characters: %q", length, got)
		}
	}
}

// TestFromOwnPage: a call counts as one of this site's pages only if the browser says so, with each header once.
func TestFromOwnPage(t *testing.T) {
	t.Parallel()
	const own, other = "https://app.example", "https://other.example"
	for _, row := range []struct {
		origins, sites []string
		trusted, want  bool
	}{
		{nil, nil, false, false},
		{[]string{own}, nil, false, true},
		{nil, []string{"same-origin"}, false, true},
		{[]string{own}, []string{"same-origin"}, false, true},
		{[]string{own}, []string{"cross-site"}, false, false},
		{[]string{other}, nil, false, false},
		{[]string{other}, []string{"same-origin"}, false, false},
		{[]string{"null"}, nil, false, false},
		{nil, []string{"same-site"}, false, false},
		{nil, []string{"none"}, false, false},
		{[]string{other}, []string{"cross-site"}, true, true},
		{[]string{own, own}, nil, false, false},
		{[]string{own, other}, nil, false, false},
		{nil, []string{"same-origin", "cross-site"}, false, false},
		{[]string{other}, []string{"same-origin", "cross-site"}, true, false},
	} {
		header := http.Header{"Origin": row.origins, "Sec-Fetch-Site": row.sites}
		if got := FromOwnPage(header, own, row.trusted); got != row.want {
			t.Errorf("Origin %q, Sec-Fetch-Site %q, trusted %v: %v", row.origins, row.sites, row.trusted, got)
		}
	}
}
