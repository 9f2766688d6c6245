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

// style is one way of using an adapter, and what it answers.
type style struct {
	name string
	// change is what the application of this style has beside what all have; nil: nothing.
	change func(*core.Config)
	// before is the middleware in front of the application; nil: none.
	before func(Call)
	rows   []row
}

// row is one request and what every adapter answers to it. In its texts HOST is the address of the application and
// TOKEN the CSRF token of the visitor.
type row struct {
	name string
	// as is who is signed in: the name of a visitor; empty: nobody.
	as   string
	ask  request
	want reply
}

// request is what a client sends.
type request struct {
	// method is GET where it is empty, and POST where there is a body.
	method, path string
	// host takes the place of the address in the field Host; empty: the address.
	host   string
	header http.Header
	// form and json are bodies, of the Content-Type that they have.
	form, json string
}

// reply is what comes back.
type reply struct {
	status int
	// header is what fields are, of several lines the first; an empty text: the answer does not have it.
	header map[string]string
	// body is the whole body, JSON in any order of its members; empty: not compared. has and lacks are parts of it.
	body       string
	has, lacks []string
	// leads are parts of the Location.
	leads []string
	// cookies is how many are set, and -1 for any number.
	cookies int
	// then is what GET /page says to the visitor afterwards; empty: it is not asked.
	then string
}

// anyNumber of cookies may be set.
const anyNumber = -1

// styles is the contract: all of it holds for every adapter.
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

// table asks every row of every style.
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

// asking is a client that asks what the rows of the table say.
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

// request makes one as it is in a row.
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

// holdSession gives the client the session of a visitor, without a form.
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

// sorted is JSON with its members in order; what is none stays.
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
