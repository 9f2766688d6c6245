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

// visitor asks the Auth as a browser at the public address would, without a network in between.
type visitor struct {
	auth    *core.Auth
	site    url.URL
	cookies map[string]string
}

// visitor comes to the public address, or to a host that is believed where none is pinned.
func (e *exam) visitor() *visitor {
	site := url.URL{Scheme: "http", Host: "localhost:3000"}
	if e.site != nil {
		site = *e.site
	} else if hosts := e.config.TrustedHosts; len(hosts) > 0 {
		site = url.URL{Scheme: "https", Host: strings.Replace(hosts[0], "*", "www", 1)}
	}
	return &visitor{auth: e.auth, site: site, cookies: map[string]string{}}
}

// ask makes a request to a path behind the base path, with a form where there is one.
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

// begin begins a sign-in at an OAuth provider and returns where the browser is sent.
func (v *visitor) begin(ctx context.Context, id string) (*url.URL, error) {
	answer := v.ask(ctx, http.MethodGet, "/csrf", nil)
	var csrf struct {
		CSRFToken string `json:"csrfToken"`
	}
	if answer.Err != nil {
		return nil, answer.Err
	}
	_ = json.Unmarshal(answer.Body, &csrf) // there is no token where Config.CSRF asks for none
	answer = v.ask(ctx, http.MethodPost, "/signin/"+id, url.Values{"csrfToken": {csrf.CSRFToken}})
	if answer.Err != nil {
		return nil, answer.Err
	}
	if answer.Redirect == "" {
		return nil, errors.New("the sign-in leads nowhere")
	}
	return url.Parse(answer.Redirect)
}
