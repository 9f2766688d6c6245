package account_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	htmltext "html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/ui"
)

// believer accepts every response of an authenticator, because these tests are not about verification.
type believer struct{}

func (believer) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	var credential struct{ ID string }
	err := json.Unmarshal(data, &credential)
	raw, _ := base64.RawURLEncoding.DecodeString(credential.ID)
	aaguid := "" // these passkeys state their ID if it looks like an AAGUID
	if len(raw) == 36 {
		aaguid = string(raw)
	}
	return &core.VerifiedPasskey{AAGUID: aaguid, Authenticator: store.Authenticator{
		CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5",
		CredentialDeviceType: "multiDevice", CredentialBackedUp: true,
	}}, err
}

func (believer) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

// withPasskeys configures passkeys and OAuth accounts, without email.
func withPasskeys(c *core.Config) {
	onlyHub(c)
	c.EnableWebAuthn = true
	c.Providers = append(c.Providers, &core.WebAuthnProvider{ID: "passkey", Name: "Passkey", Verifier: believer{}})
}

// passkey registers a passkey, or signs in with one.
func (b *browser) passkey(action, credential string) {
	b.Helper()
	r := b.ask("webauthn-options/passkey?action=" + action)
	if r.Status != http.StatusOK {
		b.Fatalf("options: %d %s", r.Status, r.Body)
	}
	id := base64.RawURLEncoding.EncodeToString([]byte(credential))
	r = b.post("callback/passkey", url.Values{"action": {strings.Split(action, "&")[0]}, "data": {`{"id":"` + id + `"}`}})
	if r.Err != nil || r.Status != http.StatusFound {
		b.Fatalf("%s: %d %v", action, r.Status, r.Err)
	}
}

// TestPasskeys: passkeys can be named, used and removed, except for the last sign-in method.
func TestPasskeys(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b, other := s.as(ada), s.as(eve)
	made := s.clock()
	b.passkey("register", "laptop")
	b.passkey("register", "phone")
	b.overview() // the user is redirected to the page
	other.passkey("register", "eves")
	s.wait(time.Minute)
	s.browse().passkey("authenticate", "laptop")

	keys := b.overview().Passkeys
	if len(keys) != 2 {
		t.Fatalf("passkeys %+v", keys)
	}
	i := slices.IndexFunc(keys, func(k account.Passkey) bool { return k.Used.After(made) })
	if i < 0 {
		t.Fatalf("no passkey was used: %+v", keys)
	}
	laptop, phone := keys[i], keys[1-i]
	if !laptop.Made.Equal(made) || !laptop.Used.Equal(made.Add(time.Minute)) || !laptop.Synced || !laptop.Removable {
		t.Errorf("the laptop's is %+v", laptop)
	}

	name := func(id, name string) *core.Response {
		return b.call("account/passkey", url.Values{"id": {id}, "name": {name}})
	}
	b.fine(name(laptop.ID, "  Ada's laptop \t"), http.StatusOK)
	b.refused(name(laptop.ID, strings.Repeat("ä", 65)), 400, "name_invalid")
	b.refused(name(laptop.ID, "a\x00b"), 400, "name_invalid")
	b.refused(name(laptop.ID, "a\u202eb"), 400, "name_invalid")
	theirs := other.overview().Passkeys[0].ID
	b.refused(name(theirs, "mine"), 404, "not_found")
	b.refused(name("", "mine"), 404, "not_found")
	remove := func(id string) *core.Response {
		return b.call("account/passkey", url.Values{"id": {id}, "remove": {"true"}})
	}
	b.refused(remove(theirs), 404, "not_found")
	if got := b.overview().Passkeys[i]; got.Name != "Ada's laptop" || !got.Used.Equal(laptop.Used) {
		t.Errorf("the laptop's is %+v now", got)
	}

	raw := base64.StdEncoding.EncodeToString([]byte("phone"))
	if err := s.mine.Unlink(t.Context(), "ada", "passkey", raw); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Unlink takes the account of a passkey: %v", err)
	}
	b.fine(remove(phone.ID), http.StatusOK)
	b.refused(remove(phone.ID), 404, "not_found")
	b.fine(b.call("account/unlink", url.Values{"account": {b.overview().Accounts[0].ID}}), http.StatusOK)
	b.refused(remove(laptop.ID), 409, "last_method")
	if left := b.overview().Passkeys; len(left) != 1 || left[0].Removable {
		t.Errorf("left %+v", left)
	}
	stranger := s.browse()
	stranger.ask("webauthn-options/passkey?action=authenticate")
	data := `{"id":"` + base64.RawURLEncoding.EncodeToString([]byte("phone")) + `"}`
	if r := stranger.post("callback/passkey", url.Values{"action": {"authenticate"}, "data": {data}}); r.Err == nil {
		t.Error("the removed passkey signs in")
	}
	b.passkey("register", "phone") // it can be registered again
	if told := s.told(); !slices.Contains(told, "passkey.removed ok ada") {
		t.Errorf("audit events %q", told)
	}
	b.overview()
	records, err := s.store.UserRecords(t.Context(), "ada", "passkey")
	if err != nil || len(records) != 2 {
		t.Errorf("%d records of passkeys, %v", len(records), err)
	}
}

// TestPasskeyWithoutAccount: after a failed removal, the passkey is listed, cannot sign in, and can be removed.
func TestPasskeyWithoutAccount(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	s.must(s.store.CreateAuthenticator(t.Context(), &store.Authenticator{
		CredentialID: "YQ==", UserID: "ada", ProviderAccountID: "YQ==", CredentialPublicKey: "a2V5",
		CredentialDeviceType: "singleDevice",
	}))
	o, err := s.mine.Overview(t.Context(), "ada")
	s.must(err)
	if len(o.Passkeys) != 1 || slices.Contains(o.Methods, "passkey") {
		t.Fatalf("the overview is %+v", o)
	}
	s.must(s.mine.RemovePasskey(t.Context(), "ada", o.Passkeys[0].ID))
	if err := s.mine.RemovePasskey(t.Context(), "ada", o.Passkeys[0].ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
}

// TestPasskeyEndpoints publishes where users manage passkeys, if the site has them.
func TestPasskeyEndpoints(t *testing.T) {
	for _, row := range []struct {
		name      string
		configure func(*core.Config)
		want      string
	}{
		{"no passkeys", onlyHub, ""},
		{"passkeys", withPasskeys, `{"enroll":"` + origin + `/auth/account","manage":"` + origin + `/auth/account"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, setup{configure: row.configure})
			r := s.auth.Handle(t.Context(), &core.Request{
				Method: "GET", Target: "/.well-known/passkey-endpoints", Hosts: []string{"app.example"}, Scheme: "https",
			})
			if published := r.Status == http.StatusOK; published != (row.want != "") || published && string(r.Body) != row.want {
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
	}
}

// TestPasskeyProvider: a passkey without a name has the name of the product that stores it.
func TestPasskeyProvider(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys, options: account.Options{PasskeyNames: map[string]string{
		"00000000-0000-0000-0000-00000000000b": "Our Vault",
	}}})
	b := s.as(ada)
	for credential, want := range map[string]string{
		"d548826e-79b4-db40-a3d8-11116f7e8349": "Bitwarden", "53414d53-554e-4700-0000-000000000000": "Samsung Pass",
		"00000000-0000-0000-0000-00000000000a": "", "00000000-0000-0000-0000-00000000000b": "Our Vault",
		"no-aaguid": "",
	} {
		b.passkey("register", credential)
		keys := b.overview().Passkeys
		i := slices.IndexFunc(keys, func(k account.Passkey) bool { return k.Provider == want })
		if len(keys) != 1 || i < 0 || keys[0].Name != "" {
			t.Fatalf("%s: %+v", credential, keys)
		}
		page, shown := string(b.open("account").Body), cmp.Or(want, "Passkey")
		if !strings.Contains(page, "<bdi>"+shown+"</bdi>") {
			t.Errorf("%s: the page does not show %q", credential, shown)
		}
		b.fine(b.call("account/passkey", url.Values{"id": {keys[0].ID}, "name": {"Mine"}}), http.StatusOK)
		if got := b.overview().Passkeys[0]; got.Name != "Mine" || got.Provider != want {
			t.Errorf("%s: renamed to %+v", credential, got)
		}
		b.fine(b.call("account/passkey", url.Values{"id": {keys[0].ID}, "remove": {"true"}}), http.StatusOK)
	}
}

// TestPasskeySignals: the page tells the browser which passkeys the site accepts, and which one was removed.
func TestPasskeySignals(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b, other := s.as(ada), s.as(eve)
	signals := func(b *browser) (got ui.PasskeySignals) {
		t.Helper()
		page := string(b.open("account").Body)
		_, text, found := strings.Cut(page, `data-passkey-signals="`)
		if !found {
			return got
		}
		text, _, _ = strings.Cut(text, `"`)
		s.must(json.Unmarshal([]byte(htmltext.UnescapeString(text)), &got))
		return got
	}
	if got := signals(b); got.RPID != "" {
		t.Errorf("signals of a user without passkeys: %+v", got)
	}
	b.passkey("register", "laptop")
	b.passkey("register", "phone")
	other.passkey("register", "eves")
	got, theirs := signals(b), signals(other)
	slices.Sort(got.Accepted)
	if want := []string{"bGFwdG9w", "cGhvbmU"}; !slices.Equal(got.Accepted, want) || len(got.Unknown) > 0 ||
		got.RPID != "app.example" || got.Name != ada || got.DisplayName != "Ada" || len(got.Users) != 1 {
		t.Fatalf("the signals are %+v", got)
	}
	if slices.Contains(theirs.Users, got.Users[0]) || !slices.Equal(theirs.Accepted, []string{"ZXZlcw"}) {
		t.Errorf("the signals of another user are %+v", theirs)
	}
	keys := b.overview().Passkeys
	phone := slices.IndexFunc(keys, func(k account.Passkey) bool { return k.ID != keys[0].ID })
	elsewhere := s.as(ada) // removed on another device
	elsewhere.post("account/passkey", url.Values{"id": {keys[phone].ID}, "remove": {"true"}})
	gone := signals(elsewhere)
	if len(gone.Unknown) != 1 || len(gone.Accepted) != 1 || gone.Unknown[0] == gone.Accepted[0] {
		t.Errorf("the signals after the removal are %+v", gone)
	}
	if again := signals(elsewhere); len(again.Unknown) > 0 {
		t.Errorf("the signal is repeated: %+v", again)
	}
	if here := signals(b); len(here.Accepted) != 1 || len(here.Unknown) > 0 || !slices.Equal(here.Users, got.Users) {
		t.Errorf("the signals on this device are %+v", here)
	}
	left := b.overview().Passkeys[0]
	b.post("account/passkey", url.Values{"id": {left.ID}, "remove": {"true"}}) // the last one
	if last := signals(b); len(last.Unknown) != 1 || len(last.Users) > 0 || len(last.Accepted) > 0 {
		t.Errorf("the signals after the last passkey are %+v", last)
	}
	nobody, err := s.store.User(t.Context(), "eve")
	s.must(err)
	nobody.Name, nobody.Email = "", ""
	_, err = s.store.UpdateUser(t.Context(), nobody)
	s.must(err)
	unnamed := signals(other)
	if unnamed.Name != "" || len(unnamed.Users) != 1 { // the authenticator shows what they typed
		t.Errorf("the signals without a name are %+v", unnamed)
	}
}

// TestPasskeyCreation: the page creates a passkey without a prompt for a user who has just signed in with a password,
// has no passkey and has never removed one.
func TestPasskeyCreation(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b := s.as(ada)
	creates := func(b *browser) bool {
		t.Helper()
		page := string(b.open("account").Body)
		return strings.Contains(page, "data-passkey-creation") && strings.Contains(page, "mediation=conditional")
	}
	if !creates(b) {
		t.Fatal("the page creates no passkey after a sign-in with a password")
	}
	b.passkey("register&mediation=conditional", "laptop")
	if creates(b) {
		t.Error("the user has a passkey already")
	}
	keys := b.overview().Passkeys
	if len(keys) != 1 {
		t.Fatalf("the passkeys are %+v", keys)
	}
	b.fine(b.call("account/passkey", url.Values{"id": {keys[0].ID}, "remove": {"true"}}), http.StatusOK)
	if creates(b) || creates(s.as(ada)) {
		t.Error("the user has removed the passkey")
	}
	other := s.as(eve)
	s.wait(5*time.Minute + time.Second)
	if creates(other) {
		t.Error("the sign-in was too long ago")
	}
	off := newSite(t, setup{configure: func(c *core.Config) {
		withPasskeys(c)
		c.Providers[len(c.Providers)-1].(*core.WebAuthnProvider).ConditionalCreate = core.False
	}})
	if creates(off.as(ada)) {
		t.Error("the option is off")
	}
}
