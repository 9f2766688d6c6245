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
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
)

// deviationsFile lists the scenarios in which Latchkey is deliberately better, each with the reason. They run all the
// same, and fail when they begin to agree.
//
//go:embed deviations.json
var deviationsFile []byte

func main() {
	dir := flag.String("dir", "", "folder of transcripts")
	adapter := flag.String("adapter", "core", "core, "+strings.Join(wire.Adapters(), ", ")+", or all")
	only := flag.String("run", "", "run only scenarios whose id matches this pattern, as * and ?")
	verbose := flag.Bool("v", false, "print the id of every scenario")
	flag.Parse()
	failed, err := run(os.Stdout, *dir, *only, *adapter, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func run(out io.Writer, dir, only, adapter string, verbose bool) (failed int, err error) {
	files, err := load(dir)
	if err != nil {
		return 0, err
	}
	k, err := newKeys()
	if err != nil {
		return 0, err
	}
	var deviations map[string]deviation
	if err := json.Unmarshal(deviationsFile, &deviations); err != nil {
		return 0, fmt.Errorf("deviations.json: %w", err)
	}
	names := []string{adapter}
	if adapter == "all" {
		names = append([]string{"core"}, wire.Adapters()...)
	}
	passed, texts := 0, &textGroups{}
	for _, way := range names {
		via := wayOf(way)
		if via == nil {
			return 0, fmt.Errorf("no adapter %q", way)
		}
		p, n, err := runAll(out, files, deviations, k, texts, via, way, only, verbose)
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
func replayAny(sc scenario, start time.Time, k *keys, texts *textGroups, via send) []string {
	if sc.Steps == nil {
		return runCases(sc, start)
	}
	return replay(sc, start, k, texts, via)
}

// runAll replays all scenarios by one way.
func runAll(
	out io.Writer, files []file, deviations map[string]deviation, k *keys, texts *textGroups, via send,
	way, only string, verbose bool,
) (passed, failed int, err error) {
	for _, f := range files {
		start, err := time.Parse(time.RFC3339, f.ClockStart)
		if err != nil {
			start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		for _, sc := range f.Scenarios {
			if ok, _ := path.Match(only, sc.ID); only != "" && !ok {
				continue
			}
			if way != "core" && (sc.Config["raw"] == true || f.Action == "raw" || sc.Steps == nil) {
				continue // the internal answer and functions never reach a wire
			}
			diffs := replayAny(sc, start, k, texts, via)
			if d, listed := deviations[sc.ID]; listed {
				diffs = d.compare(diffs)
			}
			if len(diffs) == 0 {
				passed++
				if verbose {
					_, _ = fmt.Fprintf(out, "ok   %s\n", sc.ID)
				}
				continue
			}
			failed++
			_, _ = fmt.Fprintf(out, "FAIL %s %s (%s)\n     %s\n", way, sc.ID, sc.Title, strings.Join(diffs, "\n     "))
		}
	}
	return passed, failed, nil
}
