package secondfactor

import (
	"strings"
	"testing"
	"time"
)

// TestVectors checks the codes of RFC 6238 Appendix B.
func TestVectors(t *testing.T) {
	const digits = "1234567890"
	keys := map[string]*totpKey{
		"SHA1":   {Secret: []byte(strings.Repeat(digits, 2)), Digits: 8},
		"SHA256": {Secret: []byte(strings.Repeat(digits, 4)[:32]), Algorithm: "SHA256", Digits: 8},
		"SHA512": {Secret: []byte(strings.Repeat(digits, 7)[:64]), Algorithm: "SHA512", Digits: 8},
	}
	for _, row := range []struct {
		seconds              int64
		sha1, sha256, sha512 string
	}{
		{59, "94287082", "46119246", "90693936"},
		{1111111109, "07081804", "68084774", "25091201"},
		{1111111111, "14050471", "67062674", "99943326"},
		{1234567890, "89005924", "91819424", "93441116"},
		{2000000000, "69279037", "90698825", "38618901"},
		{20000000000, "65353130", "77737706", "47863826"},
	} {
		for name, want := range map[string]string{"SHA1": row.sha1, "SHA256": row.sha256, "SHA512": row.sha512} {
			k := keys[name]
			if got := k.code(k.step(time.Unix(row.seconds, 0))); got != want {
				t.Errorf("%s at %d: %s, want %s", name, row.seconds, got, want)
			}
		}
	}
}

// TestTolerance checks the edges of a time step: one step before and after is accepted, two are not.
func TestTolerance(t *testing.T) {
	k := &totpKey{Secret: []byte("12345678901234567890")}
	start := time.Unix(1_700_000_010, 0) // the first second of a step
	for _, row := range []struct {
		after time.Duration // of the clock, from the first second of the code's step
		ok    bool
	}{
		{-31 * time.Second, false},
		{-30 * time.Second, true},
		{0, true},
		{29 * time.Second, true},
		{59 * time.Second, true},
		{60 * time.Second, false},
		{90 * time.Second, false},
	} {
		if _, ok := k.match(k.code(k.step(start)), start.Add(row.after), 0); ok != row.ok {
			t.Errorf("a code of %v ago is accepted: %v", row.after, ok)
		}
	}
	if k.step(start) == k.step(start.Add(-time.Second)) {
		t.Error("the test does not start at a step")
	}
	for _, code := range []string{"", "0", "1234567", "12345x", "１２３４５６"} {
		if _, ok := k.match(code, start, 0); ok {
			t.Errorf("%q is accepted", code)
		}
	}
}

// TestURI writes and reads otpauth URIs.
func TestURI(t *testing.T) {
	k := totpKey{Secret: []byte("12345678901234567890")}
	const want = "otpauth://totp/Acme%20Co:ada@example.com?issuer=Acme%20Co&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	if got := k.uri("Acme Co", "ada@example.com"); got != want {
		t.Errorf("the URI is %s", got)
	}
	if got := k.text(); got != "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ" {
		t.Errorf("the secret is shown as %s", got)
	}
	for uri, ok := range map[string]bool{
		want: true,
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&algorithm=sha256&digits=8&period=60": true,
		"otpauth://totp/a?secret=gezdgnbvgy3tqojq====":                                 true,
		"otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQ&counter=1":                           false,
		"https://totp/a?secret=GEZDGNBVGY3TQOJQ":                                       false,
		"otpauth://totp/a?secret=GEZD":                                                 false,
		"otpauth://totp/a?secret=1111111111111111":                                     false,
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&algorithm=MD5":                       false,
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&digits=4":                            false,
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&period=0":                            false,
		"": false,
	} {
		got, _, err := parseURI(uri)
		if (err == nil) != ok {
			t.Errorf("%s: %v", uri, err)
		}
		if err != nil && strings.Contains(err.Error(), "GEZD") {
			t.Errorf("the error contains the secret: %v", err)
		}
		if again, _, _ := parseURI(got.uri("i", "a")); ok && again.code(1) != got.code(1) {
			t.Errorf("%s is read as %+v", uri, got)
		}
	}
}
