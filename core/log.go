package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// reporter writes the log of an Auth. Every line about a request has the attributes of [arrival.attrs], so that an
// operator can find it by the reference that the user sees.
type reporter struct {
	logger    *slog.Logger
	debugging bool // Config.Debug
}

// failure logs a failure: its type, cause and reference, and no value that the client sent. The level depends on the
// error.
func (l *reporter) failure(ctx context.Context, err *Error, attrs ...slog.Attr) {
	level := errormarks.Level(err)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // the client disconnected
		level = min(level, slog.LevelInfo)
	}
	attrs = append([]slog.Attr{slog.Any("error", err)}, attrs...)
	l.logger.LogAttrs(ctx, level, "auth: "+string(err.Type), attrs...)
}

func (l *reporter) warn(ctx context.Context, code warnings.Code, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("code", string(code))}, attrs...)
	l.logger.LogAttrs(ctx, slog.LevelWarn, "auth: "+string(code), attrs...)
}

func (l *reporter) info(ctx context.Context, message string, attrs ...slog.Attr) {
	l.logger.LogAttrs(ctx, slog.LevelInfo, "auth: "+message, attrs...)
}

func (l *reporter) debug(ctx context.Context, message string, attrs ...slog.Attr) {
	if l.debugging {
		l.logger.LogAttrs(ctx, slog.LevelDebug, "auth: "+message, attrs...)
	}
}

// guarded calls code of the application. It returns a panic as an error, which ends only this request.
func guarded[T any](where string, call func() (T, error)) (T, error) { return panics.Call(where, call) }

// guard is guarded for calls that return only an error.
func guard(where string, call func() error) error { return panics.Guard(where, call) }

// printed writes the text of a value, whatever the fmt verb and its flags.
func printed(f fmt.State, text string) { _, _ = io.WriteString(f, text) }
