package core

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
)

// panicError is a panic of a callback, an event handler or a store, turned into an error. Its text is for the log.
type panicError struct {
	where string
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return bounded(fmt.Sprintf("panic in %s: %v\n%s", e.where, e.value, e.stack))
}

// guarded calls code of the application. A panic in it becomes an error: it ends this request and nothing else.
func guarded[T any](where string, call func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			if abort(v) {
				panic(v)
			}
			err = &panicError{where: where, value: v, stack: debug.Stack()}
		}
	}()
	return call()
}

// abort tells whether a panic is net/http's own way to drop a connection, which is passed on.
func abort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}
