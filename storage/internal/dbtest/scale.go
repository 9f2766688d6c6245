package dbtest

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// scaleBase is the number of people that [Scale] creates through the store before it doubles them.
const scaleBase = 1000

// Scale measures a store with many people. Each has a user, an account and a session; half of the sessions are expired.
// It measures reading a session, signing up, counting expired rows, and the latency of sign-ups while DeleteExpired
// runs. LATCHKEY_ROWS is the number of people; the default is 4,000. Use -benchtime 1x, because one run is one
// measurement.
//
// double duplicates everything in the database, and appends the suffix to the user's ID and address, the account's ID
// and the session's token. If it is nil, all people are created through the store.
func Scale(b *testing.B, store core.Store, double func(letter string)) {
	b.Helper()
	rows := 4 * scaleBase
	if text := os.Getenv("LATCHKEY_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < scaleBase {
			b.Fatalf("LATCHKEY_ROWS is %q: a number of %d or more", text, scaleBase)
		}
		rows = n
	}
	s := &scale{B: b, store: store}
	began := time.Now()
	s.fill(rows, double)
	b.Logf("filled with %d people in %v", s.people, time.Since(began).Round(time.Second))
	b.ResetTimer()
	for b.Loop() {
		s.measure()
	}
}

type scale struct {
	*testing.B
	store  core.Store
	people int
	newest int // number of sign-ups so far
}

func (s *scale) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// The suffixes of the duplicates, one for each duplication.
const letters = "abcdefghijklmnop"

// suffix returns the name of the i-th person. Each suffix doubles the people: half of the names contain it.
func suffix(i int) string {
	name := strconv.Itoa(i % scaleBase)
	for set := uint(i / scaleBase); set != 0; set &= set - 1 {
		name += letters[bits.TrailingZeros(set):][:1]
	}
	return name
}

func (s *scale) fill(rows int, double func(letter string)) {
	s.people = scaleBase
	if double == nil {
		s.people = rows
	}
	var workers sync.WaitGroup
	const parallel = 4
	for w := range parallel {
		workers.Go(func() {
			for i := w; i < s.people; i += parallel {
				expires := base.Add(time.Duration(i%scaleBase+1) * time.Minute) // not expired
				if i%2 == 0 {
					expires = base.Add(-time.Duration(i%scaleBase+1) * time.Minute)
				}
				if err := s.signUp(suffix(i), expires); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	for letter := 0; s.people < rows; letter++ {
		double(letters[letter : letter+1])
		s.people *= 2
	}
}

// signUp writes the rows of a first sign-in.
func (s *scale) signUp(name string, expires time.Time) error {
	write := func(ctx context.Context, tx core.Store) error {
		user := &core.User{ID: "u" + name, Name: "Name", Email: "e" + name}
		if _, err := tx.CreateUser(ctx, user); err != nil {
			return err
		}
		account := &core.Account{UserID: user.ID, Type: core.TypeOAuth, Provider: "p", ProviderAccountID: "a" + name}
		if err := tx.LinkAccount(ctx, account); err != nil {
			return err
		}
		session := &store.Session{Token: core.Secret("s" + name), UserID: user.ID, Expires: expires}
		return tx.(store.SessionStore).CreateSession(ctx, session)
	}
	if tx, ok := s.store.(store.Transactor); ok {
		return tx.InTransaction(s.Context(), write)
	}
	return write(s.Context(), s.store)
}

func (s *scale) measure() {
	s.report("read", s.times(2000, func() error {
		_, _, err := s.store.(store.SessionStore).SessionAndUser(s.Context(), "s"+suffix(rand.N(s.people/2)*2+1))
		return err
	}))
	s.report("sign-up", s.times(500, func() error {
		s.newest++
		return s.signUp(fmt.Sprint("new", s.newest), base.Add(time.Hour))
	}))
	s.left()
	s.clean()
	began := time.Now()
	n, err := s.store.(store.Cleaner).DeleteExpired(s.Context(), base)
	s.must(err)
	if n != 0 {
		s.Fatalf("%d rows were left", n)
	}
	s.ReportMetric(float64(time.Since(began).Microseconds())/1000, "nothing-to-do-ms")
}

// left measures the time to count the expired rows, for a caller with a cancelled context.
func (s *scale) left() {
	ended, end := context.WithCancel(s.Context())
	end()
	began := time.Now()
	n, err := s.store.(store.Cleaner).DeleteExpired(ended, base)
	s.ReportMetric(float64(time.Since(began).Microseconds())/1000, "left-ms")
	var left *store.LeftError
	if n != 0 || !errors.As(err, &left) {
		s.Fatalf("%d rows went, error %v", n, err)
	}
	s.ReportMetric(float64(left.Rows), "left-rows")
}

func (s *scale) times(n int, call func() error) (took []time.Duration) {
	for range n {
		began := time.Now()
		s.must(call())
		took = append(took, time.Since(began))
	}
	return took
}

func (s *scale) report(name string, took []time.Duration) {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)-1))].Microseconds())
	}
	s.ReportMetric(at(0.5), name+"-p50-µs")
	s.ReportMetric(at(0.99), name+"-p99-µs")
	s.ReportMetric(at(1), name+"-longest-µs")
}

// clean deletes expired rows while two clients sign up, and then lets two clients sign up alone for the same time.
// Delays of a shared machine are in both results.
func (s *scale) clean() {
	var took time.Duration
	s.report("meanwhile", s.visitors(func() {
		began := time.Now()
		n, err := s.store.(store.Cleaner).DeleteExpired(s.Context(), base)
		took = time.Since(began)
		s.must(err)
		s.ReportMetric(took.Seconds(), "clean-s")
		s.ReportMetric(float64(n), "clean-rows")
	}))
	s.report("in-peace", s.visitors(func() { time.Sleep(took) }))
}

// visitors runs sign-ups, two at a time, while meanwhile runs, and returns their durations.
func (s *scale) visitors(meanwhile func()) (waits []time.Duration) {
	var all sync.WaitGroup
	var mu sync.Mutex
	over := make(chan struct{})
	for v := range 2 {
		s.newest++
		name := fmt.Sprintf("visitor%d.%d.", s.newest, v)
		all.Go(func() {
			for i := 0; ; i++ {
				began := time.Now()
				if err := s.signUp(name+strconv.Itoa(i), base.Add(time.Hour)); err != nil {
					s.Error(err)
					return
				}
				mu.Lock()
				waits = append(waits, time.Since(began))
				mu.Unlock()
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	meanwhile()
	close(over)
	all.Wait()
	return waits
}
