package statements

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clientModule is a row of the table of client tests: module, provider, state, evidence.
var clientModule = regexp.MustCompile("^\\| `(oidcc-client-[a-z0-9-]+)` \\| (.+?) \\| (.+?) \\| (.+) \\|$")

// TestEveryModule compares the table of relying-party tests with the payloads that name their module. Each such module
// must be in the table once. A module that is met must name a test or a payload file that contains it. TestEveryPromise
// checks that the tests exist.
func TestEveryModule(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(top, promises))
	if err != nil {
		t.Fatal(err)
	}
	inFile := modulesOfPayloads(t)
	seen := map[string]bool{}
	for i, line := range strings.Split(string(raw), "\n") {
		m := clientModule.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, state, shown := m[1], m[3], m[4]
		if seen[name] {
			t.Errorf("%s:%d: %s is there twice", promises, i+1, name)
		}
		seen[name] = true
		switch {
		case state == "met" && !strings.Contains(shown, " Test"):
			t.Errorf("%s:%d: %s is met, and no test is named", promises, i+1, name)
		case state != "met" && state != "none":
			t.Errorf("%s:%d: the state is %q", promises, i+1, state)
		}
		for _, quoted := range code.FindAllStringSubmatch(shown, -1) {
			if strings.HasSuffix(quoted[1], ".json") && !inFile[quoted[1]][name] {
				t.Errorf("%s:%d: no payload of %s is %s", promises, i+1, quoted[1], name)
			}
		}
	}
	for file, modules := range inFile {
		for name := range modules {
			if !seen[name] {
				t.Errorf("%s does not have %s, which a payload of %s is", promises, name, file)
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("%s has %d modules", promises, len(seen))
	}
}

// modulesOfPayloads returns the modules that payloads name, by file.
func modulesOfPayloads(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, name := range []string{"idtoken.json", "upstream.json"} {
		raw, err := os.ReadFile(filepath.Join(top, filepath.Dir(attackRows), "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Payloads []struct{ OIDF string } }
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		all[name] = map[string]bool{}
		for _, p := range file.Payloads {
			if module, _, _ := strings.Cut(p.OIDF, " "); strings.HasPrefix(module, "oidcc-client-") {
				all[name][module] = true
			}
		}
	}
	return all
}
