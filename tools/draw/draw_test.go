package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPictures: the pictures of the documentation are up to date.
func TestPictures(t *testing.T) {
	for _, pattern := range []string{"../../docs/how/*.seq", "../../docs/performance/*.curve"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		if err := draw(files, true); err != nil {
			t.Error(err)
		}
	}
}

func TestCurves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, holds, fault string }{
		{"a line", "title: T\nx: rows\ny: µs\npage: 0 0, 10 100", `points="70,316 630,56"`, ""},
		{"its name", "title: T\npage <b>: 1 2", "page &lt;b&gt;</text>", ""},
		{"a logarithmic scale", "title: T\nscale: log\npage: 0 0, 9 1, 99 1", `points="70,316 350,56 630,56"`, ""},

		{"no title", "page: 1 2", "", "no title"},
		{"no figures", "title: T", "", "no figures"},
		{"no number", "title: T\npage: 1 x", "", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			curves, err := parseCurves(c.text)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("said %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(curves.svg(), c.holds) {
				t.Errorf("%v: no %s in %s", err, c.holds, curves.svg())
			}
		})
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	const figures = "BenchmarkGrowth/claims/page/500-2 10 99 ns/op 12340 cpu-ns/op 1 allocs/op\n" +
		"BenchmarkGrowth/claims/page/20-2 10 99 ns/op 1000 cpu-ns/op\n" +
		"BenchmarkGrowth/claims/page/20-2 10 99 ns/op 9000 cpu-ns/op\nBenchmarkGrowth/other/page/1 1 9 cpu-ns/op\n"
	const want = "title: T\nx: bytes\npage: 20 1, 500 12.3\n"
	if got := filled("title: T\nx: bytes\npage: 1 1\nold: 2 2\n", "claims", figures); got != want {
		t.Errorf("%s", got)
	}
	if got := filled(want, "nothing", figures); got != want {
		t.Errorf("without figures of its own: %s", got)
	}
	const memory = "title: T\nx: connections\nfrom: connections MB\n"
	const more = "BenchmarkGrowth/connections/bare_handler/1000000 1 30 cpu-ns/op 12.5 MB\n"
	if got := filled(memory, "memory", more); got != memory+"bare handler: 1000000 12.5\n" {
		t.Errorf("of other benchmarks, in another unit: %s", got)
	}
	const rates = "BenchmarkGrowth/cores/page/2 1 700 req/s\nBenchmarkGrowth/cores/page/2 1 900 req/s\n"
	const cores = "title: T\nfrom: cores req/s\n"
	if got := filled(cores, "cores", rates); got != cores+"page: 2 900\n" {
		t.Errorf("of two rates: %s", got)
	}
	if _, err := parseCurves(memory + "page: 1 2\n"); err != nil {
		t.Errorf("a file that says where its figures are from: %v", err)
	}
}

func TestNamesStandApart(t *testing.T) {
	t.Parallel()
	c, err := parseCurves("title: T\na: 1 50\nb: 1 51\nc: 1 90\nd: 1 50\n")
	if err != nil {
		t.Fatal(err)
	}
	got := c.names(func(y float64) int { return 100 - int(y) })
	if want := []int{50, 18, 2, 34}; !slices.Equal(got, want) {
		t.Errorf("%v, wanted %v", got, want)
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, holds, fault string }{
		{"a request", "title: T\nA -> B: ask <x>", "ask &lt;x&gt;</text>", ""},
		{"an answer", "title: T\nA -> B: ask\nB --> A: say", `class="go answer"`, ""},
		{"what somebody does", "title: T\nA: thinks", `class="note"`, ""},
		{"a title", "title: T & U\nA: thinks", "<title>T &amp; U</title>", ""},

		{"no title", "A: thinks", "", "no title"},
		{"nothing happens", "title: T", "", "nothing happens"},
		{"no text", "title: T\nA -> B", "", "line 2 has no text"},
		{"to themselves", "title: T\nA -> A: talks", "", "themselves"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := parse(c.text)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("said %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(p.svg(), c.holds) {
				t.Errorf("%v: no %s", err, c.holds)
			}
		})
	}
}

func TestOldPicturesAreFound(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.seq")
	if err := os.WriteFile(file, []byte("title: T\nA: thinks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if draw([]string{file}, true) == nil {
		t.Error("a picture that is not there is current")
	}
	if err := draw([]string{file}, false); err != nil {
		t.Fatal(err)
	}
	if err := draw([]string{file}, true); err != nil {
		t.Error(err)
	}
}
