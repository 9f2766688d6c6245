package oidc_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hostile is a provider with one malicious response.
type hostile struct {
	ID, Endpoint, Why, Text, Then, Flood string
	SignIn                               string `json:"sign_in"`
	Body                                 map[string]any
	Status, Times, Clients               int
	Headers                              [][2]string
	StreamMB                             int `json:"stream_mb"`
	DripMS                               int `json:"drip_ms"`
	GzipMB                               int `json:"gzip_zeros_mb"`
	Hang, Close, Cached, Rotate          bool
	plain                                bool // Text is present but may be empty
}

func (h *hostile) UnmarshalJSON(data []byte) error {
	type bare hostile
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	_, h.plain = members["text"]
	return json.Unmarshal(data, (*bare)(h))
}

// TestHostileProviders runs the steps of a sign-in: discovery, keys, ID token. It uses a fake clock, so that a provider
// that hangs costs no time.
func TestHostileProviders(t *testing.T) {
	raw, err := os.ReadFile("testdata/upstream.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Payloads []hostile }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Payloads) < 30 {
		t.Fatalf("only %d payloads", len(file.Payloads))
	}
	good := token(t, nil, nil, "rs1")
	for _, row := range file.Payloads {
		t.Run(row.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { row.run(t, good) })
		})
	}
}

func (h *hostile) run(t *testing.T, good string) {
	op := newIssuer()
	c := newClient(op)
	signIn := func(token string) error {
		m, err := c.Metadata(t.Context(), opURL)
		if err != nil {
			return err
		}
		if m.TokenEndpoint == "" {
			return fmt.Errorf("no token endpoint") // as in core
		}
		e := c.expect(t)
		_, err = c.VerifyIDToken(t.Context(), token, e)
		return err
	}
	if h.Cached || h.Rotate {
		if err := signIn(good); err != nil {
			t.Fatal(err)
		}
	}
	h.arrange(op)
	start := time.Now()
	switch {
	case h.Flood != "":
		// One sign-in per 50 ms of the 10 s.
		for i := range 200 {
			if signIn(token(t, map[string]any{"kid": fmt.Sprint("made-up-", i)}, nil, "es1")) == nil {
				t.Fatal("accepted")
			}
			c.forward(50 * time.Millisecond)
		}
		if n := op.keySets.Load(); n > int64(h.Times) {
			t.Errorf("%d fetches of the key set, %d allowed", n, h.Times)
		}
		if err := signIn(good); err != nil {
			t.Errorf("the flood keeps others out: %v", err)
		}
		return
	case h.Clients > 0:
		var all sync.WaitGroup
		for range h.Clients {
			all.Go(func() {
				if err := signIn(good); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n, m := op.documents.Load(), op.keySets.Load(); n != int64(h.Times) || m != int64(h.Times) {
			t.Errorf("%d and %d fetches, want %d", n, m, h.Times)
		}
		return
	case h.Rotate:
		good = token(t, map[string]any{"kid": "rs2"}, nil, "rs2")
	}
	err := signIn(good)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%s: took %v", h.Why, took)
	}
	if op.elsewhere.Load() > 0 {
		t.Errorf("%s: %d requests to another host", h.Why, op.elsewhere.Load())
	}
	if err != nil && (len(err.Error()) > 1200 || strings.ContainsAny(err.Error(), "<\r\n")) {
		t.Errorf("%s: the error contains the response: %v", h.Why, err)
	}
	if first, _, _ := strings.Cut(h.SignIn, ","); first != "either" && (err == nil) != (first == "yes") {
		t.Errorf("%s: sign in %s, got %v", h.Why, h.SignIn, err)
	}
	if h.Then == "good" {
		op.answer(documentPath, nil)
		c.forward(5 * time.Second)
		if err := signIn(good); err != nil {
			t.Errorf("%s: does not recover: %v", h.Why, err)
		}
	}
}

// arrange sets the provider's responses.
func (h *hostile) arrange(op *issuer) {
	path := documentPath
	if h.Endpoint == "jwks" {
		path = keysPath
	}
	if h.Rotate {
		op.publish("rs2")
	}
	if h.Body != nil && path == documentPath {
		changes := map[string]any{}
		for name, v := range h.Body {
			changes[name] = v
		}
		patch(op.document, changes)
	}
	if keys, there := h.Body["keys"]; there {
		op.keys = hostileKeys(keys)
	}
	if h.Status == 0 && !h.plain && h.StreamMB+h.DripMS+h.GzipMB == 0 && !h.Hang && !h.Close {
		return
	}
	op.answer(path, func(w http.ResponseWriter, r *http.Request) {
		for _, header := range h.Headers {
			w.Header().Set(header[0], strings.Replace(header[1], "{collector}", "https://evil.example", 1))
		}
		switch {
		case h.Close:
			panic(http.ErrAbortHandler)
		case h.Hang:
			<-r.Context().Done()
		case h.Status != 0:
			w.WriteHeader(h.Status)
		case h.DripMS > 0:
			tick := time.NewTicker(time.Duration(h.DripMS) * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					_, _ = io.WriteString(w, " ")
				case <-r.Context().Done():
					return
				}
			}
		case h.StreamMB > 0:
			for range h.StreamMB {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case h.GzipMB > 0:
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer func() { _ = z.Close() }()
			for range h.GzipMB {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		default:
			_, _ = io.WriteString(w, h.Text)
		}
	})
}

func hostileKeys(keys any) any {
	switch keys := keys.(type) {
	case []any:
		list := []any{}
		for _, key := range keys {
			switch key {
			case "{unknown kty}":
				list = append(list, map[string]any{"kty": "XYZ", "kid": "rs1"})
			case "{rsa 1048576}":
				n := make([]byte, 1<<17)
				n[0], n[len(n)-1] = 0x80, 1
				list = append(list,
					map[string]any{"kty": "RSA", "kid": "rs1", "e": "AQAB", "n": base64.RawURLEncoding.EncodeToString(n)})
			case "{rs1}", "{es1}":
				list = append(list, jwk(strings.Trim(key.(string), "{}")))
			}
		}
		return list
	case string: // {10000 keys, ours last}
		list := []any{}
		for i := range 9999 {
			list = append(list, map[string]any{"kty": "XYZ", "kid": fmt.Sprint(i)})
		}
		return append(list, jwk("rs1"))
	}
	return keys
}
