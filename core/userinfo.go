package core

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// Get sends a GET request with the access token as bearer token and parses the response. headers are pairs of name and
// value.
func (r *UserinfoRequest) Get(ctx context.Context, url string, headers ...string) (Profile, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return r.Do(request)
}

// Do sends a request and parses the response, which must be a JSON object with status 2xx.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of the response. The status must be 200 to 299. Errors
// contain the host, but no tokens and no other part of the URL.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	body, err := oauth.Send(t.Client, request)
	if err != nil {
		return nil, t.hide(err)
	}
	return body, nil
}
