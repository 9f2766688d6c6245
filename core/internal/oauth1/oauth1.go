// Package oauth1 signs requests of OAuth 1.0a with HMAC-SHA1 (RFC 5849 section 3). It is small enough to need no
// library, which every application would have to carry for one provider.
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

// Credentials are a token and the secret that signs for it.
type Credentials struct{ Token, Secret string }

// Signer signs for one client.
type Signer struct {
	// Client is the consumer key with its secret.
	Client Credentials
	// Now and Nonce are asked once per request.
	Now   func() time.Time
	Nonce func() (string, error)
}

// Sign adds the Authorization header (RFC 5849 section 3.5.1). token is that of the request, zero for none; extra are
// further protocol parameters, oauth_callback or oauth_verifier. The request has no body: all that is sent is in URL
// and header.
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

// BaseString is what is signed (RFC 5849 section 3.4.1): method, address without query, all parameters.
func BaseString(method string, u *url.URL, params url.Values) (string, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", errors.New("oauth1: the query of the address is malformed")
	}
	var pairs []string
	for _, values := range []url.Values{query, params} {
		for name, list := range values {
			for _, value := range list {
				// The blank sorts before every character of an escaped name, as the end of a name must.
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

// Escape percent-encodes everything but unreserved characters (RFC 5849 section 3.6).
func Escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%7E", "~")
}
