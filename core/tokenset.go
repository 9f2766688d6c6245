package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Get asks url with the access token as bearer and reads the answer. Headers come in pairs of name and value.
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

// Do sends a request and reads the answer: an object, with a status of success.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of an answer with a status of success, 200 to 299. Errors
// name the host, and hold neither tokens nor the rest of the address.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := t.Client.Do(request)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, in which some providers want the token
	}
	if err != nil {
		return nil, t.hide(fmt.Errorf("%s: %w", request.URL.Host, err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body) // the client has bounded it
}

// hide returns err with a text without these tokens.
func (t *TokenSet) hide(err error) error {
	return hide(err, t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret"),
		string(t.AccessToken), string(t.RefreshToken), string(t.IDToken))
}
