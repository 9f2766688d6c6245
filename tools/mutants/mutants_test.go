package main

import (
	"bytes"
	"context"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const top = "../.."

// TestListsAreCurrent: each guard of the lists is in its file exactly once, and its row is in the table of attacks. If
// you change or move a guard, update its entry.
func TestListsAreCurrent(t *testing.T) {
	guards, err := load(lists, top)
	if err != nil {
		t.Error(err)
	}
	if len(guards) < 150 {
		t.Errorf("%d guards", len(guards))
	}
	raw, err := os.ReadFile(filepath.Join(top, "conformance/proof/attacks/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z-]+) (\d+(?:, \d+)*) \|`).FindAllStringSubmatch(string(raw), -1) {
		for number := range strings.SplitSeq(m[2], ", ") {
			rows[m[1]+" "+number] = true
		}
	}
	for _, g := range guards {
		if !rows[g.row] {
			t.Errorf("%s:%d: the table of attacks has no row %q", g.list, g.line, g.row)
		}
		if len(g.new) == 0 && len(g.old) == 0 || strings.Join(g.new, "\n") == strings.Join(g.old, "\n") {
			t.Errorf("%s:%d: it changes nothing", g.list, g.line)
		}
	}
}

// TestVerdicts tests guards of a separate module, whose tests detect only some of the changes.
func TestVerdicts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/guarded\n\ngo 1.26\n",
		"door/door.go": `package door

const most = 3

type door struct{ open bool }

func (d *door) enter(name string, _ int, more ...string) (ok bool) {
	if name == "" {
		return false
	}
	if len(more) > most {
		return false
	}
	if name == "nobody" {
		return false
	}
	return d.open
}

func alarm() {
	panic("somebody")
}
`,
		"door/door_test.go": `package door

import "testing"

func TestEnter(t *testing.T) {
	d := &door{open: true}
	if d.enter("", 1) || !d.enter("ada", 1) || d.enter("ada", 1, "b", "c", "d", "e") {
		t.Error("wrong")
	}
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	guards, err := load(fstest.MapFS{"guards/list.txt": {Data: []byte(`
file door/gate.go

# hosts 1: somebody has a name
- if name == "" {
- return false
+ if name == "" {
+ return true

# hosts 2: nobody is nobody
- if name == "nobody" {
+ if false {

# unseen hosts 3: likewise
- if name == "nobody" {
+ if false {

# unseen hosts 4: a door may be closed
- return d.open
+ return !d.open

# hosts 5: few come along
- const most = 3
+ const most = 30

# hosts 6: it does not compile
- return d.open
+ return d.closed

# hosts 7: no test comes here
- panic("somebody")
+ return
`)}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := &runner{top: dir, dir: t.TempDir(), timeout: time.Minute}
	err = run(context.Background(), &out, r, guards, 2)
	if err == nil || !strings.Contains(err.Error(), "do not compile") {
		t.Errorf("it is content: %v", err)
	}
	for _, want := range []string{
		"killed    door/door.go guards/list.txt:4 hosts 1: somebody has a name by TestEnter\n",
		"SURVIVED  door/door.go guards/list.txt:10 hosts 2: nobody is nobody\n",
		"unseen    door/door.go guards/list.txt:14 hosts 3: likewise\n",
		"NOTICED   door/door.go guards/list.txt:18 hosts 4: a door may be closed by TestEnter\n",
		"killed    door/door.go guards/list.txt:22 hosts 5: few come along by TestEnter\n",
		"hosts 6: it does not compile: ",
		"SURVIVED  door/door.go guards/list.txt:30 hosts 7: no test comes here, where no test comes\n",
		"7 guards: 2 of 4 killed (50.0 %), 1 unseen as the lists say, 2 mistakes\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}

// TestMistakesOfLists: errors in lists are reported with their position.
func TestMistakesOfLists(t *testing.T) {
	for _, row := range []struct{ name, list, want string }{
		{"a text that is not there", "file main.go\n# hosts 1: x\n- nowhere()\n+ y",
			"guards/list.txt:2: main.go does not have \"nowhere()\""},
		{"a text that is there often", "file main.go\n# hosts 1: x\n- return\n+ y", "times"},
		{"no text", "file main.go\n# hosts 1: x\n+ y", "it does not say what is changed"},
		{"a row without a number", "file main.go\n# hosts: x\n- func main() {\n", "guards/list.txt:2: not understood"},
		{"no such file", "file nowhere.go\n# hosts 1: x\n- x", "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := load(fstest.MapFS{"guards/list.txt": {Data: []byte(row.list)}}, ".")
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

// TestSum: 95 of 100 are required.
func TestSum(t *testing.T) {
	for _, row := range []struct {
		name  string
		count map[verdict]int
		want  string
	}{
		{"enough", map[verdict]int{killed: 95, survived: 5, unseen: 40}, ""},
		{"too few", map[verdict]int{killed: 94, survived: 6}, "less than 95 %"},
		{"one that compiles no more", map[verdict]int{killed: 99, broken: 1}, "do not compile"},
		{"one that is noticed after all", map[verdict]int{killed: 99, seen: 1}, "take the word away"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := sum(&bytes.Buffer{}, row.count)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

// TestChangedNames: a changed method of a type that a store embeds must not become a method of the store.
func TestChangedNames(t *testing.T) {
	for _, name := range []string{"CreateUser", "user"} {
		if changed := changedName(name, 7); token.IsExported(changed) || changed == changedName(name, 8) {
			t.Errorf("%s with a change is %s", name, changed)
		}
	}
}
