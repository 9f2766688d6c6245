// Command mutants removes guards from the code, one at a time, and runs the tests of the nearest package: one must
// fail. The lists in the folder guards contain the changes and the attack that each change would allow.
//
// It changes no files of the working tree: with go's -overlay the compiler reads other files. A change that does not
// compile, or whose text does not occur exactly once, is an error in the list. The program fails if the tests detect
// less than 95 % of the changes, or if they detect a change that the list marks as unseen.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"
)

//go:embed guards
var lists embed.FS

func main() {
	top := flag.String("C", ".", "folder of the repository")
	only := flag.String("only", "", "only guards in files whose path begins with this text")
	at := flag.Int("p", 2, "number of concurrent tests")
	timeout := flag.Duration("timeout", 3*time.Minute, "time limit of a test run")
	compile := flag.Bool("compile", false, "only check that all changes compile")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := all(ctx, os.Stdout, &runner{top: *top, timeout: *timeout, compile: *compile}, *only, *at); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// all tests the guards in files whose path begins with only.
func all(ctx context.Context, out io.Writer, r *runner, only string, at int) error {
	guards, err := load(lists, r.top)
	if err != nil {
		return err
	}
	var some []guard
	for _, g := range guards {
		if strings.HasPrefix(g.file, only) {
			some = append(some, g)
		}
	}
	if len(some) == 0 {
		return errors.New("no guard of the lists is in such a file")
	}
	if r.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	return run(ctx, out, r, some, at)
}

// run tests guards and prints the result of each. It returns an error if the total is not sufficient.
func run(ctx context.Context, out io.Writer, r *runner, guards []guard, at int) error {
	var mu sync.Mutex
	count := map[verdict]int{}
	for _, b := range r.binaries(guards) {
		if err := r.prepare(ctx, b); err != nil {
			return err
		}
		free := make(chan struct{}, at)
		var tried sync.WaitGroup
		for _, id := range sorted(b.guards) {
			free <- struct{}{}
			tried.Go(func() {
				defer func() { <-free }()
				g, found := b.guards[id], r.try(ctx, b, id)
				mu.Lock()
				defer mu.Unlock()
				count[found.verdict]++
				_, _ = fmt.Fprintf(out, "%-9s %s %s:%d %s: %s%s\n",
					found.verdict, g.file, g.list, g.line, g.row, g.why, found.by)
			})
		}
		tried.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return sum(out, count)
}

// enough is the percentage of changes that tests must detect.
const enough = 95

// sum prints the numbers, and returns an error if they are not sufficient. Guards whose absence no test can detect do
// not count.
func sum(out io.Writer, count map[verdict]int) error {
	counted, mistakes := count[killed]+count[survived], count[broken]+count[seen]
	percent := 100 * float64(count[killed]) / float64(max(counted, 1))
	_, _ = fmt.Fprintf(out, "%d guards: %d of %d killed (%.1f %%), %d unseen as the lists say, %d mistakes\n",
		counted+count[unseen]+mistakes, count[killed], counted, percent, count[unseen], mistakes)
	switch {
	case count[broken] > 0:
		return fmt.Errorf("%d changes of the lists do not compile", count[broken])
	case count[seen] > 0:
		return fmt.Errorf("%d guards that the lists call unseen are noticed: take the word away", count[seen])
	case percent < enough:
		return fmt.Errorf("less than %d %% of the changes are noticed", enough)
	}
	return nil
}
