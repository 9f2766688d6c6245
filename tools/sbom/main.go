// Command sbom writes a software bill of materials in CycloneDX 1.6 format for each module of the workspace. It
// contains the modules of all compiled packages, with versions, the hashes of go.sum and their dependencies. It does
// not contain modules that only tests import, because users of our modules do not get them.
//
// cyclonedx-gomod does the same for one module or one program. It follows require lines and does not support a
// workspace with replace lines.
//
//	sbom -out sbom -version v1.2.3    writes sbom/core.cdx.json and so on
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	root := flag.String("root", ".", "directory of go.work")
	out := flag.String("out", "sbom", "directory to write into")
	version := flag.String("version", "v0.0.0", "version of the modules of this repository")
	flag.Parse()
	if err := writeAll(*root, *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// writeAll writes a file for each module of the workspace.
func writeAll(root, out, version string) error {
	dirs, err := workspace(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, dir := range dirs {
		about, err := examine(filepath.Join(root, dir))
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		name := strings.ReplaceAll(filepath.ToSlash(filepath.Clean(dir)), "/", "-") + ".cdx.json"
		if err := write(filepath.Join(out, name), about.bill(version)); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	fmt.Printf("sbom: %d modules in %s\n", len(dirs), out)
	return nil
}

func write(path string, bill *cdx.BOM) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6)
}
