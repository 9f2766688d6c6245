package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// team is a plugin with data that users share.
type team struct {
	check, forget error
	calls         []string
}

func (p *team) Attach(*core.PluginHost) error { return nil }

func (p *team) CheckDelete(_ context.Context, u *core.User) error {
	p.calls = append(p.calls, "check "+u.ID)
	return p.check
}

func (p *team) ForgetUser(_ context.Context, u *core.User) error {
	p.calls = append(p.calls, "forget "+u.ID)
	return p.forget
}

// TestDeleteSharedData: a plugin can refuse a deletion before anything is deleted, and deletes its data after the
// application.
func TestDeleteSharedData(t *testing.T) {
	refusal := &core.Problem{Status: 409, Code: "last_owner", Detail: "Transfer ownership first."}
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			data := &team{check: refusal}
			options := account.Options{Delete: func(_ context.Context, u *core.User) error {
				data.calls = append(data.calls, "delete "+u.ID)
				return nil
			}}
			s := newSite(t, setup{options: options, configure: func(c *core.Config) {
				configure(c)
				c.Plugins = append(c.Plugins, data)
			}})
			b := s.as(ada)
			ask := func() *core.Response { return b.call("account/delete", url.Values{"phrase": {phrase}}) }
			b.refused(ask(), 409, "last_owner")
			data.check, data.forget = nil, errors.New("connection refused")
			if r := ask(); r.Status != http.StatusInternalServerError || strings.Contains(string(r.Body), "refused") {
				t.Errorf("answered %d %s", r.Status, r.Body)
			}
			if s.user("ada").Email != ada || !b.signedIn() {
				t.Fatal("something was deleted")
			}
			data.forget = nil
			b.fine(ask(), http.StatusOK)
			want := []string{"check ada", "check ada", "delete ada", "forget ada", "check ada", "delete ada", "forget ada"}
			if !slices.Equal(data.calls, want) {
				t.Errorf("the calls are %q", data.calls)
			}
			if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the user is there: %v", err)
			}
		})
	}
}

// TestScheduledDeletionOfSharedData: with Options.DeleteAfter, a plugin can refuse the request, and again the deletion.
func TestScheduledDeletionOfSharedData(t *testing.T) {
	refusal := &core.Problem{Status: 409, Code: "last_owner", Detail: "Transfer ownership first."}
	data := &team{check: refusal}
	s, deleted := newSchedule(t, account.Options{}, func(c *core.Config) { c.Plugins = append(c.Plugins, data) })
	b := s.as(ada)
	b.refused(b.call("account/delete", url.Values{"phrase": {phrase}}), 409, "last_owner")
	data.check = nil
	b.schedule()
	data.check = refusal
	s.later(week + time.Minute)
	if err := s.mine.DeleteDue(t.Context()); err == nil || len(*deleted) > 0 {
		t.Fatalf("a refused deletion has run: %v, %q", err, *deleted)
	}
	data.check, data.forget = nil, errors.New("connection refused")
	s.later(time.Hour)
	if err := s.mine.DeleteDue(t.Context()); err == nil || s.user("ada") == nil {
		t.Fatalf("the user was deleted before the shared data: %v", err)
	}
	data.forget = nil
	s.later(time.Hour)
	if err := s.mine.DeleteDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the user is there: %v", err)
	}
	if last := data.calls[len(data.calls)-1]; last != "forget ada" {
		t.Errorf("the last call is %q", last)
	}
}
