package dynamodb_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/dynamodb"
)

var errEnds = errors.New("the test ends this process")

func noRetries(o *awsdynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func TestLayout(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		client := connect(engines.DynamoDB(t), nil)
		layout := table(t, client)
		layout.PartitionKey, layout.SortKey = "Partition", "Sort"
		layout.Index, layout.IndexPartitionKey, layout.IndexSortKey = "ByValue", "IndexPartition", "IndexSort"
		return open(t, client, layout)
	}, crowd)
}

func TestNewRefuses(t *testing.T) {
	if _, err := dynamodb.New(nil, dynamodb.Options{}); err == nil {
		t.Error("a nil client was taken")
	}
}

func TestManyMigrate(t *testing.T) {
	client := connect(engines.DynamoDB(t), nil)
	layout := table(t, client)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { open(t, client, layout) })
	}
	all.Wait()
}

// TestErrors checks that errors contain the operation and no value.
func TestErrors(t *testing.T) {
	client := connect(engines.DynamoDB(t), nil)
	without, err := dynamodb.New(client, dynamodb.Options{Layout: table(t, client)}) // its table does not exist
	if err != nil {
		t.Fatal(err)
	}
	storetest.Trouble("dynamodb").Fails(t, without, "u1", 5*time.Second)
	s := fresh(t)
	storetest.Trouble("dynamodb").Fails(t, s, "u1", -time.Second)
	if _, err := s.CreateUser(t.Context(), &core.User{}); err == nil {
		t.Error("a user without an id was made")
	}
	for range 2 {
		_, err = s.CreateUser(t.Context(), &core.User{ID: "u1"})
	}
	if err == nil || err.Error() != "dynamodb: create user: "+core.ErrConflict.Error() {
		t.Errorf("error %v", err)
	}
	for _, token := range []string{"5ecret \xff", strings.Repeat("5ecret", 1000)} {
		err = s.CreateSession(t.Context(), &store.Session{Token: core.Secret(token), UserID: "u1"})
		if err == nil || strings.Contains(err.Error(), "5ecret") {
			t.Errorf("error %v", err)
		}
	}
}

// TestLargeUser uses a user that is too large to be copied into a session.
func TestLargeUser(t *testing.T) {
	s := fresh(t)
	large := []byte(`"` + strings.Repeat("x", 350<<10) + `"`)
	u, err := s.CreateUser(t.Context(), &core.User{ID: "u1", Extra: core.Members{"large": large}})
	if err != nil {
		t.Fatal(err)
	}
	session := &store.Session{Token: "s1", UserID: u.ID, Expires: time.Unix(1, 0)}
	if err := s.CreateSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	_, got, err := s.SessionAndUser(t.Context(), "s1")
	if err != nil || len(got.Extra["large"]) != len(large) {
		t.Errorf("error %v", err)
	}
	u.Extra["large"] = []byte(`"` + strings.Repeat("x", 500<<10) + `"`)
	_, err = s.UpdateUser(t.Context(), u)
	if err == nil || errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		t.Errorf("an item that is too large: %v", err)
	}
	if _, _, err = s.SessionAndUser(t.Context(), "s1"); err != nil {
		t.Error(err)
	}
}

// TestManyOfOneUser uses more rows of one user than fit in a page and a batch.
func TestManyOfOneUser(t *testing.T) {
	s := fresh(t)
	fill(t, s, 1)
	for i := range 150 {
		token, expires := core.Secret(fmt.Sprint("more", i)), time.Unix(int64(i), 0)
		session := &store.Session{Token: token, UserID: "u0", Expires: expires}
		if err := s.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Sessions(t.Context(), "u0")
	if err != nil || len(list) != 151 || list[0].Token != "more0" {
		t.Errorf("%d sessions, error %v", len(list), err)
	}
	if n, err := s.DeleteExpired(t.Context(), time.Unix(50, 0)); err != nil || n != 50 {
		t.Errorf("%d expired, error %v", n, err)
	}
	if n, err := s.DeleteSessions(t.Context(), "u0"); err != nil || n != 101 {
		t.Errorf("%d deleted, error %v", n, err)
	}
}

// TestTimeToLive uses a session that the database has deleted. Its entry has no effect, and DeleteExpired deletes it.
func TestTimeToLive(t *testing.T) {
	store, client, layout := filled(t)
	fill(t, store, 2)
	one := &awsdynamodb.DeleteItemInput{
		TableName: &layout.Table, Key: item{"pk": s("SESSION#s0"), "sk": s("SESSION")},
	}
	if _, err := client.DeleteItem(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	list, err := store.Sessions(t.Context(), "u0")
	if err != nil || len(list) != 1 {
		t.Errorf("%d sessions, error %v", len(list), err)
	}
	entries := func() int {
		condition := "pk = :pk AND begins_with(sk, :sk)"
		out, err := client.Query(t.Context(), &awsdynamodb.QueryInput{
			TableName: &layout.Table, KeyConditionExpression: &condition,
			ExpressionAttributeValues: item{":pk": s("USER#u0"), ":sk": s("SESSION#")},
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Items)
	}
	if n := entries(); n != 2 {
		t.Errorf("%d entries", n)
	}
	// The session is extended beyond the time in its entry.
	if err := store.UpdateSession(t.Context(), "s1", time.UnixMilli(2893553445678)); err != nil {
		t.Fatal(err)
	}
	if n, err := store.DeleteExpired(t.Context(), time.UnixMilli(1893553445679)); err != nil || n != 0 {
		t.Errorf("%d went, error %v", n, err)
	}
	if n := entries(); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// counter counts requests by operation.
type counter struct {
	sync.Mutex
	n map[string]int
}

// RoundTrip implements [http.RoundTripper].
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.Lock()
	c.n[operation]++
	c.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// TestCosts checks that reading a session with its user is one request, and that extending it is one write.
func TestCosts(t *testing.T) {
	url := engines.DynamoDB(t)
	layout := table(t, connect(url, nil))
	fill(t, open(t, connect(url, nil), layout), 1)
	c := &counter{n: map[string]int{}}
	store, err := dynamodb.New(connect(url, c), dynamodb.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	for i := range rounds {
		if _, _, err := store.SessionAndUser(t.Context(), "s0"); err != nil {
			t.Fatal(err)
		}
		if err := store.UpdateSession(t.Context(), "s0", time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if c.n["GetItem"] != rounds || c.n["UpdateItem"] != rounds || len(c.n) != 2 {
		t.Errorf("%v, want %d of GetItem and UpdateItem", c.n, rounds)
	}
}

// fill creates users with ten sessions each, n sessions in all, named s0, s1, ….
func fill(t testing.TB, s *dynamodb.Store, n int) {
	t.Helper()
	for i := range n {
		user := fmt.Sprint("u", i/10)
		if i%10 == 0 {
			u := &core.User{ID: user, Email: user + "@example.com", Name: "Name of " + user}
			if _, err := s.CreateUser(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		token, expires := core.Secret(fmt.Sprint("s", i)), time.UnixMilli(1893553445678)
		session := &store.Session{Token: token, UserID: user, Expires: expires}
		if err := s.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkSession measures the calls of every request. With dynalite they cost more than with DynamoDB itself.
func BenchmarkSession(b *testing.B) {
	for _, n := range []int{1e3, 1e5} {
		url := engines.DynamoDB(b)
		client := connect(url, nil)
		layout := table(b, client)
		store := open(b, client, layout)
		fill(b, store, 10)
		fillUp(b, client, layout, n-10)
		b.Run(fmt.Sprintf("%d sessions/read", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := store.SessionAndUser(b.Context(), "s5"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/extend", n), func(b *testing.B) {
			b.ReportAllocs()
			at := time.UnixMilli(1893553445678)
			for b.Loop() {
				at = at.Add(time.Millisecond)
				if err := store.UpdateSession(b.Context(), "s5", at); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/read in parallel", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := store.SessionAndUser(b.Context(), "s5"); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// fillUp writes sessions without a user, 25 with each request.
func fillUp(b *testing.B, client *awsdynamodb.Client, layout dynamodb.Layout, n int) {
	b.Helper()
	number := &types.AttributeValueMemberN{Value: "1893553445.678"}
	var list []types.WriteRequest
	for i := range n {
		token := fmt.Sprint("more", i)
		list = append(list, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{
			"pk": s("SESSION#" + token), "sk": s("SESSION"), "sessionToken": s(token), "userId": s("nobody"), "expires": number,
		}}})
		if len(list) < 25 && i < n-1 {
			continue
		}
		requests := map[string][]types.WriteRequest{layout.Table: list}
		_, err := client.BatchWriteItem(b.Context(), &awsdynamodb.BatchWriteItemInput{RequestItems: requests})
		if err != nil {
			b.Fatal(err)
		}
		list = nil
	}
}
