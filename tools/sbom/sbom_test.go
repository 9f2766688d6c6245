package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/modfile"
)

const root = "../.."

// billOf writes the bill of a module and reads it back.
func billOf(t *testing.T, dir string) (bill cdx.BOM, text []byte) {
	t.Helper()
	about, err := examine(filepath.Join(root, dir))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bill.cdx.json")
	if err := write(path, about.bill("v1.2.3")); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	return bill, text
}

// TestBillOfCore: core compiles all modules that it requires directly. The bill must contain all of them, with the
// right versions and hashes.
func TestBillOfCore(t *testing.T) {
	bill, text := billOf(t, "core")
	if again, same := billOf(t, "core"); !bytes.Equal(text, same) {
		t.Errorf("the same commit has two bills: %d and %d components", len(*bill.Components), len(*again.Components))
	}
	if c := bill.Metadata.Component; c.Name != ours+"core" || c.Version != "v1.2.3" {
		t.Errorf("the bill is about %s %s", c.Name, c.Version)
	}
	found := map[string]cdx.Component{}
	for _, c := range *bill.Components {
		found[c.Name] = c
	}
	mod, err := os.ReadFile(filepath.Join(root, "core", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "core", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		c, there := found[r.Mod.Path]
		sibling := strings.HasPrefix(r.Mod.Path, ours)
		switch {
		case r.Indirect:
		case !there:
			t.Errorf("%s is missing", r.Mod.Path)
		case sibling && c.Version != "v1.2.3", !sibling && c.Version != r.Mod.Version:
			t.Errorf("%s is there as %s", r.Mod.Path, c.Version)
		case !sibling && !strings.Contains(string(sums), r.Mod.Path+" "+r.Mod.Version+" "+hashOf(c)+"\n"):
			t.Errorf("%s has another hash than go.sum", r.Mod.Path)
		}
	}
	if found["std"].Version == "" || found["github.com/google/go-cmp"].Name != "" {
		t.Errorf("std %q; what only tests import: %q", found["std"].Version, found["github.com/google/go-cmp"].Name)
	}
}

// TestEdgesLeadSomewhere: both ends of every dependency are components.
func TestEdgesLeadSomewhere(t *testing.T) {
	bill, _ := billOf(t, "providers/smtp")
	refs := []string{bill.Metadata.Component.BOMRef}
	for _, c := range *bill.Components {
		refs = append(refs, c.BOMRef)
	}
	core := "pkg:golang/" + ours + "core@v1.2.3"
	reached := false
	for _, d := range *bill.Dependencies {
		for _, to := range append(*d.Dependencies, d.Ref) {
			if !slices.Contains(refs, to) {
				t.Errorf("%s is no component", to)
			}
			reached = reached || to == core && d.Ref == bill.Metadata.Component.BOMRef
		}
	}
	if !reached {
		t.Error("providers/smtp does not import core")
	}
}

// hashOf returns the hash of a component in the form of go.sum.
func hashOf(c cdx.Component) string {
	if c.Hashes == nil {
		return "none"
	}
	sum, _ := hex.DecodeString((*c.Hashes)[0].Value)
	return "h1:" + base64.StdEncoding.EncodeToString(sum)
}
