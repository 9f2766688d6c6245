package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/outbox"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// memory is a store of records that several queues share.
type memory struct {
	mu      sync.Mutex
	records map[string]recordstore.Record
	fail    error // of writes
}

func (m *memory) CreateRecord(_ context.Context, r *recordstore.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.records[r.Key]; ok {
		return recordstore.ErrConflict
	}
	r.Version = 1
	m.records[r.Key] = *r
	return m.fail
}

func (m *memory) Record(_ context.Context, _, key string) (*recordstore.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[key]
	if !ok {
		return nil, recordstore.ErrNotFound
	}
	return &r, nil
}

func (m *memory) UpdateRecord(_ context.Context, r *recordstore.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, ok := m.records[r.Key]
	switch {
	case m.fail != nil:
		return m.fail
	case !ok:
		return recordstore.ErrNotFound
	case before.Version != r.Version:
		return recordstore.ErrConflict
	}
	r.Version++
	m.records[r.Key] = *r
	return nil
}

func (m *memory) DeleteRecord(_ context.Context, _, key string) (*recordstore.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[key]
	switch {
	case m.fail != nil:
		return nil, m.fail
	case !ok:
		return nil, recordstore.ErrNotFound
	}
	delete(m.records, key)
	return &r, nil
}

func (m *memory) list(_ context.Context, _, prefix, _ string, _ int) ([]*recordstore.Record, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*recordstore.Record
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		if r := m.records[key]; strings.HasPrefix(key, prefix) {
			all = append(all, &r)
		}
	}
	return all, "", nil
}

func (m *memory) keys() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(m.records)), " ")
}

// process is a process with a queue. send and made are the results of its attempts and look-ups.
type process struct {
	*outbox.Queue[string]
	send func(j *outbox.Job[string]) error
	made func() (bool, error)

	mu  sync.Mutex
	log []string
}

func (p *process) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, ", ")
}

func (p *process) Encode(value string) (json.RawMessage, error) { return json.Marshal(value) }

func (p *process) Decode(_ string, data json.RawMessage) (value string, err error) {
	return value, json.Unmarshal(data, &value)
}

func (p *process) Send(j *outbox.Job[string]) error {
	p.note("send " + j.Value)
	if p.send == nil {
		return nil
	}
	return p.send(j)
}

func (p *process) Retrying(*outbox.Job[string], error, time.Duration) { p.note("retry") }
func (p *process) Made(*outbox.Job[string]) (bool, error)             { return p.made() }
func (p *process) Warn(*outbox.Job[string], error)                    { p.note("warn") }
func (p *process) Fail(context.Context, error)                        { p.note("fail") }

func (p *process) GiveUp(j *outbox.Job[string], _ error) {
	p.note("give up")
	p.Remove(j)
}

func start(m *memory, options ...func(*outbox.Config)) *process {
	p := &process{}
	c := outbox.Config{
		Kind: "job", Now: time.Now, Lifetime: time.Hour, Slack: 30 * time.Second,
		Retries: []time.Duration{time.Minute, time.Minute},
		Lane: func(key string) (string, outbox.Limits) {
			if len(key) < 2 || key[1] != '-' {
				return "", outbox.Limits{}
			}
			return key[:2], outbox.Limits{Senders: 1, Capacity: 3}
		},
	}
	if m != nil {
		c.Records, c.List = m, m.list
	}
	for _, option := range options {
		option(&c)
	}
	p.Queue = outbox.New(c, p)
	return p
}

func job(t *testing.T, key string) *outbox.Job[string] {
	return &outbox.Job[string]{Key: key, Value: key, Context: t.Context()}
}

var errBusy = errors.New("busy")

func newMemory() *memory { return &memory{records: map[string]recordstore.Record{}} }

func wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of a synctest bubble
	synctest.Wait()
}

// TestAttempts: a job runs until it succeeds or is given up, and then its record is deleted.
func TestAttempts(t *testing.T) {
	for name, row := range map[string]struct {
		errs    []error
		options func(*outbox.Config)
		want    string
		left    string // keys of records
	}{
		"success":     {nil, nil, "send 1-a", ""},
		"one failure": {[]error{errBusy}, nil, "send 1-a, retry, send 1-a", ""},
		"only failures": {[]error{errBusy, errBusy, errBusy}, nil,
			"send 1-a, retry, send 1-a, retry, send 1-a, give up", ""},
		"a final error": {[]error{outbox.Final(errBusy)}, nil, "send 1-a, give up", ""},
		"no attempt":    {[]error{outbox.Later(errBusy)}, nil, "send 1-a, warn", "1-a"},
		"released": {[]error{errBusy}, func(c *outbox.Config) { c.Release = true },
			"send 1-a, retry, send 1-a", ""},
		"released for long": {[]error{errBusy}, func(c *outbox.Config) {
			c.Release, c.Retries = true, []time.Duration{10 * time.Minute}
		}, "send 1-a, retry", "1-a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				options := row.options
				if options == nil {
					options = func(*outbox.Config) {}
				}
				p, n := start(m, options), 0
				p.send = func(*outbox.Job[string]) error {
					if n++; n <= len(row.errs) {
						return row.errs[n-1]
					}
					return nil
				}
				if !p.Add(job(t, "1-a")) {
					t.Fatal("refused")
				}
				wait(20 * time.Minute)
				if p.text() != row.want || m.keys() != row.left {
					t.Errorf("%s, want %s; left %q, want %q", p.text(), row.want, m.keys(), row.left)
				}
				if err := p.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestClaim: a job that a process does not finish belongs to it until the claim ends. Then one of the others runs it. A
// process that continues later does not run it again.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		slow, other, third := start(m), start(m), start(m)
		resume := make(chan struct{})
		slow.send = func(j *outbox.Job[string]) error {
			if j.Attempts == 0 {
				<-resume
				return errBusy
			}
			return nil
		}
		slow.Add(job(t, "1-a"))
		collect := func() {
			for _, p := range []*process{other, third} {
				if err := p.Collect(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		wait(outbox.ClaimFor - time.Second)
		collect()
		if got := other.text() + third.text(); got != "" {
			t.Errorf("a claimed job: %s", got)
		}
		wait(time.Second)
		collect()
		if got := other.text() + third.text(); got != "send 1-a" || m.keys() != "" {
			t.Errorf("an abandoned job: %q, left %q", got, m.keys())
		}
		close(resume)
		wait(time.Hour)
		if got := slow.text(); got != "send 1-a, retry" {
			t.Errorf("the first process: %s", got)
		}
	})
}

// TestPlanned: a planned job runs only if its change was made, whichever process learns that.
func TestPlanned(t *testing.T) {
	for name, row := range map[string]struct {
		then func(p *process, j *outbox.Job[string]) // in the process that plans; nil if it is killed
		late bool                                    // it happens after the other process has looked
		made bool
		err  error
		want string // of this and of another process
		left string
	}{
		"confirmed":          {(*process).confirm, false, false, nil, "send 1-a; ", ""},
		"confirmed too late": {(*process).confirm, true, true, nil, "send 1-a; send 1-a", ""},
		"canceled":           {func(p *process, j *outbox.Job[string]) { p.Cancel(j, false) }, false, true, nil, "; ", ""},
		"canceled, unknown": {
			func(p *process, j *outbox.Job[string]) { p.Cancel(j, true) }, false, true, nil, "; send 1-a", "",
		},
		"killed, made":         {nil, false, true, nil, "; send 1-a", ""},
		"killed, not made":     {nil, false, false, nil, "; ", ""},
		"killed, unanswerable": {nil, false, false, errBusy, "; fail", "1-a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				p, other := start(m), start(m)
				other.made = func() (bool, error) { return row.made, row.err }
				j := job(t, "1-a")
				j.Checkable = true
				if err := p.Plan(t.Context(), nil, j); err != nil || m.keys() != "1-a" {
					t.Fatalf("%v, stored %q", err, m.keys())
				}
				if row.then != nil && !row.late {
					row.then(p, j)
				}
				wait(outbox.ClaimFor)
				if err := other.Collect(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if row.late {
					row.then(p, j)
					synctest.Wait()
				}
				if got := p.text() + "; " + other.text(); got != row.want || m.keys() != row.left {
					t.Errorf("%q, want %q; left %q, want %q", got, row.want, m.keys(), row.left)
				}
			})
		})
	}
}

func (p *process) confirm(j *outbox.Job[string]) { p.Confirm(j) }

// TestLimits: a lane that is full, a quota that is used up and a job that is in memory refuse a job. Other lanes accept
// it. A job in the store waits there.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p := start(m)
		resume := make(chan struct{})
		p.send = func(j *outbox.Job[string]) error {
			if strings.HasPrefix(j.Key, "1-") {
				<-resume
			}
			return nil
		}
		quota := outbox.Quota{Key: "client", Most: 1}
		for _, row := range []struct {
			key    string
			quotas []outbox.Quota
			want   bool
		}{
			{"1-a", []outbox.Quota{quota}, true},
			{"1-b", []outbox.Quota{quota}, false},
			{"1-a", nil, false},
			{"1-b", nil, true},
			{"1-c", nil, true},
			{"1-d", nil, false},
			{"2-a", []outbox.Quota{quota}, true},
		} {
			if got := p.Add(job(t, row.key), row.quotas...); got != row.want {
				t.Errorf("%s %v: %v", row.key, row.quotas, got)
			}
		}
		if err := p.AddStored(job(t, "1-e")); err != nil {
			t.Error(err)
		}
		if err := p.AddStored(job(t, "1-e")); err != nil {
			t.Errorf("a job that is in the store: %v", err)
		}
		if err := p.Collect(t.Context(), "1-"); err != nil || !strings.HasPrefix(m.keys(), "1-a 1-b 1-c 1-e") {
			t.Errorf("%v, stored %q", err, m.keys())
		}
		close(resume)
		if err := p.Flush(t.Context()); err != nil || m.keys() != "1-e" {
			t.Errorf("%v, stored %q", err, m.keys())
		}
		if err := p.Collect(t.Context(), ""); err != nil {
			t.Error(err)
		}
		if err := p.Flush(t.Context()); err != nil || m.keys() != "" || !p.Add(job(t, "1-b"), quota) {
			t.Errorf("%v, stored %q", err, m.keys())
		}
		synctest.Wait()
	})
}

// TestFlush: a flush ends the waits of jobs in memory, and leaves stored jobs to the next process. It ends with its
// context.
func TestFlush(t *testing.T) {
	for name, m := range map[string]*memory{"1 attempt": newMemory(), "3 attempts": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := start(m)
				p.send = func(*outbox.Job[string]) error { return errBusy }
				p.Add(job(t, "1-a"))
				synctest.Wait()
				began := time.Now()
				if err := p.Flush(t.Context()); err != nil || time.Since(began) > 0 {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				if n := strings.Count(p.text(), "send"); n != int(name[0]-'0') {
					t.Errorf("%s: %s", name, p.text())
				}
				resume := make(chan struct{})
				p.send = func(*outbox.Job[string]) error { <-resume; return nil }
				p.Add(job(t, "1-b"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := p.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				close(resume)
				synctest.Wait()
			})
		})
	}
}

// TestStoreFails: a job whose record cannot be written is in memory, and is not lost.
func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(&memory{records: map[string]recordstore.Record{}, fail: errBusy})
		if !p.Add(job(t, "1-a")) {
			t.Error("refused")
		}
		if err := p.AddStored(job(t, "1-b")); !errors.Is(err, errBusy) {
			t.Errorf("AddStored: %v", err)
		}
		if err := p.Plan(t.Context(), nil, job(t, "1-c")); !errors.Is(err, errBusy) {
			t.Errorf("Plan: %v", err)
		}
		synctest.Wait()
		if p.text() != "warn, send 1-a" {
			t.Error(p.text())
		}
	})
}

// TestCollectedContext: a job that Collect has found runs on after the context of Collect has ended, which is that of a
// periodic task.
func TestCollectedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		dead := start(m)
		dead.send = func(*outbox.Job[string]) error { return outbox.Later(errBusy) }
		dead.Add(job(t, "1-a"))
		wait(outbox.ClaimFor)

		p := start(m)
		p.send = func(j *outbox.Job[string]) error {
			time.Sleep(time.Second) //nolint:forbidigo // the clock of a synctest bubble
			return j.Context.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := p.Collect(ctx, ""); err != nil {
			t.Fatal(err)
		}
		cancel()
		wait(time.Minute)
		if p.text() != "send 1-a" || m.keys() != "" {
			t.Errorf("%s; left %q", p.text(), m.keys())
		}
	})
}

// TestShortPages: the job on the second page is found although the first one has fewer records than the limit.
func TestShortPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		dead := start(m)
		dead.send = func(*outbox.Job[string]) error { return outbox.Later(errBusy) }
		for _, key := range []string{"1-a", "1-b"} {
			dead.Add(job(t, key))
		}
		wait(outbox.ClaimFor)

		p := start(m, func(c *outbox.Config) {
			c.List = func(ctx context.Context, kind, prefix, cursor string, limit int) (
				[]*recordstore.Record, string, error,
			) {
				all, _, err := m.list(ctx, kind, prefix, "", limit)
				if cursor == "" {
					return all[:1], "second", err
				}
				return all[len(all)-1:], "", err
			}
		})
		if err := p.Collect(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		if p.text() != "send 1-a, send 1-b" || m.keys() != "" {
			t.Errorf("%s; left %q", p.text(), m.keys())
		}
	})
}
