package webauthn_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

const challenge = "Y2hhbGxlbmdl"

var want = core.WebAuthnCeremony{
	Challenge: challenge, RPID: "app.example", Origin: "https://app.example",
	UserVerification: true, Algorithms: []int{-7},
}

func good() authenticator.Ceremony {
	return authenticator.Ceremony{Challenge: challenge, RPID: "app.example", Origin: "https://app.example"}
}

func TestRegistration(t *testing.T) {
	key := authenticator.New("credential")
	for name, row := range map[string]struct {
		change func(*authenticator.Ceremony)
		offer  []int
		ok     bool
	}{
		"good":                     {ok: true},
		"backed up":                {change: func(c *authenticator.Ceremony) { c.Flags = 0x1d }, ok: true},
		"another ceremony":         {change: func(c *authenticator.Ceremony) { c.Type = "webauthn.get" }},
		"another challenge":        {change: func(c *authenticator.Ceremony) { c.Challenge = "b3RoZXI" }},
		"another origin":           {change: func(c *authenticator.Ceremony) { c.Origin = "https://evil.example" }},
		"framed by another site":   {change: func(c *authenticator.Ceremony) { c.CrossOrigin = true }},
		"another relying party":    {change: func(c *authenticator.Ceremony) { c.RPID = "example" }},
		"nobody present":           {change: func(c *authenticator.Ceremony) { c.Flags = authenticator.UserVerified }},
		"nobody verified":          {change: func(c *authenticator.Ceremony) { c.Flags = authenticator.UserPresent }},
		"impossible flags":         {change: func(c *authenticator.Ceremony) { c.Flags = 0x15 }},
		"an algorithm not offered": {offer: []int{-257}},
		"client data of something else": {change: func(c *authenticator.Ceremony) {
			c.ClientData = func([]byte) []byte { return []byte(`{"type":"webauthn.create"}`) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ceremony, expected := good(), want
			if row.change != nil {
				row.change(&ceremony)
			}
			if row.offer != nil {
				expected.Algorithms = row.offer
			}
			made, err := webauthn.Verifier{}.VerifyRegistration([]byte(key.Register(ceremony)), expected)
			if (err == nil) != row.ok {
				t.Fatalf("ok %v, want %v: %v", err == nil, row.ok, err)
			}
			id, public := base64.StdEncoding.EncodeToString(key.ID), base64.StdEncoding.EncodeToString(key.PublicKey())
			if row.ok && (made.CredentialID != id || made.CredentialPublicKey != public || made.Transports != "internal") {
				t.Errorf("got %+v", made)
			}
		})
	}
}

func TestAuthentication(t *testing.T) {
	key, other := authenticator.New("credential"), authenticator.New("other")
	stored := &store.Authenticator{CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey())}
	for name, row := range map[string]struct {
		change func(*authenticator.Ceremony)
		ok     bool
	}{
		"good":                   {ok: true},
		"user handle":            {change: func(c *authenticator.Ceremony) { c.UserHandle = []byte("anybody") }, ok: true},
		"another ceremony":       {change: func(c *authenticator.Ceremony) { c.Type = "webauthn.create" }},
		"another challenge":      {change: func(c *authenticator.Ceremony) { c.Challenge = "b3RoZXI" }},
		"no challenge":           {change: func(c *authenticator.Ceremony) { c.Challenge = "" }},
		"another port":           {change: func(c *authenticator.Ceremony) { c.Origin = "https://app.example:444" }},
		"framed by another site": {change: func(c *authenticator.Ceremony) { c.CrossOrigin = true }},
		"another relying party":  {change: func(c *authenticator.Ceremony) { c.RPID = "evil.example" }},
		"nobody present":         {change: func(c *authenticator.Ceremony) { c.Flags = authenticator.UserVerified }},
		"nobody verified":        {change: func(c *authenticator.Ceremony) { c.Flags = authenticator.UserPresent }},
		"impossible flags":       {change: func(c *authenticator.Ceremony) { c.Flags = 0x15 }},
		"another key":            {change: func(c *authenticator.Ceremony) { c.SignedBy = other }},
		"a flipped bit": {change: func(c *authenticator.Ceremony) {
			c.Signature = func(s []byte) []byte { s[len(s)-1] ^= 1; return s }
		}},
		"a relying party of zeros": {change: func(c *authenticator.Ceremony) {
			c.BeforeData = func(data []byte) []byte { clear(data[:sha256.Size]); return data }
		}},
		"something behind the signature": {change: func(c *authenticator.Ceremony) {
			c.Signature = func(s []byte) []byte { return append(s, 0) }
		}},
		"something in the signature": {change: func(c *authenticator.Ceremony) {
			c.Signature = func(s []byte) []byte { s[1] += 2; return append(s, 0x05, 0x00) } // a trailing NULL
		}},
		"no signature": {change: func(c *authenticator.Ceremony) {
			c.Signature = func([]byte) []byte { return nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ceremony := good()
			ceremony.Counter = 7
			if row.change != nil {
				row.change(&ceremony)
			}
			counter, err := webauthn.Verifier{}.VerifyAuthentication([]byte(key.Authenticate(ceremony)), stored, want)
			if (err == nil) != row.ok || row.ok && counter != 7 {
				t.Fatalf("ok %v, want %v, counter %d: %v", err == nil, row.ok, counter, err)
			}
		})
	}
}

// TestSignaturesOfAllShapes includes signatures with numbers that start with zero bytes, which the library of Auth.js
// rejects (docs/protocol.md §12.2).
func TestSignaturesOfAllShapes(t *testing.T) {
	key := authenticator.New("credential")
	stored := &store.Authenticator{CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey())}
	for range 600 {
		if _, err := (webauthn.Verifier{}).VerifyAuthentication([]byte(key.Authenticate(good())), stored, want); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	key := authenticator.New("credential")
	stored := &store.Authenticator{CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey())}
	f.Add([]byte(key.Register(good())))
	f.Add([]byte(key.Authenticate(good())))
	f.Add([]byte(`{"id":"AQ","rawId":"AQ","type":"public-key","response":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = webauthn.Verifier{}.VerifyRegistration(data, want)
		ceremony := core.WebAuthnCeremony{Challenge: "x", RPID: "x", Origin: "https://x"}
		if _, err := (webauthn.Verifier{}).VerifyAuthentication(data, stored, ceremony); err == nil {
			t.Error("accepted")
		}
	})
}

// TestConditional: a passkey that is created without a prompt needs neither user presence nor user verification.
func TestConditional(t *testing.T) {
	const both = authenticator.UserPresent | authenticator.UserVerified
	for name, row := range map[string]struct {
		conditional, ok bool
		flags           byte
	}{
		"without a prompt":       {conditional: true, flags: authenticator.BackupEligible, ok: true},
		"with one anyway":        {conditional: true, flags: both, ok: true},
		"impossible flags":       {conditional: true, flags: authenticator.BackupState},
		"the user was not asked": {flags: authenticator.BackupEligible},
	} {
		t.Run(name, func(t *testing.T) {
			ceremony, expected := good(), want
			ceremony.Flags, expected.Conditional, expected.UserVerification = row.flags, row.conditional, false
			response := authenticator.New("a").Register(ceremony)
			if _, err := (webauthn.Verifier{}).VerifyRegistration([]byte(response), expected); (err == nil) != row.ok {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAAGUID checks that a registration has the AAGUID as a UUID. Zeros mean that the browser hides it.
func TestAAGUID(t *testing.T) {
	for name, row := range map[string]struct {
		aaguid []byte
		want   string
	}{
		"hidden": {make([]byte, 16), ""},
		"known": {
			[]byte{0xd5, 0x48, 0x82, 0x6e, 0x79, 0xb4, 0xdb, 0x40, 0xa3, 0xd8, 0x11, 0x11, 0x6f, 0x7e, 0x83, 0x49},
			"d548826e-79b4-db40-a3d8-11116f7e8349",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ceremony := good()
			ceremony.AAGUID = row.aaguid
			made, err := webauthn.Verifier{}.VerifyRegistration([]byte(authenticator.New("a").Register(ceremony)), want)
			if err != nil || made.AAGUID != row.want {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
}
