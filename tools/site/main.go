// Command site builds a static site from the README and the documents in docs. The list of pages and the search work
// offline, from a server or from a folder.
//
//	site -top . -out .site
//
// goldmark converts Markdown to HTML, and chroma colors code. The site contains its stylesheet and its script, and
// loads nothing from other sites.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	top := flag.String("top", ".", "folder of the repository")
	out := flag.String("out", ".site", "output folder; its previous content is removed")
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
