package doctor

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// probe is a sign-in without a user. It stops where a user would have to act.
type probe struct {
	report   *Report
	web      *web
	check    string
	provider *core.OAuthProvider
	visitor  *visitor // the browser that started it
}

// send sends the authorization request of a sign-in and reads the response. Then it sends a made-up code to the token
// endpoint.
func (p probe) send(ctx context.Context, to *url.URL) {
	state, what, fix := p.web.front(ctx, to)
	p.report.add(p.check, state, what, fix)
	if state != Wrong {
		p.back(ctx, to)
	}
}

// mostPage is the maximum number of bytes that are read of a page.
const mostPage = 256 << 10

// front follows the redirects of the authorization request to a page or to the callback URL. It does not request the
// callback URL.
func (w *web) front(ctx context.Context, to *url.URL) (state State, what, fix string) {
	callback, err := url.Parse(to.Query().Get("redirect_uri"))
	if err != nil {
		return Unknown, "the authorization request has no callback URL", "check Authorization.Params"
	}
	var answered url.Values
	jar, _ := cookiejar.New(nil) // never fails
	client := *w.client
	client.Jar = jar
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Host == callback.Host && r.URL.Path == callback.Path {
			answered = r.URL.Query()
			return http.ErrUseLastResponse
		}
		if len(via) > 10 {
			return errors.New("too many redirects")
		}
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return Unknown, "the authorization URL is invalid", "check Authorization.URL"
	}
	r.Header.Set("Accept", "text/html")
	answer, err := client.Do(r)
	if err != nil {
		return Unknown, "the authorization endpoint of " + to.Host + " could not be reached: " + brief(withoutURL(err)),
			"check whether this machine may open outgoing connections"
	}
	defer func() { _ = answer.Body.Close() }()
	w.clocks.note(answer)
	page, _ := io.ReadAll(io.LimitReader(answer.Body, mostPage)) // half a page is enough
	if answered != nil {
		return returned(answered, callback.String())
	}
	return shown(answer, visible(page, answer.Request.URL), callback.String())
}

// returned judges an authorization response that arrived without a user's action (RFC 6749 section 4.1.2).
func returned(answered url.Values, callback string) (state State, what, fix string) {
	switch code := answered.Get("error"); code {
	case "":
		return OK, "the provider redirects to " + callback + " immediately", ""
	case "login_required", "interaction_required", "access_denied", "temporarily_unavailable", "server_error":
		return Unknown, "the provider answers " + code, "sign in with a browser"
	case "invalid_scope":
		return Wrong, "the provider rejects the scope", "set Scope to the scopes that the registration allows"
	case "unauthorized_client", "unsupported_response_type":
		return Wrong, "the provider answers " + code, "allow the authorization code flow in the registration"
	default:
		return Unknown, "the provider answers " + printable(code), "look this error up in the provider's documentation"
	}
}

// shown judges the page of a provider. It is wrong only if the page names the error.
func shown(answer *http.Response, page, callback string) (state State, what, fix string) {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(page, part) {
				return true
			}
		}
		return false
	}
	refused := answer.StatusCode >= 400 && answer.StatusCode < 500
	named := has("redirect_uri", "redirect uri", "callback url", "called back")
	switch {
	case refused && named, has("redirect_uri_mismatch", "redirect_uri is not associated", "aadsts50011",
		"invalid redirect_uri", "invalid_redirect_uri", "invalid redirect uri", "invalid parameter: redirect_uri"):
		return Wrong, "the provider does not know the callback URL " + callback,
			"register exactly this URL at the provider, or correct AUTH_URL"
	case has("invalid_client", "client not found", "aadsts700016", "unknown client", "invalid client"),
		refused && has("client_id", "client id", "application not found"):
		return Wrong, "the provider does not know the client id",
			"copy it from the registration, in the correct tenant or realm"
	case answer.StatusCode == http.StatusOK && !named && has(`type="password"`, "type=password", "sign in", "log in",
		"signin", "login", "<form"):
		return OK, "the provider shows its sign-in page, for the callback " + callback, ""
	}
	return Unknown, "the provider's page is not recognized: status " + answer.Status,
		"open the application's sign-in page and try it"
}

// visible returns the page in lower case and the parameters of its URL. Some providers put errors in the URL, Google in
// base64. The parameters of the authorization request are removed, because a page that repeats them reports no error.
func visible(page []byte, at *url.URL) string {
	text := string(page)
	if strings.Contains(at.Path, "error") {
		for _, values := range at.Query() {
			for _, v := range values {
				decoded, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(v, "=")) // an invalid value adds nothing
				text += " " + v + " " + string(decoded)
			}
		}
	}
	return strings.NewReplacer("redirect_uri=", "", "client_id=", "", "redirect_uri%3d", "", "client_id%3d", "").
		Replace(strings.ToLower(text))
}

// back sends a made-up code to the token endpoint, through the application's callback. A provider that accepts the
// client and its secret refuses only the code (RFC 6749 section 5.2).
func (p probe) back(ctx context.Context, to *url.URL) {
	query := url.Values{"code": {"latchkey-doctor"}}
	if state := to.Query().Get("state"); state != "" {
		query.Set("state", state)
	}
	if p.provider.Issuer != "" {
		query.Set("iss", p.provider.Issuer)
	}
	err := p.visitor.ask(ctx, http.MethodGet, "/callback/"+p.provider.ID+"?"+query.Encode(), nil).Err
	text := ""
	if err != nil {
		text = err.Error()
	}
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case errors.Is(err, core.ErrInvalidGrant), has("bad_verification_code"), has("invalid_grant"):
		p.report.ok(p.check, "the token endpoint accepts the client and its secret")
	case has("invalid_client"), has("incorrect_client_credentials"), has("unauthorized_client"):
		p.report.add(p.check, Wrong, "the token endpoint rejects the client: "+brief(err), "create a new client secret "+
			"at the provider and set "+core.EnvName(p.provider.ID, "SECRET")+"; also check that ClientAuth matches the "+
			"registration")
	case err == nil:
		p.report.add(p.check, Unknown, "the token endpoint accepted an invented code",
			"this is a provider for tests, or it is broken")
	default:
		p.report.add(p.check, Unknown, "the token endpoint's response is not recognized: "+brief(err),
			"sign in once with a browser")
	}
}

// printable returns the first characters of an error code that are allowed (RFC 6749 section 4.1.2.1).
func printable(code string) string {
	code = strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, code)
	return code[:min(len(code), 60)]
}

// withoutURL returns the cause of a request error. The error's own text contains the whole URL.
func withoutURL(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}
