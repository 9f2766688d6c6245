package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Visit checks a running application from outside, as browsers and proxies see it. address is its public URL, such as
// https://app.example, followed by the base path of the auth routes unless that is /auth. Visit signs no user in and
// stores nothing. It ignores Options.Probe. It returns when ctx is done.
func Visit(ctx context.Context, address string, o Options) *Report {
	report := &Report{Version: Version}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		report.add("address", Wrong, "the address is invalid", "write it as browsers show it: https://app.example")
		return report
	}
	at.Path = cmp.Or(strings.TrimRight(at.Path, "/"), "/auth")
	at.RawQuery, at.Fragment, at.User = "", "", nil
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	t := &trip{ctx: ctx, at: at, options: o, client: &http.Client{}, report: report, clocks: &clocks{now: time.Now}}
	if o.HTTPClient != nil {
		copied := *o.HTTPClient
		t.client = &copied
	}
	t.client.Jar = nil
	t.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if !t.arrive() {
		return report
	}
	t.lists()
	t.assets()
	t.forged()
	t.largeHeader()
	t.plainHTTP()
	t.clocks.compare(report)
	return report
}

// trip is one examination of a running application.
type trip struct {
	ctx     context.Context
	at      *url.URL // the URL of the auth routes
	options Options
	client  *http.Client
	report  *Report
	clocks  *clocks
}

// seen is a response.
type seen struct {
	*http.Response
	body []byte
}

// get requests a path below the base path, or a URL.
func (t *trip) get(path string, header http.Header) (*seen, error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.options.Timeout)
	defer cancel()
	address := path
	if strings.HasPrefix(path, "/") {
		address = t.at.String() + path
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Accept", "application/json")
	answer, err := t.client.Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = answer.Body.Close() }()
	t.clocks.note(answer)
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostDocument))
	return &seen{answer, body}, err
}

func (t *trip) add(check string, state State, what, fix string) {
	t.report.add(check, state, what, fix)
}

// token returns the token in a response to GET csrf. It is empty for any other response.
func (s *seen) token() string {
	var csrf struct {
		CSRFToken string `json:"csrfToken"`
	}
	if json.Unmarshal(s.body, &csrf) != nil {
		return ""
	}
	return csrf.CSRFToken
}

// arrive requests the CSRF token, as every client does first. If it returns false, no other check is possible.
func (t *trip) arrive() bool {
	first, err := t.get("/csrf", nil)
	if err != nil {
		state, fix := diagnose(t.ctx, err)
		if errors.Is(err, context.DeadlineExceeded) {
			state, fix = Wrong, "check that it runs, and that the proxy forwards to it"
		}
		t.add("address", state, "it cannot be reached: "+err.Error(), fix)
		return false
	}
	if first.StatusCode != http.StatusOK || first.token() == "" {
		t.strange(first)
		return false
	}
	t.report.ok("address", "the auth routes are at %s", t.at)
	control := first.Header.Get("Cache-Control")
	own := func(word string) bool { return strings.Contains(control, word) }
	if !own("no-store") && !own("private") && !own("no-cache") {
		t.add("cache", Wrong, "caches may store the response with the CSRF token: Cache-Control is "+
			cmp.Or(printable(control), "missing"), "check that the proxy in front leaves Cache-Control of "+t.at.Path+" "+
			"alone")
	}
	t.cookies(first)
	return true
}

// strange explains a response that is not from the auth routes.
func (t *trip) strange(answer *seen) {
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound:
		t.add("address", Wrong, "there is nothing at "+t.at.String()+"/csrf: status 404", "add the base path to the "+
			"address, mount the auth routes, and check that the proxy forwards "+t.at.Path+" to the application")
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		t.add("address", Wrong, "the proxy does not reach the application: "+answer.Status,
			"check that it runs, and the upstream address of the proxy")
	case status == http.StatusBadRequest || status == http.StatusInternalServerError:
		t.add("origin", Wrong, "the application rejects the request or is misconfigured: "+answer.Status, "set AUTH_URL="+
			t.at.Scheme+"://"+t.at.Host+", or AUTH_TRUST_HOST=true behind a proxy that sets Host; its log has the reason")
	case status >= 300 && status < 400:
		t.add("address", Wrong, "it redirects: "+answer.Status, "check the target, and set AUTH_URL to it")
	default:
		t.add("address", Wrong, "another program responds there: "+answer.Status, "check that the proxy, or the "+
			"fallback of a single-page application, forwards "+t.at.Path+" to the auth routes")
	}
}

// cookies checks the cookie of the CSRF token, and whether every process of the application accepts it.
func (t *trip) cookies(first *seen) {
	i := slices.IndexFunc(first.Cookies(), func(c *http.Cookie) bool { return strings.HasSuffix(c.Name, "csrf-token") })
	if i < 0 {
		t.add("cookies", Wrong, "the response sets no cookie", "check that no proxy removes Set-Cookie from "+t.at.Path)
		return
	}
	cookie := first.Cookies()[i]
	switch {
	case t.at.Scheme == "https" && !cookie.Secure:
		t.add("cookies", Wrong, "the site is https, but the cookies are for http: the application does not know its scheme",
			"set AUTH_URL=https://"+t.at.Host+", or let the proxy that terminates TLS set X-Forwarded-Proto")
		return
	case t.at.Scheme == "http" && cookie.Secure && !local(t.at.Hostname()):
		t.add("cookies", Wrong, "the site is http, but the cookies are for https: browsers drop them",
			"serve the site by https")
		return
	}
	back := http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}}
	for range 6 {
		again, err := t.get("/csrf", back)
		if err != nil || again.StatusCode != http.StatusOK {
			t.add("cookies", Unknown, "some requests get no response", "check the application's log")
			return
		}
		if again.token() != first.token() {
			t.add("cookies", Wrong, "the cookie is not accepted as it was set, or not by every process",
				"give all processes the same AUTH_SECRET, and check that no proxy removes cookies")
			return
		}
	}
	t.report.ok("cookies", "%s is accepted again", cookie.Name)
}

// listedProvider is an entry of GET providers.
type listedProvider struct {
	ID          string `json:"id"`
	CallbackURL string `json:"callbackUrl"`
}

func (t *trip) providers(header http.Header) (all map[string]listedProvider, err error) {
	answer, err := t.get("/providers", header)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(answer.body, &all)
}

// lists compares the callback URLs with the address. The application builds them from its own configured address.
func (t *trip) lists() {
	all, err := t.providers(nil)
	if err != nil {
		t.add("providers", Wrong, "they cannot be listed: "+err.Error(),
			"check that "+t.at.Path+"/providers is not cached or closed")
		return
	}
	if len(all) == 0 {
		t.add("providers", Wrong, "there are none: users cannot sign in", "add one to core.Config.Providers")
		return
	}
	var ids []string
	for id, p := range all {
		ids = append(ids, id)
		if !strings.HasPrefix(p.CallbackURL, t.at.String()+"/") {
			t.add("origin", Wrong, "the application's address is "+originOf(p.CallbackURL)+", and browsers use "+
				t.at.String(), "set AUTH_URL="+t.at.Scheme+"://"+t.at.Host+", or have the proxy send Host and "+
				"X-Forwarded-Proto "+
				"as it got them; the path in front of /auth is PublicPath")
			return
		}
	}
	slices.Sort(ids)
	t.report.ok("providers", "%s; callback URLs start with %s/callback/", strings.Join(ids, ", "), t.at)
}

func originOf(address string) string {
	before, _, _ := strings.Cut(address, "/callback/")
	return printable(before)
}

// assets requests the files of the pages, because a proxy may have a separate rule for them.
func (t *trip) assets() {
	for name, mediaType := range map[string]string{"page.style": "text/css", "page.script": "text/javascript"} {
		answer, err := t.get("/"+name, nil)
		if err == nil && answer.StatusCode == http.StatusOK &&
			strings.HasPrefix(answer.Header.Get("Content-Type"), mediaType) {
			continue
		}
		what := name + " of the pages does not arrive, which have no looks or no passkeys then"
		if err == nil {
			what += ": " + answer.Status
		}
		t.add("pages", Wrong, what, "check that the proxy forwards all of "+t.at.Path+" to the application, and "+
			"Content-Type as it is")
		return
	}
	t.report.ok("pages", "their stylesheet and their script can be loaded")
}

// forged sends headers that an attacker can send, and checks whether the application trusts them.
func (t *trip) forged() {
	const stranger = "doctor.invalid"
	all, err := t.providers(http.Header{"X-Forwarded-Host": {stranger}, "Forwarded": {"host=" + stranger}})
	if err != nil {
		t.report.ok("proxy", "a forged X-Forwarded-Host is rejected")
		return
	}
	for _, p := range all {
		if strings.Contains(p.CallbackURL, stranger) {
			t.add("proxy", Wrong, "a forged X-Forwarded-Host is trusted: attackers choose the host of links in emails",
				"let the proxy set or remove that header, or set AUTH_URL instead of AUTH_TRUST_HOST")
			return
		}
	}
	t.report.ok("proxy", "a forged X-Forwarded-Host is not trusted")
}

// largeHeader sends cookies as large as those of a large session with several sign-ins in progress.
func (t *trip) largeHeader() {
	var pairs []string
	for i := range 3 {
		pairs = append(pairs, fmt.Sprintf("latchkey-doctor.%d=%s", i, strings.Repeat("x", 3900)))
	}
	answer, err := t.get("/csrf", http.Header{"Cookie": {strings.Join(pairs, "; ")}})
	switch {
	case err != nil:
		t.add("proxy", Unknown, "a request with 12 kB of cookies gets no response",
			"check the header limits of proxy and router: 16384 bytes are enough")
	case answer.StatusCode != http.StatusOK:
		t.add("proxy", Wrong, "a request with 12 kB of cookies, the size of large sessions, is rejected: "+answer.Status,
			"let router and proxy accept headers of 16 kB: in nginx, large_client_header_buffers 4 16k")
	default:
		t.report.ok("proxy", "12 kB of cookies arrive")
	}
}

// plainHTTP checks whether an https site redirects its http address to https.
func (t *trip) plainHTTP() {
	if t.at.Scheme != "https" || t.at.Port() != "" {
		return
	}
	answer, err := t.get("http://"+t.at.Host+t.at.Path+"/csrf", nil)
	switch {
	case err != nil: // no server at this port
	case answer.StatusCode == http.StatusOK && answer.token() != "":
		t.add("proxy", Wrong, "the auth routes also respond over http: an attacker in the network can read passwords",
			"let the proxy redirect http:// to https://")
		return
	}
	t.report.ok("proxy", "the auth routes are only at https")
}
