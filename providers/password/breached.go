package password

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the service's lookup key, not for protection
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

// HIBP reports whether a password is in a known breach, according to Have I Been Pwned. Use it as Options.Breached. The
// service receives the first five characters of the password's SHA-1, which hundreds of passwords share, and no email
// address. The timeout is two seconds.
func HIBP(ctx context.Context, password core.Secret) (bool, error) {
	return Range{}.Breached(ctx, password)
}

// Range is a client of a service with the range API of Have I Been Pwned. The zero value uses the public service. It is
// safe for concurrent use.
type Range struct {
	// URL is the prefix of the request URL; the five characters are appended. The default is
	// "https://api.pwnedpasswords.com/range/".
	URL string
	// Client sends the requests. Redirects are not followed. If Client is nil, http.DefaultTransport is used.
	Client *http.Client
	// Timeout limits the request including its response. The default is 2 seconds.
	Timeout time.Duration
}

// maxRange limits the response. A response has about 1,000 lines of 40 bytes, and the same amount of padding.
const maxRange = 1 << 20

// Breached reports whether the service knows the password. Its errors do not contain the request URL.
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
		return false, errors.New("password: malformed Range.URL")
	}
	request.Header.Set("Add-Padding", "true") // hides the response's size from an eavesdropper
	request.Header.Set("User-Agent", "latchkey")
	answer, err := r.client().Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // its text contains the URL
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

// find searches the rest of a digest in lines of "<rest>:<count>". Lines with a count of zero are padding.
func find(body io.Reader, rest string) (bool, error) {
	lines := bufio.NewScanner(body)
	read := 0
	for lines.Scan() {
		if read += len(lines.Bytes()) + 1; read > maxRange {
			return false, errors.New("password: breached passwords: the response is too long")
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
