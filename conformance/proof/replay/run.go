package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
	"github.com/latchkey-go/latchkey/core"
)

// send carries a request to the Auth under test, by whatever way, and brings the answer back.
type send func(ctx context.Context, s wire.Site, r wireRequest) (answer, error)

// wireRequest is a request ready to be sent.
type wireRequest struct {
	method, url string
	header      map[string][]string
	body        string
	hasBody     bool
}

// replay runs one scenario and returns the differences.
func replay(sc scenario, start time.Time, k *keys, texts *textGroups, via send, parts bool) (diffs []string) {
	defer func() {
		if v := recover(); v != nil {
			diffs = append(diffs, fmt.Sprintf("the replayer panicked: %v", v))
		}
	}()
	rec := &recorder{}
	w := &world{start: start, rec: rec, texts: texts, binder: newBinder(), keys: k, store: &memory{rec: rec, start: start}}
	if w.parts = parts; parts {
		w.binder.uuid = factedUUID
	}
	defer func() {
		for _, end := range w.closers {
			end()
		}
	}()
	w.peer = &peer{world: w, documents: map[string]object{}}
	w.setClock(start)
	w.hosts, w.raw = hostsOf(sc), sc.raw
	if err := w.seed(sc.Seed); err != nil {
		return []string{err.Error()}
	}
	for i, st := range sc.Steps {
		name := fmt.Sprintf("step %d (%s %s)", i+1, st.Request.Method, st.Request.URL)
		if err := w.step(sc, st, via); err != nil {
			return append(diffs, name+": "+err.Error())
		}
		w.binder.settle(false)
		for _, d := range w.binder.diffs {
			diffs = append(diffs, name+": "+d)
		}
		w.binder.diffs = nil
		if len(diffs) > 0 {
			return diffs // what follows would only repeat it
		}
	}
	for _, table := range slices.Sorted(maps.Keys(sc.FinalState)) {
		want, got := sc.FinalState[table], w.store.rows(table)
		if len(want) != len(got) {
			w.binder.differ("final "+table, "want %d rows, got %d: %s", len(want), len(got), show(got))
			continue
		}
		for i := range want {
			w.binder.record(fmt.Sprintf("final %s[%d]", table, i), want[i], got[i])
		}
	}
	w.binder.settle(false) // a raw answer without decoded cookies leaves relations open
	return append(diffs, w.binder.diffs...)
}

func (w *world) step(sc scenario, st step, via send) error {
	w.setClock(w.start.Add(time.Duration(st.At) * time.Second))
	w.store.linked = ""
	if err := w.seed(st.Seed); err != nil {
		return err
	}
	declared := maps.Clone(sc.Config)
	maps.Copy(declared, st.Config)
	config, err := w.config(declared, sc.Env)
	if err != nil {
		return err
	}
	if passwordsInStore(st, config) {
		_, err := core.New(config)
		w.rec.take()
		return err
	}
	w.mint(st)
	st = w.stateBesides(st, config)
	var auth *core.Auth
	around := wire.Site{Auth: core.PerRequest("", func(context.Context, *core.Request) (*core.Auth, error) {
		a, err := core.New(config)
		auth = a
		return a, err
	})}
	if sc.Express != nil {
		config.BasePath = strings.TrimSuffix(sc.Express.Mount, "/*") // the wrapper takes it from where it is mounted
		if auth, err = core.New(config); err != nil {
			return err
		}
		around = wire.Site{Auth: auth, Mounted: true, SessionPage: sc.Express.SessionRoute}
	}
	w.peer.expected = nil
	for _, entry := range st.Trace {
		if entry["kind"] == "peer" {
			w.peer.expected = append(w.peer.expected, entry)
		}
	}
	r, err := w.send(st.Request)
	if err != nil {
		return err
	}
	w.origin = originOf(r.url)
	got, err := via(context.Background(), around, r)
	if err != nil {
		return err
	}
	got = w.withoutParts(got)
	w.lengths = nil
	if got.wire && st.Request.Method == "HEAD" {
		st.Response.Body, st.Response.EmptyBody = present{}, true // HTTP sends none; the recording was made without HTTP
	}
	st = mendAddress(mended(st, config), config)
	w.rememberChallenge(got.body)
	w.compareResponse(st.Response, got, auth)
	w.compareTrace(w.seen(st.Trace), w.seen(w.rec.take()))
	return nil
}

// originOf cuts a URL behind its host.
func originOf(u string) string {
	parts := strings.SplitN(u, "/", 4)
	return strings.Join(parts[:min(3, len(parts))], "/")
}

// mint binds the tokens that a step brings along: real ones, made by Auth.js.
func (w *world) mint(st step) {
	for _, m := range st.Minted {
		w.binder.values[m.Label] = m.Literal
	}
	for _, d := range st.Derived {
		w.binder.values[d.Label] = w.derive(d)
	}
}

// derive alters a value as the recording says; what the alteration starts from may be a value of this run.
func (w *world) derive(d derived) string {
	from, err := w.binder.substitute(d.From)
	if v, ok := w.binder.values[d.From]; ok {
		from, err = v, nil
	}
	if err != nil {
		return d.Literal
	}
	var at int
	switch {
	case strings.Contains(d.How, "hex digit of the hash"):
		at = strings.IndexByte(from, '|') + 1
	case strings.Contains(d.How, "hex digit of the token"):
		at = 0
	default:
		return d.Literal
	}
	c := byte('0')
	if from[at] == c {
		c = '1'
	}
	return from[:at] + string(c) + from[at+1:]
}

// send makes a recorded request real.
func (w *world) send(r request) (wireRequest, error) {
	out := wireRequest{method: r.Method, header: map[string][]string{}}
	var err error
	if out.url, err = w.binder.substitute(r.URL); err != nil {
		return out, err
	}
	for name, value := range r.Headers {
		v, err := w.binder.substitute(value)
		if err != nil {
			return out, err
		}
		out.header[name] = []string{v}
	}
	if out.header["cookie"], err = w.cookieHeader(r, out.header["cookie"]); err != nil {
		return out, err
	}
	if out.header["cookie"] == nil {
		delete(out.header, "cookie")
	}
	switch {
	case r.Form != nil:
		out.hasBody = true
		out.body, err = w.formBody(r, &out)
	case r.JSON != nil:
		out.body, err = w.binder.substitute(show(r.JSON))
		out.hasBody = true
	case r.BodyText != nil:
		out.body, err = w.binder.substitute(*r.BodyText)
		out.hasBody = true
	}
	return out, err
}

// cookieHeader is the Cookie header of a request; otherwise: it names no cookies.
func (w *world) cookieHeader(r request, otherwise []string) ([]string, error) {
	if r.CookieHeader != nil {
		v, err := w.binder.substitute(*r.CookieHeader)
		return []string{v}, err
	}
	if len(r.Cookies) == 0 {
		return otherwise, nil
	}
	var pairs []string
	for _, c := range r.Cookies {
		v, err := w.binder.substitute(c.Value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, c.Name+"="+encodeURIComponent(v))
	}
	return []string{strings.Join(pairs, "; ")}, nil
}

// formBody is the form of a request, with the answer of the software authenticator where it is asked for: browsers send
// their origin with that, and passkey answers need it (docs/protocol.md §5.2).
func (w *world) formBody(r request, out *wireRequest) (string, error) {
	fields := url.Values{}
	for name, v := range r.Form {
		if v != "{{soft-authenticator}}" {
			text, err := w.binder.substitute(fmt.Sprint(v))
			if err != nil {
				return "", err
			}
			fields.Set(name, text)
			continue
		}
		answered, err := w.answerOf(r.BodyDescription)
		if err != nil {
			return "", err
		}
		fields.Set(name, answered)
		if out.header["origin"] == nil {
			out.header["origin"] = []string{originOf(out.url)}
		}
	}
	return fields.Encode(), nil
}

func encodeURIComponent(s string) string {
	const keep = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(keep, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// compareTrace compares what was observed, in order. Discovery and key sets are ours to cache; debug lines are not
// compared, nor what only a JavaScript process shows.
func (w *world) compareTrace(recorded, observed []object) {
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
	got = withoutProof(got)
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
			w.compareEntry(path+" "+name(want[i]), want[i], got[i])
		}
	}
}

// withoutProof drops the note that a provider's word was the first proof of an address: updateUser and its event right
// before an account is linked by e-mail. Auth.js links without a proof, and never updates a user there.
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

// dropDoubleLog drops the first of the two log lines that Auth.js writes about one failure of the store
// (docs/protocol.md §11.4).
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

func (w *world) compareEntry(path string, want, got object) {
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
		w.comparePeer(path, got)
	}
}

// onlyIfNew drops an isNewUser that is false: where nobody could be created, Auth.js has none.
func onlyIfNew(v any) any {
	if m, ok := v.(object); ok && m["isNewUser"] == false {
		m = maps.Clone(m)
		delete(m, "isNewUser")
		return m
	}
	return v
}

var host = regexp.MustCompile(`https?://([a-z0-9.-]+)`)

// hostsOf lists the hosts that occur in a scenario.
func hostsOf(sc scenario) (hosts []string) {
	raw := show(sc.Config)
	for _, st := range sc.Steps {
		raw += " " + st.Request.URL
		for _, m := range st.Minted {
			raw += " " + fmt.Sprint(m.Claims["origin"])
		}
	}
	for _, m := range host.FindAllStringSubmatch(raw, -1) {
		if !slices.Contains(hosts, m[1]) {
			hosts = append(hosts, m[1])
		}
	}
	return hosts
}

// storeThenSend puts the token into the store before the mail goes out (docs/protocol.md §9.2).
func storeThenSend(entries []object) []object {
	out := slices.Clone(entries)
	for i := 0; i+1 < len(out); i++ {
		if (out[i]["kind"] == "email" || out[i]["kind"] == "mail") && out[i+1]["method"] == "createVerificationToken" {
			out[i], out[i+1] = out[i+1], out[i]
		}
	}
	return out
}

// mended is what a step expects where a database session is read: cookie and body show the expiry that the row has
// after the read (docs/protocol.md §7.3).
func mended(st step, c core.Config) step {
	if c.Store == nil || c.Session.Strategy == core.StrategyJWT || !strings.Contains(st.Request.URL, "/session") {
		return st
	}
	body, _ := st.Response.Body.value.(object)
	if body == nil || body["expires"] == nil {
		return st
	}
	expires := body["expires"]
	for _, e := range st.Trace {
		if e["method"] == "updateSession" {
			expires = strings.Replace(fmt.Sprint(e["args"].([]any)[0].(object)["expires"]), "{{date:", "{{iso:", 1)
		}
	}
	body = maps.Clone(body)
	body["expires"] = expires
	st.Response.Body.value = body
	st.Response.SetCookies = slices.Clone(st.Response.SetCookies)
	for i, set := range st.Response.SetCookies {
		if strings.HasSuffix(set.Name, "session-token") && set.Attributes["Expires"] != nil {
			set.Attributes = maps.Clone(set.Attributes)
			set.Attributes["Expires"] = strings.Replace(fmt.Sprint(expires), "{{iso:", "{{in:", 1)
			st.Response.SetCookies[i] = set
		}
	}
	trace := slices.Clone(st.Trace)
	for i, e := range trace {
		for _, member := range []string{"payload", "args"} {
			told, _ := e[member].(object)
			session, _ := told["session"].(object)
			if session["expires"] == nil || session["sessionToken"] == nil && member == "args" {
				continue
			}
			session, told, e = maps.Clone(session), maps.Clone(told), maps.Clone(e)
			session["expires"] = expires
			told["session"], e[member] = session, told
			trace[i] = e
		}
	}
	st.Trace = trace
	return st
}
