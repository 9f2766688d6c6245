package request_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/request"
)

// TestPrinting checks that a printed request has no query, headers and body.
func TestPrinting(t *testing.T) {
	t.Parallel()
	r := &request.Request{
		Method: "POST", Target: "/auth/callback/email?token=CANARY", Header: http.Header{"Cookie": {"CANARY"}},
		Body: strings.NewReader("CANARY"),
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).InfoContext(t.Context(), "asked", "r", r, "held", struct{ R any }{*r})
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{log.String(), string(raw), fmt.Sprintf("%+v %#v %x", r, *r, r)} {
		if strings.Contains(text, "CANARY") || !strings.Contains(text, "/auth/callback/email") {
			t.Error(text)
		}
	}
}

// TestPrintingIsBounded checks that a long path cannot flood a log.
func TestPrintingIsBounded(t *testing.T) {
	t.Parallel()
	r := request.Request{Method: "GET", Target: "/" + strings.Repeat("x", 100_000)}
	if got := r.String(); len(got) > 3000 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestFromMetadata reads the metadata of an RPC call.
func TestFromMetadata(t *testing.T) {
	t.Parallel()
	r := request.FromMetadata(map[string][]string{
		":authority": {"app.example"}, ":path": {"/x"}, "cookie": {"a=b"}, "AUTHORIZATION": {"Bearer x"},
	})
	if fmt.Sprint(r.Hosts, r.Header) != "[app.example] map[Authorization:[Bearer x] Cookie:[a=b]]" {
		t.Error(r.Hosts, r.Header)
	}
	if r = request.FromMetadata(map[string][]string{"host": {"app.example"}}); fmt.Sprint(r.Hosts) != "[app.example]" {
		t.Error(r.Hosts)
	}
}
