package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// visitor sends requests to the Auth in this process, as a browser at the public address would.
type visitor struct {
	auth    *core.Auth
	site    url.URL
	cookies map[string]string
}

// visitor returns a visitor at the public address, or at a trusted host if no address is configured.
func (e *exam) visitor() *visitor {
	site := url.URL{Scheme: "http", Host: "localhost:3000"}
	if e.site != nil {
		site = *e.site
	} else if hosts := e.config.TrustedHosts; len(hosts) > 0 {
		site = url.URL{Scheme: "https", Host: strings.Replace(hosts[0], "*", "www", 1)}
	}
	return &visitor{auth: e.auth, site: site, cookies: map[string]string{}}
}

// ask sends a request to a path below the base path. If form is not nil, it is the body.
func (v *visitor) ask(ctx context.Context, method, path string, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: v.auth.BasePath() + path, Hosts: []string{v.site.Host}, Scheme: v.site.Scheme,
		RemoteAddr: "127.0.0.1:1", Header: http.Header{"Accept": {"application/json"}},
	}
	var pairs []string
	for name, value := range v.cookies {
		pairs = append(pairs, name+"="+value)
	}
	if len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.site.String())
		r.Body = strings.NewReader(form.Encode())
	}
	answer := v.auth.Handle(ctx, r)
	for _, c := range answer.Cookies {
		if c.Value == "" {
			delete(v.cookies, c.Name)
		} else {
			v.cookies[c.Name] = c.Value
		}
	}
	return answer
}

// begin starts a sign-in at an OAuth provider and returns the URL of the redirect.
func (v *visitor) begin(ctx context.Context, id string) (*url.URL, error) {
	answer := v.ask(ctx, http.MethodGet, "/csrf", nil)
	var csrf struct {
		CSRFToken string `json:"csrfToken"`
	}
	if answer.Err != nil {
		return nil, answer.Err
	}
	_ = json.Unmarshal(answer.Body, &csrf) // there is no token if Config.CSRF needs none
	answer = v.ask(ctx, http.MethodPost, "/signin/"+id, url.Values{"csrfToken": {csrf.CSRFToken}})
	if answer.Err != nil {
		return nil, answer.Err
	}
	if answer.Redirect == "" {
		return nil, errors.New("the sign-in does not redirect")
	}
	return url.Parse(answer.Redirect)
}
