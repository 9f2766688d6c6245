package core

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime"
	"strings"
)

// panicError is a panic of a callback, an event handler or a store, as an error. Its text is for the log: one line with
// the place of the panic, followed by the callers.
type panicError struct {
	where  string
	value  any
	frames []string
}

func (e *panicError) Error() string {
	calls := strings.Join(e.frames, ", called by ")
	return bounded(fmt.Sprintf("panic in %s: %.512s at %s", e.where, fmt.Sprint(e.value), calls))
}

// withhold replaces the panic's value by its type, unless it is an error of the Go runtime. The texts of runtime errors
// contain only sizes and types, and no data.
func (e *panicError) withhold() {
	if _, own := e.value.(runtime.Error); !own {
		e.value = fmt.Sprintf("a %T", e.value)
	}
}

// maxPanicFrames is the maximum number of stack frames in a log line. The frames of the application come first; those
// of the router are not needed.
const maxPanicFrames = 10

// panicFrames returns the stack frames of the panic that is being recovered, innermost first.
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

// shortFile returns the file name with its folder, without the path of the machine that built the program.
func shortFile(file string) string {
	dir, name := path.Split(file)
	return path.Join(path.Base(dir), name)
}

// guarded calls code of the application. It returns a panic as an error, which ends only this request.
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

// guard is guarded for calls that return only an error.
func guard(where string, call func() error) error {
	_, err := guarded(where, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// abort reports whether a panic is http.ErrAbortHandler, which makes net/http drop the connection. Such a panic is
// passed on.
func abort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// bounded cuts a text to 2 kB, so that it cannot flood a log.
func bounded(s string) string {
	const limit = 2048
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
