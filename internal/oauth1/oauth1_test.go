package oauth1_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth1"
)

// TestSign compares with signatures of oauthlib 3.2.2.
func TestSign(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, method, url string
		client, token     oauth1.Credentials
		nonce             string
		at                int64
		extra             url.Values
		signature         string
	}{
		{
			"userinfo", "GET", "https://api.twitter.com/1.1/statuses/home_timeline.json?include_entities=true" +
				"&status=Hello%20Ladies%20%2B%20Gentlemen%2C%20a%20signed%20OAuth%20request%21",
			oauth1.Credentials{Token: "xvz1evFS4wEEPTGEFPHBog", Secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"},
			oauth1.Credentials{
				Token:  "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
				Secret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
			},
			"kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", 1318622958, nil, "4ov%2FK9KfwUQc1ZcpDbp07KbTXQc%3D",
		},
		{
			"request token", "POST", "https://api.twitter.com/oauth/request_token",
			oauth1.Credentials{Token: "key", Secret: "s&cret"}, oauth1.Credentials{},
			"n", 1, url.Values{"oauth_callback": {"https://app.test/auth/callback/twitter?a=b c"}},
			"oP19C0e%2BZcK6iv54aaNx9ayC6GY%3D",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), row.method, row.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := oauth1.Signer{
				Client: row.client, Now: func() time.Time { return time.Unix(row.at, 0) },
				Nonce: func() (string, error) { return row.nonce, nil },
			}
			if err := s.Sign(r, row.token, row.extra); err != nil {
				t.Fatal(err)
			}
			if header := r.Header.Get("Authorization"); !strings.HasPrefix(header, "OAuth oauth_") ||
				!strings.Contains(header, `oauth_signature="`+row.signature+`"`) {
				t.Errorf("header %s", header)
			}
		})
	}
}

// TestBaseString tests the examples of RFC 5849 section 3.4.1, except for bodies, which are never sent, and the one
// that X documents.
func TestBaseString(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, method, url string
		params            url.Values
		want              string
	}{
		{
			"RFC 5849 section 3.4.1.1", "post", "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b",
			url.Values{
				"oauth_consumer_key": {"9djdj82h48djs9d2"}, "oauth_token": {"kkk9d7dh3k39sjv7"},
				"oauth_signature_method": {"HMAC-SHA1"}, "oauth_timestamp": {"137131201"},
				"oauth_nonce": {"7d8f3e4a"}, "c2": {""}, "a3": {"2 q"},
			},
			"POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D" +
				"%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a" +
				"%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7",
		},
		{
			"X's example", "POST", "https://api.twitter.com/1.1/statuses/update.json?include_entities=true",
			url.Values{
				"status": {"Hello Ladies + Gentlemen, a signed OAuth request!"}, "oauth_consumer_key": {"xvz1evFS4wEEPTGEFPHBog"},
				"oauth_nonce": {"kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"}, "oauth_signature_method": {"HMAC-SHA1"},
				"oauth_timestamp": {"1318622958"}, "oauth_version": {"1.0"},
				"oauth_token": {"370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"},
			},
			"POST&https%3A%2F%2Fapi.twitter.com%2F1.1%2Fstatuses%2Fupdate.json&include_entities%3Dtrue" +
				"%26oauth_consumer_key%3Dxvz1evFS4wEEPTGEFPHBog" +
				"%26oauth_nonce%3DkYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg" +
				"%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1318622958" +
				"%26oauth_token%3D370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb%26oauth_version%3D1.0" +
				"%26status%3DHello%2520Ladies%2520%252B%2520Gentlemen%252C%2520a%2520signed%2520OAuth%2520request%2521",
		},
		{"port and path", "GET", "https://Example.net:8080/r%20v/X", url.Values{"x": {"~ü"}},
			"GET&https%3A%2F%2Fexample.net%3A8080%2Fr%2520v%2FX&x%3D~%25C3%25BC"},
		{"no path, default port", "GET", "https://example.net:443", nil, "GET&https%3A%2F%2Fexample.net%2F&"},
		{"a name that begins another", "GET", "https://example.net/?a-b=1&a=2", nil,
			"GET&https%3A%2F%2Fexample.net%2F&a%3D2%26a-b%3D1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			u, err := url.Parse(row.url)
			if err != nil {
				t.Fatal(err)
			}
			got, err := oauth1.BaseString(row.method, u, row.params)
			if err != nil || got != row.want {
				t.Errorf("error %v\ngot  %s\nwant %s", err, got, row.want)
			}
		})
	}
}
