package people_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/onetap"
)

// TestTaps posts ID tokens of 50 people with the nonce of one browser at once, in two processes, on the store of each
// database: one person is signed in, and only that user is created.
func TestTaps(t *testing.T) {
	for _, engine := range stores {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(engine.name+", "+string(strategy), func(t *testing.T) {
				t.Parallel()
				tapAtOnce(t, engine.empty(t), strategy)
			})
		}
	}
}

func tapAtOnce(t *testing.T, kept core.Store, strategy core.Strategy) {
	t.Helper()
	p := sdk{ed25519.NewKeyFromSeed([]byte("a seed with thirty-two characters"[:ed25519.SeedSize]))}
	var auths [2]*core.Auth
	for i := range auths {
		var err error
		auths[i], err = core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler),
			Session: core.SessionConfig{Strategy: strategy}, InsecureNoLimits: true,
			Plugins:   []core.Plugin{onetap.New(onetap.Options{Provider: "sdk"})},
			Providers: []core.Provider{p.provider()},
		})
		check(t, err)
	}
	var cookies []string
	send := func(process int, method, target string, form url.Values) *core.Response {
		r := &core.Request{
			Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
			Header: http.Header{"Cookie": {strings.Join(cookies, "; ")}, "Accept": {"application/json"}},
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = strings.NewReader(form.Encode())
		}
		return auths[process%2].Handle(t.Context(), r)
	}
	keep := func(r *core.Response, into any) {
		t.Helper()
		for _, c := range r.Cookies {
			cookies = append(cookies, c.Name+"="+url.QueryEscape(c.Value))
		}
		check(t, json.Unmarshal(r.Body, into))
	}
	var token struct{ CSRFToken string }
	var issued struct{ Nonce string }
	keep(send(0, "GET", "/auth/csrf", nil), &token)
	keep(send(1, "GET", "/auth/onetap", nil), &issued)
	post := func(i int) bool {
		r := send(i, "POST", "/auth/onetap", url.Values{
			"csrfToken":  {token.CSRFToken},
			"credential": {p.idTokenFor(t, "web", fmt.Sprint("person", i), issued.Nonce, time.Now())},
		})
		if r.Status != http.StatusOK && !strings.Contains(string(r.Body), `"nonce_invalid"`) {
			t.Errorf("%d: %d %s %v", i, r.Status, r.Body, r.Err)
		}
		return r.Status == http.StatusOK
	}
	if won := together(50, post); won != 1 {
		t.Errorf("%d people are signed in", won)
	}
	if post(50) {
		t.Error("the nonce was accepted again")
	}
	created := 0
	for i := range 51 {
		if _, err := kept.UserByEmail(t.Context(), fmt.Sprintf("person%d@sdk.example", i)); err == nil {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d users were created", created)
	}
}
