package dynamodb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// table reads and writes items.
type table struct {
	client *dynamodb.Client
	layout Layout
}

// item is an item of the table, or a part of one.
type item = map[string]types.AttributeValue

// The attributes that only this package knows.
const (
	nonceName    = "latchkeyNonce"    // tells one write of an item from another
	extraName    = "latchkeyExtra"    // JSON text of members that DynamoDB would not return byte for byte
	revisionName = "latchkeyRevision" // of a user: see copies.go
	changeName   = "latchkeyChange"   // of a user or record: the nonce of the latest change
	nextName     = "latchkeyNext"     // of a user: the address that a change is about to give it
	copyName     = "user"             // of a session: a copy of the user
	copiedName   = "userRevision"     // of a session: the revision of that copy
	untilName    = "latchkeyUntil"    // of the entry of a session or record: when it ended at first
)

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func num(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// plain is a text of an item, "" when there is none.
func plain(of item, name string) string {
	if v, ok := of[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// key is the primary key of an item.
type key struct{ partition, sort string }

// The keys of items. Those of users and verification tokens are Auth.js's. A session, an account, a passkey and a
// record stand under a key of their own, which makes them unique, and have an entry in the partition of their user, by
// which they are listed; a record that is nobody's has none.
func userKey(id string) key       { return key{"USER#" + id, "USER#" + id} }
func addressKey(email string) key { return key{"EMAIL#" + email, "EMAIL"} }
func sessionKey(token string) key { return key{"SESSION#" + token, "SESSION"} }
func credentialKey(id string) key { return key{"AUTHENTICATOR#" + id, "AUTHENTICATOR"} }
func recordKey(name string) key   { return key{"REC#" + name, "REC"} }
func accountKey(provider, id string) key {
	return key{"ACCOUNT#" + escaped(provider) + "#" + id, "ACCOUNT"}
}
func tokenKey(identifier, token string) key {
	return key{"VT#" + identifier, "VT#" + token}
}

func sessionEntry(user, token string) key { return key{"USER#" + user, "SESSION#" + token} }
func recordEntry(user, name string) key   { return key{"USER#" + user, "REC#" + name} }
func accountEntry(user, provider, id string) key {
	return key{"USER#" + user, "ACCOUNT#" + escaped(provider) + "#" + id}
}
func credentialEntry(user, id string) key {
	sum := sha256.Sum256([]byte(id)) // which may be longer than a sort key
	return key{"USER#" + user, "AUTHENTICATOR#" + hex.EncodeToString(sum[:])}
}

// escaped keeps apart the id of a provider and what follows it.
func escaped(provider string) string {
	return strings.NewReplacer("%", "%25", "#", "%23").Replace(provider)
}

// possible reports whether an item can have a key at all.
func (k key) possible() bool {
	return len(k.partition) <= 2048 && len(k.sort) <= 1024 && utf8.ValidString(k.partition) && utf8.ValidString(k.sort)
}

var errKey = errors.New("a key is longer than DynamoDB allows, or not valid UTF-8: validate it before")

func (t *table) key(k key) item {
	return item{t.layout.PartitionKey: str(k.partition), t.layout.SortKey: str(k.sort)}
}

func (t *table) keyOf(of item) key {
	return key{plain(of, t.layout.PartitionKey), plain(of, t.layout.SortKey)}
}

// keyed is an item with its key.
func (t *table) keyed(k key, attributes item) item {
	all := t.key(k)
	maps.Copy(all, attributes)
	return all
}

// indexed adds what Auth.js finds an item by.
func (t *table) indexed(of item, partition, sort string) item {
	if len(partition) <= 2048 && len(sort) <= 1024 {
		of[t.layout.IndexPartitionKey], of[t.layout.IndexSortKey] = str(partition), str(sort)
	}
	return of
}

func (t *table) isThere() condition {
	return condition{text: "attribute_exists(#key)", names: map[string]string{"#key": t.layout.PartitionKey}}
}

func (t *table) isFree() condition {
	return condition{text: "attribute_not_exists(#key)", names: map[string]string{"#key": t.layout.PartitionKey}}
}

// get reads an item; nil: there is none.
func (t *table) get(ctx context.Context, k key) (item, error) {
	if !k.possible() {
		return nil, ctx.Err()
	}
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.layout.Table, Key: t.key(k), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// must is get for an item that is there, or ErrNotFound.
func (t *table) must(ctx context.Context, k key) (item, error) {
	found, err := t.get(ctx, k)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return found, err
}

func (t *table) put(ctx context.Context, k key, attributes item, c condition) error {
	if !k.possible() {
		return errKey
	}
	_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &t.layout.Table, Item: t.keyed(k, attributes),
		ConditionExpression:      c.expression(),
		ExpressionAttributeNames: orNil(c.names), ExpressionAttributeValues: orNil(c.values),
	})
	return conditional(err)
}

// update sets and removes attributes of an item that is there.
func (t *table) update(ctx context.Context, k key, set item, remove []string, c condition) error {
	if !k.possible() {
		return errCondition
	}
	c = t.isThere().and(c)
	names, values := maps.Clone(c.names), maps.Clone(c.values)
	if values == nil {
		values = item{}
	}
	var texts []string
	var list []string
	for name, value := range set {
		names["#set_"+name], values[":set_"+name] = name, value
		list = append(list, "#set_"+name+" = :set_"+name)
	}
	if len(list) > 0 {
		texts = append(texts, "SET "+strings.Join(list, ", "))
	}
	list = nil
	for _, name := range remove {
		names["#remove_"+name] = name
		list = append(list, "#remove_"+name)
	}
	if len(list) > 0 {
		texts = append(texts, "REMOVE "+strings.Join(list, ", "))
	}
	_, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.layout.Table, Key: t.key(k), UpdateExpression: aws.String(strings.Join(texts, " ")),
		ConditionExpression: c.expression(), ExpressionAttributeNames: names, ExpressionAttributeValues: orNil(values),
	})
	return conditional(err)
}

// mustUpdate sets attributes of an item that is there, or ErrNotFound.
func (t *table) mustUpdate(ctx context.Context, k key, set item) error {
	err := t.update(ctx, k, set, nil, condition{})
	if errors.Is(err, errCondition) {
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		return store.ErrNotFound
	}
	return err
}

// remove deletes an item and returns it; nil: there was none.
func (t *table) remove(ctx context.Context, k key, c condition) (item, error) {
	if !k.possible() {
		return nil, ctx.Err()
	}
	out, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.layout.Table, Key: t.key(k), ReturnValues: types.ReturnValueAllOld,
		ConditionExpression:      c.expression(),
		ExpressionAttributeNames: orNil(c.names), ExpressionAttributeValues: orNil(c.values),
	})
	if err != nil {
		return nil, conditional(err)
	}
	return out.Attributes, nil
}

// partition reads the items of a partition whose sort key has a prefix.
func (t *table) partition(ctx context.Context, partition, prefix string) (all []item, err error) {
	if !(key{partition, prefix}).possible() {
		return nil, ctx.Err()
	}
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName: &t.layout.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :sk)"),
		ExpressionAttributeNames:  map[string]string{"#pk": t.layout.PartitionKey, "#sk": t.layout.SortKey},
		ExpressionAttributeValues: item{":pk": str(partition), ":sk": str(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
	}
	return all, nil
}

// How many items one request reads, and how long to wait before asking again for those that it did not.
const (
	batch     = 100
	firstWait = 10 * time.Millisecond
)

// getAll reads items by their keys, those that are there, in any order.
func (t *table) getAll(ctx context.Context, keys []key) (all []item, err error) {
	for len(keys) > 0 {
		n := min(len(keys), batch)
		var list []item
		for _, k := range keys[:n] {
			list = append(list, t.key(k))
		}
		keys = keys[n:]
		wanted := map[string]types.KeysAndAttributes{t.layout.Table: {Keys: list, ConsistentRead: aws.Bool(true)}}
		for wait := firstWait; len(wanted) > 0; wait *= 2 {
			out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: wanted})
			if err != nil {
				return nil, err
			}
			all = append(all, out.Responses[t.layout.Table]...)
			if wanted = out.UnprocessedKeys; len(wanted) == 0 {
				break
			}
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil, ctx.Err()
			case <-timer.C:
			}
		}
	}
	return all, nil
}

func nonce() types.AttributeValue { return str(rand.Text()) }
