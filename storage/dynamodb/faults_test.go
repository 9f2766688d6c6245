package dynamodb_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
)

func TestOutages(t *testing.T) {
	e := engines.StartDynalite(t)
	client := connect(e.URL, http.DefaultTransport)
	store := open(t, client, table(t, client))
	t.Run("stopped", func(t *testing.T) {
		storetest.Trouble("dynamodb").Outage(t, store, 200*time.Millisecond, func() { e.Stop(t) }, func() { e.Start(t) })
	})
	t.Run("killed", func(t *testing.T) {
		storetest.Trouble("dynamodb").Outage(t, store, 200*time.Millisecond, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("slow", func(t *testing.T) {
		storetest.Trouble("dynamodb").Outage(t, store, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("hanging", func(t *testing.T) {
		storetest.Trouble("dynamodb").Hang(t, store, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
}

// TestKilledInRequest kills the database while a request waits in it.
func TestKilledInRequest(t *testing.T) {
	e := engines.StartDynalite(t)
	client := connect(e.URL, nil, noRetries)
	store := open(t, client, table(t, client))
	fill(t, store, 1)
	e.Pause(t)
	result := make(chan error, 1)
	go func() { result <- store.UpdateSession(t.Context(), "s0", time.Unix(1, 0)) }()
	select {
	case err := <-result:
		t.Fatalf("the request did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	e.Kill(t)
	err := <-result
	if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) ||
		!strings.HasPrefix(err.Error(), "dynamodb: extend session: ") {
		t.Errorf("error %v", err)
	}
	e.Start(t)
	if _, _, err := store.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Error(err)
	}
}

// refusing rejects writes like a database that throttles or forbids them.
type refusing struct{ code string }

// RoundTrip implements [http.RoundTripper].
func (f refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	target := r.Header.Get("X-Amz-Target")
	if !strings.HasSuffix(target, ".PutItem") && !strings.HasSuffix(target, ".UpdateItem") &&
		!strings.HasSuffix(target, ".DeleteItem") {
		return http.DefaultTransport.RoundTrip(r)
	}
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + f.code + `","message":"5ecret-value-of-somebody"}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Status: "400 Bad Request",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// TestRefused checks writes that the database throttles or forbids.
func TestRefused(t *testing.T) {
	url := engines.DynamoDB(t)
	layout := table(t, connect(url, nil))
	fill(t, open(t, connect(url, nil), layout), 1)
	for _, code := range []string{
		"ProvisionedThroughputExceededException", "AccessDeniedException", "RequestLimitExceeded", "InternalServerError",
	} {
		t.Run(code, func(t *testing.T) {
			store, err := dynamodb.New(connect(url, refusing{code}, noRetries), dynamodb.Options{Layout: layout})
			if err != nil {
				t.Fatal(err)
			}
			writes := map[string]func() error{
				"create user": func() error {
					_, err := store.CreateUser(t.Context(), &core.User{ID: "u9"})
					return err
				},
				"update user": func() error {
					_, err := store.UpdateUser(t.Context(), &core.User{ID: "u0"})
					return err
				},
				"delete user":            func() error { return store.DeleteUser(t.Context(), "u0") },
				"extend session":         func() error { return store.UpdateSession(t.Context(), "s0", time.Unix(1, 0)) },
				"delete session":         func() error { _, err := store.DeleteSession(t.Context(), "s0"); return err },
				"use verification token": func() error { _, err := store.UseVerificationToken(t.Context(), "a", "t"); return err },
			}
			for operation, write := range writes {
				err := write()
				if want := "dynamodb: " + operation + ": request rejected: " + code; err == nil || err.Error() != want {
					t.Errorf("error %v, want %s", err, want)
				}
			}
			if _, _, err := store.SessionAndUser(t.Context(), "s0"); err != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
}
