// Command attacks sends the payloads of a folder to an application behind each adapter, over real connections, and
// reports the successful attacks. The file name selects the runner. An unknown file, member or word is an error that
// names it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

func main() {
	dir := flag.String("dir", "", "folder of payload files")
	adapter := flag.String("adapter", "all", strings.Join(wire.Adapters(), ", ")+", or all")
	only := flag.String("only", "", "run only the payloads whose ID matches this pattern")
	verbose := flag.Bool("v", false, "also print passed payloads")
	flag.Parse()
	failed, err := run(context.Background(), os.Stdout, *dir, *adapter, *only, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "attacks:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// file is a payload file.
type file struct {
	name   string
	Area   string
	Rows   []string
	Places []string
	// Flows are the steps of each flow.
	Flows      map[string][]string
	Invariants []string
	How        string
	Salt       string
	Secret     string
	Payloads   []json.RawMessage

	// problem is the reason why the file cannot be used.
	problem string
}

// payload has the members of all payloads. Payloads with many concurrent clients run alone.
type payload struct {
	ID, Why string
	Clients int
	Flood   string
}

// kinds maps file names to runners.
var kinds = map[string]func(a *attack){
	"redirects.json": redirects,
	"hosts.json":     hosts,
	"csrf.json":      crossSite,
	"cookies.json":   cookieHeaders,
	"jwe.json":       sessionTokens,
	"oauth.json":     authorization,
	"idtoken.json":   idTokens,
	"upstream.json":  upstream,
	"paths.json":     requestTargets,
	"headers.json":   headerValues,
	"emails.json":    emails,
	"xss.json":       markups,
	"bodies.json":    requestBodies,
	"webauthn.json":  passkeys,
	"linking.json":   whoseAccount,
	"faults.json":    storeFaults,

	"factors.json":      credentials,
	"reauth.json":       credentials,
	"codes.json":        credentials,
	"keys.json":         credentials,
	"accesstokens.json": credentials,
	"apps.json":         credentials,
	"exchanges.json":    credentials,
	"admin.json":        credentials,
}

// attack is one payload through one adapter.
type attack struct {
	context.Context
	adapter string
	file    *file
	raw     json.RawMessage
	// problems are the violations found.
	problems []string
	closers  []func()
	// cleartext serves applications with a fixed origin without TLS, as behind a proxy. Attacks that are not about
	// connections then take a third of the time.
	cleartext bool
	// nested is set if another attack runs this one.
	nested bool
	// readTimeout is the servers' read timeout. Zero means no timeout.
	readTimeout time.Duration
}

func (a *attack) failf(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// gaveUp is a panic value that ends an attack.
type gaveUp struct{ error }

// must ends the attack on an error: the test kit failed, or the server did not respond.
func (a *attack) must(err error) {
	if err != nil {
		panic(gaveUp{err})
	}
}

// read decodes the payload. A member that v does not have is an error, so that no member is ignored silently.
func (a *attack) read(v any) {
	raw, err := spelledOut(a.raw, mainTexts[a.file.name])
	a.must(err)
	a.must(decode(raw, v))
}

// decode decodes JSON. An unknown member is an error.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	return d.Decode(v)
}

func (a *attack) run(kind func(*attack)) {
	defer func() {
		if v := recover(); v != nil {
			stopped, ok := v.(gaveUp)
			if !ok {
				a.failf("the runner panicked: %v", v)
				return
			}
			a.failf("%v", stopped.error)
		}
		for _, closer := range slices.Backward(a.closers) {
			closer()
		}
	}()
	if !a.nested {
		quiet.RLock()
		defer quiet.RUnlock()
	}
	kind(a)
}

func run(ctx context.Context, out io.Writer, dir, adapter, only string, verbose bool) (failed int, err error) {
	files, unknown, err := load(dir)
	if err != nil {
		return 0, err
	}
	if err := resolver(); err != nil {
		return 0, err
	}
	adapters := []string{adapter}
	if adapter == "all" {
		adapters = wire.Adapters()
	} else if !slices.Contains(wire.Adapters(), adapter) {
		return 0, fmt.Errorf("there is no adapter %q", adapter)
	}
	passed := 0
	for _, f := range files {
		p, n := 0, 0
		if f.problem != "" {
			n++
			_, _ = fmt.Fprintf(out, "FAIL %s: %s\n", f.name, f.problem)
		}
		for _, a := range send(ctx, f, adapters, only) {
			var known payload
			_ = json.Unmarshal(a.raw, &known)
			if len(a.problems) > 0 {
				n++
				_, _ = fmt.Fprintf(out, "FAIL %s %s (%s)\n     %s\n",
					a.adapter, known.ID, known.Why, strings.Join(a.problems, "\n     "))
				continue
			}
			p++
			if verbose {
				_, _ = fmt.Fprintf(out, "ok   %s %s\n", a.adapter, known.ID)
			}
		}
		_, _ = fmt.Fprintf(out, "%s: %d passed, %d failed\n", f.name, p, n)
		passed, failed = passed+p, failed+n
	}
	for _, name := range unknown {
		failed++
		_, _ = fmt.Fprintf(out, "FAIL %s: no runner knows a file of that name\n", name)
	}
	_, _ = fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	return failed, nil
}

// atOnce is the number of concurrent attacks. Some of them wait for a timeout.
const atOnce = 8

// send runs the payloads of a file through the adapters and returns them in order.
func send(ctx context.Context, f *file, adapters []string, only string) []*attack {
	var attacks []*attack
	for _, raw := range f.Payloads {
		var known payload
		_ = json.Unmarshal(raw, &known)
		if match, _ := filepath.Match(only, known.ID); only != "" && !match {
			continue
		}
		for _, adapter := range adapters {
			attacks = append(attacks, &attack{Context: ctx, adapter: adapter, file: f, raw: raw})
		}
	}
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, a := range attacks {
		var known payload
		_ = json.Unmarshal(a.raw, &known)
		if known.Clients > 0 || known.Flood != "" {
			all.Wait()
			a.run(kinds[f.name])
			continue
		}
		free <- struct{}{}
		all.Go(func() { a.run(kinds[f.name]); <-free })
	}
	all.Wait()
	return attacks
}

// load reads the files of a folder.
func load(dir string) (files []*file, unknown []string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("no payload files in %q", dir)
	}
	for _, path := range names {
		name := filepath.Base(path)
		if kinds[name] == nil {
			unknown = append(unknown, name)
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		f := &file{name: name}
		if err := decode(raw, f); err != nil {
			f.problem = err.Error()
			if err := json.Unmarshal(raw, f); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if len(f.Payloads) == 0 {
			return nil, nil, errors.New(name + ": no payloads")
		}
		files = append(files, f)
	}
	return files, unknown, nil
}
