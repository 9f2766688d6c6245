// Package form reads the body of a POST request: a URL-encoded form or a JSON object, with strict parsing and limits. A
// body of another type has no fields.
package form

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// MaxBody is the maximum size of a body in bytes.
const MaxBody = 1 << 20

// maxFields is the maximum number of fields.
const maxFields = 100

// TooLarge is the error of a body with more than MaxBody bytes.
type TooLarge struct{}

// Error returns the limit as text.
func (TooLarge) Error() string { return "the body is larger than 1 MiB" }

// Fields are the fields of a body. The zero value has none.
type Fields struct {
	form  weburl.Params
	json  map[string]string // raw JSON values by name
	names []string          // keys of json

	unread string
}

// Read reads a body according to its Content-Type. A body with another media type, or without one, has no fields.
// Errors are TooLarge, a connection error, or a parse error without any part of the body.
func Read(ctx context.Context, contentType []string, body io.Reader) (Fields, error) {
	switch {
	case len(contentType) == 0:
		return Fields{unread: "it has no Content-Type"}, nil
	case len(contentType) > 1:
		return Fields{unread: "it has several Content-Types"}, nil
	}
	media, charset, err := mediaType(contentType[0])
	switch {
	case err != nil:
		return Fields{unread: "its Content-Type is malformed"}, nil
	case media != "application/json" && media != urlEncoded:
		return Fields{unread: "its media type is " + named(media)}, nil
	case body == nil:
		body = strings.NewReader("")
	}
	if charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return Fields{}, errors.New("the charset is not UTF-8")
	}
	raw, err := readAll(&reader{ctx, body})
	switch {
	case errors.Is(err, TooLarge{}):
		return Fields{}, err
	case err != nil:
		return Fields{}, fmt.Errorf("read the body: %w", err)
	case ctx.Err() != nil:
		return Fields{}, ctx.Err()
	case media == "application/json":
		return readJSON(raw)
	}
	form, err := weburl.ParseForm(string(raw))
	if err != nil {
		return Fields{}, err
	}
	return Fields{form: form}, nil
}

const urlEncoded = "application/x-www-form-urlencoded"

// mediaType parses a Content-Type. The values that browsers send for forms have a fast path.
func mediaType(contentType string) (media, charset string, err error) {
	if contentType == urlEncoded {
		return contentType, "", nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	return media, strings.ToLower(params["charset"]), err
}

// readAll reads at most MaxBody bytes. It joins the parts after all are read, so that a body that is too large needs no
// more memory than the largest valid one.
func readAll(r io.Reader) ([]byte, error) {
	var pieces [][]byte
	var piece []byte      // its capacity is the size of the next read
	read, size := 0, 1<<8 // larger than most sign-in forms
	for {
		if len(piece) == cap(piece) {
			pieces, piece = append(pieces, piece), make([]byte, 0, min(size, MaxBody+1-read))
			size = min(2*size, 64<<10)
		}
		n, err := r.Read(piece[len(piece):cap(piece)])
		piece, read = piece[:len(piece)+n], read+n
		switch {
		case read > MaxBody:
			return nil, TooLarge{}
		case err == io.EOF && len(pieces) == 1:
			return piece, nil
		case err == io.EOF:
			return slices.Concat(append(pieces, piece)...), nil
		case err != nil:
			return nil, err
		}
	}
}

// named returns a media type that a page can send without a CORS preflight. Other values, which an attacker may have
// made up, must not be logged.
func named(media string) string {
	if media == "multipart/form-data" || media == "text/plain" {
		return media
	}
	return "another"
}

// reader returns an error between two reads when the context ends, so that a slow body does not outlive its request.
type reader struct {
	ctx  context.Context
	body io.Reader
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.body.Read(p)
}

func readJSON(raw []byte) (Fields, error) {
	f := Fields{json: map[string]string{}}
	err := exactjson.Object(raw, func(name string, value []byte) error {
		if len(f.names) == maxFields {
			return errors.New("the body has more than 100 fields")
		}
		if bigNumber(value) {
			return errors.New("a number of the body is too long")
		}
		f.names = append(f.names, strings.Clone(name))
		f.json[strings.Clone(name)] = string(value)
		return nil
	})
	if err != nil {
		return Fields{}, err
	}
	return f, nil
}

// bigNumber reports whether a value is a number that is more expensive to process than to send.
func bigNumber(value []byte) bool {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return false
	}
	if e := strings.LastIndexAny(string(value), "eE"); e >= 0 && len(value)-e > 5 {
		return true
	}
	return len(value) > 100
}

// Unread returns why a body was not read, as the end of a sentence that starts with "the body". It is empty if the body
// was read.
func (f Fields) Unread() string { return f.unread }

// Names returns the names of the fields in the order of their first appearance.
func (f Fields) Names() []string {
	if f.json != nil {
		return f.names
	}
	var names []string
	for name := range f.form.Fields() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Text returns a string field. If a form field is repeated, it returns the last value. It returns false for JSON values
// that are not strings.
func (f Fields) Text(name string) (string, bool) {
	if f.json != nil {
		return exactjson.Text([]byte(f.json[name]))
	}
	return f.form.Lookup(name)
}

// Raw returns a field as JSON. A form field is a JSON string. The result is nil if the field is absent.
func (f Fields) Raw(name string) []byte {
	if raw, ok := f.json[name]; ok {
		return []byte(raw)
	}
	if text, ok := f.form.Lookup(name); ok {
		return exactjson.AppendText(nil, text)
	}
	return nil
}

// Count returns the number of fields with this name.
func (f Fields) Count(name string) int {
	if _, ok := f.json[name]; ok {
		return 1
	}
	return f.form.Count(name)
}
