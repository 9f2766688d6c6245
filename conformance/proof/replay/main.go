// Command replay runs recorded exchanges of Auth.js against Latchkey and prints every difference.
//
//	go run ./conformance/proof/replay -dir DIR -adapter all
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// deviationsFile lists the scenarios with intentional differences, and the reasons. These scenarios also run, and fail
// if the differences disappear.
//
//go:embed deviations.json
var deviationsFile []byte

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder of transcripts")
	flag.StringVar(&o.adapter, "adapter", "core", "core, "+strings.Join(wire.Adapters(), ", ")+", or all")
	flag.StringVar(&o.only, "run", "", "run only scenarios whose ID matches this pattern of * and ?")
	flag.BoolVar(&o.verbose, "v", false, "print the id of every scenario")
	flag.BoolVar(&o.parts, "parts", false, "enable features that Auth.js does not have, and compare what browsers see")
	flag.Parse()
	failed, err := run(os.Stdout, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// options are the command-line options.
type options struct {
	dir, adapter, only string
	verbose, parts     bool
}

func run(out io.Writer, o options) (failed int, err error) {
	files, err := load(o.dir)
	if err != nil {
		return 0, err
	}
	k, err := newKeys()
	if err != nil {
		return 0, err
	}
	var deviations [2]map[string]deviation
	for i, file := range [][]byte{deviationsFile, partsFile} {
		if err := json.Unmarshal(file, &deviations[i]); err != nil {
			return 0, fmt.Errorf("deviations: %w", err)
		}
	}
	names := []string{o.adapter}
	if o.adapter == "all" {
		names = append([]string{"core"}, wire.Adapters()...)
	}
	passed, texts := 0, &textGroups{}
	for _, way := range names {
		via := wayOf(way)
		if via == nil {
			return 0, fmt.Errorf("no adapter %q", way)
		}
		p, n, err := runAll(out, files, deviations, k, texts, via, way, o)
		if err != nil {
			return 0, err
		}
		if len(names) > 1 {
			_, _ = fmt.Fprintf(out, "%s: %d passed, %d failed\n", way, p, n)
		}
		passed, failed = passed+p, failed+n
	}
	_, _ = fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	return failed, nil
}

// replayAny replays the steps of a scenario, or runs its functions.
func replayAny(sc scenario, start time.Time, k *keys, texts *textGroups, via send, parts bool) []string {
	if sc.Steps == nil {
		return runCases(sc, start)
	}
	return replay(sc, start, k, texts, via, parts)
}

// runAll replays all scenarios through one adapter or core.
func runAll(
	out io.Writer, files []file, deviations [2]map[string]deviation, k *keys, texts *textGroups, via send,
	way string, o options,
) (passed, failed int, err error) {
	for _, f := range files {
		start, err := time.Parse(time.RFC3339, f.ClockStart)
		if err != nil {
			start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		for _, sc := range f.Scenarios {
			if !o.wants(f, sc, way) {
				continue
			}
			diffs := replayAny(sc, start, k, texts, via, o.parts)
			if o.report(out, way, sc, expected(sc.ID, diffs, deviations, o.parts)) {
				passed++
			} else {
				failed++
			}
		}
	}
	return passed, failed, nil
}

// wants reports whether a scenario is replayed this way. Raw responses and functions are not replayed over a
// connection.
func (o options) wants(f file, sc scenario, way string) bool {
	if ok, _ := path.Match(o.only, sc.ID); o.only != "" && !ok {
		return false
	}
	return way == "core" || sc.Config["raw"] != true && f.Action != "raw" && sc.Steps != nil
}

// report prints the result of a scenario, and reports whether it passed.
func (o options) report(out io.Writer, way string, sc scenario, diffs []string) bool {
	switch {
	case len(diffs) > 0:
		_, _ = fmt.Fprintf(out, "FAIL %s %s (%s)\n     %s\n", way, sc.ID, sc.Title, strings.Join(diffs, "\n     "))
	case o.verbose:
		_, _ = fmt.Fprintf(out, "ok   %s\n", sc.ID)
	}
	return len(diffs) == 0
}

// expected returns the differences that are not listed: in Latchkey's list and, if plugins are on, in the plugins'
// list.
func expected(id string, diffs []string, deviations [2]map[string]deviation, parts bool) []string {
	d, listed := deviations[0][id]
	if listed {
		diffs = d.compare(diffs)
	}
	if !parts {
		return diffs
	}
	if listed {
		diffs = slices.DeleteFunc(diffs, aftermath)
	}
	if d, listed := deviations[1][id]; listed {
		diffs = d.compare(diffs)
	}
	return diffs
}
