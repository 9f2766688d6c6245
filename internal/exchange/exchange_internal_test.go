package exchange

import (
	"context"
	"errors"
	"testing"
	"time"
)

func exchangeFor(flow, answer byte) (key Key) {
	key.flow[0], key.callback[0], key.callback[1] = flow, flow, answer
	return key
}

// TestExchangesFull: if the maximum number of exchanges is pending, another one runs within its own request.
func TestExchangesFull(t *testing.T) {
	t.Parallel()
	x := New[string](time.Now)
	x.pending.Max = 1
	started, release := make(chan struct{}), make(chan struct{})
	pending := make(chan error)
	go func() {
		_, err := x.Do(t.Context(), exchangeFor(1, 1), "", func(context.Context) (string, error) {
			close(started)
			<-release
			return "", nil
		})
		pending <- err
	}()
	<-started

	profile, err := x.Do(t.Context(), exchangeFor(2, 1), "", func(context.Context) (string, error) {
		return "ann", nil
	})
	if err != nil || profile != "ann" {
		t.Errorf("the exchange of another flow: %v, %v", profile, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	_, err = x.Do(ctx, exchangeFor(3, 1), "", func(ctx context.Context) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err == nil {
		t.Error("the exchange continues after its request")
	}

	calls := 0
	again := func(context.Context) (string, error) { calls++; return "", errors.New("refused") }
	if _, err = x.Do(t.Context(), exchangeFor(4, 1), "", again); err == nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if _, err = x.Do(t.Context(), exchangeFor(1, 2), "", again); !errors.Is(err, ErrInProgress) || calls != 1 {
		t.Errorf("another callback of a pending flow: %d calls, %v", calls, err)
	}
	close(release)
	if err := <-pending; err != nil {
		t.Error(err)
	}
	if len(x.flows) != 0 {
		t.Errorf("%d flows are reserved", len(x.flows))
	}
}
