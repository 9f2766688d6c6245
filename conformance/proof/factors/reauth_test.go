package factors_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// reauthWays authenticate a signed-in user again, and return the last response.
var reauthWays = map[string]func(b *browser, p *person) *page{
	"password": func(b *browser, p *person) *page {
		return b.post("reauth/password?callbackUrl=/private", "email", p.Email, "password", right)
	},
	"password of a program": func(b *browser, p *person) *page {
		return b.call("reauth/password", "email", p.Email, "password", right, "callbackUrl", "/private")
	},
	"email code": func(b *browser, p *person) *page {
		b.post("reauth?callbackUrl=/private")
		return b.post("reauth?callbackUrl=/private", "code", b.mail(p.Email, mailkind.Reauth).code)
	},
	"OpenID Connect": func(b *browser, p *person) *page {
		at := b.post("reauth/dev?callbackUrl=/private").location
		if asked := must(b, at).Query(); asked.Get("prompt") != "login" || asked.Get("max_age") != "0" {
			b.Errorf("the request is %s", at)
		}
		return b.open(b.pick(at, p.Email))
	},
	"passkey": func(b *browser, p *person) *page {
		var o struct {
			Options struct{ Challenge string }
		}
		b.must(json.Unmarshal(b.ask("webauthn-options/passkey?action=authenticate").body, &o))
		response := p.passkey.Authenticate(authenticator.Ceremony{
			Challenge: o.Options.Challenge, Origin: origin, RPID: "localhost", UserHandle: []byte(p.ID),
		})
		return b.post("reauth/passkey?callbackUrl=/private", "action", "authenticate", "data", response)
	},
}

func must(b *browser, target string) *url.URL {
	b.Helper()
	u, err := url.Parse(target)
	b.must(err)
	return u
}

var pickAction = regexp.MustCompile(`action="([^"]+/authorize/[^"]+)"`)

// pick signs in at the development provider and returns the URL of its response.
func (b *browser) pick(at, email string) string {
	b.Helper()
	shown := b.open(at)
	to := pickAction.FindSubmatch(shown.body)
	if to == nil {
		b.Fatalf("the provider's page is %d %s", shown.status, shown.body)
	}
	return b.send("POST", string(to[1]), html, url.Values{"email": {email}}).location
}

// TestReauth authenticates again with each method, on each router and with both strategies. The old session is not
// recent before, the new one is, and a copy of the old cookie is no longer valid under the database strategy.
func TestReauth(t *testing.T) {
	for _, strategy := range strategies {
		s := newSite(t, strategy, secondfactor.Options{}, core.True)
		for _, adapter := range wire.Adapters() {
			for name, again := range reauthWays {
				t.Run(string(strategy)+"/"+adapter+"/"+name, func(t *testing.T) {
					checkReauth(s.in(t), adapter, strategy, again)
				})
			}
		}
	}
}

func checkReauth(s *site, adapter string, strategy core.Strategy, again func(*browser, *person) *page) {
	s.Helper()
	p := s.newPerson(strings.ToLower(rand.Text()) + "@example.com")
	s.registers(p)
	b, copied := s.browse(adapter), s.browse(adapter)
	cookies, err := s.auth.NewSession(s.Context(), b.request(), p.User, core.SessionOptions{
		AuthTime: time.Now().Add(-2 * time.Hour), Methods: []amr.Method{amr.Password},
	})
	s.must(err)
	b.keep(cookies)
	copied.keep(cookies)
	before := s.sessions(p)
	if r := b.post("second-factor/codes"); !strings.HasPrefix(r.location, origin+"/auth/reauth?") {
		s.Fatalf("an old session is answered %d %s", r.status, r.location)
	}
	r := again(b, p)
	var to struct{ URL string }
	if r.location == "" {
		s.must(json.Unmarshal(r.body, &to))
	}
	if got := r.location + to.URL; got != origin+private || s.sessions(p) != before {
		s.Fatalf("ends at %d %s %s, %d sessions", r.status, got, r.body, s.sessions(p)-before)
	}
	if r := b.post("second-factor/codes"); r.status != http.StatusOK {
		s.Errorf("after the re-authentication: %d %s", r.status, r.location)
	}
	if strategy == core.StrategyDatabase && copied.signedIn() {
		s.Error("a copy of the old cookie is valid")
	}
}
