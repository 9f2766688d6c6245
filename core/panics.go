package core

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime"
	"strings"
)

// panicError is a panic of a callback, an event handler or a store, turned into an error. Its text is for the log: one
// line, the place at fault first, then its callers.
type panicError struct {
	where  string
	value  any
	frames []string
}

func (e *panicError) Error() string {
	calls := strings.Join(e.frames, ", called by ")
	return bounded(fmt.Sprintf("panic in %s: %.512s at %s", e.where, fmt.Sprint(e.value), calls))
}

// withhold replaces the value by its type, unless it is an error of the Go runtime: those tell of sizes and types, and
// nothing else of what was worked on.
func (e *panicError) withhold() {
	if _, own := e.value.(runtime.Error); !own {
		e.value = fmt.Sprintf("a %T", e.value)
	}
}

// maxPanicFrames is how many calls a log line shows: those of the application stand before ours, and the router's are
// of no use.
const maxPanicFrames = 10

// panicFrames are the calls that led to the panic which is being recovered, the innermost first.
func panicFrames() (all []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		ofRuntime := strings.HasPrefix(f.Function, "runtime.")
		panicked = panicked || f.Function == "runtime.gopanic"
		if panicked && !ofRuntime {
			all = append(all, fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), shortFile(f.File), f.Line))
		}
		if !more || len(all) == maxPanicFrames {
			return all
		}
	}
}

// shortFile is a file with its folder: enough to find it, and not where it was built.
func shortFile(file string) string {
	dir, name := path.Split(file)
	return path.Join(path.Base(dir), name)
}

// guarded calls code of the application. A panic in it becomes an error: it ends this request and nothing else.
func guarded[T any](where string, call func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			if abort(v) {
				panic(v)
			}
			err = &panicError{where: where, value: v, frames: panicFrames()}
		}
	}()
	return call()
}

// guard is guarded for calls that return an error alone.
func guard(where string, call func() error) error {
	_, err := guarded(where, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// abort reports whether a panic is net/http's own way to drop a connection, which is passed on.
func abort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// bounded keeps a text from flooding a log.
func bounded(s string) string {
	const limit = 2048
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
