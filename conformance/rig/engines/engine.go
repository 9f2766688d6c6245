// Package engines starts real database servers for tests: one that all tests of a package share, or one that a single
// test can stop, kill and restart. They are the programs that are installed on the system. They listen on loopback
// ports and have their data in a temporary folder. The package needs only the standard library.
//
//	func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
//
//	func TestStore(t *testing.T) { url := engines.Postgres(t); … }
//
// A variable such as LATCHKEY_TEST_POSTGRES_URL names a server to use instead of the shared one. If a program is not
// installed, the test is skipped, or fails if LATCHKEY_TEST_REQUIRE is "all".
package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The maximum time to start or stop a server.
const patience = 2 * time.Minute

// Engine is a server in its own process. Its methods are not safe for concurrent use.
type Engine struct {
	// URL is the address for clients. It stays the same after a restart.
	URL string

	name    string
	dir     string
	command func(options []string) *exec.Cmd
	ready   string // log text when it accepts connections
	stop    syscall.Signal
	owner   *syscall.Credential // nil means the user that runs the tests

	process *exec.Cmd
	ended   chan struct{}
}

// spec describes how to find and start a server.
type spec struct {
	name, variable, apt string
	// make prepares the data folder and sets the fields of the engine.
	make func(e *Engine, port string, options []string) error
}

// shared are the servers that the tests of this process share, by name.
var shared struct {
	sync.Mutex
	engines map[string]*Engine
}

// builds are the folders of programs built for the tests of this process.
var builds []string

// Main runs the tests of a package, stops the shared servers and returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	for _, e := range shared.engines {
		_ = e.end(e.stop)
		_ = os.RemoveAll(e.dir)
	}
	for _, folder := range builds {
		_ = os.RemoveAll(folder)
	}
	return code
}

// sharedURL returns the URL of the shared server, which it starts on first use.
func sharedURL(t testing.TB, s spec) string {
	t.Helper()
	if url := os.Getenv(s.variable); url != "" {
		return url
	}
	shared.Lock()
	defer shared.Unlock()
	if e := shared.engines[s.name]; e != nil {
		return e.URL
	}
	e := fresh(t, s, nil)
	if shared.engines == nil {
		shared.engines = map[string]*Engine{}
	}
	shared.engines[s.name] = e
	return e.URL
}

// own starts a server for one test.
func own(t testing.TB, s spec, options []string) *Engine {
	t.Helper()
	e := fresh(t, s, options)
	t.Cleanup(func() {
		_ = e.end(syscall.SIGKILL)
		_ = os.RemoveAll(e.dir)
	})
	return e
}

// fresh creates and starts a server.
func fresh(t testing.TB, s spec, options []string) *Engine {
	t.Helper()
	e := &Engine{name: s.name}
	var err error
	if e.dir, err = os.MkdirTemp("", "latchkey-"+s.name+"-"); err != nil { // t.TempDir is not accessible to other users
		t.Fatal(err)
	}
	fail := func(err error) {
		t.Helper()
		_ = os.RemoveAll(e.dir)
		if !errors.Is(err, exec.ErrNotFound) {
			t.Fatalf("%s: %v", s.name, err)
		}
		text := s.name + " is not installed: apt-get install -y --no-install-recommends " + s.apt + ", or set " + s.variable
		if !errors.As(err, new(*exec.Error)) { // the program is not part of the system
			text = s.name + ": " + err.Error() + "; or set " + s.variable
		}
		Absent(t, text)
	}
	port, err := freePort()
	if err != nil {
		fail(err)
	}
	if err := s.make(e, port, options); err != nil {
		fail(err)
	}
	if err := e.begin(nil); err != nil {
		fail(err)
	}
	return e
}

// PID returns the ID of the server's process.
func (e *Engine) PID() int { return e.process.Process.Pid }

// Stop shuts the server down cleanly.
func (e *Engine) Stop(t testing.TB) { t.Helper(); check(t, e.end(e.stop)) }

// Kill kills the server immediately, with its child processes, which would otherwise continue to serve for a moment.
func (e *Engine) Kill(t testing.TB) {
	t.Helper()
	e.Pause(t) // so that it creates no more children
	children, err := e.children()
	check(t, err)
	for _, pid := range children {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	check(t, e.end(syscall.SIGKILL))
}

// Start starts a stopped or killed server again, with the same data and port. options are appended to the original ones
// and apply until the next start.
func (e *Engine) Start(t testing.TB, options ...string) { t.Helper(); check(t, e.begin(options)) }

// Pause suspends the server's processes, so that it does not respond, until Resume.
func (e *Engine) Pause(t testing.TB) {
	t.Helper()
	// Threads stop one after another, and Linux can omit a process from the list of children while another one exits. So
	// all must be suspended several times in a row.
	began := time.Now()
	for suspended := 0; suspended < 5; time.Sleep(time.Millisecond) {
		check(t, e.signalAll(syscall.SIGSTOP))
		suspended++
		if e.running(t) {
			suspended = 0
		}
		if time.Since(began) > patience {
			t.Fatalf("%s did not pause", e.name)
		}
	}
}

// running reports whether a thread of the server's processes is not suspended. It works only on Linux; elsewhere it
// returns false.
func (e *Engine) running(t testing.TB) bool {
	t.Helper()
	children, err := e.children()
	check(t, err)
	for _, pid := range append(children, e.PID()) {
		threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
		check(t, err)
		for _, path := range threads {
			stat, err := os.ReadFile(path)
			if err != nil {
				continue // it has exited
			}
			_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
			if !bytes.ContainsAny(state[:1], "TtZX") {
				return true
			}
		}
	}
	return false
}

// Resume resumes a paused server.
func (e *Engine) Resume(t testing.TB) { t.Helper(); check(t, e.signalAll(syscall.SIGCONT)) }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts the server and waits until it accepts connections. It retries, because remaining processes of a killed
// server may still lock its files for a moment.
func (e *Engine) begin(options []string) error {
	deadline := time.Now().Add(patience)
	for {
		err := e.tryBegin(deadline, options)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (e *Engine) tryBegin(deadline time.Time, options []string) error {
	path := filepath.Join(e.dir, "log")
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// The server inherits this: it then gets an error at the limit of LimitFiles, and is not killed.
	signal.Ignore(syscall.SIGXFSZ)
	e.process = e.command(options)
	e.process.Stdout, e.process.Stderr = log, log
	if err := e.process.Start(); err != nil {
		return err
	}
	e.ended = make(chan struct{})
	go func(p *exec.Cmd, ended chan struct{}) { _ = p.Wait(); close(ended) }(e.process, e.ended)
	for {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte(e.ready)) {
			return nil
		}
		select {
		case <-e.ended:
			return fmt.Errorf("%s ended while it started; its log ends:\n%s", e.name, tail(text))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			_ = e.end(syscall.SIGKILL)
			return fmt.Errorf("%s did not start; its log ends:\n%s", e.name, tail(text))
		}
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-2000):] }

// end sends a signal and waits until the process exits.
func (e *Engine) end(s syscall.Signal) error {
	if e.process == nil || e.process.Process == nil {
		return nil
	}
	if err := e.process.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = e.process.Process.Signal(syscall.SIGCONT) // a suspended process handles no other signal except SIGKILL
	select {
	case <-e.ended:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s did not end", e.name)
	}
}

// signalAll sends a signal to the server and its child processes. The server is first, so that it creates no more
// children.
func (e *Engine) signalAll(s syscall.Signal) error {
	if err := syscall.Kill(e.PID(), s); err != nil {
		return err
	}
	children, err := e.children()
	if err != nil {
		return err
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// children returns the IDs of the server's child processes.
func (e *Engine) children() (pids []int, err error) {
	pid := strconv.Itoa(e.PID())
	text, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err != nil { // not Linux; pgrep fails if there are none
		text, _ = exec.CommandContext(context.Background(), "pgrep", "-P", pid).Output()
	}
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, child)
	}
	return pids, nil
}

// LimitFiles limits the size of the server's files in bytes, which the server sees like a full disk. 0 removes the
// limit. It needs prlimit from util-linux.
func (e *Engine) LimitFiles(t testing.TB, size int64) {
	t.Helper()
	limit := "unlimited"
	if size > 0 {
		limit = strconv.FormatInt(size, 10)
	}
	children, err := e.children()
	check(t, err)
	for _, pid := range append([]int{e.PID()}, children...) {
		// Only the soft limit, which the server's owner can raise again.
		err := e.run("prlimit", "--pid", strconv.Itoa(pid), "--fsize="+limit+":")
		if err != nil && syscall.Kill(pid, 0) == nil {
			t.Fatal(err)
		}
	}
}

// program returns a command that runs as the engine's owner, in its own process group, and ends with the tests. It has
// its own folder for temporary files, because a MariaDB deletes the files of all others in that folder when it starts.
func (e *Engine) program(path string, args ...string) *exec.Cmd {
	c := exec.CommandContext(context.Background(), path, args...)
	c.Dir = e.dir
	c.Env = append(os.Environ(), "TMPDIR="+e.dir)
	c.SysProcAttr = attributes(e.owner)
	return c
}

// run runs a command and waits for it.
func (e *Engine) run(path string, args ...string) error {
	if out, err := e.program(path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, tail(out))
	}
	return nil
}

// ownedBy changes the owner of the data folder if the tests run as root, because database servers refuse to run as
// root.
func (e *Engine) ownedBy(name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	e.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(e.dir, int(uid), int(gid))
}

// find looks for a program in folders, the later matches of a pattern first, and then in PATH.
func find(name string, patterns ...string) (string, error) {
	for _, pattern := range patterns {
		matches, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			return "", err
		}
		for i := len(matches) - 1; i >= 0; i-- {
			if info, err := os.Stat(matches[i]); err == nil && info.Mode()&0o111 != 0 {
				return matches[i], nil
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return exec.LookPath(name)
}

// FreePort returns a free port of this machine. It is below the range of ephemeral ports, so that no outgoing
// connection and no listener on port 0 can take it before the server does.
func FreePort(t testing.TB) string {
	t.Helper()
	port, err := freePort()
	check(t, err)
	return port
}

func freePort() (port string, err error) {
	l, err := Listen(context.Background())
	if err != nil {
		return "", err
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// Listen listens on a free port of this machine. It chooses the port below the range of ephemeral ports, because the
// kernel takes milliseconds to find one after thousands of connections.
func Listen(ctx context.Context) (l net.Listener, err error) {
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port); err == nil {
			return l, nil
		}
	}
	return nil, err
}
