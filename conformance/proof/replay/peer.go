package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// keys are the provider's keys: one in its key set, and one that is not.
type keys struct {
	published, unpublished *rsa.PrivateKey
	client                 *ecdsa.PrivateKey
}

func newKeys() (*keys, error) {
	published, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	unpublished, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	client, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &keys{published, unpublished, client}, err
}

// peer is the OAuth or OpenID provider. It sends the recorded responses in order. For requests that Auth.js does not
// send, such as for the key set, it sends a suitable response.
type peer struct {
	world *world
	// expected are the recorded requests of the step that have not been sent yet.
	expected []object
	// documents are the last recorded responses by URL, for a request that the recording contains only in another step.
	documents map[string]object
}

func (p *peer) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(raw)
	}
	bare := *r.URL
	bare.RawQuery = ""
	for i, entry := range p.expected {
		want := entry["request"].(object)
		recorded, _ := want["url"].(string)
		recorded, _, _ = strings.Cut(recorded, "?")
		if want["method"] == r.Method && strings.TrimSuffix(recorded, "/") == strings.TrimSuffix(bare.String(), "/") {
			p.expected = append(p.expected[:i:i], p.expected[i+1:]...)
			p.world.rec.add(object{"kind": "peer", "wanted": entry, "got": r, "body": body, "endpoint": entry["endpoint"]})
			answer, _ := entry["response"].(object)
			p.documents[r.Method+" "+bare.String()] = answer
			return p.answer(r, answer)
		}
	}
	if strings.HasSuffix(bare.Path, "/jwks") || strings.HasSuffix(bare.Path, "/keys") ||
		strings.HasSuffix(bare.Path, "/certs") {
		return p.keySet(r)
	}
	if answer, ok := p.documents[r.Method+" "+bare.String()]; ok && r.Method == http.MethodGet {
		return p.answer(r, answer)
	}
	p.world.rec.add(object{"kind": "peer", "endpoint": "unexpected", "url": r.Method + " " + bare.String()})
	return nil, fmt.Errorf("no recorded answer for %s %s", r.Method, bare.String())
}

func (p *peer) keySet(r *http.Request) (*http.Response, error) {
	key := jose.JSONWebKey{Key: p.world.keys.published.Public(), KeyID: "op-key-1", Algorithm: "RS256", Use: "sig"}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}}
	raw, err := json.Marshal(set)
	return reply(r, 200, map[string]string{"content-type": "application/json"}, raw), err
}

func (p *peer) answer(r *http.Request, answer object) (*http.Response, error) {
	if answer["networkError"] != nil {
		return nil, fmt.Errorf("network error: %v", answer["networkError"])
	}
	status := 200
	if n, ok := answer["status"].(json.Number); ok {
		s, _ := n.Int64()
		status = int(s)
	}
	headers := map[string]string{}
	if h, ok := answer["headers"].(object); ok {
		for name, value := range h {
			headers[name], _ = value.(string)
		}
	}
	if text, ok := answer["text"].(string); ok {
		return reply(r, status, headers, []byte(text)), nil
	}
	value, err := p.build(answer["json"])
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	return reply(r, status, headers, raw), err
}

func reply(r *http.Request, status int, headers map[string]string, body []byte) *http.Response {
	h := http.Header{}
	for name, value := range headers {
		h.Set(name, value)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// build replaces the placeholders of a recorded response, and creates signed tokens from {label, $jws}.
func (p *peer) build(v any) (any, error) {
	switch v := v.(type) {
	case object:
		if jws, ok := v["$jws"].(object); ok {
			token, err := p.sign(jws)
			if label, ok := v["label"].(string); ok {
				p.world.binder.values[label] = token
			}
			return token, err
		}
		out := object{}
		for name, member := range v {
			built, err := p.build(member)
			if err != nil {
				return nil, err
			}
			out[name] = built
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			built, err := p.build(v[i])
			if err != nil {
				return nil, err
			}
			out[i] = built
		}
		return out, nil
	case string:
		s, err := p.world.binder.substitute(v)
		if strings.HasPrefix(v, "{{unix:") {
			return json.Number(s), err
		}
		return s, err
	}
	return v, nil
}

// sign creates a token as a recording describes it.
func (p *peer) sign(jws object) (string, error) {
	header, _ := jws["header"].(object)
	claims, err := p.build(jws["claims"])
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	alg, _ := header["alg"].(string)
	key := any(p.world.keys.published)
	signedBy, _ := jws["signedBy"].(string)
	if strings.Contains(signedBy, "unpublished") || strings.Contains(signedBy, "not") {
		key = p.world.keys.unpublished
	}
	if alg == "HS256" {
		key = []byte(fmt.Sprint(p.world.clientSecret))
	}
	options := &jose.SignerOptions{}
	for name, value := range header {
		if name != "alg" {
			options = options.WithHeader(jose.HeaderKey(name), value)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, options)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	token, err := signed.CompactSerialize()
	if s, _ := jws["signature"].(string); s == "garbage" {
		token = token[:strings.LastIndexByte(token, '.')+1] + "AAAA"
	}
	return token, err
}
