package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// TestServe asks each target and its bare neighbour: both answer the same bytes, so that the rates can be compared.
func TestServe(t *testing.T) {
	out, in := io.Pipe()
	go func() { _ = serve(in) }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s served
	if err := json.Unmarshal(line, &s); err != nil {
		t.Fatal(err)
	}
	for _, target := range s.Targets {
		lengths := map[string]int{}
		for _, path := range []string{target.Path, "/bare" + target.Path} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Cookie", target.Cookie)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusOK || len(body) < 4 || string(body) == "null" {
				t.Errorf("%s: %d, %v: %.60s", path, res.StatusCode, err, body)
			}
			_ = res.Body.Close()
			lengths[path] = len(body)
		}
		if a, b := lengths[target.Path], lengths["/bare"+target.Path]; a != b {
			t.Errorf("%s: %d bytes, bare %d", target.Path, a, b)
		}
	}
}

func TestRead(t *testing.T) {
	if r, err := read([]byte("  10 requests in 1s\nRequests/sec:  1234.50\n")); err != nil || r != 1234.5 {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range []string{
		"", "Requests/sec: 9\n  Non-2xx or 3xx responses: 4\n", "Socket errors: connect 0\nRequests/sec: 9\n",
	} {
		if _, err := read([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a rate", bad)
		}
	}
}
