package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// web is an HTTP client for public documents and pages.
type web struct {
	client *http.Client
	clocks *clocks
}

func newWeb(config *core.Config, client *http.Client) *web {
	now := config.Now
	if now == nil {
		now = time.Now
	}
	return &web{cmp.Or(client, config.HTTPClient, &http.Client{}), &clocks{now: now}}
}

// mostDocument is the maximum size of an issuer's document.
const mostDocument = 1 << 20

// read fetches a public JSON document.
func (w *web) read(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	w.clocks.note(answer)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, mostDocument))
	return errors.Join(err, json.Unmarshal(raw, into))
}
