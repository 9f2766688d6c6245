package dynamodb_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
)

// stage stands between a client and its engine.
type stage struct {
	sync.Mutex
	before func() (lost bool, err error)
}

func (s *stage) watch(before func() (bool, error)) {
	s.Lock()
	defer s.Unlock()
	s.before = before
}

// RoundTrip implements [http.RoundTripper].
func (s *stage) RoundTrip(r *http.Request) (*http.Response, error) {
	s.Lock()
	before := s.before
	s.Unlock()
	if before == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	lost, err := before()
	if err != nil && !lost {
		return nil, err
	}
	response, failure := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		if failure == nil {
			_ = response.Body.Close()
		}
		return nil, err
	}
	return response, failure
}

func TestInterleaved(t *testing.T) {
	storetest.Interleaved(t, func(t *testing.T) storetest.Staged {
		url := engines.DynamoDB(t)
		layout := table(t, connect(url, nil))
		var one, other stage
		client := func(s *stage) *awsdynamodb.Client {
			return connect(url, s, func(o *awsdynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		}
		return storetest.Staged{
			Store: open(t, client(&one), layout), Other: open(t, client(&other), layout),
			Watch: one.watch, WatchOther: other.watch,
		}
	})
}

// TestAnswersLost are writes whose answer is lost, and which the client therefore makes again: it finds what it has
// written itself.
func TestAnswersLost(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		url := engines.DynamoDB(t)
		layout := table(t, connect(url, nil))
		open(t, connect(url, nil), layout)
		s, err := dynamodb.New(connect(url, &forgetful{seen: map[string]bool{}}, func(o *awsdynamodb.Options) {
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
				o.RateLimiter = ratelimit.None
			})
		}), layout)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, crowd)
}

// forgetful loses the answer to the first try of every write.
type forgetful struct {
	sync.Mutex
	seen map[string]bool
}

// RoundTrip implements [http.RoundTripper].
func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	target := r.Header.Get("X-Amz-Target")
	if err != nil || !strings.HasSuffix(target, ".PutItem") && !strings.HasSuffix(target, ".UpdateItem") {
		return response, err
	}
	f.Lock()
	defer f.Unlock()
	id := r.Header.Get("Amz-Sdk-Invocation-Id")
	if f.seen[id] {
		return response, nil
	}
	f.seen[id] = true
	_ = response.Body.Close()
	return nil, errors.New("the connection broke")
}
