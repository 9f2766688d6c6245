package core

import (
	"context"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
)

// AddTask adds periodic work of the plugin, such as emails that are due. Core calls run in the background, about every
// ten minutes while the site has requests, and in one process at a time if the store stores verification tokens. run
// has a minute; it must be idempotent, because it can be called twice, or be interrupted. An error is logged.
func (h *PluginHost) AddTask(run func(ctx context.Context) error) {
	h.attaching("AddTask")
	name := "task of " + h.plugin
	h.plugins.tasks = append(h.plugins.tasks, func(ctx context.Context) error {
		return guard(name, func() error { return run(ctx) })
	})
}

// newCleaning returns the schedule of DeleteExpired (Config.CleanUp) and of the tasks of plugins.
func newCleaning(c *Config, kept stores, tasks []cleanup.Task, log *reporter) *cleanup.Schedule {
	var cleaner store.Cleaner
	if c.Store != nil && c.CleanUp != False && (c.CleanUp != Default || !cleansItself(c.Store)) {
		cleaner = storecalls.New(c.Store, storeCall(kept.watch, 0)).Cleaner // a run has its own time limit
	}
	schedule := cleanup.New(cleaner, tasks, kept.tokens, c.Now, cleanupLog{log})
	if records, ok := kept.records.(*cleanup.Records); ok {
		records.Schedule = schedule
	}
	return schedule
}

func cleansItself(s Store) bool {
	self, ok := s.(store.SelfCleaner)
	return ok && self.CleansItself()
}

// cleanupLog implements [cleanup.Log].
type cleanupLog struct{ log *reporter }

// Failed implements [cleanup.Log].
func (l cleanupLog) Failed(ctx context.Context, err error, attrs ...slog.Attr) {
	l.log.failure(ctx, asError(err, ErrStore), attrs...)
}

// Deleted implements [cleanup.Log].
func (l cleanupLog) Deleted(ctx context.Context, rows slog.Attr) {
	l.log.debug(ctx, "expired sessions and tokens are deleted", rows)
}

// DeletedPart implements [cleanup.Log].
func (l cleanupLog) DeletedPart(ctx context.Context, rows, left slog.Attr) {
	l.log.info(ctx, "expired sessions and tokens are deleted in part, the rest in the next runs", rows, left)
}
