package core

import (
	"context"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
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

// cleanupLog implements [cleanup.Log].
type cleanupLog struct{ log *reporter }

// Failed implements [cleanup.Log].
func (l cleanupLog) Failed(ctx context.Context, err error, attrs ...slog.Attr) {
	l.log.failure(ctx, errormarks.As(err, ErrStore), attrs...)
}

// Deleted implements [cleanup.Log].
func (l cleanupLog) Deleted(ctx context.Context, rows slog.Attr) {
	l.log.debug(ctx, "expired sessions and tokens are deleted", rows)
}

// DeletedPart implements [cleanup.Log].
func (l cleanupLog) DeletedPart(ctx context.Context, rows, left slog.Attr) {
	l.log.info(ctx, "expired sessions and tokens are deleted in part, the rest in the next runs", rows, left)
}
