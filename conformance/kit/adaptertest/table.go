package adaptertest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// style is a way of using an adapter, with its requests and responses.
type style struct {
	name string
	// change modifies the configuration of the application for this style. It may be nil.
	change func(*core.Config)
	// before is a middleware for the whole application. It may be nil.
	before func(Call)
	rows   []row
}

// row is a request and the response that every adapter must give. In its texts, HOST is the address of the application
// and TOKEN is the CSRF token of the browser.
type row struct {
	name string
	// as is the name of the signed-in user. If it is empty, no user is signed in.
	as   string
	ask  request
	want reply
}

// request is a request of a client.
type request struct {
	// method defaults to GET, or to POST if there is a body.
	method, path string
	// host replaces the address in the Host header, if it is not empty.
	host   string
	header http.Header
	// form and json are bodies with the corresponding Content-Type.
	form, json string
}

// reply is the expected response.
type reply struct {
	status int
	// header has the first value of each field. An empty text means that the field must be missing.
	header map[string]string
	// body is the whole body; for JSON, the order of members does not matter. If it is empty, the body is not compared.
	// has and lacks are parts that the body must and must not contain.
	body       string
	has, lacks []string
	// leads are parts of the Location.
	leads []string
	// cookies is the number of cookies that are set, or -1 for any number.
	cookies int
	// then is the response to GET /page afterwards. If it is empty, the page is not requested.
	then string
}

// anyNumber allows any number of cookies.
const anyNumber = -1

// styles is the contract. All of it must hold for every adapter.
func styles() []style {
	return append([]style{
		{name: "pages", rows: pageRows()},
		{name: "guards", rows: guardRows()},
		{name: "form actions", rows: formRows()},
		{name: "form actions that hand failures over", rows: tryRows()},
		{name: "component calls", rows: callRows()},
		{name: "components and templates", rows: componentRows()},
		{name: "typed data", rows: dataRows()},
		{name: "scripts", change: trusting, rows: scriptRows()},
		{name: "after a middleware that reads forms", before: readForm, rows: readRows()},
		{name: "after a middleware that sets headers", before: setHeaders, rows: headerRows()},
	}, hostileStyles()...)
}

// table runs every row of every style.
func table(t *testing.T, start Start) {
	for _, s := range styles() {
		t.Run(s.name, func(t *testing.T) {
			var before []Step
			if s.before != nil {
				before = []Step{{Kind: Early, Do: s.before}}
			}
			k := newKit(t, start, s.change, before...)
			for _, r := range s.rows {
				t.Run(r.name, func(t *testing.T) {
					k := *k
					k.T, k.http = t, newClient(t)
					asking{&k}.check(r)
				})
			}
		})
	}
}

// asking is a client that sends the requests of the table.
type asking struct{ *kit }

func (k asking) check(r row) {
	if r.as != "" {
		k.holdSession(r.as)
	}
	fill := strings.NewReplacer("HOST", k.addr)
	if strings.Contains(r.ask.form+r.ask.json, "TOKEN") {
		fill = strings.NewReplacer("HOST", k.addr, "TOKEN", k.csrf())
	}
	got, want := k.do(k.request(r.ask, fill)), r.want
	k.expect("status", got.status, want.status)
	for _, name := range slices.Sorted(maps.Keys(want.header)) {
		k.expect(name, strings.Join(got.header.Values(name), "\n"), fill.Replace(want.header[name]))
	}
	if want.body != "" {
		k.expect("body", sorted(got.body), sorted(fill.Replace(want.body)))
	}
	for _, part := range want.has {
		if !strings.Contains(got.body, fill.Replace(part)) {
			k.Errorf("the body lacks %q: %.2000s", part, got.body)
		}
	}
	for _, part := range want.lacks {
		if strings.Contains(got.body, part) {
			k.Errorf("the body has %q: %.2000s", part, got.body)
		}
	}
	for _, part := range want.leads {
		if to := got.header.Get("Location"); !strings.Contains(to, fill.Replace(part)) {
			k.Errorf("leads to %q, without %q", to, part)
		}
	}
	if want.cookies != anyNumber {
		k.expect("cookies", len(got.header["Set-Cookie"]), want.cookies)
	}
	if want.then != "" {
		k.expect("the next page", k.get("/page").body, want.then)
	}
}

// request builds the request of a row.
func (k asking) request(ask request, fill *strings.Replacer) *http.Request {
	k.Helper()
	method, kind, body := ask.method, "", ask.form
	switch {
	case ask.form != "":
		kind = "application/x-www-form-urlencoded"
	case ask.json != "":
		kind, body = "application/json", ask.json
	}
	if method == "" && kind != "" {
		method = http.MethodPost
	}
	var content io.Reader
	if kind != "" {
		content = strings.NewReader(fill.Replace(body))
	}
	r, err := http.NewRequestWithContext(k.Context(), method, "http://"+k.addr+ask.path, content)
	if err != nil {
		k.Fatal(err)
	}
	for name, values := range ask.header {
		for _, value := range values {
			r.Header.Add(name, fill.Replace(value))
		}
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	r.Host = ask.host
	return r
}

// holdSession gives the client a user's session without a sign-in form.
func (k asking) holdSession(name string) {
	k.Helper()
	r := &core.Request{Method: http.MethodGet, Target: "/", Hosts: []string{k.addr}, Scheme: "http"}
	user := &core.User{ID: name, Name: name, Email: "somebody@example.com"}
	cookies, err := k.auth.NewSession(k.Context(), r, user)
	if err != nil {
		k.Fatal(err)
	}
	for _, c := range cookies {
		k.take(c.String())
	}
}

// sorted sorts the members of JSON objects. It returns other texts unchanged.
func sorted(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(raw)
}
