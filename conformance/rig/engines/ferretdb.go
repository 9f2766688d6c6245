package engines

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var ferretdb = spec{
	name: "ferretdb", variable: "LATCHKEY_TEST_MONGODB_URL",
	make: func(e *Engine, port string, _ []string) error {
		program, err := ferretProgram()
		if err != nil {
			return err
		}
		data := filepath.Join(e.dir, "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			return err
		}
		e.command = func([]string) *exec.Cmd { return e.program(program, "127.0.0.1:"+port, data) }
		e.ready = "listening on"
		e.stop = syscall.SIGTERM
		e.URL = "mongodb://127.0.0.1:" + port + "/test"
		return nil
	},
}

// ferretProgram builds tools/pinned/ferretdb, once per process. The first build takes a minute, later ones a second.
var ferretProgram = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "latchkey-build-")
	if err != nil {
		return "", err
	}
	builds = append(builds, folder)
	program := filepath.Join(folder, "ferretdb")
	// Without the handlers for other databases, without debug information, and without inlining outside of SQLite: this
	// halves the build time.
	build := exec.CommandContext(context.Background(), "go", "run", "-exec=cp",
		"-tags=ferretdb_no_postgresql,ferretdb_no_mysql", "-ldflags=-s", "-gcflags=all=-dwarf=false -l",
		"-gcflags=std=-dwarf=false", "-gcflags=modernc.org/...=-dwarf=false", ".", program)
	build.Dir = packageFolder("../../../tools/pinned/ferretdb")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: go build in tools/pinned/ferretdb: %w\n%s", exec.ErrNotFound, err, tail(out))
	}
	return program, nil
})

// packageFolder returns the path of a folder that is named relative to the folder of this package.
func packageFolder(folder string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(folder))
}

// mongoDB is the URL of the proxy in front of the shared FerretDB.
var mongoDB struct {
	sync.Mutex
	url string
}

// MongoDB returns the URL of a FerretDB 1, which supports MongoDB's protocol, that the tests of the package share. A
// proxy passes on one command at a time, so that each is atomic as in MongoDB. A test must use its own database.
// Acknowledged data may be lost in a crash of the machine.
func MongoDB(t testing.TB) string {
	t.Helper()
	url := sharedURL(t, ferretdb)
	if !IsFerretDB() {
		return url
	}
	mongoDB.Lock()
	defer mongoDB.Unlock()
	if mongoDB.url == "" {
		var err error
		if mongoDB.url, err = serialize(url); err != nil {
			t.Fatal(err)
		}
	}
	return mongoDB.url
}

// StartFerretDB starts a FerretDB for one test.
func StartFerretDB(t testing.TB) *Engine { t.Helper(); return own(t, ferretdb, nil) }

// IsFerretDB reports whether MongoDB returns the URL of a FerretDB, not of a server named in the environment.
func IsFerretDB() bool { return strings.TrimSpace(os.Getenv(ferretdb.variable)) == "" }
