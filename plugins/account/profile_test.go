package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
)

const picture = "https://img.example/ada.png?size=64"

// TestProfile: users change their name and picture. The session of the same browser shows it under both strategies.
func TestProfile(t *testing.T) {
	for name, session := range configurations {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) { c.Session = session }})
			b := s.as(ada)
			b.fine(b.call("account/profile", url.Values{"name": {" Ada King "}, "image": {picture}}), http.StatusOK)
			if u := s.user("ada"); u.Name != "Ada King" || u.Image != picture || u.Email != ada || u.EmailVerified.IsZero() {
				t.Errorf("stored %+v", u)
			}
			if got := string(b.ask("session").Body); !strings.Contains(got, `"name":"Ada King"`) ||
				!strings.Contains(got, picture) {
				t.Errorf("the session is %s", got)
			}
			if told := s.told(); !slices.Contains(told, "profile.changed ok ada") {
				t.Errorf("audit events %q", told)
			}
			b.fine(b.call("account/profile", nil), http.StatusOK)
			if u := s.user("ada"); u.Name != "" || u.Image != "" {
				t.Errorf("after removal %+v", u)
			}
			if got := string(b.ask("session").Body); strings.Contains(got, "Ada King") || strings.Contains(got, picture) {
				t.Errorf("the session is still %s", got)
			}
		})
	}
}

// TestProfileRefusals: names are printable and short, pictures are https URLs without a user name.
func TestProfileRefusals(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	for name, row := range map[string]struct{ name, image, code string }{
		"long name":         {strings.Repeat("é", 101), "", "name_invalid"},
		"control character": {"Ada\x00", "", "name_invalid"},
		"line break":        {"Ada\nAdmin", "", "name_invalid"},
		"http":              {"Ada", "http://img.example/a.png", "image_invalid"},
		"script":            {"Ada", "javascript:alert(1)", "image_invalid"},
		"data":              {"Ada", "data:image/png;base64,AAAA", "image_invalid"},
		"path":              {"Ada", "/a.png", "image_invalid"},
		"user name":         {"Ada", "https://ada:secret@img.example/a.png", "image_invalid"},
		"policy":            {"Ada", "https://img.example;script-src/a.png", "image_invalid"},
		"space":             {"Ada", "https://img.example/a b.png", "image_invalid"},
		"long":              {"Ada", "https://img.example/" + strings.Repeat("a", 2000), "image_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			b.refused(b.call("account/profile", url.Values{"name": {row.name}, "image": {row.image}}), 400, row.code)
		})
	}
	if u := s.user("ada"); u.Name != "Ada" || u.Image != "" {
		t.Errorf("stored %+v", u)
	}
	r := b.post("account/profile", url.Values{"name": {"Countess"}, "image": {"http://img.example/a.png"}})
	page := string(r.Body)
	for _, part := range []string{
		`value="Countess"`, `value="http://img.example/a.png"`, `aria-invalid="true"`, `<details class="more" open>`,
		"Enter a picture address that starts with https://.",
	} {
		if r.Status != 400 || !strings.Contains(page, part) {
			t.Errorf("answered %d without %s", r.Status, part)
		}
	}
	b.refused(s.browse().call("account/profile", nil), 401, "session_required")
}

// TestPictureInThePolicy: the Content-Security-Policy permits the origin of the user's picture, and no other.
func TestPictureInThePolicy(t *testing.T) {
	for image, want := range map[string]string{
		picture:                      "; img-src https://img.example 'self' data:;",
		"":                           "; img-src 'self' data:;",
		"http://img.example/a.png":   "; img-src 'self' data:;",
		"https://a;b.example/a.png":  "; img-src 'self' data:;",
		"data:image/svg+xml,%3Csvg/": "; img-src 'self' data:;",
	} {
		s := newSite(t, setup{})
		u := s.user("ada")
		u.Image = image
		s.must(s.store.UpdateUser(t.Context(), u))
		r := s.as(ada).open("account")
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
			t.Errorf("%q: policy %q", image, policy)
		}
	}
}

// TestProfileSurvivesSignIn: a provider's profile does not replace the name and picture of a known user.
func TestProfileSurvivesSignIn(t *testing.T) {
	s := newSite(t, setup{configure: func(c *core.Config) { c.HTTPClient = &http.Client{Transport: hub{}} }})
	b := s.as(ada)
	b.fine(b.call("account/profile", url.Values{"name": {"Countess"}, "image": {picture}}), http.StatusOK)
	again := s.browse()
	r := again.post("signin/hub", nil)
	to, err := url.Parse(r.Redirect)
	s.must(err)
	r = again.open("callback/hub?code=x&state=" + url.QueryEscape(to.Query().Get("state")))
	if r.Err != nil || !again.signedIn() {
		t.Fatalf("sign-in at the provider: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	if u := s.user("ada"); u.Name != "Countess" || u.Image != picture {
		t.Errorf("stored %+v", u)
	}
	if got := string(again.ask("session").Body); !strings.Contains(got, "Countess") {
		t.Errorf("the session is %s", got)
	}
	if l := again.overview().Accounts[0]; l.Label != "ada-at-hub" {
		t.Errorf("the account is labeled %q", l.Label)
	}
}

// hub is the provider's server. Its profile has another name than the user.
type hub struct{}

func (hub) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"access_token":"t","token_type":"bearer"}`
	if r.URL.Path == "/user" {
		body = `{"id":"ada-1","name":"Ada of the hub","login":"ada-at-hub","picture":"https://hub.example/a.png"}`
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: readCloser{strings.NewReader(body)},
	}, nil
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// TestProfileFields: fields of the application are loaded, validated and stored by it. Its sentence is translated.
func TestProfileFields(t *testing.T) {
	zones := map[string]string{"ada": "Europe/London"}
	wrong := &core.Problem{Code: "zone", Text: ui.Text{Key: "app.zone", English: "Choose a time zone."}}
	s := newSite(t, setup{
		options: account.Options{Profile: account.ProfileFields{
			Fields: []ui.Field{{Name: "zone", Label: "Time zone"}},
			Load: func(_ context.Context, u *core.User) (map[string]string, error) {
				return map[string]string{"zone": zones[u.ID]}, nil
			},
			Save: func(_ context.Context, u *core.User, values map[string]string) error {
				switch values["zone"] {
				case "nowhere":
					return wrong
				case "down":
					return errors.New("secret cause")
				}
				zones[u.ID] = values["zone"]
				return nil
			},
		}},
		configure: func(c *core.Config) {
			c.Locales = []ui.Locale{{Tag: "de", Texts: map[string]string{
				"app.zone": "Wählen Sie eine Zeitzone.", "label.Time zone": "Zeitzone",
			}}}
		},
	})
	b := s.as(ada)
	if page := string(b.open("account").Body); !strings.Contains(page, `value="Europe/London"`) ||
		!strings.Contains(page, ">Zeitzone</label>") {
		t.Errorf("the page has no field: %s", page)
	}
	page := string(b.post("account/profile", url.Values{"name": {"Ada"}, "zone": {"nowhere"}}).Body)
	if !strings.Contains(page, "Wählen Sie eine Zeitzone.") || !strings.Contains(page, `value="nowhere"`) {
		t.Errorf("the page does not say what is wrong: %s", page)
	}
	b.refused(b.call("account/profile", url.Values{"zone": {"nowhere"}}), 400, "zone")
	if r := b.post("account/profile", url.Values{"zone": {"down"}}); r.Status != 500 ||
		strings.Contains(string(r.Body), "secret cause") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	b.fine(b.call("account/profile", url.Values{"name": {"Ada"}, "zone": {"UTC"}}), http.StatusOK)
	if zones["ada"] != "UTC" {
		t.Errorf("stored %q", zones["ada"])
	}
}

// TestUserIsWrittenUnderTheLock: a store overwrites the whole user. A change of the profile, of the address and an undo
// hold the account lock while they do, so that none restores what another one has changed at the same time.
func TestUserIsWrittenUnderTheLock(t *testing.T) {
	l := &lockStore{}
	s := newSite(t, setup{configure: func(c *core.Config) {
		l.Store = c.Store.(*memory.Store)
		c.Store = l
	}})
	b := s.as(ada)
	b.fine(b.call("account/profile", url.Values{"name": {"Countess"}}), http.StatusOK)
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	b.fine(s.browse().call("account/undo", url.Values{"token": {s.tokenIn(s.mail(ada))}}), http.StatusOK)
	if l.locked != 3 || l.unlocked != 0 {
		t.Errorf("%d updates of the user under the lock and %d without it", l.locked, l.unlocked)
	}
}

// lockStore counts the updates of a user while the account lock is held, and without it.
type lockStore struct {
	*memory.Store
	locked, unlocked int
}

func (l *lockStore) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if _, err := l.Record(ctx, "account-lock", u.ID); err != nil {
		l.unlocked++
	} else {
		l.locked++
	}
	return l.Store.UpdateUser(ctx, u)
}
