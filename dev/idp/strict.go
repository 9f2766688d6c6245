package idp

import (
	"net/http"
	"net/url"
)

// strict adds features that strict OpenID clients need and the library lacks: form-encoded client credentials (RFC 6749
// section 2.3.1), credentials in the body of the token request, and the challenges of 401 responses (RFC 6749 section
// 5.2, RFC 6750 section 3).
func strict(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/token":
			useBasic(r)
			w = &challenger{w, "Basic realm=\"development provider\""}
		case "/userinfo":
			challenge := "Bearer realm=\"development provider\""
			if r.Header.Get("Authorization") != "" {
				challenge += ", error=\"invalid_token\""
			}
			w = &challenger{w, challenge}
		}
		next.ServeHTTP(w, r)
	})
}

// useBasic rewrites client credentials to the only form that the library accepts: HTTP Basic, not form-encoded.
func useBasic(r *http.Request) {
	if id, secret, ok := r.BasicAuth(); ok {
		decodedID, idErr := url.QueryUnescape(id)
		decodedSecret, secretErr := url.QueryUnescape(secret)
		if idErr == nil && secretErr == nil {
			r.SetBasicAuth(decodedID, decodedSecret)
		}
		return
	}
	if r.Method != http.MethodPost || r.ParseForm() != nil || r.PostForm.Get("client_secret") == "" {
		return
	}
	r.SetBasicAuth(r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"))
	r.PostForm.Del("client_secret")
	r.Form.Del("client_secret")
}

// challenger adds WWW-Authenticate to a 401 response.
type challenger struct {
	http.ResponseWriter
	challenge string
}

// WriteHeader implements [http.ResponseWriter].
func (c *challenger) WriteHeader(status int) {
	if status == http.StatusUnauthorized && c.Header().Get("WWW-Authenticate") == "" {
		c.Header().Set("WWW-Authenticate", c.challenge)
	}
	c.ResponseWriter.WriteHeader(status)
}
