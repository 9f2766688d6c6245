package engines_test

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// reachable reports whether a server listens at the address in a URL.
func reachable(t *testing.T, dsn string) bool {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address.FindString(dsn))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func withoutOptions(start func(testing.TB) *engines.Engine) func(testing.TB, ...string) *engines.Engine {
	return func(t testing.TB, _ ...string) *engines.Engine { return start(t) }
}

func TestEngines(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *engines.Engine{
		"postgres": engines.StartPostgres, "mariadb": engines.StartMariaDB,
		"redis": engines.StartRedis, "etcd": engines.StartEtcd,
		"ferretdb": withoutOptions(engines.StartFerretDB), "dynalite": withoutOptions(engines.StartDynalite),
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			if !reachable(t, e.URL) {
				t.Fatal("started and not reachable")
			}
			before := e.PID()
			e.Stop(t)
			if reachable(t, e.URL) {
				t.Error("stopped and reachable")
			}
			e.Start(t)
			e.Pause(t)
			e.Resume(t)
			e.Kill(t)
			e.Start(t)
			if !reachable(t, e.URL) || e.PID() == before {
				t.Error("started again and not reachable, or the same process")
			}
		})
	}
}

// TestTemporaryFiles starts a server while another has temporary files. A MariaDB deletes all files with such names in
// its folder for temporary files.
func TestTemporaryFiles(t *testing.T) {
	folder, err := os.MkdirTemp("", "latchkey-beside-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	file := filepath.Join(folder, "#sql-temptable-1-1-1.MAI")
	if err := errors.Join(os.Chmod(folder, 0o777), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	engines.StartMariaDB(t)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestShared(t *testing.T) {
	if os.Getenv("LATCHKEY_TEST_POSTGRES_URL") != "" {
		t.Skip("LATCHKEY_TEST_POSTGRES_URL names another server")
	}
	first := engines.Postgres(t)
	if _, err := url.Parse(first); err != nil || first != engines.Postgres(t) {
		t.Errorf("%q, and another the second time; %v", first, err)
	}
}

// TestDynaliteSurvivesHangUps closes connections before requests are complete.
func TestDynaliteSurvivesHangUps(t *testing.T) {
	e := engines.StartDynalite(t)
	for range 20 {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address.FindString(e.URL))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")); err != nil {
			t.Fatal(err)
		}
		answers(t, e.URL) // it has read the first half of the request
		_ = conn.Close()
	}
	answers(t, e.URL)
}

func answers(t *testing.T, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}
