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

// grant describes a token request: with an authorization code or with a refresh token.
type grant struct {
	redirectURI string // of the authorization request
	verified    bool   // a code verifier is sent
	refresh     bool
}

// tokenForm is a request to a token endpoint, as x/oauth2 creates it, with placeholders for the values that differ
// between users. It is used for all users with the same grant.
type tokenForm struct {
	endpoint string
	grant    grant
	request  *http.Request // without a body; it contains client credentials that are sent in a header
	body     string
}

// The placeholders in a form, and their encoding in the body. No configuration contains such texts.
const (
	markValue, markedValue       = "\x00value\x00", "%00value%00" // for the code or the refresh token
	markVerifier, markedVerifier = "\x00verifier\x00", "%00verifier%00"
)

// filled returns the request of one user. It replaces the verifier first, so that a placeholder in the value is not
// replaced.
func (f *tokenForm) filled(ctx context.Context, value, verifier string) (r *http.Request, err error) {
	body := strings.ReplaceAll(f.body, markedVerifier, url.QueryEscape(verifier))
	body = strings.ReplaceAll(body, markedValue, url.QueryEscape(value))
	r = f.request.WithContext(ctx)
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	r.Body, err = r.GetBody()
	return r, err
}

// secrets returns the client credentials in the request, which must not be logged.
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

// form returns the form of a grant. It is cached if it is valid for further requests.
func (t tokenEndpoint) form(g grant) (*tokenForm, error) {
	if f := t.last.Load(); f != nil && f.endpoint == t.at.token && f.grant == g {
		return f, nil
	}
	f, err := t.newForm(g)
	if err == nil && !g.refresh && !t.needsNewAssertion() {
		t.last.Store(f)
	}
	return f, err
}

// needsNewAssertion reports whether the client credentials differ in each request.
func (t tokenEndpoint) needsNewAssertion() bool {
	switch t.ClientAuth {
	case ClientSecretJWT, PrivateKeyJWT:
		return true
	}
	return t.MakeClientSecret != nil && t.ClientSecret == ""
}

// newForm returns the form of a grant. x/oauth2 creates the request, with an HTTP client that sends nothing.
func (t tokenEndpoint) newForm(g grant) (*tokenForm, error) {
	conf, further, err := t.client(g)
	if err != nil {
		return nil, err
	}
	var kept recorder
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

// retryOnClosedConnection allows net/http to send a POST request again, on another connection, if a reused connection
// fails before the first byte of the response. Servers close idle connections, and a request sent at that moment gets
// no response. net/http requires this header for a retry; because its list is empty, the header is not sent.
//
// A retry cannot make things worse. If the server did not see the first request, which is almost always the case, the
// second one succeeds. If it did, the code or the rotated refresh token is already used and the response with the new
// tokens is lost. Without the retry, every later refresh would send the same token anyway.
func retryOnClosedConnection(r *http.Request) { r.Header["Idempotency-Key"] = nil }

// recorder is a transport that records the request of x/oauth2 instead of sending it. Core sends the request and reads
// the response itself ([readTokens]), because x/oauth2 would parse it less strictly.
type recorder struct{ made *http.Request }

var errKept = errors.New("the request is kept for the caller")

// RoundTrip implements [http.RoundTripper].
func (k *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	k.made = r
	return nil, errKept
}

// withFields returns the body of a form with further fields.
func withFields(body io.Reader, further url.Values) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil || len(further) == 0 {
		return string(raw), err
	}
	fields, err := url.ParseQuery(string(raw))
	maps.Copy(fields, further)
	return fields.Encode(), err
}
