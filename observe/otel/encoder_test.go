package otel_test

import (
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// line is a name with attributes in order.
func line(name string, attributes []attribute.KeyValue) string {
	var texts []string
	for _, a := range attributes {
		texts = append(texts, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(texts)
	return strings.Join(slices.Concat([]string{name}, texts), " ")
}

var encoderID = attribute.NewEncoderID()

// encoder writes attributes as line does.
type encoder struct{}

func (encoder) ID() attribute.EncoderID { return encoderID }

func (encoder) Encode(attributes attribute.Iterator) string {
	return strings.TrimSpace(line("", attributes.ToSlice()))
}
