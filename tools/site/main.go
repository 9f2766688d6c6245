// Command site builds a static site of the documents of this repository: the README and everything under docs, with a
// list of pages and a search that work without a network, from a server or from a folder.
//
//	site -top . -out .site
//
// Markdown becomes HTML by goldmark, code gets its colours by chroma. The site brings its stylesheet and its script
// along and loads nothing from elsewhere.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	top := flag.String("top", ".", "folder of the repository")
	out := flag.String("out", ".site", "folder to write into; what is there is removed")
	flag.Parse()
	pages, err := build(*top, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if absolute, err := filepath.Abs(*out); err == nil { // make runs this in another folder
		*out = absolute
	}
	fmt.Printf("%d pages: open %s/index.html\n", pages, *out)
}
