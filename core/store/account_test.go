package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

func TestStoredMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		extra  store.Members
		proved string
		want   string
	}{
		{"nothing", nil, "", `null`},
		{"the address alone", nil, "a@b", `{"email_proved":"a@b"}`},
		{"with others", store.Members{"x": []byte("1")}, "a@b", `{"email_proved":"a@b","x":1}`},
		{"a foreign member of that name", store.Members{"x": []byte("1"), "email_proved": []byte(`"eve@b"`)}, "", `{"x":1}`},
		{"both", store.Members{"email_proved": []byte(`"eve@b"`)}, "a@b", `{"email_proved":"a@b"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &store.Account{Extra: tt.extra, VerifiedEmail: tt.proved}
			before := len(tt.extra)
			kept := a.StoredMembers()
			if raw, _ := json.Marshal(kept); string(raw) != tt.want {
				t.Errorf("kept %s, want %s", raw, tt.want)
			}
			if len(tt.extra) != before {
				t.Error("Extra has changed")
			}
			var back store.Account
			back.SetStoredMembers(kept)
			if _, there := back.Extra["email_proved"]; there || back.VerifiedEmail != tt.proved {
				t.Errorf("read %q, %s", back.VerifiedEmail, back.Extra)
			}
		})
	}
}

func TestExpiresAtUnix(t *testing.T) {
	t.Parallel()
	var a store.Account
	if a.ExpiresAtUnix() != 0 {
		t.Errorf("unknown is %d", a.ExpiresAtUnix())
	}
	for _, seconds := range []int64{1893456000, 1, -1} {
		if a.SetExpiresAtUnix(seconds); a.ExpiresAtUnix() != seconds || a.ExpiresAt.Location() != time.UTC {
			t.Errorf("%d became %d, %v", seconds, a.ExpiresAtUnix(), a.ExpiresAt)
		}
	}
	if a.SetExpiresAtUnix(0); !a.ExpiresAt.IsZero() {
		t.Errorf("0 is %v", a.ExpiresAt)
	}
}

// TestSecretsHide: no way of printing shows a secret, alone or within an account.
func TestSecretsHide(t *testing.T) {
	t.Parallel()
	const canary = "the-secret-itself"
	a := store.Account{
		Provider: "op", AccessToken: canary, RefreshToken: canary, IDToken: canary,
		Extra: store.Members{"t": []byte(`"` + canary + `"`)},
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb, a, &a, store.Secret(canary))
	}
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.InfoContext(t.Context(), "account", "account", a, "pointer", &a, "secret", store.Secret(canary))
	raw, _ := json.Marshal(store.Secret(canary))
	out.Write(raw)
	out.WriteString(store.Secret(canary).GoString())
	if text := out.String(); strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
		t.Errorf("printed: %s", text)
	}
	if s := store.Secret(""); s.String() != "" || fmt.Sprint(s) != "" {
		t.Error("no secret looks like one")
	}
}
