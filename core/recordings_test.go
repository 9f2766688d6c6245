package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// recording is a recorded exchange of a browser with Auth.js. The test compares what a browser sees: status, headers,
// cookies and JSON. conformance/proof/replay compares complete recordings, including pages, store calls, callbacks and
// claims, and also replays exchanges that need more than core.
type recording struct {
	ID      string
	Config  map[string]any
	Env     map[string]string
	Express any
	Seed    map[string][]map[string]any
	Steps   []recordedStep
}

type recordedStep struct {
	At      int
	Config  map[string]any
	Seed    map[string][]map[string]any
	Minted  []struct{ Label, Literal string }
	Derived []struct{ Label, How, Literal string }
	Request struct {
		Method, URL  string
		Headers      map[string]string
		Cookies      []struct{ Name, Value string }
		CookieHeader *string
		Form         map[string]any
		JSON         any
		BodyText     *string
	}
	Response struct {
		Status     int
		Headers    map[string]string
		SetCookies []recordedSetCookie
		Body       json.RawMessage
		BodyText   *string
		EmptyBody  bool
		Threw      any
		Internal   bool
	}
	Trace []map[string]any
}

// apart lists the recordings where the browser deliberately sees something else, by reason.
var apart = map[string][]string{
	"A custom page keeps its own query: parameters are added with &": {"callback-oauth.error-page-with-query"},
	"A profile that cannot be read leads back to the sign-in page":   {"callback-oauth.error.profile-null"},
	"Plain http to a provider that is not on this machine is refused when the application starts": {
		"callback-oauth.insecure-http-issuer",
	},
	"Cookie and body show when a stored session ends, not when it would if it were prolonged now": {
		"callback-oauth.link.other-users-account", "callback-oauth.link.same-account",
		"callback-oauth.link.signed-in", "session.db.stale", "session.db.update-age-edge",
	},
	"An unknown client authentication method is refused when the application starts, not at the first callback": {
		"callback-oauth.oauth.unknown-client-auth",
	},
	"A second click on a sign-in link continues, if the browser is signed in as its user": {"email.callback.twice"},
	"Credentials alone may have database sessions": {
		"config.credentials-database", "credentials.database-only",
	},
	"Two providers with one ID are refused when the application starts": {"config.duplicate-provider-id"},
	"The zero value of Session.MaxAge is the default of 30 days; a session that ends at once is no session": {
		"config.max-age-zero",
	},
	"The session record that a sign-in replaces is removed after the new one exists": {
		"email.callback.other-session", "email.callback.other-session-new-user",
	},
	"The session record that a sign-in replaces is removed": {"email.callback.same-session"},
	"The error page has a parameter for why a sign-in can no longer be completed": {
		"callback-oauth.error.cookies-expired", "callback-oauth.error.no-code",
		"callback-oauth.error.nonce-cookie-missing", "callback-oauth.error.pkce-cookie-missing",
		"callback-oauth.error.state-cookie-missing", "callback-oauth.error.state-mismatch",
		"callback-oauth.error.state-missing", "callback-oauth.error.token-400", "webauthn.challenge-expired",
		"webauthn.register.no-challenge",
	},
	"A repeated callback redirects a user who is signed in to the callback URL": {"callback-oauth.replay"},
	"The POST of a form_post provider redirects to a GET, which decides": {
		"callback-oauth.form-post.apple", "callback-oauth.form-post.apple-no-user", "callback-oauth.form-post.get",
		"callback-oauth.form-post.ok",
	},
	"What is no address leads back to the sign-in page, where it can be mended": {
		"email.normalize.comma-domain", "email.normalize.leading-at", "email.normalize.no-at",
		"email.normalize.quoted", "email.normalize.two-at", "email.signin.empty-email", "email.signin.no-email",
	},
	"No error parameter where there is no error, in place of error=undefined": {"error-page.custom-no-error"},
	"No double slashes in generated URLs": {
		"routing.base-trailing-slash", "routing.base-empty", "routing.base-root",
	},
	"The callback URL is percent-encoded when it is normalised, so that it fits into a Location header": {
		"routing.cookie-value-specials",
	},
	"Forwarded headers are read where hosts are trusted, as Auth.js's wrappers do before its core": {
		"routing.host.forwarded-ignored",
	},
	"Our own callback URL is not told to the provider": {
		"signin-oauth.query-callback-url", "signin-oauth.body-wins-over-query",
	},
}

func reasonApart(id string) string {
	for reason, ids := range apart {
		if slices.Contains(ids, id) {
			return reason
		}
	}
	return ""
}

// readRecordings reads the recordings of the files whose names match.
func readRecordings(t *testing.T, pattern string) (all []recording) {
	t.Helper()
	files, err := filepath.Glob("testdata/recordings/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Scenarios []recording }
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, file.Scenarios...)
	}
	return all
}

// TestRecordings replays the recorded exchanges that need only core.
func TestRecordings(t *testing.T) {
	t.Parallel()
	all, replayed := readRecordings(t, "*.json"), 0
	for _, r := range all {
		if !needsCoreAlone(r) {
			continue
		}
		replayed++
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			differences := replay(t, r)
			if why := reasonApart(r.ID); why != "" {
				if differences == nil {
					t.Errorf("it agrees now, and is listed apart: %s", why)
				}
				return
			}
			for _, d := range differences {
				t.Error(d)
			}
		})
	}
	if replayed < 365 {
		t.Errorf("%d of %d recordings need core alone, there were more", replayed, len(all))
	}
}

// TestAlteredRecordings changes one recorded value at a time, to check that the comparison detects it.
func TestAlteredRecordings(t *testing.T) {
	t.Parallel()
	for name, alter := range map[string]func(step *recordedStep){
		"nothing":    func(*recordedStep) {},
		"the status": func(step *recordedStep) { step.Response.Status++ },
		"a header":   func(step *recordedStep) { step.Response.Headers["cache-control"] = "public" },
		"a member more": func(step *recordedStep) {
			step.Response.Body = json.RawMessage(`{"csrfToken":"{{csrf:1}}","more":1}`)
		},
		"a member's value":   func(step *recordedStep) { step.Response.Body = json.RawMessage(`{"csrfToken":"{{uuid:1}}"}`) },
		"a cookie less":      func(step *recordedStep) { step.Response.SetCookies = step.Response.SetCookies[:1] },
		"the order":          func(step *recordedStep) { slices.Reverse(step.Response.SetCookies) },
		"a cookie's value":   func(step *recordedStep) { step.Response.SetCookies[1].Value += "/x" },
		"an attribute":       func(step *recordedStep) { step.Response.SetCookies[0].Attributes["SameSite"] = "Strict" },
		"an attribute less":  func(step *recordedStep) { delete(step.Response.SetCookies[0].Attributes, "Secure") },
		"what a label means": func(step *recordedStep) { step.Response.SetCookies[0].Value = "{{csrf:1}}|{{csrf:1}}" },
	} {
		t.Run(name, func(t *testing.T) {
			r := readRecordings(t, "csrf.json")[0]
			r.Steps = r.Steps[:1]
			alter(&r.Steps[0])
			if differences := replay(t, r); (differences == nil) != (name == "nothing") {
				t.Errorf("differences: %v", differences)
			}
		})
	}
}

// replay sends the recorded requests and returns the differences from the recording. It ends with the first step that
// differs.
func replay(t *testing.T, r recording) []string {
	w := &recordedWorld{clock: newClock(), store: newPeople(), bound: map[string]string{}, random: &counter{}}
	w.seed(r.Seed)
	for i, step := range r.Steps {
		w.clock.Advance(start.Add(time.Duration(step.At) * time.Second).Sub(w.clock.Now()))
		w.seed(step.Seed)
		for _, m := range step.Minted {
			w.bound[m.Label] = m.Literal
		}
		for _, d := range step.Derived {
			w.bound[d.Label] = d.Literal
		}
		w.compare(step, serve(t.Context(), w.config(r, step), w.request(step)))
		for _, e := range step.Trace {
			if e["kind"] == "email" {
				w.unifyMail(e)
			}
		}
		if len(w.differences) > 0 {
			return append(w.differences, fmt.Sprintf("in step %d, %s %s", i+1, step.Request.Method, step.Request.URL))
		}
	}
	return nil
}

// serve handles a request with a separate configuration, as Auth.js did. A configuration error is in the response.
func serve(ctx context.Context, config core.Config, r *core.Request) *core.Response {
	choose := func(context.Context, *core.Request) (*core.Auth, error) { return core.New(config) }
	return core.PerRequest("", choose).Handle(ctx, r)
}

type recordedSetCookie struct {
	Name, Value string
	Attributes  map[string]any
}

// recordedWorld is the environment of the Auth in a recording.
type recordedWorld struct {
	clock       *clock
	store       *people
	random      *counter
	secret      string
	bound       map[string]string // the values of the placeholders
	asked       []map[string]any  // the recorded requests to the provider in this step
	answers     map[string]map[string]any
	mails       []core.Email
	differences []string
}

func (w *recordedWorld) differ(format string, args ...any) {
	w.differences = append(w.differences, fmt.Sprintf(format, args...))
}

// request returns the recorded request with the values of this run.
func (w *recordedWorld) request(step recordedStep) *core.Request {
	u := w.fill(step.Request.URL)
	scheme, rest, _ := strings.Cut(u, "://")
	host, target, _ := strings.Cut(rest, "/")
	r := &core.Request{
		Method: step.Request.Method, Target: "/" + target, Hosts: []string{host}, Scheme: scheme,
		RemoteAddr: "192.0.2.1:1234", Header: http.Header{},
	}
	for name, value := range step.Request.Headers {
		r.Header.Set(name, w.fill(value))
	}
	var pairs []string
	for _, c := range step.Request.Cookies {
		pairs = append(pairs, c.Name+"="+url.PathEscape(w.fill(c.Value)))
	}
	if step.Request.CookieHeader != nil {
		pairs = []string{w.fill(*step.Request.CookieHeader)}
	}
	if len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	switch {
	case step.Request.Form != nil:
		form := url.Values{}
		for name, value := range step.Request.Form {
			form.Set(name, w.fill(fmt.Sprint(value)))
		}
		r.Body = strings.NewReader(form.Encode())
	case step.Request.JSON != nil:
		raw, _ := json.Marshal(step.Request.JSON)
		r.Body = strings.NewReader(w.fill(string(raw)))
	case step.Request.BodyText != nil:
		r.Body = strings.NewReader(w.fill(*step.Request.BodyText))
	}
	return r
}

// compare compares what a browser sees.
func (w *recordedWorld) compare(step recordedStep, got *core.Response) {
	want := step.Response
	if step.Request.Method == http.MethodGet { // GET session sets no cookie that repeats the one of the request
		want.SetCookies = slices.DeleteFunc(slices.Clone(want.SetCookies), func(c recordedSetCookie) bool {
			return strings.HasSuffix(c.Name, "session-token") && slices.ContainsFunc(step.Request.Cookies,
				func(sent struct{ Name, Value string }) bool { return sent.Name == c.Name && sent.Value == c.Value })
		})
	}
	header := http.Header{}
	got.Fill(header)
	if got.Redirect != "" {
		header.Set("Location", got.Redirect)
	}
	if got.Status != want.Status {
		w.differ("status %d, want %d: %v", got.Status, want.Status, got.Err)
	}
	for name, value := range want.Headers {
		has := header.Get(name)
		switch name {
		case "content-type":
			has, _, _ = strings.Cut(has, ";")
			value, _, _ = strings.Cut(value, ";")
		case "location":
			value, has = absolute(step.Request.URL, value), absolute(step.Request.URL, has)
		}
		w.unify("header "+name, value, has)
	}
	for i, c := range want.SetCookies {
		if i >= len(got.Cookies) || got.Cookies[i].Name != c.Name {
			w.differ("cookie %d is not %s: %v", i, c.Name, got.Cookies)
			return
		}
		w.unify("cookie "+c.Name, c.Value, got.Cookies[i].Value)
		w.unifyJSON("attributes of "+c.Name, c.Attributes, attributesOf(got.Cookies[i]))
	}
	for _, more := range got.Cookies[len(want.SetCookies):] {
		if more.Value != "" || got.Err == nil { // a check is valid for one attempt: a failure deletes it too
			w.differ("cookie %s is not recorded", more.Name)
		}
	}
	switch {
	case want.Body != nil:
		var recorded, body any
		if err := json.Unmarshal(got.Body, &body); err != nil && len(got.Body) > 0 {
			w.differ("body %.100q: %v", got.Body, err)
		}
		if answer, ok := body.(map[string]any); ok && answer["message"] != nil {
			delete(answer, "reference") // refers to a log message
		}
		_ = json.Unmarshal(want.Body, &recorded)
		w.unifyJSON("body", recorded, body)
	case want.BodyText != nil:
		w.unify("body", *want.BodyText, string(got.Body))
	case want.EmptyBody && len(got.Body) > 0:
		w.differ("a body of %d bytes, want none", len(got.Body))
	}
}

// absolute resolves a reference like a browser.
func absolute(base, reference string) string {
	if !strings.HasPrefix(reference, "/") {
		return reference
	}
	scheme, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + reference
}

// attributesOf returns the attributes of a cookie for the header.
func attributesOf(c core.Cookie) map[string]any {
	all := map[string]any{}
	for i, each := range strings.Split(c.String(), "; ") {
		name, value, hasValue := strings.Cut(each, "=")
		switch {
		case i == 0:
		case name == "Max-Age":
			var n float64
			_ = json.Unmarshal([]byte(value), &n)
			all[name] = n
		case hasValue:
			all[name] = value
		default:
			all[name] = true
		}
	}
	return all
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// value returns the value of a placeholder: the one seen earlier, or a time.
func (w *recordedWorld) value(name string) (string, bool) {
	if v, ok := w.bound[name]; ok {
		return v, true
	}
	var seconds int
	kind, rest, _ := strings.Cut(name, ":")
	if _, err := fmt.Sscanf(rest, "%d", &seconds); err != nil {
		return "", false
	}
	at := w.clock.Now().Add(time.Duration(seconds) * time.Second).UTC()
	switch kind {
	case "unix":
		return fmt.Sprint(at.Unix()), true
	case "in":
		return at.Format(http.TimeFormat), true
	case "iso", "date":
		return at.Format("2006-01-02T15:04:05.000Z"), true
	}
	return "", false
}

// fill replaces placeholders by their values.
func (w *recordedWorld) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := w.value(m[2 : len(m)-2]); ok {
			return v
		}
		w.differ("%s is not known yet", m)
		return m
	})
}

// unify compares a text with a recorded one. At its first occurrence, a placeholder gets the value found there.
func (w *recordedWorld) unify(where, want, got string) {
	wantBase, wantQuery, isURL := strings.Cut(want, "?")
	gotBase, gotQuery, _ := strings.Cut(got, "?")
	if isURL && strings.HasPrefix(want, "http") { // parameters may have any order
		wanted, _ := url.ParseQuery(wantQuery)
		had, _ := url.ParseQuery(gotQuery)
		w.unify(where, wantBase, gotBase)
		for name := range wanted {
			w.unify(where+", "+name, strings.Join(wanted[name], " and "), strings.Join(had[name], " and "))
		}
		for name := range had {
			if wanted[name] == nil {
				w.differ("%s has %s", where, name)
			}
		}
		return
	}
	var pattern strings.Builder
	var fresh []string
	end := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		name := want[m[2]:m[3]]
		pattern.WriteString(regexp.QuoteMeta(want[end:m[0]]))
		end = m[1]
		v, known := w.value(name)
		switch {
		case known:
			pattern.WriteString(regexp.QuoteMeta(v))
		case name == "prose":
			pattern.WriteString(".+")
		default:
			fresh = append(fresh, name)
			pattern.WriteString("(" + shapeOf(name) + ")")
		}
	}
	pattern.WriteString(regexp.QuoteMeta(want[end:]))
	found := regexp.MustCompile("^(?s:" + pattern.String() + ")$").FindStringSubmatch(got)
	if found == nil && strings.TrimSuffix(want, "/") != strings.TrimSuffix(got, "/") {
		w.differ("%s is %q, want %q", where, got, want)
		return
	}
	for i, name := range fresh {
		w.bound[name] = found[i+1]
	}
}

// shapeOf returns a regular expression for the values of a placeholder.
func shapeOf(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	switch {
	case kind == "csrf", kind == "hex64", strings.HasPrefix(name, "sha256("):
		return "[0-9a-f]{64}"
	case kind == "uuid":
		return "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
	case kind == "verifier", kind == "nonce", strings.HasPrefix(name, "s256("):
		return "[A-Za-z0-9_-]{43}"
	case kind == "state":
		return `(?:[A-Za-z0-9]{22}|[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)`
	case kind == "jwe":
		return `[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`
	}
	return `[!-~]+`
}

// unifyJSON compares JSON values.
func (w *recordedWorld) unifyJSON(where string, want, got any) {
	switch want := want.(type) {
	case string:
		if text, ok := got.(string); ok {
			w.unify(where, want, text)
			return
		}
	case map[string]any:
		has, ok := got.(map[string]any)
		for name := range has {
			if _, recorded := want[name]; !recorded {
				w.differ("%s has %s", where, name)
			}
		}
		for name := range want {
			w.unifyJSON(where+"."+name, want[name], has[name])
		}
		if ok {
			return
		}
	case []any:
		if has, ok := got.([]any); ok && len(has) == len(want) {
			for i := range want {
				w.unifyJSON(fmt.Sprintf("%s[%d]", where, i), want[i], has[i])
			}
			return
		}
	default:
		if want == got {
			return
		}
	}
	w.differ("%s is %v, want %v", where, got, want)
}

// unifyMail compares an email with the recorded one and stores its link, which a later step opens.
func (w *recordedWorld) unifyMail(recorded map[string]any) {
	if len(w.mails) == 0 {
		w.differ("no mail")
		return
	}
	m := w.mails[0]
	w.mails = slices.Delete(w.mails, 0, 1)
	for name, got := range map[string]string{"identifier": m.To, "token": string(m.Token), "url": string(m.URL)} {
		w.unifyJSON("mail."+name, recorded[name], got)
	}
}
