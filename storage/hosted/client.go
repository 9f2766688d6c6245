package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// Config identifies the database.
type Config struct {
	// DatabaseURL is the URL of the database without a branch, for example "https://team.region.example/db/app".
	DatabaseURL string
	// Branch is the branch of the database, for example "main".
	Branch string
	// APIKey is sent as a bearer token.
	APIKey store.Secret
	// Prefix is the prefix of all table names. The default is "svc_".
	Prefix string
	// HTTP sends the requests. The default is a client with a timeout of 30 seconds.
	HTTP *http.Client
}

// GetConfig returns the branch and the URL of the database, but not the key.
func (s *Store) GetConfig() (branch, databaseURL string) {
	return s.db.config.Branch, s.db.config.DatabaseURL
}

// client sends requests to the database's HTTP API.
type client struct {
	http   *http.Client
	base   string
	config Config
}

// largest is the maximum number of bytes read from a response: a page of records with long texts.
const largest = 64 << 20

// rejectedError is a response that rejects a request because of a constraint or a missing record. The store finds the
// cause by reading, because the API does not guarantee its error texts.
type rejectedError struct {
	status  int
	message string
}

func (e *rejectedError) Error() string {
	return fmt.Sprintf("the database rejected the request: %d %s", e.status, e.message)
}

// post sends a request and decodes the response into into.
func (c *client) post(ctx context.Context, path string, body, into any) error {
	var sent bytes.Buffer
	e := json.NewEncoder(&sent)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return err
	}
	text := sent.Bytes()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return errors.New("DatabaseURL and Branch do not form a valid URL")
	}
	r.GetBody = nil // never retried: the first attempt may have been applied
	r.Header.Set("Authorization", "Bearer "+string(c.config.APIKey))
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(answer.Body, largest+1))
	switch {
	case err != nil:
		return err
	case len(got) > largest:
		return errors.New("the database's response is too large")
	case answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusConflict ||
		answer.StatusCode == http.StatusUnprocessableEntity:
		return &rejectedError{answer.StatusCode, message(got, body)}
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: the database returned %d %s", errNoTable, answer.StatusCode, message(got, body))
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return fmt.Errorf("the database returned %d %s", answer.StatusCode, message(got, body))
	}
	d := json.NewDecoder(bytes.NewReader(got))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return errors.New("the database's response cannot be decoded")
	}
	return nil
}

// message returns the error text of a response, unless it contains values of the request.
func message(answer []byte, sent any) string {
	var m struct {
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(answer, &m) != nil {
		return "and did not say why"
	}
	texts := []string{m.Message}
	for _, e := range m.Errors {
		texts = append(texts, e.Message)
	}
	text := strings.TrimSpace(strings.Join(texts, " "))
	if len(text) > 500 || repeats(text, sent) {
		return "and says why in words that repeat a value: they are left out here"
	}
	return text
}

// repeats reports whether a text contains the beginning of a value that was sent. Names are not values.
func repeats(text string, sent any) bool {
	switch v := sent.(type) {
	case string:
		return len(v) >= 6 && strings.Contains(text, v[:min(len(v), 16)])
	case record:
		return repeats(text, map[string]any(v))
	case map[string]any:
		for name, value := range v {
			if name != "table" && name != "columns" && repeats(text, value) {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if repeats(text, value) {
				return true
			}
		}
	}
	return false
}
