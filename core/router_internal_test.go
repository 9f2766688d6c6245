package core

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// fullRules returns the rules of an Auth with all actions of core.
func fullRules(t *testing.T, plugins ...Plugin) (map[route]rule, error) {
	t.Helper()
	a, err := New(Config{
		URL: "https://app.test", Secrets: []Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Plugins: plugins,
		Providers: []Provider{&OAuthProvider{
			ID: "op", Type: TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "secret", Logout: True,
		}},
	})
	if err != nil {
		return nil, err
	}
	return a.router.rules, nil
}

// TestReservedNames: weburl.Reserved knows exactly the names of core's actions.
func TestReservedNames(t *testing.T) {
	rules, err := fullRules(t)
	if err != nil {
		t.Fatal(err)
	}
	for at := range rules {
		if !weburl.Reserved(at.action) {
			t.Errorf("%s is an action of core, and Reserved does not know it", at.action)
		}
	}
	names := slices.Collect(maps.Keys(rules))
	for _, name := range []string{
		"signin", "callback", "webauthn-options", "backchannel-logout", "signout", "session", "csrf", "providers", "error",
		"verify-request", "logout",
	} {
		if !slices.ContainsFunc(names, func(at route) bool { return at.action == name }) {
			t.Errorf("%s is reserved, and no action of core", name)
		}
	}
}

// actionOf is a plugin with one action.
type actionOf struct{ method, name, verb string }

func (p actionOf) Attach(h *PluginHost) error {
	h.AddAction(Action{Method: p.method, Name: p.name, Verb: p.verb,
		Handle: func(ctx context.Context, c *ActionRequest) (*Response, error) { return c.JSON(ctx, 200, nil), nil }})
	return nil
}

// TestPluginsReplaceNoActions: a name of core's actions is a configuration error for a plugin, by every method, with
// and without a verb.
func TestPluginsReplaceNoActions(t *testing.T) {
	rules, err := fullRules(t)
	if err != nil {
		t.Fatal(err)
	}
	for at := range rules {
		for _, method := range []string{"GET", "POST"} {
			for _, verb := range []string{"", "op"} {
				_, err := fullRules(t, actionOf{method, at.action, verb})
				if err == nil || !strings.Contains(err.Error(), "give it another") {
					t.Errorf("%s %s %s: %v", method, at.action, verb, err)
				}
			}
		}
	}
	if rules, err = fullRules(t, actionOf{"GET", "toy", ""}); err != nil || rules[route{"GET", "toy"}].act == nil {
		t.Errorf("a name of its own: %v", err)
	}
}

// TestRulesAreNotReplaced: an action name of core that Reserved does not know is a configuration error too.
func TestRulesAreNotReplaced(t *testing.T) {
	ps := plugins{actions: []*pluginAction{{Action: &Action{Method: "GET", Name: "new"}, plugin: "Plugins[0]"}}}
	faults := &ConfigError{}
	rules := map[route]rule{{"GET", "new"}: {bare: true}}
	ps.addRules(rules, faults)
	if len(faults.Problems) != 1 || !rules[route{"GET", "new"}].bare {
		t.Errorf("%v, and the rule is %+v", faults.Problems, rules[route{"GET", "new"}])
	}
}
