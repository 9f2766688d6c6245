package oidc_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// TestDocumentsOfOthers: a document must have the requested issuer, and the response must be successful and from the
// same host. Of a long document, only a part is read.
func TestDocumentsOfOthers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		good bool
		do   func(op *issuer)
	}{
		{"as it is", true, func(*issuer) {}},
		{"of another issuer", false, func(op *issuer) { op.document["issuer"] = "https://evil.example" }},
		{"of an issuer that begins like this one", false, func(op *issuer) { op.document["issuer"] = opURL + "/x" }},
		{"with the status of a failure", false, func(op *issuer) {
			document := `{"issuer":"` + opURL + `","authorization_endpoint":"` + opURL + `/a","token_endpoint":"` + opURL +
				`/t","jwks_uri":"` + opURL + `/jwks"}`
			op.answer(documentPath, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(document))
			})
		}},
		{"moved on its host", true, func(op *issuer) {
			op.answer(documentPath, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/moved", http.StatusFound)
			})
		}},
		{"moved elsewhere", false, func(op *issuer) {
			op.answer(documentPath, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example/moved", http.StatusFound)
			})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := newIssuer()
			row.do(op)
			if _, err := newClient(op).Metadata(t.Context(), opURL); (err == nil) != row.good {
				t.Errorf("%v", err)
			}
			if op.elsewhere.Load() > 0 {
				t.Error("another host got a request")
			}
		})
	}
	op := newIssuer()
	algs := make([]string, 10_000)
	for i := range algs {
		algs[i] = "RS256"
	}
	op.document["id_token_signing_alg_values_supported"] = algs
	if m, err := newClient(op).Metadata(t.Context(), opURL); err != nil || len(m.IDTokenSigningAlgs) > 1000 {
		t.Errorf("%d algorithms are kept: %v", len(m.IDTokenSigningAlgs), err)
	}
}

// TestSignaturesOfOneLength: a signature whose numbers have additional zeros is invalid.
func TestSignaturesOfOneLength(t *testing.T) {
	t.Parallel()
	header, claims := map[string]any{"alg": "ES256", "kid": "es1"}, map[string]any{"at_hash": "$del"}
	good := token(t, header, claims, "es1/ES256")
	op := newIssuer()
	op.document["id_token_signing_alg_values_supported"] = []string{"ES256"}
	if err := newClient(op).verify(t, good); err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndexByte(good, '.') + 1
	signature, err := base64.RawURLEncoding.DecodeString(good[at:])
	if err != nil {
		t.Fatal(err)
	}
	longer := append(append(append([]byte{}, signature[:32]...), 0), signature[32:]...)
	for name, other := range map[string][]byte{"longer": longer, "shorter": signature[:63], "half": signature[:32]} {
		if err := newClient(op).verify(t, good[:at]+base64.RawURLEncoding.EncodeToString(other)); err == nil {
			t.Errorf("a %s signature passes", name)
		}
	}
}
