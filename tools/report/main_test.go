package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport runs go test on a small module and compares the report.
func TestReport(t *testing.T) {
	for _, row := range []struct {
		name, code string
		fails      bool
		has, not   []string
	}{
		{"passes", `t.Log("sqlite: 43 cases"); t.Log("chatter")`, false,
			[]string{"ok  \tm", "    sqlite: 43 cases\n"}, []string{"chatter", "PASS", "RUN"}},
		{"fails", `t.Log("what it said"); t.Error("wrong")`, true,
			[]string{"FAIL\tm", "what it said", "wrong", "--- FAIL: TestX"}, []string{"RUN", "TestQuiet"}},
		{"panics", `panic("boom")`, true, []string{"boom", "FAIL\tm"}, nil},
		{"does not compile", `x`, true, []string{"undefined: x", "FAIL\tm [build failed]"}, nil},
		{"prints", `println("to standard error"); t.Fail()`, true, []string{"to standard error"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"go.mod": "module m\n\ngo 1.26\n",
				"m_test.go": "package m\n\nimport \"testing\"\n\n" +
					"func TestQuiet(t *testing.T) { t.Log(\"TestQuiet says\") }\n\n" +
					"func TestX(t *testing.T) { " + row.code + " }\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), "go", "test", "-json", "./...")
			command.Dir, command.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			events, _ := command.CombinedOutput() // it fails if the tests fail
			var out strings.Builder
			failed, err := report(strings.NewReader(string(events)), &out)
			if err != nil || failed != row.fails {
				t.Errorf("failed %v, %v", failed, err)
			}
			for _, text := range row.has {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is missing in\n%s", text, out.String())
				}
			}
			for _, text := range row.not {
				if strings.Contains(out.String(), text) {
					t.Errorf("%q is in\n%s", text, out.String())
				}
			}
		})
	}
}
