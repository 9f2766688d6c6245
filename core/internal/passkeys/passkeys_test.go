package passkeys_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/passkey"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	options "github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

var errRefused = errors.New("refused")

// verifier accepts the response "ok", and records what it was to verify. It returns nothing for the response "none".
type verifier struct {
	want    passkey.Ceremony
	counter uint32
}

func (v *verifier) VerifyRegistration(data []byte, want passkey.Ceremony) (*passkey.Verified, error) {
	v.want = want
	switch string(data) {
	case "ok":
	case "none":
		return nil, nil
	default:
		return nil, errRefused
	}
	return &passkey.Verified{Authenticator: store.Authenticator{CredentialID: "key"}, AAGUID: "model"}, nil
}

func (v *verifier) VerifyAuthentication(data []byte, _ *store.Authenticator, want passkey.Ceremony) (uint32, error) {
	v.want = want
	if string(data) != "ok" {
		return 0, errRefused
	}
	return v.counter, nil
}

// world is a provider and a browser with a clock.
type world struct {
	*passkeys.Provider
	verifier *verifier
	keys     *flowstate.Keys
	set      *cookies.Set
	now      time.Time
	cookie   cookie.Cookie
	owner    string
	csrf     string
}

func newWorld(t *testing.T, change func(*passkeys.Settings)) *world {
	t.Helper()
	w := &world{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), csrf: "browser 1", verifier: &verifier{}}
	secrets := []string{"a-secret-of-more-than-thirty-two-bytes"}
	w.set = cookies.NewSets(&cookies.Config{Secrets: secrets, Fault: func(string, ...any) { t.Error("faults") }})[1]
	var err error
	w.keys, err = flowstate.NewKeys(secrets, cookies.Sealer{
		Now: func() time.Time { return w.now }, Rand: rand.Reader, Expired: errors.New("expired"),
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := passkeys.Settings{ID: "passkey", Verifier: w.verifier, RequireUserVerification: true}
	if change != nil {
		change(&settings)
	}
	w.Provider = passkeys.New(settings, func() time.Time { return w.now }, rand.Reader, t.Errorf)
	return w
}

func (w *world) browser() *flowstate.Browser {
	h := http.Header{"Cookie": {w.cookie.Name + "=" + w.cookie.Value}}
	return &flowstate.Browser{
		Keys: w.keys, Jar: cookie.Parse(h["Cookie"]), Cookies: w.set, CSRF: w.csrf,
		Owner: func(context.Context) string { return w.owner },
	}
}

// begin starts a ceremony in the browser.
func (w *world) begin(t *testing.T, c passkeys.Ceremony) *passkeys.Ceremony {
	t.Helper()
	var err error
	if w.cookie, err = w.Begin(t.Context(), w.browser(), &c); err != nil || len(c.Challenge) != 43 {
		t.Fatalf("%+v, %v", c, err)
	}
	return &c
}

// TestFind checks which ceremonies are found, and that everything in them is.
func TestFind(t *testing.T) {
	t.Parallel()
	const reg, auth = passkeys.Register, passkeys.Authenticate
	invalid, none := passkeys.ErrInvalid, flowstate.ErrNoFlow
	registers := passkeys.Ceremony{
		Register: &store.User{Email: "ada@example.com"}, Typed: "typed", Handle: []byte{0xfb, 1}, Conditional: true,
		Purpose: "purpose",
	}
	signsIn := passkeys.Ceremony{Owner: "u1"}
	for name, row := range map[string]struct {
		begin           passkeys.Ceremony
		change          func(w *world)
		action, purpose string
		want            error
	}{
		"a registration":       {registers, nil, reg, "purpose", nil},
		"an authentication":    {signsIn, nil, auth, "", nil},
		"another action":       {registers, nil, auth, "purpose", invalid},
		"also another action":  {signsIn, nil, reg, "", invalid},
		"another purpose":      {registers, nil, reg, "other", invalid},
		"no purpose":           {registers, nil, reg, "", invalid},
		"another browser":      {signsIn, func(w *world) { w.csrf = "2" }, auth, "", flowstate.ErrOtherBrowser},
		"no cookie":            {signsIn, func(w *world) { w.cookie.Value = "" }, auth, "", none},
		"after its expiry":     {signsIn, func(w *world) { w.now = w.now.Add(time.Hour) }, auth, "", none},
		"another provider":     {signsIn, func(w *world) { w.ID = "other" }, auth, "", none},
		"under a session":      {signsIn, func(w *world) { w.owner = "s" }, auth, "", nil},
		"registers for others": {registers, func(w *world) { w.owner = "s" }, reg, "purpose", invalid},
	} {
		w := newWorld(t, nil)
		begun := w.begin(t, row.begin)
		if row.change != nil {
			row.change(w)
		}
		found, err := w.Find(t.Context(), w.browser(), row.action, row.purpose)
		if !errors.Is(err, row.want) || row.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
		if err != nil {
			continue
		}
		if name == "under a session" {
			begun.Started = flowstate.SignedOut
		}
		if got, want := text(found), text(begun); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestFindNoChallenge: a cookie without a challenge belongs to no ceremony.
func TestFindNoChallenge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	b := w.browser()
	sealed, err := b.Seal(b.Challenge, &token.Token{}, cookies.FlowLifetime)
	if err != nil {
		t.Fatal(err)
	}
	if w.cookie, err = b.StoreChallenge(t.Context(), w.ID, sealed); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Find(t.Context(), w.browser(), passkeys.Authenticate, ""); !errors.Is(err, passkeys.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func text(c *passkeys.Ceremony) string {
	email := "nobody"
	if c.Register != nil {
		email = c.Register.Email
	}
	return fmt.Sprintf("%s %s %s %s %x %v %s %v", c.Challenge, email, c.Typed, c.Owner, c.Handle, c.Conditional,
		c.Purpose, c.Started)
}

// TestVerifyRegistration: a challenge is used once, the attested ID is that of the response, and only a registration
// without a prompt may lack user verification.
func TestVerifyRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *passkeys.Settings) { s.RelyingParty.Origins = []string{"https://b.example"} })
	rp := w.At(weburl.Origin{Scheme: "https", Host: "a.example"})
	c := &passkeys.Ceremony{Challenge: "c", Register: &store.User{}}
	if _, err := w.VerifyRegistration([]byte("bad"), "key", c, &rp); !errors.Is(err, errRefused) {
		t.Errorf("the verifier refused it: %v", err)
	}
	if _, err := w.VerifyRegistration([]byte("ok"), "other", c, &rp); err == nil || errors.Is(err, passkeys.ErrUsed) {
		t.Errorf("another credential ID: %v", err)
	}
	if _, err := w.VerifyRegistration([]byte("none"), "key", c, &rp); err == nil || errors.Is(err, passkeys.ErrUsed) {
		t.Errorf("the verifier returned nothing: %v", err)
	}
	made, err := w.VerifyRegistration([]byte("ok"), "key", c, &rp)
	if err != nil || made.ProviderAccountID != "key" || made.AAGUID != "model" {
		t.Errorf("%+v, %v", made, err)
	}
	want := passkey.Ceremony{
		Challenge: "c", RPID: "a.example", Origin: "https://a.example", Origins: []string{"https://b.example"},
		UserVerification: true, Algorithms: []int{-8, -7, -257},
	}
	if got := w.verifier.want; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	_, err = w.VerifyRegistration([]byte("ok"), "key", c, &rp)
	var denial *audit.Denial
	if !errors.Is(err, passkeys.ErrUsed) || !errors.As(err, &denial) || denial.Reason != audit.ReasonReplayed {
		t.Errorf("the challenge was used: %v", err)
	}
	c = &passkeys.Ceremony{Challenge: "d", Register: &store.User{}, Conditional: true}
	if _, err := w.VerifyRegistration([]byte("ok"), "key", c, &rp); err != nil || w.verifier.want.UserVerification ||
		!w.verifier.want.Conditional {
		t.Errorf("without a prompt: %+v, %v", w.verifier.want, err)
	}
	w = newWorld(t, func(s *passkeys.Settings) { s.Verifier = nil })
	if _, err := w.VerifyRegistration([]byte("ok"), "key", c, &rp); err == nil {
		t.Error("a panic of the verifier is no error")
	}
}

// TestVerifyAuthentication: the signature counter must increase if the authenticator has one.
func TestVerifyAuthentication(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rp := w.At(weburl.Origin{Scheme: "https", Host: "a.example"})
	for _, row := range []struct {
		stored, now uint32
		copied      bool
	}{{0, 0, false}, {0, 1, false}, {1, 2, false}, {1, 1, true}, {2, 1, true}, {1, 0, true}} {
		c := &passkeys.Ceremony{Challenge: fmt.Sprint(row)}
		w.verifier.counter = row.now
		stored := &store.Authenticator{UserID: "u", Counter: row.stored}
		counter, err := w.VerifyAuthentication([]byte("ok"), stored, c, &rp)
		var denial *audit.Denial
		copied := errors.As(err, &denial) && denial.Reason == audit.ReasonPasskeyCopied && denial.UserID == "u"
		if copied != row.copied || !copied && (err != nil || counter != row.now) {
			t.Errorf("%+v: %d, %v", row, counter, err)
		}
	}
	w.verifier.counter = 0
	c, stored := &passkeys.Ceremony{Challenge: "c"}, &store.Authenticator{}
	if _, err := w.VerifyAuthentication([]byte("bad"), stored, c, &rp); !errors.Is(err, errRefused) {
		t.Errorf("the verifier refused it: %v", err)
	}
	if _, err := w.VerifyAuthentication([]byte("ok"), stored, c, &rp); err != nil || !w.verifier.want.UserVerification {
		t.Errorf("%+v, %v", w.verifier.want, err)
	}
	w.now = w.now.Add(cookies.FlowLifetime + token.ClockSkew) // the challenge cookie is valid until then
	if _, err := w.VerifyAuthentication([]byte("ok"), stored, c, &rp); !errors.Is(err, passkeys.ErrUsed) {
		t.Errorf("the challenge was used: %v", err)
	}
	single := &store.Authenticator{CredentialDeviceType: "singleDevice"}
	if got := w.Methods(single); !slices.Equal(got, []amr.Method{amr.HardwareKey, amr.User}) {
		t.Errorf("hardware: %v", got)
	}
	w = newWorld(t, func(s *passkeys.Settings) { s.RequireUserVerification = false })
	if got := w.Methods(stored); !slices.Equal(got, []amr.Method{amr.SoftwareKey}) {
		t.Errorf("software: %v", got)
	}
}

// TestMayCreate: only a user who has just signed in with a password gets a passkey without a prompt.
func TestMayCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, row := range []struct {
		method     amr.Method
		ago, limit time.Duration
		want       bool
	}{
		{amr.Password, 5 * time.Minute, 0, true}, {amr.Password, 5*time.Minute + 1, 0, false},
		{amr.Password, time.Minute, time.Minute, true}, {amr.Password, time.Minute + 1, time.Minute, false},
		{amr.Password, 6 * time.Minute, time.Hour, false}, {amr.Federated, 0, 0, false},
	} {
		if got := w.MayCreate([]amr.Method{row.method}, w.now.Add(-row.ago), row.limit); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	ada := &store.User{ID: "u1", Email: "ada@example.com"}
	nobody, known := passkeys.Requester{}, passkeys.Requester{User: ada, Exists: true}
	signedIn, fresh := passkeys.Requester{User: ada, SignedIn: true, Exists: true}, passkeys.Requester{User: ada}
	unnamed := passkeys.Requester{User: &store.User{}}
	guest := passkeys.Requester{User: &store.User{ID: "u2"}, SignedIn: true, Exists: true}
	for _, row := range []struct {
		who       passkeys.Requester
		requested string
		hide      bool
		want      string
	}{
		{nobody, "authenticate", false, "authenticate"}, {nobody, "register", false, ""},
		{nobody, "", false, "authenticate"},
		{known, "authenticate", false, "authenticate"}, {known, "register", false, ""},
		{known, "", false, "authenticate"},
		{signedIn, "authenticate", false, "authenticate"}, {signedIn, "register", false, "register"},
		{signedIn, "", false, ""}, {guest, "register", false, "register"},
		{fresh, "authenticate", false, "authenticate"}, {fresh, "register", false, "register"},
		{fresh, "", false, "register"}, {fresh, "", true, "authenticate"}, {unnamed, "register", false, ""},
	} {
		if got := row.who.Action(row.requested, row.hide); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *passkeys.Settings) {
		s.UserVerification, s.ResidentKey, s.Attachment = "required", "discouraged", "platform"
		s.Hints = []string{"hybrid"}
		s.RegistrationExtensions, s.AuthenticationExtensions = map[string]any{"r": 1}, map[string]any{"a": 1}
	})
	rp := w.At(weburl.Origin{Scheme: "http", Host: "localhost:3000"})
	c := &passkeys.Ceremony{Challenge: "c"}
	got, err := w.AuthenticationOptions(c, &rp, []options.Descriptor{})
	if want := `{"action":"authenticate","options":{"challenge":"c","allowCredentials":[],"timeout":300000,` +
		`"userVerification":"required","rpId":"localhost","extensions":{"a":1},"hints":["hybrid"]}}`; err != nil ||
		string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	const registration = `{"action":"register","options":{"challenge":"c",` +
		`"rp":{"id":"localhost","name":"localhost:3000"},"user":{"id":"aA",` +
		`"name":"Ada","displayName":"Ada"},"pubKeyCredParams":[{"alg":-8,"type":"public-key"},` +
		`{"alg":-7,"type":"public-key"},{"alg":-257,"type":"public-key"}],"timeout":300000,"attestation":"none",` +
		`"excludeCredentials":[],"authenticatorSelection":{"authenticatorAttachment":"platform",%s},` +
		`"extensions":{"credProps":true,"r":1},"hints":["hybrid"]}}`
	for selection, conditional := range map[string]bool{
		`"residentKey":"discouraged","requireResidentKey":false,"userVerification":"required"`: false,
		`"residentKey":"required","requireResidentKey":true,"userVerification":"preferred"`:    true,
	} {
		c.Conditional = conditional
		got, err := w.RegistrationOptions(c, &rp, &store.User{Name: "Ada"}, []byte("h"), []options.Descriptor{})
		if want := fmt.Sprintf(registration, selection); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
	for _, row := range []struct{ email, name, wantName, wantDisplay string }{
		{"ada@example.com", "Ada", "ada@example.com", "Ada"},
		{"ada@example.com", "", "ada@example.com", "ada@example.com"},
		{"", "Ada", "Ada", "Ada"}, {"", "", "Site", "Site"},
	} {
		name, display := passkeys.Labels(&store.User{Email: row.email, Name: row.name}, "Site")
		if name != row.wantName || display != row.wantDisplay {
			t.Errorf("%+v: %q, %q", row, name, display)
		}
	}
}

const certificate = "AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99"

// TestNew checks the defaults and the errors of the settings.
func TestNew(t *testing.T) {
	t.Parallel()
	app := passkey.AndroidApp{Package: "com.example.app", Certificates: []string{certificate, certificate}}
	for name, row := range map[string]struct {
		settings passkeys.Settings
		want     string
	}{
		"user verification": {passkeys.Settings{UserVerification: "always"}, `UserVerification is "always"`},
		"resident key":      {passkeys.Settings{ResidentKey: "always"}, `ResidentKey is "always"`},
		"a hint":            {passkeys.Settings{Hints: []string{"hybrid", "phone"}}, `Hints[1] is "phone"`},
		"an origin": {
			passkeys.Settings{RelyingParty: passkey.RelyingParty{Origins: []string{"http://app.example"}}},
			`Origins[0] is "http://app.example"`,
		},
		"a package": {
			passkeys.Settings{RelyingParty: passkey.RelyingParty{
				AndroidApps: []passkey.AndroidApp{app, {Package: "app", Certificates: app.Certificates}},
			}}, `AndroidApps[1]: Package is "app"`,
		},
		"no certificate": {
			passkeys.Settings{RelyingParty: passkey.RelyingParty{
				AndroidApps: []passkey.AndroidApp{{Package: "com.example.app"}},
			}}, `with 0 Certificates`,
		},
		"a certificate": {
			passkeys.Settings{RelyingParty: passkey.RelyingParty{
				AndroidApps: []passkey.AndroidApp{{Package: "com.example.app", Certificates: []string{"aa"}}},
			}}, `Certificates[0] is "aa"`,
		},
		"an app of Apple": {
			passkeys.Settings{RelyingParty: passkey.RelyingParty{AppleApps: []string{"com.example.app"}}},
			`AppleApps[0] is "com.example.app"`,
		},
	} {
		var reported []string
		passkeys.New(row.settings, time.Now, nil, func(format string, args ...any) {
			reported = append(reported, fmt.Sprintf(format, args...))
		})
		if len(reported) != 1 || !strings.Contains(reported[0], row.want) {
			t.Errorf("%s: %q", name, reported)
		}
	}
	p := newWorld(t, func(s *passkeys.Settings) {
		s.RelyingParty = passkey.RelyingParty{
			ID: "example.com", Name: "Site", AndroidApps: []passkey.AndroidApp{app},
			AppleApps: []string{"ABCDE12345.app"},
		}
	})
	if p.Timeout != 5*time.Minute || p.UserVerification != "preferred" || p.ResidentKey != "preferred" ||
		p.Attestation != "none" {
		t.Errorf("defaults: %+v", p.Settings)
	}
	hash, _ := base64.RawURLEncoding.DecodeString(
		strings.TrimPrefix(p.RelyingParty.Origins[0], "android:apk-key-hash:"))
	if len(p.RelyingParty.Origins) != 1 || len(hash) != 32 || hash[0] != 0xaa {
		t.Errorf("origins %q", p.RelyingParty.Origins)
	}
	rp := p.At(weburl.Origin{Scheme: "https", Host: "www.example.com"})
	if rp.ID != "example.com" || rp.Name != "Site" || rp.Origin != "https://www.example.com" ||
		!slices.Equal(rp.Origins, []string{p.RelyingParty.Origins[0], "https://example.com"}) {
		t.Errorf("%+v", rp)
	}
	p = newWorld(t, nil)
	if rp := p.At(weburl.Origin{Scheme: "https", Host: "a.example:444"}); rp.ID != "a.example" || len(rp.Origins) > 0 {
		t.Errorf("%+v", rp)
	}
}

// TestSettingsAreCopied: later changes of the configuration and of a result of At have no effect on the provider.
func TestSettingsAreCopied(t *testing.T) {
	t.Parallel()
	hints, origins := []string{"hybrid"}, append(make([]string, 0, 8), "https://b.example")
	w := newWorld(t, func(s *passkeys.Settings) {
		s.Hints, s.RelyingParty.Origins, s.RelyingParty.AppleApps = hints, origins, []string{"ABCDE12345.app"}
	})
	hints[0], origins[0] = "phone", "https://evil.test"
	w.RelyingParty.Origins = slices.Grow(w.RelyingParty.Origins, 1)
	one := w.At(weburl.Origin{Scheme: "https", Host: "one.example"})
	w.At(weburl.Origin{Scheme: "https", Host: "two.example"})
	if w.Hints[0] != "hybrid" || !slices.Equal(one.Origins, []string{"https://b.example", "https://one.example"}) {
		t.Errorf("%q, %q", w.Hints, one.Origins)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	one := &passkey.RelyingParty{Origins: []string{"https://a.example", "android:apk-key-hash:x"}}
	two := &passkey.RelyingParty{
		Origins:     []string{"https://a.example", "https://b.example"},
		AndroidApps: []passkey.AndroidApp{{Package: "com.example.app", Certificates: []string{"AA"}}},
		AppleApps:   []string{"ABCDE12345.app"},
	}
	want := map[string]string{
		"webauthn": `{"origins":["https://a.example","https://b.example"]}`,
		"assetlinks.json": `[{"relation":["delegate_permission/common.handle_all_urls",` +
			`"delegate_permission/common.get_login_creds"],"target":{"namespace":"android_app",` +
			`"package_name":"com.example.app","sha256_cert_fingerprints":["AA"]}}]`,
		"apple-app-site-association": `{"webcredentials":{"apps":["ABCDE12345.app"]}}`,
	}
	got := passkeys.Documents([]*passkey.RelyingParty{one, two, {AppleApps: two.AppleApps}})
	for name, body := range got {
		if string(body) != want[name] {
			t.Errorf("%s: %s", name, body)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d documents", len(got))
	}
	if got := passkeys.Documents([]*passkey.RelyingParty{{}}); len(got) > 0 {
		t.Errorf("%d documents of no apps", len(got))
	}
}
