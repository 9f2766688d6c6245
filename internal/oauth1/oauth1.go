// Package oauth1 signs OAuth 1.0a requests with HMAC-SHA1 (RFC 5849 section 3). It is small, so it needs no library,
// which every application would have to include for a single provider.
package oauth1

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the signature method of RFC 5849 section 3.4.2 that services know
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Credentials are a token and its secret for signing.
type Credentials struct{ Token, Secret string }

// Signer signs the requests of one client.
type Signer struct {
	// Client is the consumer key and its secret.
	Client Credentials
	// Now and Nonce are called once for each request.
	Now   func() time.Time
	Nonce func() (string, error)
}

// Sign adds the Authorization header (RFC 5849 section 3.5.1). token may be zero. extra are further protocol
// parameters: oauth_callback or oauth_verifier. The request must have no body; all parameters are in the URL and the
// header.
func (s Signer) Sign(r *http.Request, token Credentials, extra url.Values) error {
	if r.Body != nil && r.Body != http.NoBody {
		return errors.New("oauth1: a request with a body is not signed")
	}
	nonce, err := s.Nonce()
	if err != nil {
		return err
	}
	params := url.Values{
		"oauth_consumer_key": {s.Client.Token}, "oauth_nonce": {nonce}, "oauth_signature_method": {"HMAC-SHA1"},
		"oauth_timestamp": {strconv.FormatInt(s.Now().Unix(), 10)}, "oauth_version": {"1.0"},
	}
	for name, values := range extra {
		params[name] = values
	}
	if token.Token != "" {
		params.Set("oauth_token", token.Token)
	}
	base, err := BaseString(r.Method, r.URL, params)
	if err != nil {
		return err
	}
	mac := hmac.New(sha1.New, []byte(Escape(s.Client.Secret)+"&"+Escape(token.Secret)))
	mac.Write([]byte(base))
	params.Set("oauth_signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	var fields []string
	for name := range params {
		fields = append(fields, Escape(name)+`="`+Escape(params.Get(name))+`"`)
	}
	slices.Sort(fields)
	r.Header.Set("Authorization", "OAuth "+strings.Join(fields, ", "))
	return nil
}

// BaseString returns the text to sign (RFC 5849 section 3.4.1): the method, the URL without query, and all parameters.
func BaseString(method string, u *url.URL, params url.Values) (string, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", errors.New("oauth1: the query of the address is malformed")
	}
	var pairs []string
	for _, values := range []url.Values{query, params} {
		for name, list := range values {
			for _, value := range list {
				// A space sorts before every character of an escaped name, as the end of a name must.
				pairs = append(pairs, Escape(name)+" "+Escape(value))
			}
		}
	}
	slices.Sort(pairs)
	for i := range pairs {
		pairs[i] = strings.Replace(pairs[i], " ", "=", 1)
	}
	host := strings.ToLower(u.Host)
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	address := strings.ToLower(u.Scheme) + "://" + host + path
	return strings.ToUpper(method) + "&" + Escape(address) + "&" + Escape(strings.Join(pairs, "&")), nil
}

// Escape percent-encodes all characters except unreserved ones (RFC 5849 section 3.6).
func Escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%7E", "~")
}
