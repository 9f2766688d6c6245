package password

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the service's index, no protection
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// HIBP asks Have I Been Pwned whether a password is in a known breach, for Options.Breached. The service sees the first
// five characters of its SHA-1, which hundreds of passwords share, and no address of anybody's. It has two seconds.
func HIBP(ctx context.Context, password core.Secret) (bool, error) {
	return Range{}.Breached(ctx, password)
}

// Range is a service with the range interface of Have I Been Pwned, at that of the project or a copy of one's own. The
// zero value is the project's. It is safe for concurrent use.
type Range struct {
	// URL is what the five characters are appended to; empty: "https://api.pwnedpasswords.com/range/".
	URL string
	// Client sends the request, and follows no redirect; nil: one without a proxy of its own.
	Client *http.Client
	// Timeout bounds the request, answer included; zero: 2 seconds.
	Timeout time.Duration
}

// maxRange bounds the answer: about 1,000 lines of 40 bytes, and as much padding again.
const maxRange = 1 << 20

// Breached reports whether the service knows the password. Its error does not repeat the address that was asked.
func (r Range) Breached(ctx context.Context, password core.Secret) (bool, error) {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // as above
	digest := strings.ToUpper(hex.EncodeToString(sum[:]))
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	base := r.URL
	if base == "" {
		base = "https://api.pwnedpasswords.com/range/"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+digest[:5], nil)
	if err != nil {
		return false, errors.New("password: the Range's URL cannot be read")
	}
	request.Header.Set("Add-Padding", "true") // answers of one length tell an eavesdropper nothing
	request.Header.Set("User-Agent", "latchkey")
	answer, err := r.client().Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // its text repeats the address
			err = about.Err
		}
		return false, fmt.Errorf("password: breached passwords: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return false, fmt.Errorf("password: breached passwords: status %d", answer.StatusCode)
	}
	return find(io.LimitReader(answer.Body, maxRange+1), digest[5:])
}

func (r Range) client() *http.Client {
	client := http.Client{}
	if r.Client != nil {
		client = *r.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// find looks for the rest of a digest among lines of "<rest>:<count>". A count of zero is padding.
func find(body io.Reader, rest string) (bool, error) {
	lines := bufio.NewScanner(body)
	read := 0
	for lines.Scan() {
		if read += len(lines.Bytes()) + 1; read > maxRange {
			return false, errors.New("password: breached passwords: the answer is too long")
		}
		suffix, count, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		if ok && strings.EqualFold(suffix, rest) {
			return strings.Trim(count, "0") != "", nil
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("password: breached passwords: %w", err)
	}
	return false, nil
}
