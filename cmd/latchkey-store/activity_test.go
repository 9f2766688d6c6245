package main

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestActivityLines describes the recent activity as plugins/account stores it.
func TestActivityLines(t *testing.T) {
	t.Parallel()
	got, err := activityLines(&store.Record{Value: []byte(`[
		{"time":"2030-01-02T03:04:05Z","event":"admin.impersonated","count":1,"support":true},
		{"time":"2030-01-01T03:04:05Z","event":"signin","refused":true,"count":7,"network":"192.0.2.0/24","browser":"Firefox"}
	]`)})
	want := "activity 2030-01-02T03:04:05Z  admin.impersonated  by an administrator\n" +
		"activity 2030-01-01T03:04:05Z  signin  refused ×7  192.0.2.0/24  Firefox"
	if err != nil || got != want {
		t.Errorf("the lines are %s (%v)", got, err)
	}
	if _, err := activityLines(&store.Record{Value: []byte("{")}); err == nil {
		t.Error("a malformed record has no error")
	}
	for kind, value := range map[string]string{"ban": `{"reason":"Spam"}`, "activity": `[]`} {
		if line, err := recordLines[kind](&store.Record{Value: []byte(value)}); err != nil || strings.Contains(line, "{") {
			t.Errorf("%s: %s (%v)", kind, line, err)
		}
	}
}
