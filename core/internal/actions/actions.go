// Package actions finds the action of a request, and has the rules for the actions of plugins: their names, paths and
// fields.
package actions

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// IsName reports whether name is valid as the name or verb of an action, or as the name of a plugin's cookie.
func IsName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 32 && strings.IndexByte(letters, name[0]) >= 0 &&
		strings.Trim(name, letters+"0123456789-") == ""
}

// Action is what can be checked of an action as plain values.
type Action struct {
	Method, Name, Verb string
	Handled            bool // Handle is set
	NoCookies          bool
	Guards             int // number of guards
	NilGuard           bool
	Input              any
}

// Faults returns the reasons why an action of a plugin is invalid, or cannot be added to the table.
func (a *Action) Faults(t *Table, plugin string) (faults []string) {
	for _, c := range []struct {
		wrong  bool
		reason string
	}{
		{!IsName(a.Name), "invalid Name: use at most 32 lower-case letters, digits and hyphens"},
		{a.Verb != "" && !IsName(a.Verb), "invalid Verb: use at most 32 lower-case letters, digits and hyphens, " +
			"or leave it empty"},
		{weburl.Reserved(a.Name) || a.Name == Reauth, "core has actions with this Name: give it another Name"},
		{a.Method != http.MethodGet && a.Method != http.MethodPost, "Method must be GET or POST"},
		{!a.Handled, "Handle is nil"},
		{a.NoCookies && a.Guards > 0, "NoCookies is set, so no request has a session: remove Require"},
		{a.NilGuard, "Require contains nil: remove it"},
		{
			a.Input != nil && reflect.TypeOf(a.Input).Kind() != reflect.Struct,
			"Input is not a struct: use the zero value of one",
		},
	} {
		if c.wrong {
			faults = append(faults, c.reason)
		}
	}
	if owner, taken := t.owners[a.Name]; taken && owner != plugin {
		faults = append(faults, owner+" has actions with this Name: a Name belongs to one plugin")
	} else if slices.Contains(t.Methods(Path(a.Name, a.Verb)), a.Method) {
		faults = append(faults, "it was added twice")
	}
	return faults
}

// Fields are the names of the fields that an action declares. If it is nil, the action may read all fields.
type Fields map[string]bool

// FieldsOf returns the json names of the members of a struct, or nil without one.
func FieldsOf(input any) Fields {
	if input == nil || reflect.TypeOf(input).Kind() != reflect.Struct {
		return nil
	}
	names := Fields{}
	for _, member := range reflect.VisibleFields(reflect.TypeOf(input)) {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "" {
			name = member.Name
		}
		if member.IsExported() && !member.Anonymous {
			names[name] = true
		}
	}
	return names
}

// Has reports whether the action may read a field.
func (f Fields) Has(name string) bool {
	return f == nil || f["*"] || f[name] || name == "csrfToken" || name == "callbackUrl"
}

// SameType reports whether v has the type of declared, or points to it. A declared nil allows any type.
func SameType(v, declared any) bool {
	if declared == nil {
		return true
	}
	got, want := reflect.TypeOf(v), reflect.TypeOf(declared)
	return got == want || got == reflect.PointerTo(want)
}

// Path returns the path of an action, relative to the base path.
func Path(name, verb string) string {
	if verb == "" {
		return name
	}
	return name + "/" + verb
}

// Table is the routing table of the actions of plugins. The zero value has none.
type Table struct {
	owners  map[string]string   // the plugin of each name
	methods map[string][]string // by path
}

// Reauth is the Name of the actions of core that authenticate users again. They are added after those of plugins.
const Reauth = "reauth"

// Add adds an action of a plugin. All actions with the same name are of one plugin.
func (t *Table) Add(plugin, name, verb, method string) {
	if t.owners == nil {
		t.owners, t.methods = map[string]string{}, map[string][]string{}
	}
	path := Path(name, verb)
	t.owners[name], t.methods[path] = plugin, append(t.methods[path], method)
}

// Owner returns the plugin that has the action at path, or "".
func (t *Table) Owner(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return t.owners[name]
}

// Methods returns the HTTP methods of a path, or nil if it has no action.
func (t *Table) Methods(path string) []string { return t.methods[path] }

// HasPage reports whether a path has an action with the method GET.
func (t *Table) HasPage(path string) bool { return slices.Contains(t.Methods(path), http.MethodGet) }

// Route is the parsed path of a request to the auth routes.
type Route struct {
	// Action is safe to log: it contains no text that the client made up. Provider is the provider ID in the path, if any.
	Action, Provider string
	// Plugin reports whether the path belongs to a plugin. Rule is then the path below the base path, else the action.
	Plugin bool
	Rule   string
}

// Find parses the target of a request. ok is false if the path is not that of an action. logout reports whether the
// action that providers redirect to after a sign-out exists.
func (t *Table) Find(target, basePath string, logout bool) (to Route, ok bool) {
	if action, provider, ok := weburl.Action(target, basePath); ok {
		return Route{Action: action, Provider: provider, Rule: action}, true
	}
	if logout {
		if action, provider, _ := weburl.Segments(target, basePath); action == "logout" && provider != "" {
			return Route{Action: action, Provider: provider, Rule: action}, true
		}
	}
	action, rule, ok := t.route(target, basePath)
	return Route{Action: action, Plugin: ok, Rule: rule}, ok
}

// route returns the path of a request relative to the base path. ok is false if its first segment is not the name of
// any action. If the path has no action, action is only that first segment.
func (t *Table) route(target, basePath string) (action, path string, ok bool) {
	if len(t.owners) == 0 {
		return "", "", false
	}
	name, verb, ok := weburl.Segments(target, basePath)
	if _, known := t.owners[name]; !ok || !known {
		return "", "", false
	}
	path = Path(name, verb)
	if t.methods[path] != nil {
		name = path
	}
	return name, path, true
}
