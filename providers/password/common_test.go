package password_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

func TestCommon(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"password": true, "PassWord": true, "12345678": true, "qwertyuiop": true, "iloveyou": true, "trustno1": true,
		"passwordpassword": true, "dragondragondragon": true, "111111111111111": true, "abcabcabcabcabc": true,
		"123456789012345": true, "987654321098765": true, "abcdefghijklmnop": true, "qwertyuiopasdfghjkl": true,
		"lkjhgfdsapoiuytrewq": true, "1q2w3e4r5t6y7u8i": true, "password123456789": true, "123456789password": true,
		"princess11111111": true,

		"correct horse battery": false, "violet-otter-ladder": false, "pässwörter sind lang": false, "": false,
		"x9$Kq2!mVw7&Lp4z": false, "dragon83920174652": false, "\xf0\x9f\xff\x80\xff\xfa\xc0\xe1": false,
	} {
		if got := password.Common(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
	for hostile, want := range map[string]bool{ // a kilobyte each, to find slow paths
		strings.Repeat("1234567890", 102): true, strings.Repeat("é", 512): true,
		strings.Repeat("a", 1023) + "b": false, strings.Repeat("ab", 512) + "a": false,
		"x" + strings.Repeat("1", 1023): false,
	} {
		if got := password.Common(hostile); got != want {
			t.Errorf("%.12q and so on: %v", hostile, got)
		}
	}
}

// TestCommonList: the list contains the most frequent passwords to its end, and at least 3,000 of a length that a site
// can allow (OWASP ASVS 5.0, 6.2.4).
func TestCommonList(t *testing.T) {
	t.Parallel()
	if n, bytes := password.CommonEntries(); n != 47705 || bytes > 250_000 {
		t.Errorf("%d entries in %d bytes", n, bytes)
	}
	for _, word := range []string{"jennifer", "q1w2e3r4t5", "789456123", "freedom7", "centurion", "ilovepor"} {
		if !password.Common(word) {
			t.Errorf("%q is not in the list", word)
		}
	}
}

// TestHIBP uses a fake range service.
func TestHIBP(t *testing.T) {
	t.Parallel()
	sum := sha1.Sum([]byte("correct horse battery"))
	digest := strings.ToUpper(hex.EncodeToString(sum[:]))
	other := strings.Repeat("0", 35)
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   bool
		fails  bool
	}{
		"breached": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "%s:3\r\n%s:12\r\n", other, digest[5:])
		}, want: true},
		"in lower case": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "%s:12\n", strings.ToLower(digest[5:]))
		}, want: true},
		"not among them": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "%s:3\r\n", other)
		}},
		"padding": {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, "%s:0", digest[5:]) }},
		"nothing": {answer: func(http.ResponseWriter, *http.Request) {}},
		"garbage": {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }},

		"down": {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, fails: true},
		"redirected": {answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				_, _ = fmt.Fprintf(w, "%s:12\n", digest[5:])
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, fails: true},
		"slow": {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, fails: true},
		"one endless line": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("A", 2<<20))
		}, fails: true},
		"endless": {answer: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(other+":1\n", 60000))
		}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 2)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.URL.String() + "|" + r.Header.Get("Add-Padding") + "|" + r.Header.Get("Cookie")
				row.answer(w, r)
			}))
			defer s.Close()
			service := password.Range{URL: s.URL + "/range/", Client: s.Client(), Timeout: time.Minute}
			if name == "slow" {
				service.Timeout = 500 * time.Millisecond
			}
			got, err := service.Breached(context.Background(), core.Secret("correct horse battery"))
			if got != row.want || (err != nil) != row.fails {
				t.Errorf("answered %v, %v", got, err)
			}
			if name != "slow" { // it may have timed out before the request
				if want, got := "/range/"+digest[:5]+"|true|", <-asked; got != want {
					t.Errorf("asked %s, want %s", got, want)
				}
			}
			if err != nil && (strings.Contains(err.Error(), digest[:5]) || strings.Contains(err.Error(), s.URL)) {
				t.Errorf("the error repeats what was asked: %v", err)
			}
		})
	}
}

// silent is a service that never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestRangeTimeout: the default timeout of the service is two seconds.
func TestRangeTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		service := password.Range{Client: &http.Client{Transport: silent{}}}
		_, err := service.Breached(t.Context(), "correct horse battery")
		if waited := time.Since(begun); err == nil || waited != 2*time.Second {
			t.Errorf("after %v: %v", waited, err)
		}
	})
}

// recorder is a service that knows no password. It records the URL of the last request.
type recorder struct{ url string }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.url = request.URL.String()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestRangeByDefault(t *testing.T) {
	t.Parallel()
	service := &recorder{}
	known, err := password.Range{Client: &http.Client{Transport: service}}.Breached(t.Context(), "password")
	if known || err != nil || service.url != "https://api.pwnedpasswords.com/range/5BAA6" { // the SHA-1's first characters
		t.Errorf("%t, %v, requested %s", known, err, service.url)
	}
}
