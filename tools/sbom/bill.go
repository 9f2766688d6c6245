package main

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// ours is the common prefix of this repository's module paths.
const ours = "github.com/latchkey-go/latchkey/"

// bill returns the bill of materials. It has no time and no serial number: the same commit gives the same bytes.
func (f *found) bill(version string) *cdx.BOM {
	standard := cdx.Component{
		Type: cdx.ComponentTypeLibrary, Name: "std", Version: f.goVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(f.goVersion, "go"),
	}
	standard.BOMRef = standard.PackageURL
	components := []cdx.Component{standard}
	var edges []cdx.Dependency
	refs := map[string]string{}
	for path, m := range f.modules {
		refs[path] = m.component(version).BOMRef
	}
	subject := f.modules[f.path].component(version)
	for _, path := range slices.Sorted(maps.Keys(f.modules)) {
		m := f.modules[path]
		if path != f.path {
			components = append(components, m.component(version))
		}
		on := []string{standard.BOMRef}
		for _, to := range slices.Sorted(maps.Keys(m.imports)) {
			on = append(on, refs[to])
		}
		edges = append(edges, cdx.Dependency{Ref: refs[path], Dependencies: &on})
	}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Component: &subject}
	bill.Components, bill.Dependencies = &components, &edges
	return bill
}

func (m *module) component(version string) cdx.Component {
	at := m.version
	if strings.HasPrefix(m.path, ours) {
		at = version
	}
	c := cdx.Component{
		Type: cdx.ComponentTypeLibrary, Name: m.path, Version: at, PackageURL: "pkg:golang/" + m.path + "@" + at,
	}
	c.BOMRef = c.PackageURL
	// The h1 hash of go.sum is a SHA-256 hash over the hashes of the files, in base64 (golang.org/x/mod/sumdb/dirhash).
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
