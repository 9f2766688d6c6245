package oauth

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// grant is what tokens are asked for with: the code of an answer, or a refresh token.
type grant struct {
	redirectURI string // where the code came
	verified    bool   // a code verifier goes along
	refresh     bool
}

// tokenForm is a request to a token endpoint as x/oauth2 makes it, with marks where what a visitor brought goes. It
// serves all visitors who ask alike.
type tokenForm struct {
	endpoint string
	grant    grant
	request  *http.Request // without a body; it has the client's proof where that goes in a header
	body     string
}

// The marks of a form, and how they read in its body: no configuration has such texts.
const (
	markValue, markedValue       = "\x00value\x00", "%00value%00" // of the code or the refresh token
	markVerifier, markedVerifier = "\x00verifier\x00", "%00verifier%00"
)

// filled is the request of one visitor. The verifier is put in first: what is in the value stays what it is.
func (f *tokenForm) filled(ctx context.Context, value, verifier string) (r *http.Request, err error) {
	body := strings.ReplaceAll(f.body, markedVerifier, url.QueryEscape(verifier))
	body = strings.ReplaceAll(body, markedValue, url.QueryEscape(value))
	r = f.request.WithContext(ctx)
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	r.Body, err = r.GetBody()
	return r, err
}

// secrets returns the proofs of the client in the request, which no log may contain.
func (f *tokenForm) secrets() []string {
	fields, _ := url.ParseQuery(f.body)
	found := []string{fields.Get("client_secret"), fields.Get("client_assertion")}
	if id, secret, ok := f.request.BasicAuth(); ok {
		_, credentials, _ := strings.Cut(f.request.Header.Get("Authorization"), " ")
		plain, _ := url.QueryUnescape(secret)
		found = append(found, credentials, id+":"+secret, secret, plain)
	}
	return found
}

// form is the form of a grant, the last one if it is still good.
func (t tokenEndpoint) form(g grant) (*tokenForm, error) {
	if f := t.last.Load(); f != nil && f.endpoint == t.at.token && f.grant == g {
		return f, nil
	}
	f, err := t.newForm(g)
	if err == nil && !g.refresh && !t.provesAnew() {
		t.last.Store(f)
	}
	return f, err
}

// provesAnew reports whether the proof of the client is another for each request.
func (t tokenEndpoint) provesAnew() bool {
	switch t.ClientAuth {
	case ClientSecretJWT, PrivateKeyJWT:
		return true
	}
	return t.MakeClientSecret != nil && t.ClientSecret == ""
}

// newForm has x/oauth2 make the request of a grant, which it gives to a client that sends nothing.
func (t tokenEndpoint) newForm(g grant) (*tokenForm, error) {
	conf, further, err := t.client(g)
	if err != nil {
		return nil, err
	}
	var kept keeper
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: &kept})
	switch {
	case g.refresh:
		_, err = conf.TokenSource(ctx, &oauth2.Token{RefreshToken: markValue}).Token()
	case g.verified:
		_, err = conf.Exchange(ctx, markValue, oauth2.VerifierOption(markVerifier))
	default:
		_, err = conf.Exchange(ctx, markValue)
	}
	if kept.made == nil {
		return nil, t.errorf(": token endpoint: %w", err)
	}
	body, err := withFields(kept.made.Body, further)
	if err != nil {
		return nil, t.errorf(": token endpoint: %w", err)
	}
	kept.made.Header.Set("Accept", "application/json")
	retryOnClosedConnection(kept.made)
	return &tokenForm{endpoint: t.at.token, grant: g, request: kept.made, body: body}, nil
}

// retryOnClosedConnection lets net/http send a POST again, on another connection, if a kept connection fails before the
// first byte of the response: servers close idle connections, and a request sent at that moment gets no response.
// For net/http the key in the header is the permission; its list is empty, so that nothing is sent.
//
// The second request gets what a user would get who tries again. If the server did not see the first one, which is
// nearly always so, it succeeds. If it did, the code or the rotated refresh token is used up: the response with the new
// tokens is lost already, and a second request cannot make it worse. Without it every later refresh would send the
// same token, too.
func retryOnClosedConnection(r *http.Request) { r.Header["Idempotency-Key"] = nil }

// keeper keeps the request that x/oauth2 makes. It is no transport that sends: what the provider answers [readTokens]
// finds out, strictly; x/oauth2 would read it twice more, by looser rules, for nothing.
type keeper struct{ made *http.Request }

var errKept = errors.New("the request is kept for the caller")

// RoundTrip implements [http.RoundTripper].
func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	k.made = r
	return nil, errKept
}

// withFields is the body of a form with further fields.
func withFields(body io.Reader, further url.Values) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil || len(further) == 0 {
		return string(raw), err
	}
	fields, err := url.ParseQuery(string(raw))
	maps.Copy(fields, further)
	return fields.Encode(), err
}
