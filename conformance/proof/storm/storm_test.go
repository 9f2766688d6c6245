package storm

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // creates a database

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

var (
	kills = flag.Int("kills", 4, "kills for each engine; every tenth, and the last, is one of the engine itself")
	named = flag.String("engines", "sqlite,redis", "engines, with commas between: sqlite,postgres,redis,mariadb,etcd")
)

// storm is a store, two servers and their users.
type storm struct {
	*testing.T
	task
	servers [2]*server
	client  *http.Client
	engine  *engines.Engine // nil for SQLite

	away    atomic.Bool  // the database is unavailable, or was a moment ago
	outages atomic.Int64 // of the database
	mu      sync.Mutex
	changed *sync.Cond // signals a confirmed operation
	links   map[string]string
	people  []string    // users who started a sign-in
	chose   []string    // users who started a sign-up with a password
	void    []string    // of these, users whose link and password were rejected later
	in      []*signedIn // confirmed sessions
	left    []*signedIn // sessions with a confirmed sign-out
	figures
}

// figures are the results of a storm.
type figures struct {
	kills, engineKills                                int
	reads                                             int
	lost, wrong, orphans, doubleUse, refused, undying int
	signedUp, laterIn                                 int // with a password; users without a response who succeeded later
	back                                              []time.Duration
	example                                           string
}

// server is a server process.
type server struct {
	address string
	process *exec.Cmd
}

// start starts a server and waits until it accepts connections.
func (s *storm) start(i int) {
	s.Helper()
	t := s.task
	t.Address = s.servers[i].address
	text, err := json.Marshal(t)
	if err != nil {
		s.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	p := exec.CommandContext(context.WithoutCancel(s.Context()), program)
	p.Env = append(os.Environ(), serving+"="+string(text))
	if testing.Verbose() {
		log, err := os.OpenFile(filepath.Join(s.TempDir(), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			s.Fatal(err)
		}
		defer func() { _ = log.Close() }()
		p.Stderr = log
	}
	if err := p.Start(); err != nil {
		s.Fatal(err)
	}
	s.servers[i].process = p
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		c, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", t.Address)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Since(began) > time.Minute {
			s.Fatalf("the server did not start: %v", err)
		}
	}
}

// kill kills a server.
func (s *storm) kill(i int) {
	_ = s.servers[i].process.Process.Kill()
	_ = s.servers[i].process.Wait()
}

func (s *storm) tried(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people = append(s.people, person)
}

func (s *storm) acknowledge(person, token string) *signedIn {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &signedIn{person: person, token: token}
	s.in = append(s.in, in)
	s.changed.Broadcast()
	return in
}

// refuse counts an error that a user got while the database was available.
func (s *storm) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
	s.example = err.Error()
}

// twice counts a link that signed in two devices.
func (s *storm) twice(in []*signedIn) {
	if in[0] == nil || in[1] == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubleUse++
}

// judge checks the result of reading a session. live is set if there was no sign-out.
func (s *storm) judge(in *signedIn, email string, ok, live bool) {
	switch {
	case !ok:
		return
	case email == "" && live:
		s.lost++
		s.example = in.person + " has lost a session"
	case email != "" && email != address(in.person):
		s.wrong++
		s.example = fmt.Sprintf("%s has the session of %s", in.person, email)
	}
	s.reads++
}

// acknowledged waits until more users got a confirmed sign-in.
func (s *storm) acknowledged(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.in) + more; len(s.in) < n && s.Context().Err() == nil; {
		s.changed.Wait()
	}
}

// blow kills servers, and sometimes the database, while users sign in.
func (s *storm) blow(n int) {
	ctx, cancel := context.WithCancel(s.Context())
	var all sync.WaitGroup
	for client := range 4 {
		all.Go(func() {
			for i := client; ctx.Err() == nil; i++ {
				s.visit(ctx, client, i)
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				s.readOne(ctx)
			}
		})
	}
	for i := range n {
		s.acknowledged(1 + rand.IntN(6))
		if s.engine != nil && (i%10 == 9 || i == n-1) {
			s.engineKills++
			s.killEngine()
			continue
		}
		s.kills++
		s.kill(i % 2)
		s.start(i % 2)
	}
	s.acknowledged(6)
	cancel()
	all.Wait()
}

// killEngine kills the database, and measures the time from its restart until the store responds again.
func (s *storm) killEngine() {
	s.outages.Add(1)
	s.away.Store(true)
	s.engine.Kill(s)
	s.engine.Start(s)
	began := time.Now()
	s.mu.Lock()
	in := s.in[0]
	s.mu.Unlock()
	for _, ok := s.read(s.Context(), 0, in); !ok && s.Context().Err() == nil; {
		_, ok = s.read(s.Context(), 0, in)
	}
	s.back = append(s.back, time.Since(began))
	s.acknowledged(12) // each may use a broken connection
	s.away.Store(false)
}

// settle checks all confirmed operations, and the data of users who got no response.
func (s *storm) settle() {
	for i, in := range s.in {
		email, ok := s.read(s.Context(), i%2, in)
		for !ok && s.Context().Err() == nil {
			email, ok = s.read(s.Context(), i%2, in)
		}
		s.judge(in, email, ok, !in.ended)
	}
	for _, in := range s.left {
		if email, ok := s.read(s.Context(), 0, in); ok && email != "" {
			s.undying++
			s.example = in.person + " is signed in again"
		}
	}
	kept, err := openStore(s.Context(), s.Engine, s.URL)
	if err != nil {
		s.Fatal(err)
	}
	s.settlePasswords(kept)
	for _, person := range s.people {
		u, err := kept.UserByEmail(s.Context(), address(person))
		owner, ownerErr := kept.UserByAccount(s.Context(), "p", person)
		for _, err := range []error{err, ownerErr} {
			if err != nil && !errors.Is(err, core.ErrNotFound) {
				s.Fatal(err)
			}
		}
		byMail := ownerErr != nil && u != nil && !u.EmailVerified.IsZero()
		if (err == nil) != (ownerErr == nil) && !byMail || err == nil && ownerErr == nil && u.ID != owner.ID {
			s.orphans++
			s.example = person + " has a user without an account, or an account without a user"
		}
	}
}

// settlePasswords checks the users who signed up with a password. An existing user has a password. A rejected user does
// not exist or can sign in now.
func (s *storm) settlePasswords(kept core.Store) {
	for _, person := range s.chose {
		u, err := kept.UserByEmail(s.Context(), address(person))
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err == nil {
			_, err = kept.(store.RecordStore).Record(s.Context(), "password", u.ID)
		}
		switch {
		case errors.Is(err, core.ErrNotFound):
			s.orphans++
			s.example = person + " has a user without a password"
		case err != nil:
			s.Fatal(err)
		case slices.Contains(s.void, person):
			form := url.Values{"email": {address(person)}, "password": {secret}}
			if _, err := s.device(0).enter(s.Context(), person, "/auth/callback/password", form); err != nil {
				s.lost++
				s.example = person + " has signed up and does not get in: " + err.Error()
			}
		}
	}
}

// open starts the database, with durable writes, and the servers.
func open(t *testing.T, engine string) *storm {
	t.Helper()
	s := &storm{T: t, task: task{Engine: engine}, links: map[string]string{}}
	s.changed = sync.NewCond(&s.mu)
	s.client = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	switch engine {
	case "sqlite":
		s.URL = filepath.Join(t.TempDir(), "storm.db")
	case "postgres":
		s.engine = engines.StartPostgres(t, "synchronous_commit=on")
	case "redis":
		s.engine = engines.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	case "mariadb":
		s.engine = engines.StartMariaDB(t, "innodb-flush-log-at-trx-commit=2")
		s.database(t)
	case "etcd":
		s.engine = engines.StartEtcd(t)
	default:
		t.Fatalf("there is no engine %q", engine)
	}
	if s.engine != nil && s.URL == "" {
		s.URL = s.engine.URL
	}
	mails := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		to, at := r.PostFormValue("to"), r.PostFormValue("url")
		_, path, _ := strings.Cut(strings.TrimPrefix(at, "http://"), "/")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.links[to] = "/" + path
	}))
	t.Cleanup(mails.Close)
	s.Mails = mails.URL
	for i := range s.servers {
		s.servers[i] = &server{address: "127.0.0.1:" + engines.FreePort(t)}
		s.start(i)
		t.Cleanup(func() { s.kill(i) })
	}
	return s
}

// database creates a database on MariaDB.
func (s *storm) database(t *testing.T) {
	t.Helper()
	db, err := sql.Open("mysql", s.engine.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE storm"); err != nil {
		t.Fatal(err)
	}
	s.URL = strings.TrimSuffix(s.engine.URL, "/mysql") + "/storm"
}

// TestStorm kills processes and counts errors. Nothing may be lost.
func TestStorm(t *testing.T) {
	for _, engine := range strings.Split(*named, ",") {
		t.Run(engine, func(t *testing.T) {
			s := open(t, engine)
			began := time.Now()
			s.blow(*kills)
			s.settle()
			f := s.figures
			slices.Sort(f.back)
			back := "-"
			if n := len(f.back); n > 0 {
				back = fmt.Sprintf("%v, worst %v", f.back[n/2].Round(time.Millisecond), f.back[n-1].Round(time.Millisecond))
			}
			t.Logf("| %s | %d / %d | %d | %d | %d | %d | %d of %d | %d | %d | %d | %s | %v |", engine, f.kills, f.engineKills,
				len(s.in), f.reads, f.lost, f.wrong, f.orphans, len(s.people), f.doubleUse, f.undying, f.refused, back,
				time.Since(began).Round(time.Second))
			t.Logf("%s: of %d who signed up with a password, %d were told that they are in; of those who were not, %d are when "+
				"they try again, and %d sign up again", engine, len(s.chose), f.signedUp, f.laterIn, len(s.void))
			if bad := f.lost + f.wrong + f.orphans + f.doubleUse + f.undying + f.refused; bad > 0 || len(s.in) == 0 {
				t.Errorf("%d: the last one: %s", bad, f.example)
			}
		})
	}
}
