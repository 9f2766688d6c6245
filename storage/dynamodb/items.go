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

// item is an item of the table, or a part of one.
type item = map[string]types.AttributeValue

// The attributes that only this package uses.
const (
	nonceName    = "latchkeyNonce"    // distinguishes the writes of an item
	extraName    = "latchkeyExtra"    // JSON of members that DynamoDB would not return byte for byte
	revisionName = "latchkeyRevision" // in a user: see copies.go
	changeName   = "latchkeyChange"   // in a user or record: the nonce of the latest change
	nextName     = "latchkeyNext"     // in a user: the new address during a change
	copyName     = "user"             // in a session: a copy of the user
	copiedName   = "userRevision"     // in a session: the revision of that copy
	untilName    = "latchkeyUntil"    // in the entry of a session or record: its first expiry
)

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func num(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// plain returns a text attribute, or "" if it does not exist.
func plain(of item, name string) string {
	if v, ok := of[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

type key struct{ partition, sort string }

// The keys of items. Those of users and verification tokens are the keys of Auth.js. A session, account, passkey or
// record has its own key, which makes it unique, and an entry in the partition of its user, for lists. A record without
// a user has no entry.
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
	sum := sha256.Sum256([]byte(id)) // the ID may be longer than a sort key
	return key{"USER#" + user, "AUTHENTICATOR#" + hex.EncodeToString(sum[:])}
}

// escaped escapes the ID of a provider, so that it contains no separator.
func escaped(provider string) string {
	return strings.NewReplacer("%", "%25", "#", "%23").Replace(provider)
}

// possible reports whether DynamoDB allows this key.
func (k key) possible() bool {
	return len(k.partition) <= 2048 && len(k.sort) <= 1024 && utf8.ValidString(k.partition) && utf8.ValidString(k.sort)
}

var errKey = errors.New("a key is longer than DynamoDB allows, or is not valid UTF-8: validate it first")

func (s *Store) key(k key) item {
	return item{s.layout.PartitionKey: str(k.partition), s.layout.SortKey: str(k.sort)}
}

func (s *Store) keyOf(of item) key {
	return key{plain(of, s.layout.PartitionKey), plain(of, s.layout.SortKey)}
}

// keyed returns an item with its key.
func (s *Store) keyed(k key, attributes item) item {
	all := s.key(k)
	maps.Copy(all, attributes)
	return all
}

// indexed adds the attributes of Auth.js's index.
func (s *Store) indexed(of item, partition, sort string) item {
	if len(partition) <= 2048 && len(sort) <= 1024 {
		of[s.layout.IndexPartitionKey], of[s.layout.IndexSortKey] = str(partition), str(sort)
	}
	return of
}

func (s *Store) isThere() condition {
	return condition{text: "attribute_exists(#key)", names: map[string]string{"#key": s.layout.PartitionKey}}
}

func (s *Store) isFree() condition {
	return condition{text: "attribute_not_exists(#key)", names: map[string]string{"#key": s.layout.PartitionKey}}
}

// get reads an item. It returns nil if there is none.
func (s *Store) get(ctx context.Context, k key) (item, error) {
	if !k.possible() {
		return nil, ctx.Err()
	}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.layout.Table, Key: s.key(k), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// must is get that returns ErrNotFound if there is no item.
func (s *Store) must(ctx context.Context, k key) (item, error) {
	found, err := s.get(ctx, k)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return found, err
}

func (s *Store) put(ctx context.Context, k key, attributes item, c condition) error {
	if !k.possible() {
		return errKey
	}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.layout.Table, Item: s.keyed(k, attributes),
		ConditionExpression:      c.expression(),
		ExpressionAttributeNames: orNil(c.names), ExpressionAttributeValues: orNil(c.values),
	})
	return conditional(err)
}

// update sets and removes attributes of an existing item.
func (s *Store) update(ctx context.Context, k key, set item, remove []string, c condition) error {
	if !k.possible() {
		return errCondition
	}
	c = s.isThere().and(c)
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
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.layout.Table, Key: s.key(k), UpdateExpression: aws.String(strings.Join(texts, " ")),
		ConditionExpression: c.expression(), ExpressionAttributeNames: names, ExpressionAttributeValues: orNil(values),
	})
	return conditional(err)
}

// mustUpdate sets attributes of an existing item. It returns ErrNotFound if there is none.
func (s *Store) mustUpdate(ctx context.Context, k key, set item) error {
	err := s.update(ctx, k, set, nil, condition{})
	if errors.Is(err, errCondition) {
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		return store.ErrNotFound
	}
	return err
}

// remove deletes an item and returns it, or nil if there was none.
func (s *Store) remove(ctx context.Context, k key, c condition) (item, error) {
	if !k.possible() {
		return nil, ctx.Err()
	}
	out, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.layout.Table, Key: s.key(k), ReturnValues: types.ReturnValueAllOld,
		ConditionExpression:      c.expression(),
		ExpressionAttributeNames: orNil(c.names), ExpressionAttributeValues: orNil(c.values),
	})
	if err != nil {
		return nil, conditional(err)
	}
	return out.Attributes, nil
}

// partition reads the items of a partition, by a prefix of the sort key.
func (s *Store) partition(ctx context.Context, partition, prefix string) (all []item, err error) {
	if !(key{partition, prefix}).possible() {
		return nil, ctx.Err()
	}
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.layout.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :sk)"),
		ExpressionAttributeNames:  map[string]string{"#pk": s.layout.PartitionKey, "#sk": s.layout.SortKey},
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

// The number of items that one request reads, and the pause before a retry for items that it did not return.
const (
	batch     = 100
	firstWait = 10 * time.Millisecond
)

func nonce() types.AttributeValue { return str(rand.Text()) }
