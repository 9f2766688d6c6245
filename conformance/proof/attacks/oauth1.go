package main

import (
	"crypto/rand"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// oauth1Path is the path of the provider's OAuth 1.0a endpoints.
const oauth1Path = "/oauth1/"

// oauth1 is provider o.
func (*story) oauth1() *core.OAuthProvider {
	at := issuer + oauth1Path
	return &core.OAuthProvider{
		ID: "o", Type: core.TypeOAuth, ClientID: clientID, ClientSecret: clientSecret,
		RequestToken: core.Endpoint{URL: at + "request"}, Authorization: core.Endpoint{URL: at + "authorize"},
		Token: core.Endpoint{URL: at + "access"}, Userinfo: core.Endpoint{URL: at + "user"},
	}
}

// inOAuth1 maps the sentences about OAuth 1.0a to steps.
var inOAuth1 = []struct {
	pattern *regexp.Regexp
	steps   string
}{
	{regexp.MustCompile(`^(?:the )?return$`), "B1 start o; B1 return"},
	{regexp.MustCompile(`^(?:the )?return with another (\w+)$`), "B1 start o; B1 return $1={B2's $1}"},
	{regexp.MustCompile(`^(?:the )?return with (\w+) twice$`), "B1 start o; B1 return $1=good&$1=good"},
	{regexp.MustCompile(`^(?:the )?return with (\w+=\S*)$`), "B1 start o; B1 return $1"},
	{regexp.MustCompile(`^(?:the )?return with an? (?:wrong|empty) (\w+)$`), "B1 start o; B1 return $1="},
	{regexp.MustCompile(`^(?:the )?return without (?:an? )?(\w+)$`), "B1 start o; B1 return without $1"},
	{regexp.MustCompile(`^(?:the )?return after (\d+) (min|s|h)$`), "B1 start o; wait $1 $2; B1 return"},
	{regexp.MustCompile(`^(?:the )?return in another browser$`), "B2 start o; B1 return with B2's code"},
	{regexp.MustCompile(`^the same return twice$`), "B1 start o; B1 return; B1 return again with the same URL"},
}

// shortName matches the short names of OAuth 1.0a parameters.
var shortName = regexp.MustCompile(`\b(with|without|a|an|another|wrong|empty) (token|verifier)\b`)

// sentences returns the steps. Sentences about OAuth 1.0a are expanded.
func (*story) sentences(do []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, sentence := range do {
			for step := range strings.SplitSeq(stepsOf(sentence), "; ") {
				if !yield(step) {
					return
				}
			}
		}
	}
}

// stepsOf expands a sentence about OAuth 1.0a. Other sentences are returned unchanged.
func stepsOf(sentence string) string {
	about, ok := strings.CutPrefix(sentence, "OAuth 1.0a: ")
	if !ok {
		return sentence
	}
	about = shortName.ReplaceAllString(about, "$1 oauth_$2")
	for _, known := range inOAuth1 {
		if known.pattern.MatchString(about) {
			return known.pattern.ReplaceAllString(about, known.steps)
		}
	}
	return sentence
}

// authorize1 authorizes a person at the OAuth 1.0a endpoint (RFC 5849 section 2.2).
func (o *op) authorize1(location, subject string) (callback string, answer [][2]string) {
	u, err := url.Parse(location)
	o.must(err)
	token := u.Query().Get("oauth_token")
	o.mu.Lock()
	defer o.mu.Unlock()
	g, known := o.grants[token]
	if !known {
		o.failf("the browser sends an unknown request token")
	}
	g.subject, g.verifier = subject, rand.Text()
	o.grants[token] = g
	return g.redirectURI, [][2]string{{"oauth_token", token}, {"oauth_verifier", g.verifier}}
}

// serve1 issues OAuth 1.0a tokens and returns the profile of a token. It does not check signatures; other tests do.
func (o *op) serve1(w http.ResponseWriter, r *http.Request) {
	sent := map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "OAuth "), ", ") {
		name, value, _ := strings.Cut(pair, "=")
		sent[name], _ = url.PathUnescape(strings.Trim(value, `"`))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	token := sent["oauth_token"]
	g, known := o.grants[token]
	form := url.Values{"oauth_token_secret": {rand.Text()}}
	switch action := strings.TrimPrefix(r.URL.Path, oauth1Path); {
	case sent["oauth_signature"] == "" || sent["oauth_consumer_key"] != clientID:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case action == "user":
		subject, _ := strings.CutPrefix(token, "at-")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": subject, "name": subject, "email": subject + "@op.example"})
		return
	case action == "request":
		token = "request-" + rand.Text()
		o.grants[token] = grant{redirectURI: sent["oauth_callback"]}
		form.Set("oauth_token", token)
		form.Set("oauth_callback_confirmed", "true")
	case !known || o.spent[token] || g.verifier == "" || sent["oauth_verifier"] != g.verifier:
		w.WriteHeader(http.StatusUnauthorized)
		return
	default:
		o.spent[token] = true
		form.Set("oauth_token", "at-"+g.subject)
	}
	_, _ = w.Write([]byte(form.Encode()))
}
