package actions

import (
	"slices"
	"strings"
	"testing"
)

func TestIsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": false, "a": true, "sign-up": true, "factor2": true, "2factor": false, "-a": false, "Sign": false,
		"a_b": false, "a/b": false, "ä": false, strings.Repeat("a", 32): true, strings.Repeat("a", 33): false,
	} {
		if IsName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	var table Table
	table.Add("other", "other", "", "GET")
	table.Add("plugin", "password", "", "POST")
	valid := Action{Method: "POST", Name: "password", Verb: "reset", Handled: true, Guards: 1, Input: struct{}{}}
	if faults := valid.Faults(&table, "plugin"); faults != nil {
		t.Errorf("%q", faults)
	}
	for want, change := range map[string]func(a *Action){
		"invalid Name":          func(a *Action) { a.Name = "Password" },
		"invalid Verb":          func(a *Action) { a.Verb = "Reset" },
		"core has actions":      func(a *Action) { a.Name = "signin" },
		"core has actions with": func(a *Action) { a.Name = Reauth },
		"Method must be":        func(a *Action) { a.Method = "PUT" },
		"Handle is nil":         func(a *Action) { a.Handled = false },
		"NoCookies is set":      func(a *Action) { a.NoCookies = true },
		"Require contains nil":  func(a *Action) { a.NilGuard = true },
		"Input is not":          func(a *Action) { a.Input = 1 },
		"other has actions":     func(a *Action) { a.Name = "other" },
		"it was added twice":    func(a *Action) { a.Verb = "" },
	} {
		a := valid
		change(&a)
		if faults := a.Faults(&table, "plugin"); len(faults) != 1 || !strings.HasPrefix(faults[0], want) {
			t.Errorf("%s: %q", want, faults)
		}
	}
	valid.Method, valid.Verb, valid.Guards, valid.NoCookies = "GET", "", 0, true
	if faults := valid.Faults(&table, "plugin"); faults != nil {
		t.Errorf("%q", faults)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	type inner struct {
		Inner string `json:"inner"`
	}
	fields := FieldsOf(struct {
		inner
		Name string `json:"name,omitempty"`
		Bare string
		own  string
	}{own: "unused"})
	for name, want := range map[string]bool{
		"name": true, "Bare": true, "inner": true, "own": false, "Name": false, "csrfToken": true, "callbackUrl": true,
	} {
		if fields.Has(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if !FieldsOf(nil).Has("any") || !FieldsOf(1).Has("any") {
		t.Error("an action without Input cannot read its fields")
	}
	if !FieldsOf(struct {
		More map[string]string `json:"*"`
	}{}).Has("any") {
		t.Error("further fields cannot be read")
	}
}

func TestSameType(t *testing.T) {
	t.Parallel()
	type answer struct{ A int }
	for _, test := range []struct {
		v, declared any
		want        bool
	}{
		{answer{}, nil, true}, {answer{}, answer{}, true}, {&answer{}, answer{}, true}, {1, answer{}, false},
		{[]answer{}, answer{}, false}, {nil, answer{}, false},
	} {
		if SameType(test.v, test.declared) != test.want {
			t.Errorf("%T, %T: %v", test.v, test.declared, !test.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var table Table
	table.Add("plugin", "password", "", "GET")
	table.Add("plugin", "password", "reset", "POST")
	table.Add("plugin", "password", "reset", "GET")
	table.Add("other", "devices", "list", "POST")
	for target, want := range map[string][2]string{
		"/auth/password":        {"password", "password"},
		"/auth/password/reset":  {"password/reset", "password/reset"},
		"/auth/password/secret": {"password", "password/secret"},
		"/auth/devices":         {"devices", "devices"},
		"/auth/logout":          {}, // without a provider
		"/other/password":       {},
	} {
		to, ok := table.Find(target, "/auth", true)
		if to != (Route{Action: want[0], Rule: want[1], Plugin: ok}) || ok != (want[0] != "") {
			t.Errorf("%s: %+v, %v", target, to, ok)
		}
	}
	if got := table.Methods("password/reset"); !slices.Equal(got, []string{"POST", "GET"}) {
		t.Errorf("%q", got)
	}
	if table.Methods("devices") != nil || !table.HasPage("password") || table.HasPage("devices/list") {
		t.Error("a path has the methods of another one")
	}
	if table.Owner("password/reset") != "plugin" || table.Owner("devices") != "other" || table.Owner("gone") != "" {
		t.Error("a path has another owner")
	}
	var none Table
	_, ok := none.Find("/auth/password", "/auth", false)
	if ok || none.Methods("password") != nil || none.HasPage("password") {
		t.Error("an empty table has actions")
	}
}

// TestFind finds the actions of core, which need no table.
func TestFind(t *testing.T) {
	t.Parallel()
	var none Table
	for target, want := range map[string]Route{
		"/auth/signin/github?a=b": {Action: "signin", Provider: "github", Rule: "signin"},
		"/auth/session":           {Action: "session", Rule: "session"},
		"/auth/logout/github":     {Action: "logout", Provider: "github", Rule: "logout"},
		"/auth/logout/a/b":        {},
		"/auth/session/github":    {},
		"/signin":                 {},
	} {
		if to, ok := none.Find(target, "/auth", true); to != want || ok != (want != Route{}) {
			t.Errorf("%s: %+v, %v", target, to, ok)
		}
	}
	if to, ok := none.Find("/auth/logout/github", "/auth", false); ok {
		t.Errorf("an action that does not exist: %+v", to)
	}
}
