package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// announcing is a plugin that logs announcements, and makes changes in "toy/change".
type announcing struct {
	log  []string
	err  error // of the next announcement
	host *core.PluginHost
}

type announcedKey struct{}

func (p *announcing) Attach(h *core.PluginHost) error {
	p.host = h
	h.OnAnnounce(func(ctx context.Context, _ store.RecordStore, e audit.Event) (
		context.Context, func(unknown bool), error,
	) {
		if e.Name == audit.SignIn {
			return nil, nil, nil
		}
		p.log = append(p.log, fmt.Sprintf("announce %s %s %s", e.Name, e.UserID, e.Outcome))
		return context.WithValue(ctx, announcedKey{}, true),
			func(unknown bool) { p.log = append(p.log, fmt.Sprintf("cancel %s %v", e.Name, unknown)) }, p.err
	})
	h.OnAudit(func(ctx context.Context, e audit.Event) {
		if e.Outcome == audit.OK && e.Name != audit.Config {
			p.log = append(p.log, fmt.Sprintf("audit %s %v", e.Name, ctx.Value(announcedKey{}) != nil))
		}
	})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: "toy", Verb: "change",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			e := audit.Event{Name: audit.UserDeleted, Outcome: audit.OK, UserID: "ada"}
			if err := c.Announce(ctx, e); err != nil {
				return nil, err
			}
			p.log = append(p.log, "change")
			switch c.Field("how") {
			case "refused":
				return nil, &core.Problem{Status: http.StatusConflict, Code: "busy"}
			case "fault":
				return nil, errors.New("the store did not respond")
			case "panic":
				panic("a bug")
			case "other":
				e.UserID = "eve"
				c.Audit(ctx, e)
			case "made":
				c.Audit(ctx, e)
			}
			return c.JSON(ctx, http.StatusOK, nil), nil
		},
	})
	return nil
}

// TestAnnounce: a plugin learns of a change before it is made, and afterwards either gets its audit event or learns
// that there is none. A change that it cannot store is not made.
func TestAnnounce(t *testing.T) {
	for how, want := range map[string]string{
		"made":    "announce user.deleted ada ok, change, audit user.deleted true",
		"other":   "announce user.deleted ada ok, change, audit user.deleted false, cancel user.deleted false",
		"nothing": "announce user.deleted ada ok, change, cancel user.deleted false",
		"refused": "announce user.deleted ada ok, change, cancel user.deleted false",
		"fault":   "announce user.deleted ada ok, change, cancel user.deleted true",
		"panic":   "announce user.deleted ada ok, change, cancel user.deleted true",
		"full":    "announce user.deleted ada ok",
	} {
		t.Run(how, func(t *testing.T) {
			p := &announcing{}
			if how == "full" {
				p.err = errors.New("the event cannot be stored")
			}
			b := visit(t, newApp(t, core.Config{Plugins: []core.Plugin{p}}))
			b.hasPage = true
			r := b.submit("/auth/toy/change", url.Values{"how": {how}})
			if got := strings.Join(p.log, ", "); got != want || how == "full" && r.Status < 500 {
				t.Errorf("%d %s, want %s", r.Status, got, want)
			}
		})
	}
}

// TestAnnounceWithoutAudit: neither the plugin nor the application receives audit events.
func TestAnnounceWithoutAudit(t *testing.T) {
	var got audit.Event
	a := newApp(t, core.Config{Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error {
		h.OnAnnounce(func(_ context.Context, _ store.RecordStore, e audit.Event) (
			context.Context, func(unknown bool), error,
		) {
			got = e
			return nil, nil, nil
		})
		h.AddAction(core.Action{Method: http.MethodPost, Name: "toy",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.Redirect("/"), c.Announce(ctx, audit.Event{Name: audit.UserDeleted, UserID: "ada"})
			}})
		return nil
	})}})
	r := visit(t, a).submit("/auth/toy", nil)
	if r.Err != nil || got.Name != audit.UserDeleted || got.Time.IsZero() {
		t.Errorf("%v, announced %+v", r.Err, got)
	}
}

// TestAnnounceOutside: so does a change outside of a request, and one with a security notice.
func TestAnnounceOutside(t *testing.T) {
	p := &announcing{}
	newApp(t, core.Config{Plugins: []core.Plugin{p}})
	e := audit.Event{Name: audit.UserDeleted, Outcome: audit.OK, UserID: "ada"}
	n := core.SecurityNotice{Kind: mailkind.FactorsReset, UserID: "ada", Audit: audit.Event{Name: audit.FactorsReset}}
	for _, err := range []error{nil, core.ErrNotFound, errors.New("the store did not respond")} {
		change := func(context.Context) error { p.log = append(p.log, "change"); return err }
		if got := p.host.AuditChange(t.Context(), e, change); !errors.Is(got, err) {
			t.Error(got)
		}
		if got := p.host.NotifyChange(t.Context(), n, change); !errors.Is(got, err) {
			t.Error(got)
		}
	}
	p.err = errors.New("the event cannot be stored")
	for _, run := range []func() error{
		func() error {
			return p.host.AuditChange(t.Context(), e, func(context.Context) error { t.Error("changed"); return nil })
		},
		func() error {
			return p.host.NotifyChange(t.Context(), n, func(context.Context) error { t.Error("changed"); return nil })
		},
	} {
		if err := run(); err == nil {
			t.Error("no error")
		}
	}
	want := []string{
		"announce user.deleted ada ok", "change", "audit user.deleted true",
		"announce factors.reset ada ok", "change", "audit factors.reset true",
		"announce user.deleted ada ok", "change", "cancel user.deleted false",
		"announce factors.reset ada ok", "change", "cancel factors.reset false",
		"announce user.deleted ada ok", "change", "cancel user.deleted true",
		"announce factors.reset ada ok", "change", "cancel factors.reset true",
		"announce user.deleted ada ok", "announce factors.reset ada ok",
	}
	if !slices.Equal(p.log, want) {
		t.Errorf("got %q", p.log)
	}
}
