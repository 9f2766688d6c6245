package password_test

import (
	"context"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/providers/password"
)

// The peppers of the tests.
var (
	oldPepper = password.Pepper{ID: "2025", Key: "the-old-pepper-has-more-than-32-bytes"}
	newPepper = password.Pepper{ID: "2026", Key: "the-new-pepper-has-more-than-32-bytes"}
)

// with returns a site over the same store with these peppers.
func (w *world) with(peppers ...password.Pepper) *world {
	w.t.Helper()
	other := site(w.t, func(o *password.Options, c *core.Config) { o.Peppers, c.Store = peppers, w.store })
	other.store = w.store
	return other
}

// hash returns the stored hash of a user.
func (w *world) hash(email string) string {
	w.t.Helper()
	r, err := w.store.Store.Record(w.t.Context(), "password", w.user(email).ID)
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(r.Value), `"hash":"`)
	hash, _, _ := strings.Cut(rest, `"`)
	return hash
}

// TestPepperRotation: the newest pepper replaces others, and none, at the next sign-in. Each hash needs its pepper.
func TestPepperRotation(t *testing.T) {
	t.Parallel()
	first := site(t)
	first.signUp(ada, good)
	if hash := first.hash(ada); !strings.HasPrefix(hash, "$argon2id$") {
		t.Fatalf("without peppers: %.30s", hash)
	}
	for _, step := range []struct {
		name    string
		peppers []password.Pepper
		prefix  string
	}{
		{"the first pepper", []password.Pepper{oldPepper}, "{pepper:2025}$argon2id$"},
		{"rotation", []password.Pepper{newPepper, oldPepper}, "{pepper:2026}$argon2id$"},
		{"the old one is removed", []password.Pepper{newPepper}, "{pepper:2026}$argon2id$"},
	} {
		w := first.with(step.peppers...)
		if w.signIn(ada, better) != "" {
			t.Errorf("%s: a wrong password signs in", step.name)
		}
		if w.signIn(ada, good) != ada {
			t.Errorf("%s: the password is refused", step.name)
		}
		if hash := w.hash(ada); !strings.HasPrefix(hash, step.prefix) {
			t.Errorf("%s: the hash is %.30s", step.name, hash)
		}
		before := w.hash(ada)
		if w.signIn(ada, good) != ada || w.hash(ada) != before {
			t.Errorf("%s: a current hash was replaced", step.name)
		}
	}
	other := newPepper
	other.Key = "another-key-with-more-than-thirty-two-bytes"
	if first.with(other).signIn(ada, good) != "" {
		t.Error("the key of the pepper does not matter")
	}
	if first.with(newPepper).hash(ada) == "" || first.with(newPepper).signIn(ada, good) != ada {
		t.Error("a sign-in with another key has changed the hash")
	}
}

// TestPepperMissing removes a pepper that is still needed: the log, the audit event, the count and the doctor say so.
// The response is that of a wrong password.
func TestPepperMissing(t *testing.T) {
	t.Parallel()
	first := site(t, func(o *password.Options, _ *core.Config) { o.Peppers = []password.Pepper{oldPepper} })
	first.signUp(ada, good)
	var reasons []audit.Reason
	w := site(t, func(o *password.Options, c *core.Config) {
		o.Peppers, c.Store = []password.Pepper{newPepper}, first.store
		c.Audit = func(_ context.Context, e audit.Event) {
			if e.Name == audit.SignIn {
				reasons = append(reasons, e.Reason)
			}
		}
	})
	w.store = first.store
	if w.signIn(ada, good) != "" {
		t.Fatal("a hash was compared without its pepper")
	}
	if log := w.log.String(); !strings.Contains(log, `needs the pepper \"2025\": add it to Options.Peppers again`) {
		t.Errorf("the log is %s", log)
	}
	if len(reasons) != 1 || reasons[0] != audit.ReasonFault {
		t.Errorf("audit: %v", reasons)
	}
	counts, err := w.provider.PepperUse(t.Context())
	if err != nil || len(counts) != 1 || counts["2025"] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	said := ""
	w.provider.Advise(func(what, fix string) { said += what + ": " + fix })
	if !strings.Contains(said, `1 users cannot sign in with their passwords, which need the pepper "2025"`) {
		t.Errorf("the doctor says %q", said)
	}
	first.provider.Advise(func(what, _ string) { t.Errorf("with the pepper, the doctor says %q", what) })
	if err := w.provider.Import(t.Context(), w.user(ada).ID, first.hash(ada)); err == nil ||
		!strings.Contains(err.Error(), "needs the pepper") {
		t.Errorf("import: %v", err)
	}
}

// TestPepperOfLegacyHashes: a hash of another system gets the pepper at the first sign-in.
func TestPepperOfLegacyHashes(t *testing.T) {
	t.Parallel()
	w := site(t, func(o *password.Options, _ *core.Config) {
		o.Peppers, o.LegacyHashes = []password.Pepper{newPepper}, []password.Verifier{password.Drupal()}
	})
	user, err := w.store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada, EmailVerified: w.Now()})
	if err == nil {
		err = w.provider.Import(t.Context(), user.ID, "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf")
	}
	if err != nil {
		t.Fatal(err)
	}
	if w.signIn(ada, "hashcat") != ada || !strings.HasPrefix(w.hash(ada), "{pepper:2026}$argon2id$") {
		t.Errorf("the hash is %.30s", w.hash(ada))
	}
	if w.signIn(ada, "hashcat") != ada {
		t.Error("the new hash is refused")
	}
}

// TestPepperOptions: weak and ambiguous peppers are configuration errors, which do not contain the keys.
func TestPepperOptions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		peppers []password.Pepper
		want    string
	}{
		"a short key":   {[]password.Pepper{{"1", "thirty-one-bytes-are-not-enough"}}, "has 31 bytes"},
		"no ID":         {[]password.Pepper{{"", newPepper.Key}}, "Peppers[0].ID is"},
		"an ID with }":  {[]password.Pepper{{"a}", newPepper.Key}}, "Peppers[0].ID is"},
		"an ID twice":   {[]password.Pepper{oldPepper, {oldPepper.ID, newPepper.Key}}, "as in another entry"},
		"the key twice": {[]password.Pepper{oldPepper, {"2026", oldPepper.Key}}, "is that of another entry"},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: site(t).store,
			Getenv:    func(string) string { return "" },
			Providers: []core.Provider{password.New(password.Options{Mail: &postbox{}, Peppers: row.peppers})},
		})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range row.peppers {
			if err != nil && strings.Contains(err.Error(), string(p.Key)) {
				t.Errorf("%s: the error contains the key", name)
			}
		}
	}
}
