package announcements_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/announcements"
	"github.com/latchkey-go/latchkey/core/store"
)

type mark struct{}

// announcer marks the context of events, and counts cancellations.
func announcer(name string, canceled *[]bool, err error) announcements.Announcer {
	return func(ctx context.Context, _ store.RecordStore, _ audit.Event) (context.Context, func(bool), error) {
		if err != nil {
			return nil, nil, err
		}
		before, _ := ctx.Value(mark{}).(string)
		cancel := func(unknown bool) { *canceled = append(*canceled, unknown) }
		return context.WithValue(ctx, mark{}, before+name), cancel, nil
	}
}

// TestReported checks that an event gets the context of its announcement, once.
func TestReported(t *testing.T) {
	t.Parallel()
	event := func(name audit.Name, userID string) audit.Event { return audit.Event{Name: name, UserID: userID} }
	for name, row := range map[string]struct {
		announced, reported audit.Event
		marked              bool
	}{
		"the change":     {event(audit.EmailChanged, "1"), event(audit.EmailChanged, "1"), true},
		"another user":   {event(audit.EmailChanged, "1"), event(audit.EmailChanged, "2"), false},
		"another event":  {event(audit.EmailChanged, "1"), event(audit.EmailProved, "1"), false},
		"the store's ID": {event(audit.UserCreated, "1"), event(audit.UserCreated, "2"), true},
		"a failed change": {
			event(audit.EmailChanged, ""), audit.Event{Name: audit.EmailChanged, Outcome: audit.Failed}, false,
		},
	} {
		var p announcements.Pending
		var canceled []bool
		all := []announcements.Announcer{announcer("a", &canceled, nil), announcer("b", &canceled, nil)}
		if err := p.Announce(t.Context(), all, nil, row.announced); err != nil || !p.Any() {
			t.Fatal(err)
		}
		if row.reported.Outcome == "" {
			row.reported.Outcome = audit.OK
		}
		for _, want := range []bool{row.marked, false} {
			got, _ := p.Reported(t.Context(), row.reported).Value(mark{}).(string)
			if (got == "ab") != want {
				t.Errorf("%s: context of %q", name, got)
			}
		}
		if p.Cancel(true); (len(canceled) == 0) != row.marked || p.Any() {
			t.Errorf("%s: %d cancellations", name, len(canceled))
		}
	}
}

// TestRefusal checks that an error or a panic of an announcer cancels the others.
func TestRefusal(t *testing.T) {
	t.Parallel()
	panics := func(context.Context, store.RecordStore, audit.Event) (context.Context, func(bool), error) { panic("x") }
	for name, last := range map[string]announcements.Announcer{
		"error": announcer("b", nil, errors.New("unavailable")), "panic": panics,
	} {
		var p announcements.Pending
		var canceled []bool
		all := []announcements.Announcer{announcer("a", &canceled, nil), last}
		err := p.Announce(t.Context(), all, nil, audit.Event{})
		if err == nil || p.Any() || len(canceled) != 1 || canceled[0] {
			t.Errorf("%s: %v, cancellations %v", name, err, canceled)
		}
	}
}

// TestNotInterested checks an announcer that returns no context, and that the context of events is not canceled with
// the request.
func TestNotInterested(t *testing.T) {
	t.Parallel()
	ctx, disconnect := context.WithCancel(t.Context())
	disconnect()
	var p announcements.Pending
	none := func(ctx context.Context, _ store.RecordStore, _ audit.Event) (context.Context, func(bool), error) {
		if ctx.Err() != nil {
			t.Error("the context is canceled with the request")
		}
		return nil, nil, nil
	}
	if err := p.Announce(ctx, []announcements.Announcer{none}, nil, audit.Event{}); err != nil || p.Any() {
		t.Error(err, p)
	}
	var canceled []bool
	failing := func(ctx context.Context, _ store.RecordStore, _ audit.Event) (context.Context, func(bool), error) {
		return ctx, func(unknown bool) { canceled = append(canceled, unknown) }, errors.New("unavailable")
	}
	err := p.Announce(ctx, []announcements.Announcer{failing}, nil, audit.Event{})
	if err == nil || p.Any() || len(canceled) > 0 {
		t.Error("an announcer that has failed is canceled too:", err, canceled)
	}
}
