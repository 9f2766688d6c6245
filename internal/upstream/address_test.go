package upstream_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, url string
		err       error
	}{
		{"plain http", "http://op.example/", upstream.ErrInsecure},
		{"another scheme", "ftp://op.example/", upstream.ErrInsecure},
		{"metadata service", "https://169.254.169.254/", upstream.ErrAddress},
		{"metadata service by IPv6", "https://[fd00:ec2::254]/", upstream.ErrAddress},
		{"link-local", "https://[fe80::1]/", upstream.ErrAddress},
		{"link-local with a zone", "https://[fe80::1%25lo]/", upstream.ErrAddress},
		{"unspecified", "https://0.0.0.0/", upstream.ErrAddress},
		{"mapped metadata service", "https://[::ffff:169.254.169.254]/", upstream.ErrAddress},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := upstream.New(upstream.Options{}).Do(t.Context(), request(t, row.url), upstream.NoRedirects)
			if !errors.Is(err, row.err) {
				t.Errorf("error %v, want %v", err, row.err)
			}
		})
	}
}

func TestURLsWithoutAHostOrWithAUser(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://user@op.example/", "https://user:secret@127.0.0.1/", "https:///path", "https://:443/",
	} {
		sent := false
		operators := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			sent = true
			return nil, errors.New("not reached")
		})}
		_, err := upstream.New(upstream.Options{HTTP: operators}).Do(t.Context(), request(t, url), upstream.NoRedirects)
		if err == nil || sent {
			t.Errorf("%s: sent", url)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "op.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true,
		"::ffff:127.0.0.1": true,

		"": false, "localhost.": false, "LOCALHOST": false, "localhost.evil.example": false, "evil-localhost": false,
		"127.1": false, "2130706433": false, "0.0.0.0": false, "10.0.0.1": false, "127.0.0.1.evil.example": false,
	} {
		if got := upstream.Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
