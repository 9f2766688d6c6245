package core

import (
	"context"
	"errors"
	"log/slog"
)

// logError writes one line for a failure, as loud as it deserves: type, cause and reference code; no value that a browser sent.
func (a *Auth) logError(ctx context.Context, err *Error, attrs ...slog.Attr) {
	level := err.level()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // the visitor went away
		level = min(level, slog.LevelInfo)
	}
	attrs = append([]slog.Attr{slog.Any("error", err)}, attrs...)
	a.logger.LogAttrs(ctx, level, "auth: "+string(err.Type), attrs...)
}

func (a *Auth) warn(ctx context.Context, code Warning, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("code", string(code))}, attrs...)
	a.logger.LogAttrs(ctx, slog.LevelWarn, "auth: "+string(code), attrs...)
}

func (a *Auth) info(ctx context.Context, message string, attrs ...slog.Attr) {
	a.logger.LogAttrs(ctx, slog.LevelInfo, "auth: "+message, attrs...)
}

func (a *Auth) debug(ctx context.Context, message string, attrs ...slog.Attr) {
	if a.debugging {
		a.logger.LogAttrs(ctx, slog.LevelDebug, "auth: "+message, attrs...)
	}
}
