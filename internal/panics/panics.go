// Package panics turns panics of application code into errors.
package panics

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime"
	"strings"
)

// Error is a panic as an error. Its text is for the log: one line with the place of the panic, followed by the callers.
type Error struct {
	where  string
	value  any
	frames []string
}

// New returns the error of a panic with this value, which a deferred function has just recovered. where names the code
// that panicked.
func New(where string, value any) *Error { return &Error{where, value, stack()} }

// Error returns the text for the log.
func (e *Error) Error() string {
	calls := strings.Join(e.frames, ", called by ")
	return Bounded(fmt.Sprintf("panic in %s: %.512s at %s", e.where, fmt.Sprint(e.value), calls))
}

// Withhold replaces the panic's value by its type, unless it is an error of the Go runtime. The texts of runtime errors
// contain only sizes and types, and no data.
func (e *Error) Withhold() {
	if _, own := e.value.(runtime.Error); !own {
		e.value = fmt.Sprintf("a %T", e.value)
	}
}

// maxFrames is the maximum number of stack frames in a log line. The frames of the application come first; those
// of the router are not needed.
const maxFrames = 10

// stack returns the stack frames of the panic that is being recovered, innermost first.
func stack() (all []string) {
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
		if !more || len(all) == maxFrames {
			return all
		}
	}
}

// shortFile returns the file name with its folder, without the path of the machine that built the program.
func shortFile(file string) string {
	dir, name := path.Split(file)
	return path.Join(path.Base(dir), name)
}

// Call calls code of the application. It returns a panic as an [*Error], which ends only this request. It passes on
// http.ErrAbortHandler, which makes net/http drop the connection.
func Call[T any](where string, call func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			if abort(v) {
				panic(v)
			}
			err = New(where, v)
		}
	}()
	return call()
}

// Guard is [Call] for calls that return only an error.
func Guard(where string, call func() error) error {
	_, err := Call(where, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

func abort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// Bounded cuts a text to 2 kB, so that it cannot flood a log.
func Bounded(s string) string {
	const limit = 2048
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
