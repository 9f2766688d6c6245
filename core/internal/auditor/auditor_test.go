package auditor_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
)

// trail returns an auditor with a clock, and the events that it has passed on.
func trail(now *time.Time) (a *auditor.Auditor, events *[]audit.Event) {
	events = new([]audit.Event)
	return &auditor.Auditor{
		Now: func() time.Time { return *now }, Secret: "0123456789abcdef0123456789abcdef", Tenant: "shop",
		Sink: func(_ context.Context, e audit.Event) { *events = append(*events, e) },
	}, events
}

func denied(subject string) audit.Event {
	return audit.Event{Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.ReasonCredentials, Subject: subject}
}

func TestRepeatedRefusalsAreCombined(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	for range 100 {
		a.Note(t.Context(), denied("ada@example.com"))
	}
	a.Note(t.Context(), denied("eve@example.com"))
	now = now.Add(time.Minute)
	a.Note(t.Context(), denied("Ada@example.com"))
	var counts []int
	for _, e := range *events {
		counts = append(counts, e.Count)
	}
	if !slices.Equal(counts, []int{1, 1, 100}) {
		t.Errorf("counts of the events: %v", counts)
	}
}

func TestTheNumberOfSubjectsIsLimited(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	for i := range 5000 {
		a.Note(t.Context(), denied(fmt.Sprint(i, "@example.com")))
	}
	if got := len(*events); got > 4100 {
		t.Errorf("5000 subjects in a minute are %d events", got)
	}
}

func TestEventsAreCompleted(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sink := a.Sink
	a.Sink = func(ctx context.Context, e audit.Event) {
		if ctx.Err() != nil {
			t.Error("the context of the sink is canceled with the request")
		}
		sink(ctx, e)
	}
	a.Note(ctx, audit.Event{Name: audit.SignIn, Outcome: audit.OK, Subject: "ada@example.com"})
	a.Note(ctx, audit.Event{Name: audit.SignIn, Outcome: audit.OK})
	e := (*events)[0]
	if !e.Time.Equal(now) || e.Tenant != "shop" || e.Count != 1 {
		t.Errorf("the event is %+v", e)
	}
	if e.Subject == "ada@example.com" || e.Subject != auditor.Subject(a.Secret, " Ada@example.com") {
		t.Errorf("the subject is %q", e.Subject)
	}
	if e := (*events)[1]; e.Subject != "" || auditor.Subject(a.Secret, " ") != "" {
		t.Errorf("an event without an identifier has the subject %q", e.Subject)
	}
	var none *auditor.Auditor
	none.Note(t.Context(), denied("ada@example.com"))
}

// TestRefusalsOfTwoCredentialsAreSeparate notes refusals of two credentials of one user. Each event names its own.
func TestRefusalsOfTwoCredentialsAreSeparate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	for i := range 10 {
		e := audit.Event{Name: audit.Limit, Outcome: audit.Refused, UserID: "1"}
		e.Credential = []string{"apikey:a", "apikey:b"}[i%2]
		a.Note(t.Context(), e)
	}
	if all := *events; len(all) != 2 || all[0].Credential == all[1].Credential {
		t.Errorf("the events are %+v", all)
	}
}

// TestSuccessesAreNotCombined notes two sign-ins of one user.
func TestSuccessesAreNotCombined(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	for range 2 {
		a.Note(t.Context(), audit.Event{Name: audit.SignIn, Outcome: audit.OK, UserID: "1"})
	}
	if len(*events) != 2 {
		t.Errorf("the events are %+v", *events)
	}
}

// TestRemainingCounts checks when the refusals of a minute are reported that no later event of their subject counts.
func TestRemainingCounts(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	user := func(id int) audit.Event {
		return audit.Event{Name: audit.Limit, Outcome: audit.Refused, UserID: fmt.Sprint(id)}
	}
	for id := range 20 {
		for range 3 {
			a.Note(t.Context(), user(id))
		}
	}
	a.Note(t.Context(), user(100)) // nothing of it remains
	if len(*events) != 21 {
		t.Fatalf("%d events of 21 users", len(*events))
	}
	now = now.Add(time.Minute)
	*events = nil
	a.Note(t.Context(), user(200))
	if got := *events; len(got) != 17 || got[0].UserID != "0" || got[0].Count != 2 || got[16].UserID != "200" {
		t.Errorf("one request reports %+v", got)
	}
	a.Note(t.Context(), user(201))
	if got := *events; len(got) != 22 || got[20].UserID != "19" || got[21].UserID != "201" {
		t.Errorf("two requests report %+v", got)
	}
	now = now.Add(-time.Hour)
	if a.Note(t.Context(), user(201)); len(*events) != 23 {
		t.Errorf("the clock was set back: %+v", *events)
	}
}

// TestKnownSubjectsStaySeparate checks that clients that invent subjects do not change how a known one is counted.
func TestKnownSubjectsStaySeparate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	a, events := trail(&now)
	for i := range 5000 {
		a.Note(t.Context(), denied(fmt.Sprint(i, "@example.com")))
	}
	*events = nil
	now = now.Add(time.Minute - 1)
	a.Note(t.Context(), denied("0@example.com"))
	if now = now.Add(1); len(*events) != 0 {
		t.Errorf("reported %+v", *events)
	}
	a.Note(t.Context(), denied("0@example.com"))
	got := (*events)[len(*events)-1] // after the remaining count of the others
	if got.Count != 2 || got.Subject != auditor.Subject(a.Secret, "0@example.com") {
		t.Errorf("reported %+v", got)
	}
}
