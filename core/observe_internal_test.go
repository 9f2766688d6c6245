package core

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/internal/verdict"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// TestEveryStoreCallIsObserved calls each method of each store interface with a canceled context.
func TestEveryStoreCallIsObserved(t *testing.T) {
	t.Parallel()
	told := map[observe.Call]observe.Outcome{}
	faces := newStores(stuck{}, observed.Calls{Outcome: verdict.OfCall, Observe: func(
		ctx context.Context, c observe.Call,
	) (context.Context, func(observe.Outcome)) {
		return ctx, func(o observe.Outcome) { told[c] = o }
	}}, 0)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	methods := 0
	for _, face := range []any{
		faces.Store, faces.Sessions, faces.Tokens, faces.Transactor, faces.Accounts, faces.UserDeleter, faces.SessionLister,
		faces.Passkeys, faces.PasskeyDeleter, faces.Records,
		storecalls.New(stuck{}, storecalls.Limited(faces.watch, 0)).Cleaner,
	} {
		if face == nil {
			t.Log("stuck has no passkeys to delete")
			continue
		}
		v := reflect.ValueOf(face)
		for i := range v.NumMethod() {
			methods++
			before := len(told)
			arguments := []reflect.Value{reflect.ValueOf(gone)}
			for n := 1; n < v.Method(i).Type().NumIn(); n++ {
				arguments = append(arguments, reflect.Zero(v.Method(i).Type().In(n)))
			}
			if v.Type().Method(i).Name == "InTransaction" {
				fails := func(ctx context.Context, _ Store) error { return ctx.Err() }
				arguments[1] = reflect.ValueOf(fails)
			}
			v.Method(i).Call(arguments)
			if len(told) != before+1 {
				t.Errorf("%s.%s is not reported, or under the name of another", v.Type(), v.Type().Method(i).Name)
			}
		}
	}
	for call, outcome := range told {
		if call.Target != observe.Store || call.Provider != "" || outcome != observe.Canceled {
			t.Errorf("got %+v: %s", call, outcome)
		}
	}
	if methods < 30 {
		t.Errorf("%d methods", methods)
	}
}

// TestAPanickingCallHasFailed checks that a panic of the store is returned as an error and reported as a failure.
func TestAPanickingCallHasFailed(t *testing.T) {
	t.Parallel()
	var told observe.Outcome
	observer := func(context.Context, observe.Call) (context.Context, func(observe.Outcome)) {
		return nil, func(o observe.Outcome) { told = o }
	}
	w := observed.Calls{Outcome: verdict.OfCall, Observe: observer}
	broken := struct{ Store }{} // each method panics
	_, err := newStores(broken, w, time.Second).User(t.Context(), "1")
	var panicked *panics.Error
	if !errors.As(err, &panicked) || told != observe.Failed {
		t.Errorf("error %v, got %q", err, told)
	}
}

// TestEveryProviderCallIsObserved calls each method that sends a request to a provider.
func TestEveryProviderCallIsObserved(t *testing.T) {
	t.Parallel()
	told := map[string]observe.Outcome{}
	var now string
	observer := func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
		if c.Target != observe.Provider || c.Provider != "acme" {
			t.Errorf("got %+v", c)
		}
		return ctx, func(o observe.Outcome) { told[now] = o }
	}
	o := &oauthClient{
		OAuthProvider: OAuthProvider{ID: "acme"},
		client:        oauth.Observed{Client: oauth.New(oauth.Config{})},
		client1:       oauth.Observed1{Client1: oauth.New1(oauth.Config{})},
	}
	o.FetchUserinfo = func(context.Context, *UserinfoRequest) (Profile, error) { return nil, errors.New("away") }
	o.watchedBy(observed.Calls{Outcome: verdict.OfCall, Observe: observer})
	for _, client := range []any{o.client, o.client1} {
		v := reflect.ValueOf(client)
		for i := range v.NumMethod() {
			call := v.Method(i)
			if call.Type().NumIn() == 0 || call.Type().In(0) != reflect.TypeFor[context.Context]() {
				continue // it sends no request
			}
			now = v.Type().String() + "." + v.Type().Method(i).Name
			arguments := []reflect.Value{reflect.ValueOf(t.Context())}
			for n := 1; n < call.Type().NumIn(); n++ {
				arguments = append(arguments, reflect.Zero(call.Type().In(n)))
			}
			_ = guard(now, func() error { call.Call(arguments); return nil }) // the client has no configuration
			if told[now] == "" {
				t.Errorf("%s is not reported", now)
			}
		}
	}
	now = "FetchUserinfo"
	_, err := o.FetchUserinfo(t.Context(), nil)
	if err == nil || told[now] != observe.Failed || len(told) < 11 {
		t.Errorf("error %v, got %v", err, told)
	}
}
