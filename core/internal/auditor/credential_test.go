package auditor_test

import (
	"context"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
)

// TestNoteWithin checks that an event names the credential of the request that caused it.
func TestNoteWithin(t *testing.T) {
	t.Parallel()
	var got []audit.Event
	a := &auditor.Auditor{Now: time.Now, Sink: func(_ context.Context, e audit.Event) { got = append(got, e) }}
	var none *auditor.Credential
	none.Set("x")
	c := &auditor.Credential{}
	if none.Get() != "" || c.Get() != "" {
		t.Error("a credential that was not verified")
	}
	c.Set("key1")
	within := context.WithValue(t.Context(), auditor.CredentialKey{Of: a}, c)
	other := context.WithValue(t.Context(), auditor.CredentialKey{Of: &auditor.Auditor{}}, c)
	for _, row := range []struct {
		ctx   context.Context
		event audit.Event
		want  string
	}{
		{within, audit.Event{}, "key1"},
		{within, audit.Event{Credential: "key2"}, "key2"},
		{other, audit.Event{}, ""},
		{context.WithValue(t.Context(), auditor.CredentialKey{Of: a}, none), audit.Event{}, ""},
	} {
		row.event.Outcome = audit.OK
		a.NoteWithin(row.ctx, row.event)
		if e := got[len(got)-1]; e.Credential != row.want {
			t.Errorf("credential %q, want %q", e.Credential, row.want)
		}
	}
}

// TestSafe checks that a panic of the application's function is logged.
func TestSafe(t *testing.T) {
	t.Parallel()
	var failed error
	receive := auditor.Safe(func(_ context.Context, e audit.Event) {
		if e.Name == "" {
			panic("x")
		}
	}, func(_ context.Context, err error) { failed = err })
	if receive(t.Context(), audit.Event{Name: audit.SignIn}); failed != nil {
		t.Error(failed)
	}
	if receive(t.Context(), audit.Event{}); failed == nil {
		t.Error("the panic is not logged")
	}
}
