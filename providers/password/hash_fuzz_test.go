package password

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"
)

// FuzzParse: every accepted hash has one encoding, and costs within the limits, even if an attacker wrote it to the
// store.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2U",
		"$argon2id$v=19$m=8,t=4294967295,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
		"$argon2id$v=19$m=019456,t=+2,p=0$c2FsdHNhbHR$$", "$argon2i$v=16$m=1,t=1,p=1$$", "$2b$12$x", "",
	} {
		f.Add(seed)
	}
	own := Params{}.withDefaults()
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			return
		}
		p := e.params
		again := fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", p.Memory, p.Time, p.Threads,
			base64.RawStdEncoding.EncodeToString(e.salt), base64.RawStdEncoding.EncodeToString(e.key))
		if again != text {
			t.Errorf("%q is read as %q", text, again)
		}
		if e.affordable(own) == nil && uint64(p.Memory)*uint64(p.Time) > 10*uint64(own.Memory)*uint64(own.Time) {
			t.Errorf("%q would be computed", text)
		}
	})
}

// FuzzVerifiers passes malicious hashes to all verifiers. Those that are too costly are rejected before they are
// computed.
func FuzzVerifiers(f *testing.F) {
	for _, seed := range []string{
		"$2b$04$abcdefghijklmnopqrstuuJg0Tq5yVYyhNQ7QMBmbmnKM3mCqKf2e", "$2b$31$abcdefghijklmnopqrstuu",
		"scrypt:32768:8:1$salt$00ff", "scrypt:1073741824:8:1$salt$00ff", "pbkdf2:sha256:600000$salt$00ff",
		"$pbkdf2-sha512$4294967295$c2FsdA$a2V5", "pbkdf2_sha256$1000000000000$salt$a2V5", "scrypt$salt$16384$8$5$a2V5",
		"bcrypt_sha256$$2b$12$x", "argon2$argon2id$v=19$m=102400,t=2,p=8$c2FsdHNhbHQ$a2V5", "salt:00ff",
		"5f4dcc3b5aa765d61d8327deb882cf99", "", "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf",
		"$S$S33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
		"$wp$2y$31$qKxc/lF66kCDfMyfEm/1suIk.hU.PBw80CKBk2Y06McTTcv.VOGnS", "$argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$a2V5",
		"{bcrypt}$2a$31$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG", "{scrypt}$e0801$8bWJaSu2$OAOe",
		"s2:eqweru5w1oiik3hi:69ec", "{pepper:2026}$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$a2V5",
	} {
		f.Add(seed)
	}
	all := []Verifier{
		Bcrypt(), Scrypt(), PBKDF2(), Django(), BetterAuth(), WordPress(), Drupal(), Spring(), Argon2i(),
		Firebase(FirebaseParams{SignerKey: "a2V5", SaltSeparator: "Bw==", Rounds: 8, MemCost: 14}),
	}
	f.Fuzz(func(t *testing.T, text string) {
		known := 0
		for _, v := range all {
			if v.Knows(text) {
				known++
			}
			// A hash of acceptable costs takes seconds. Costs beyond the limits would take minutes or all the memory.
			began := time.Now()
			if ok, err := v.Verify(text, []byte("password")); ok && err != nil {
				t.Errorf("%q is both right and malformed: %v", text, err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%q took %v", text, took)
			}
		}
		_ = isLucia(text)
		if known > 1 {
			t.Errorf("%d verifiers know %q", known, text)
		}
		if unsalted(text) && known > 0 {
			t.Errorf("%q has no salt, and is known", text)
		}
	})
}
