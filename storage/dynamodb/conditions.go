package dynamodb

import (
	"errors"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// condition is the condition of a write. The zero value is always true.
type condition struct {
	text   string
	names  map[string]string
	values item
	// either is set for an OR of two conditions, which needs parentheses in an AND. Elsewhere they would only cost parsing
	// time.
	either bool
}

func (c condition) and(other condition) condition {
	if c.text == "" {
		return other
	}
	if other.text == "" {
		return c
	}
	text := c.operand() + " AND " + other.operand()
	return condition{text: text, names: merged(c.names, other.names), values: merged(c.values, other.values)}
}

func (c condition) operand() string {
	if c.either {
		return "(" + c.text + ")"
	}
	return c.text
}

func (c condition) or(other condition) condition {
	text := c.text + " OR " + other.text
	return condition{text: text, names: merged(c.names, other.names), values: merged(c.values, other.values), either: true}
}

func merged[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return all
}

// is compares an attribute. operator is "=" or "<".
func is(name, operator string, value types.AttributeValue) condition {
	return condition{
		text:  "#" + name + " " + operator + " :" + name,
		names: map[string]string{"#" + name: name}, values: item{":" + name: value},
	}
}

func absent(name string) condition {
	return condition{text: "attribute_not_exists(#" + name + ")", names: map[string]string{"#" + name: name}}
}

func (c condition) expression() *string {
	if c.text == "" {
		return nil
	}
	return aws.String(c.text)
}

func orNil[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}

// errCondition means that the condition of a write was false.
var errCondition = errors.New("the condition of a write was false")

func conditional(err error) error {
	if errors.As(err, new(*types.ConditionalCheckFailedException)) {
		return errCondition
	}
	return err
}

// ignored returns nil for errCondition, for a write that is then unnecessary.
func ignored(err error) error {
	if errors.Is(err, errCondition) {
		return nil
	}
	return err
}
