package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
)

// stage is between a client and its database.
type stage struct {
	sync.Mutex
	before func(dbtest.Request) (lost bool, err error)
}

func (s *stage) watch(before func(dbtest.Request) (bool, error)) {
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
	rows, err := rowsOf(r)
	if err != nil {
		return nil, err
	}
	lost, err := before(rows)
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

// named contains the parts of a request that name items.
type named struct {
	Key, Item, ExpressionAttributeValues map[string]struct{ S string }

	IndexName    string
	RequestItems map[string]struct {
		Keys []map[string]struct{ S string }
	}
}

// rowsOf returns the items that a request is for. A Query contains only a prefix of their keys.
func rowsOf(r *http.Request) (rows dbtest.Request, err error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return rows, err
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	var in named
	if err := json.Unmarshal(text, &in); err != nil {
		return rows, err
	}
	key := func(of map[string]struct{ S string }, partition, sort string) string {
		if of[partition].S == "" {
			return "" // any item
		}
		return of[partition].S + "\x00" + of[sort].S
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch operation {
	case "GetItem":
		rows.Reads = []string{key(in.Key, "pk", "sk")}
	case "BatchGetItem":
		for _, table := range in.RequestItems {
			for _, one := range table.Keys {
				rows.Reads = append(rows.Reads, key(one, "pk", "sk"))
			}
		}
	case "Query":
		if in.IndexName == "" {
			rows.Reads = []string{key(in.ExpressionAttributeValues, ":pk", ":sk")}
		}
	case "PutItem":
		rows.Writes = []string{key(in.Item, "pk", "sk")}
	case "UpdateItem", "DeleteItem":
		rows.Writes = []string{key(in.Key, "pk", "sk")}
	}
	return rows, nil
}

func TestInterleaved(t *testing.T) {
	dbtest.Interleaved(t, func(t *testing.T) dbtest.Staged {
		url := engines.DynamoDB(t)
		layout := table(t, connect(url, nil))
		var one, other stage
		client := func(s *stage) *awsdynamodb.Client {
			return connect(url, s, func(o *awsdynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		}
		return dbtest.Staged{
			Store: open(t, client(&one), layout), Other: open(t, client(&other), layout),
			Watch: one.watch, WatchOther: other.watch,
		}
	})
}

// TestLostResponses loses the responses to writes, so that the client retries: it then finds its own writes.
func TestLostResponses(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		url := engines.DynamoDB(t)
		layout := table(t, connect(url, nil))
		open(t, connect(url, nil), layout)
		s, err := dynamodb.New(connect(url, &forgetful{seen: map[string]bool{}}, func(o *awsdynamodb.Options) {
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
				o.RateLimiter = ratelimit.None
			})
		}), dynamodb.Options{Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, crowd, "code/wrong ones have a budget in two processes") // a repeated write counts a wrong code twice
}

// forgetful loses the response to the first attempt of every write.
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
