package form_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latchkey-go/latchkey/internal/form"
)

const urlencoded = "application/x-www-form-urlencoded"

// TestContentTypes: the media type decides whether a body is read. A body that a page of another site can send without
// a preflight (a "simple" request) must not be read as JSON. These are the rows about bodies in the CSRF table; those
// about tokens and origins are tested in core.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		types []string
		body  string
		token bool
	}{
		{"JSON with charset", []string{"application/json; charset=utf-8"}, `{"csrfToken":"T"}`, true},
		{"JSON in capitals", []string{"Application/JSON"}, `{"csrfToken":"T"}`, true},
		{"form in capitals", []string{"APPLICATION/X-WWW-FORM-URLENCODED"}, "csrfToken=T", true},
		{"form, good one last", []string{urlencoded}, "csrfToken=bad&csrfToken=T", true},

		{"form, bad one last", []string{urlencoded}, "csrfToken=T&csrfToken=bad", false},
		{"two types", []string{urlencoded, urlencoded}, "csrfToken=T", false},
		{"plain text", []string{"text/plain"}, "csrfToken=T", false},
		{"plain text with the JSON name glued on", []string{"text/plain;application/json"}, `{"csrfToken":"T"}`, false},
		{"plain text with the JSON name as a parameter",
			[]string{"text/plain; x=application/json"}, `{"csrfToken":"T"}`, false},
		{"form's name as a boundary", []string{"multipart/form-data; boundary=" + urlencoded}, "csrfToken=T", false},
		{"JSON with broken parameters", []string{"application/json; ;;"}, `{"csrfToken":"T"}`, false},
		{"two types in one line", []string{"text/plain, application/json"}, `{"csrfToken":"T"}`, false},
		{"two lines", []string{"text/plain", "application/json"}, `{"csrfToken":"T"}`, false},
		{"no line", nil, "csrfToken=T", false},
		{"empty line", []string{""}, "csrfToken=T", false},
		{"structured suffix", []string{"application/ld+json"}, `{"csrfToken":"T"}`, false},

		{"array around it", []string{"application/json"}, `{"csrfToken":["T"]}`, false},
		{"true", []string{"application/json"}, `{"csrfToken":true}`, false},
		{"null", []string{"application/json"}, `{"csrfToken":null}`, false},
		{"object", []string{"application/json"}, `{"csrfToken":{"toString":"T"}}`, false},
		{"other case", []string{"application/json"}, `{"CSRFTOKEN":"T"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := form.Read(t.Context(), tt.types, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if token, ok := f.Text("csrfToken"); (ok && token == "T") != tt.token {
				t.Errorf("Text = %q, %v", token, ok)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("a=1&", 101)
	var members strings.Builder
	for i := range 101 {
		fmt.Fprintf(&members, `,"m%d":1`, i)
	}
	tests := []struct{ name, contentType, body string }{
		{"101 form fields", urlencoded, many},
		{"101 members", "application/json", "{" + members.String()[1:] + "}"},
		{"member twice", "application/json", `{"a":"1","a":"2"}`},
		{"member twice, once escaped", "application/json", `{"a":"1","\u0061":"2"}`},
		{"text after the object", "application/json", `{} x`},
		{"charset of an old browser", urlencoded + "; charset=iso-8859-1", "a=1"},
		{"broken escape in a name", urlencoded, "%=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := form.Read(t.Context(), []string{tt.contentType}, strings.NewReader(tt.body))
			if err == nil || len(f.Names()) > 0 {
				t.Errorf("read as %q, error %v", f.Names(), err)
			}
			if err != nil && strings.Contains(err.Error(), "101") {
				t.Errorf("error repeats the body: %v", err)
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	full := "a=" + strings.Repeat("x", form.MaxBody-2)
	if f, err := form.Read(t.Context(), []string{urlencoded}, strings.NewReader(full)); err != nil || len(f.Names()) != 1 {
		t.Errorf("%d bytes: %v", len(full), err)
	}
	// The body never ends, but the reader stops.
	endless := &counter{}
	if _, err := form.Read(t.Context(), []string{urlencoded}, endless); !errors.As(err, new(form.TooLarge)) {
		t.Errorf("endless body: %v", err)
	}
	if endless.n > form.MaxBody+64<<10 {
		t.Errorf("%d bytes were read", endless.n)
	}
}

// counter is a body without end.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	c.n += len(p)
	return len(p), nil
}

func TestReadFailures(t *testing.T) {
	t.Parallel()
	cut := io.MultiReader(strings.NewReader("a=1"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := form.Read(t.Context(), []string{urlencoded}, cut); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("connection cut: %v", err)
	}
	// A slow body ends with the request: the second part is not awaited.
	ctx, cancel := context.WithCancel(t.Context())
	drops := 0
	dripping := readerFunc(func(p []byte) (int, error) {
		drops++
		cancel()
		return copy(p, "a"), nil
	})
	if _, err := form.Read(ctx, []string{urlencoded}, dripping); !errors.Is(err, context.Canceled) || drops != 1 {
		t.Errorf("after %d drops: %v", drops, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestFieldsOfBothKinds(t *testing.T) {
	t.Parallel()
	js, err := form.Read(t.Context(), []string{"application/json"},
		strings.NewReader(`{"s":"é\n","n":1.50,"o":{"x":[1]},"z":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"s": `"é\n"`, "n": "1.50", "o": `{"x":[1]}`, "z": "null", "absent": ""} {
		if got := string(js.Raw(name)); got != want {
			t.Errorf("Raw(%q) = %s, want %s", name, got, want)
		}
	}
	if got, _ := js.Text("s"); got != "é\n" {
		t.Errorf("Text = %q", got)
	}
	if !js.IsJSON() || !slices.Equal(js.Names(), []string{"s", "n", "o", "z"}) || js.Count("s") != 1 ||
		js.Count("absent") != 0 {
		t.Errorf("JSON %v, names %q", js.IsJSON(), js.Names())
	}

	fm, err := form.Read(t.Context(), []string{urlencoded}, strings.NewReader("b=1&a=x+y&b=%22&bad=%ff"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(fm.Raw("b")); got != `"\""` {
		t.Errorf("Raw = %s", got)
	}
	if got, _ := fm.Text("bad"); got != "\uFFFD" {
		t.Errorf("bytes that are no UTF-8 became %q", got)
	}
	if fm.IsJSON() || !slices.Equal(fm.Names(), []string{"b", "a", "bad"}) || fm.Count("b") != 2 {
		t.Errorf("JSON %v, names %q, count %d", fm.IsJSON(), fm.Names(), fm.Count("b"))
	}

	if _, ok := (form.Fields{}).Text("a"); ok || (form.Fields{}).Raw("a") != nil || len((form.Fields{}).Names()) != 0 {
		t.Error("the zero Fields has fields")
	}
}

// TestEmptyJSON checks that an empty or missing body is not a JSON object.
func TestEmptyJSON(t *testing.T) {
	for name, body := range map[string]io.Reader{"empty": strings.NewReader(""), "none": nil} {
		if _, err := form.Read(t.Context(), []string{"application/json"}, body); err == nil {
			t.Errorf("%s: read as fields", name)
		}
		if _, err := form.Read(t.Context(), []string{urlencoded}, body); err != nil {
			t.Errorf("%s form: %v", name, err)
		}
	}
}

// endless is a body without end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// TestTooLargeCostsLittle rejects a body without end: it is not read further than the limit, and needs hardly more
// memory than the largest valid one. The test is not parallel, because it measures the memory of the process.
func TestTooLargeCostsLittle(t *testing.T) {
	var before, after runtime.MemStats
	body := &endless{}
	runtime.ReadMemStats(&before)
	_, err := form.Read(t.Context(), []string{urlencoded}, body)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, form.TooLarge{}) || body.read != form.MaxBody+1 {
		t.Errorf("%d bytes were read: %v", body.read, err)
	}
	if cost := after.TotalAlloc - before.TotalAlloc; cost > form.MaxBody*3/2 {
		t.Errorf("it took %d bytes", cost)
	}
}
