package password_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// TestWeakHash configures weak hashes in a program, and in a test.
func TestWeakHash(t *testing.T) {
	weak := func() error {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: memory.New(),
			Getenv:    func(string) string { return "" },
			Providers: []core.Provider{password.New(password.Options{Mail: &postbox{}, Hash: password.Params{Memory: 64}})},
		})
		return err
	}
	if err := weak(); err != nil {
		t.Errorf("in a test: %v", err)
	}
	password.AsInProduction(t)
	if err := weak(); err == nil || !strings.Contains(err.Error(), "too weak") {
		t.Errorf("in a program: error %v", err)
	}
}

// TestFaultsOfOptions makes every possible configuration error.
func TestFaultsOfOptions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(o *password.Options, c *core.Config)
		want   string
	}{
		"no mail": {func(o *password.Options, _ *core.Config) { o.Mail = nil }, "no Mail"},
		"mail in parts": {func(o *password.Options, _ *core.Config) { o.Mail = (&core.EmailProvider{}).Mailer() },
			"no Send"},
		"short passwords":        {func(o *password.Options, _ *core.Config) { o.MinLength = 7 }, "MinLength is 7"},
		"endless ones":           {func(o *password.Options, _ *core.Config) { o.MinLength = 2000 }, "MinLength is 2000"},
		"costly hash":            {func(o *password.Options, _ *core.Config) { o.Hash.Time = 5000 }, "denial of service"},
		"negative MaxConcurrent": {func(o *password.Options, _ *core.Config) { o.MaxConcurrent = -1 }, "MaxConcurrent is -1"},
		"negative reset": {func(o *password.Options, _ *core.Config) { o.ResetTTL = -time.Second },
			"ResetTTL is -1s"},
		"endless reset": {func(o *password.Options, _ *core.Config) { o.ResetTTL = 25 * time.Hour },
			"ResetTTL is 25h"},
		"nil verifier": {func(o *password.Options, _ *core.Config) { o.LegacyHashes = []password.Verifier{nil} },
			"LegacyHashes[0] is nil"},
		"another sign-up": {func(o *password.Options, _ *core.Config) { o.SignUp = 7 }, "SignUp is 7"},
		"no store":        {func(_ *password.Options, c *core.Config) { c.Store = nil }, "needs a Store: set Config.Store"},
		"store without": {func(_ *password.Options, c *core.Config) { c.Store = struct{ core.Store }{memory.New()} },
			"RecordStore"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := password.Options{Mail: &postbox{}}
			c := core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: memory.New(),
				Getenv: func(string) string { return "" },
			}
			row.change(&o, &c)
			c.Providers = []core.Provider{password.New(o)}
			if _, err := core.New(c); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want %s", err, row.want)
			}
		})
	}
}

// TestSignUpPolicies: sign-up can be disabled, or can require an invitation.
func TestSignUpPolicies(t *testing.T) {
	t.Parallel()
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		w := site(t, func(o *password.Options, _ *core.Config) { o.SignUp = password.Closed })
		says(t, w.visit().post("password/sign-up", "email", ada, "password", good), 403, "signup_closed")
		if r := w.person().get("/auth/password/sign-up"); r.Status != 405 {
			t.Errorf("the form is answered %d", r.Status)
		}
		if page := string(w.person().get("/auth/signin").Body); strings.Contains(page, "sign-up") ||
			!strings.Contains(page, "/auth/password/forgot") {
			t.Errorf("the sign-in page is %s", page)
		}
	})
	t.Run("the invited", func(t *testing.T) {
		t.Parallel()
		var host *core.PluginHost
		var records store.RecordStore
		down, seen := errors.New("down"), 0
		w := site(t, func(o *password.Options, c *core.Config) {
			o.SignUp = password.ByInvitation
			c.Callbacks.SignIn = func(ctx context.Context, p core.SignInParams) (core.SignInResult, error) {
				if _, err := records.Record(ctx, "invite", host.Digest("invite", p.User.Email)); err != nil {
					t.Errorf("at a sign-in there is no invitation to read: %v", err)
				}
				if p.User.EmailVerified.IsZero() {
					t.Error("EmailVerified is not available")
				}
				seen++
				return core.Allow(), down
			}
			c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error { host = h; return nil })}
		})
		records = w.store
		says(t, w.visit().post("password/sign-up", "email", ada, "password", good), 202, "mail")
		if n := len(w.emailsTo(ada)); n != 0 {
			t.Errorf("%d emails without an invitation", n)
		}
		invite := func(expires time.Duration) {
			key := host.Digest("invite", ada)
			_, _ = w.store.DeleteRecord(t.Context(), "invite", key)
			err := w.store.CreateRecord(t.Context(), &store.Record{
				Kind: "invite", Key: key, Value: json.RawMessage(`{"email":"ada@example.com"}`), Expires: w.Now().Add(expires),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		invite(-time.Second)
		w.visit().post("password/sign-up", "email", ada, "password", good)
		if n := len(w.emailsTo(ada)); n != 0 {
			t.Errorf("%d emails with an expired invitation", n)
		}
		invite(time.Hour)
		b := w.visit()
		b.post("password/sign-up", "email", ada, "password", good)
		link := token(t, w.newestEmail(ada, mailkind.Verify))
		invite(-time.Second)
		says(t, b.post("password/confirm", "token", link), 400, "link_invalid") // withdrawn in the meantime
		invite(time.Hour)
		b.post("password/confirm", "token", link) // the callback fails, and the link stays valid
		if b.session() != "" || w.user(ada) != nil {
			t.Error("a session or a user, though the callback failed")
		}
		down = nil
		if b.post("password/confirm", "token", link); b.session() != ada || seen != 2 {
			t.Errorf("a session of %q, the callback was asked %d times", b.session(), seen)
		}
	})
}

type partFunc func(h *core.PluginHost) error

func (f partFunc) Attach(h *core.PluginHost) error { return f(h) }

// TestImport imports hashes and replaces them at the first sign-in.
func TestImport(t *testing.T) {
	t.Parallel()
	all := []password.Verifier{
		password.Bcrypt(), password.Scrypt(), password.PBKDF2(), password.Django(), password.BetterAuth(),
		password.Firebase(firebase), password.Argon2i(), password.WordPress(), password.Spring(), password.Lucia(),
		password.Drupal(),
	}
	w := site(t, func(o *password.Options, _ *core.Config) { o.LegacyHashes, o.Hash = all, usualCost })
	for i, v := range vectors {
		email := "user" + strconv.Itoa(i) + "@example.com"
		u, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: email})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.provider.Import(t.Context(), u.ID, v.encoded); err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		if err := w.provider.Import(t.Context(), u.ID, vectors[0].encoded); !errors.Is(err, core.ErrConflict) {
			t.Errorf("%s: a second import: %v", v.name, err)
		}
		for range 2 { // with the imported hash, then with ours
			if len(v.password) < 72 && w.signIn(email, v.password+"!") != "" || w.signIn(email, v.password) != email {
				t.Errorf("%s: signing in fails", v.name)
			}
		}
		record, err := w.store.Store.Record(t.Context(), "password", u.ID)
		if err != nil || !strings.Contains(string(record.Value), `"$argon2id$v=19$m=19456,t=2,p=1$`) {
			t.Errorf("%s: stored %s, %v", v.name, record.Value, err)
		}
	}
	u := w.user("user0@example.com")
	for name, encoded := range map[string]string{
		"MD5": "88a434c88cca4e900f7874cd98123f43", "SHA-1": "{SHA}bROMo65UVjGzq9caTwds51nFcAs=", "none": "",
		"plain text": "hunter2", "plain text of Spring": "{noop}hunter2", "unknown": "$7$abc",
		"endless":        "$2b$" + strings.Repeat("x", 5000),
		"endless, known": "$scrypt$" + strings.Repeat("x", 5000),
		"costly":         "$argon2id$v=19$m=4194304,t=100,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
	} {
		err := w.provider.Import(t.Context(), u.ID, encoded)
		if err == nil || errors.Is(err, core.ErrConflict) || encoded != "" && strings.Contains(err.Error(), encoded) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.provider.Import(t.Context(), "nobody", vectors[0].encoded); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("for an unknown user: %v", err)
	}
}

// TestUnsaltedWhateverAVerifierSays: a custom Verifier cannot allow MD5.
func TestUnsaltedWhateverAVerifierSays(t *testing.T) {
	t.Parallel()
	w := site(t, func(o *password.Options, _ *core.Config) {
		o.LegacyHashes = []password.Verifier{password.Func(func(string) bool { return true },
			func(string, []byte) (bool, error) { return true, nil })}
	})
	w.signUp(ada, good)
	err := w.provider.Import(t.Context(), w.user(ada).ID, "88a434c88cca4e900f7874cd98123f43")
	if err == nil || !strings.Contains(err.Error(), "MD5") {
		t.Error(err)
	}
}

// TestPlantedHash: a hash that would take hours is rejected like a wrong password, and the log has the cause.
func TestPlantedHash(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	for name, hash := range map[string]string{
		"costly":  "$argon2id$v=19$m=4194304,t=1000,p=4$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"unknown": "$2b$10$N9qo8uLOickgx2ZMRZoMye7hLCKuEIm4BcKHuoCJsBy/5Q0NErxWS",
	} {
		id := w.user(ada).ID
		record, err := w.store.Store.Record(t.Context(), "password", id)
		if err != nil {
			t.Fatal(err)
		}
		record.Value, _ = json.Marshal(map[string]any{"hash": hash, "set": w.Now()})
		if err := w.store.Store.UpdateRecord(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if w.signIn(ada, good) != "" || !strings.Contains(w.log.String(), "could not compare a stored hash") {
			t.Errorf("%s: %s", name, w.log)
		}
	}
}

// TestSendReset sends a link as an administrator.
func TestSendReset(t *testing.T) {
	t.Parallel()
	w := site(t)
	u, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.provider.SendReset(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	l := w.newestEmail(ada, mailkind.Reset)
	if l.Host != "app.test" || l.Request != nil || !strings.HasPrefix(string(l.URL),
		"https://app.test/auth/password/reset?token=") {
		t.Errorf("email for host %s", l.Host)
	}
	says(t, w.open(token(t, l)).post("password/reset", "newPassword", good), 200, "signin")
	if w.signIn(ada, good) != ada {
		t.Error("signing in fails")
	}
	if err := w.provider.SendReset(t.Context(), "nobody"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("for an unknown user: %v", err)
	}
	if err := w.provider.Remove(t.Context(), "nobody"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("removed from an unknown user: %v", err)
	}
	if err := password.New(password.Options{}).Import(t.Context(), "1", "x"); err == nil {
		t.Error("a provider of no configuration imports")
	}
}

// TestCostsAreRaised: a hash with other costs than configured is replaced at the sign-in.
func TestCostsAreRaised(t *testing.T) {
	t.Parallel()
	kept := memory.New()
	under := func(hash password.Params) *world {
		return site(t, func(o *password.Options, c *core.Config) { o.Hash, c.Store = hash, kept })
	}
	old := under(password.Params{Memory: 7168, Time: 5})
	b := old.visit()
	b.post("password/sign-up", "email", ada, "password", good)
	b.post("password/confirm", "token", token(t, old.newestEmail(ada, mailkind.Verify)))
	u, err := kept.UserByEmail(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m=7168,t=5", "m=19456,t=2", "m=19456,t=2"} {
		record, err := kept.Record(t.Context(), "password", u.ID)
		if err != nil || !strings.Contains(string(record.Value), want) {
			t.Errorf("stored %s, %v, want %s", record.Value, err, want)
		}
		if under(usualCost).signIn(ada, good) != ada {
			t.Error("signing in fails")
		}
	}
}

// TestWithoutAStore: New reports the missing store once, without errors that follow from it.
func TestWithoutAStore(t *testing.T) {
	_, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a secret of the tests, 32 bytes or more"},
		Providers: []core.Provider{password.New(password.Options{Mail: mailbox.New()})},
		Getenv:    func(string) string { return "" },
	})
	var problems *core.ConfigError
	if !errors.As(err, &problems) || len(problems.Problems) != 1 || !errors.Is(err, core.ErrMissingStore) {
		t.Errorf("New returned %v", err)
	}
}
