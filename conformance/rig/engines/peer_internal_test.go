package engines

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestInstallPackagesInTurn: of two processes that need the same packages, one installs them and the other one waits.
// This process is both: each spelling of the folder is installed once.
func TestInstallPackagesInTurn(t *testing.T) {
	programs, dir := t.TempDir(), t.TempDir()
	t.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for name, content := range map[string]string{
		filepath.Join(dir, "package-lock.json"): "{}",
		filepath.Join(programs, "npm"): `#!/bin/sh
mkdir busy || exit 1
echo installed >> runs
sleep 0.2
mkdir -p node_modules
echo {} > node_modules/.package-lock.json
rmdir busy
`,
	} {
		if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	for _, spelling := range []string{dir, dir + "/."} {
		both.Go(func() {
			if err := installPackages(spelling); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if runs, err := os.ReadFile(filepath.Join(dir, "runs")); string(runs) != "installed\n" {
		t.Errorf("npm ran: %q (%v)", runs, err)
	}
}
