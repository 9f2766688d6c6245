package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPictures: the pictures of the pages are those of their files.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("../../docs/how/*.seq")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	if err := draw(files, true); err != nil {
		t.Error(err)
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
