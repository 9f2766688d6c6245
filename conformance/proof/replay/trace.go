package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// trace compares the observed calls in order. It ignores requests for discovery and key sets, which Latchkey may cache,
// debug log lines, and entries that only exist in a JavaScript process.
func (w comparison) trace(recorded, observed []object) {
	b := w.binder
	want := slices.DeleteFunc(slices.Clone(recorded), func(e object) bool {
		switch e["kind"] {
		case "note", "process":
			return true
		case "log":
			return e["level"] == "debug" || e["level"] == "warn" && e["code"] != "csrf-disabled"
		case "peer":
			return e["endpoint"] == "discovery"
		}
		return false
	})
	want = storeThenSend(dropDoubleLog(want))
	got := slices.DeleteFunc(observed, func(e object) bool {
		return e["kind"] == "peer" && e["endpoint"] == "discovery" ||
			e["kind"] == "log" && e["level"] == "warn" && e["code"] != "csrf-disabled"
	})
	got = withoutSpelling(withoutProof(got))
	for i := 0; i < max(len(want), len(got)); i++ {
		path := fmt.Sprintf("trace[%d]", i)
		switch {
		case i >= len(want):
			b.differ(path, "unexpected %s", name(got[i]))
		case i >= len(got):
			b.differ(path, "want %s, nothing came", name(want[i]))
		case name(want[i]) != name(got[i]):
			b.differ(path, "want %s, got %s", name(want[i]), name(got[i]))
			return
		default:
			w.entry(path+" "+name(want[i]), want[i], got[i])
		}
	}
}

// withoutProof removes the record that an address was verified by a provider for the first time: updateUser and its
// event directly before an account is linked by email. Auth.js links unverified addresses, and never updates the user
// there.
func withoutProof(entries []object) (out []object) {
	for i, e := range entries {
		rest := entries[i:]
		isCall := name(e) == "adapter.updateUser" && len(rest) > 2 &&
			name(rest[1]) == "event updateUser" && name(rest[2]) == "adapter.linkAccount"
		isEvent := name(e) == "event updateUser" && i > 0 && name(entries[i-1]) == "adapter.updateUser" &&
			len(rest) > 1 && name(rest[1]) == "adapter.linkAccount"
		if !isCall && !isEvent {
			out = append(out, e)
		}
	}
	return out
}

// withoutSpelling removes the second lookup of an address that is not in canonical form. Auth.js looks up only the
// canonical form, and creates a second user if the table contains the address in capitals.
func withoutSpelling(entries []object) (out []object) {
	for _, e := range entries {
		if len(out) == 0 || !isSpelling(out[len(out)-1], e) {
			out = append(out, e)
		}
	}
	return out
}

// isSpelling reports whether e looks up the mailbox that before has not found, in another spelling.
func isSpelling(before, e object) bool {
	if name(before) != "adapter.getUserByEmail" || name(e) != name(before) || before["returned"] != "null" {
		return false
	}
	one, _ := before["args"].([]any)
	other, _ := e["args"].([]any)
	if len(one) != 1 || len(other) != 1 || one[0] == other[0] {
		return false
	}
	a, _ := one[0].(string)
	b, _ := other[0].(string)
	return core.SameMailbox(a, b)
}

// dropDoubleLog removes the first of the two lines that Auth.js logs for one failure of the store (docs/protocol.md
// §11.4).
func dropDoubleLog(entries []object) []object {
	var out []object
	for i, e := range entries {
		if e["kind"] == "log" && errorType(e) == "AdapterError" && i+1 < len(entries) && entries[i+1]["kind"] == "log" {
			continue
		}
		out = append(out, e)
	}
	return out
}

func errorType(e object) string {
	if inner, ok := e["error"].(object); ok {
		t, _ := inner["type"].(string)
		return t
	}
	t, _ := e["type"].(string)
	return t
}

// name identifies an entry in a message.
func name(e object) string {
	switch e["kind"] {
	case "log":
		if e["level"] == "warn" {
			return fmt.Sprintf("warning %v", e["code"])
		}
		return "error log"
	case "adapter":
		return fmt.Sprintf("adapter.%v", e["method"])
	case "callback", "event":
		return fmt.Sprintf("%v %v", e["kind"], e["name"])
	case "peer":
		return fmt.Sprintf("request to the %v endpoint", e["endpoint"])
	}
	return fmt.Sprint(e["kind"])
}

func (w comparison) entry(path string, want, got object) {
	b := w.binder
	switch want["kind"] {
	case "log":
		if want["level"] == "error" {
			if t := errorType(want); t != "" && t != got["type"] {
				b.differ(path, "want type %s, got %v (%v)", t, got["type"], got["text"])
			}
		}
	case "adapter":
		b.record(path+" args", want["args"], argsWithout(want, got))
		if want["threw"] != nil && got["threw"] == nil {
			b.differ(path, "want a failure")
		}
	case "callback":
		b.record(path+" args", onlyIfNew(want["args"]), onlyIfNew(got["args"]))
	case "event":
		b.record(path+" payload", onlyIfNew(want["payload"]), onlyIfNew(got["payload"]))
	case "authorize":
		b.value(path+" credentials", want["credentials"], got["credentials"])
	case "email":
		for _, member := range []string{"identifier", "token", "url", "expires"} {
			b.record(path+" "+member, want[member], got[member])
		}
	case "mail":
		for _, member := range []string{"envelope", "from", "subject", "text", "html"} {
			b.record(path+" "+member, want[member], got[member])
		}
	case "peer":
		w.request(path, got)
	}
}

// argsWithout removes the new ID that Latchkey passes to createUser. Auth.js lets its adapter create the ID.
func argsWithout(want, got object) any {
	list, _ := got["args"].([]any)
	recorded, _ := want["args"].([]any)
	if got["method"] != "createUser" || len(list) != 1 || len(recorded) != 1 {
		return got["args"]
	}
	user, _ := list[0].(object)
	if given, ok := recorded[0].(object); !ok || given["id"] != nil {
		return got["args"]
	}
	user = maps.Clone(user)
	delete(user, "id")
	return []any{user}
}

// onlyIfNew removes an isNewUser that is false. Auth.js omits it if no user could be created.
func onlyIfNew(v any) any {
	if m, ok := v.(object); ok && m["isNewUser"] == false {
		m = maps.Clone(m)
		delete(m, "isNewUser")
		return m
	}
	return v
}

// storeThenSend moves the write of the token before the email (docs/protocol.md §9.2).
func storeThenSend(entries []object) []object {
	out := slices.Clone(entries)
	for i := 0; i+1 < len(out); i++ {
		if (out[i]["kind"] == "email" || out[i]["kind"] == "mail") && out[i+1]["method"] == "createVerificationToken" {
			out[i], out[i+1] = out[i+1], out[i]
		}
	}
	return out
}

// request compares a request to the provider.
func (w comparison) request(path string, entry object) {
	b := w.binder
	wanted, _ := entry["wanted"].(object)
	want, _ := wanted["request"].(object)
	got, _ := entry["got"].(*http.Request)
	if got == nil {
		b.differ(path, "unexpected request %v", entry["url"])
		return
	}
	if query, ok := want["query"].(object); ok {
		for name, v := range query {
			b.text(path+" query "+name, fmt.Sprint(v), got.URL.Query().Get(name))
		}
	}
	auth, _ := want["authorization"].(object)
	header := got.Header.Get("Authorization")
	switch auth["scheme"] {
	case "Basic":
		id, secret, _ := got.BasicAuth()
		b.text(path+" authorization", auth["decoded"].(string), id+":"+secret)
	case "Bearer":
		b.text(path+" authorization", "Bearer "+auth["value"].(string), header)
	case nil:
		if header != "" {
			b.differ(path+" authorization", "unexpected")
		}
	}
	if form, ok := want["form"].(object); ok {
		b.form(path+" form", form, entry["body"].(string))
	}
}

// form compares the fields of a posted form. A client assertion must only exist.
func (b *binder) form(path string, want object, body string) {
	values, err := url.ParseQuery(body)
	if err != nil {
		b.differ(path, "%v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		s, isText := want[name].(string)
		switch {
		case name == "client_assertion" && values.Get(name) == "":
			b.differ(path+" "+name, "it is missing")
		case name != "client_assertion" && isText:
			b.text(path+" "+name, s, values.Get(name))
		}
	}
	for name := range values {
		if _, there := want[name]; !there {
			b.differ(path+" "+name, "unexpected")
		}
	}
}
