package sessiondata

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// app is the data of an application.
type app struct {
	Role string `json:"role"`
}

// TestTyped checks that data of a type is loaded, shown and decoded, and that panics are errors.
func TestTyped(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	load := func(_ context.Context, user any) (app, error) {
		switch user {
		case "broken":
			return app{}, failed
		case "panics":
			panic("x")
		}
		return app{Role: user.(string)}, nil
	}
	o := Typed(load, func(a app) any { return strings.ToUpper(a.Role) })
	raw, err := o.Load(t.Context(), "admin")
	if string(raw) != `{"role":"admin"}` || err != nil {
		t.Errorf("loaded %s, %v", raw, err)
	}
	if shown, err := o.Public(raw); string(shown) != `"ADMIN"` || err != nil {
		t.Errorf("shown %s, %v", shown, err)
	}
	if value, err := Decode[app](raw); value.Role != "admin" || err != nil {
		t.Errorf("decoded %+v, %v", value, err)
	}
	if _, err := o.Load(t.Context(), "broken"); !errors.Is(err, failed) || !strings.Contains(err.Error(), "Data.Load") {
		t.Errorf("Load: %v", err)
	}
	if _, err := o.Load(t.Context(), "panics"); err == nil {
		t.Error("a panic is no error")
	}
	if _, err := o.Public(json.RawMessage(`1`)); err == nil {
		t.Error("other data is shown")
	}
	if o := Typed(load, nil); o.Public != nil {
		t.Error("data without a public part is shown")
	}
}

// TestKeepers checks that a refresh reaches all keepers that exist, and that others are forgotten.
func TestKeepers(t *testing.T) {
	t.Parallel()
	var ks Keepers
	loads := 0
	keeper := func() *Keeper {
		k := New(Options{Now: time.Now, Load: func(context.Context, any) (json.RawMessage, error) {
			loads++
			return json.RawMessage(`1`), nil
		}})
		ks.Add(k)
		return k
	}
	first, second := keeper(), keeper()
	read := func() {
		for _, k := range []*Keeper{first, second} {
			if _, err := k.Of("u1", nil).Raw(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	read()
	read()
	if err := ks.Refresh(t.Context(), "u1"); err != nil || loads != 2 {
		t.Errorf("loaded %d times, %v", loads, err)
	}
	if read(); loads != 4 {
		t.Errorf("loaded %d times after a refresh", loads)
	}
	runtime.KeepAlive(second)
	second = first
	runtime.GC()
	if _ = keeper(); len(ks.list) != 2 {
		t.Errorf("%d keepers", len(ks.list))
	}
	runtime.KeepAlive(first)
}
