package ui

import (
	"embed"
	"strings"
)

// styleNames are the files of the stylesheet in assets/style, in the order of the cascade: one for all pages, and one
// for each component.
var styleNames = [...]string{
	"base", "dark", "auto", "language", "logo", "crest", "small", "signin", "message", "who", "person", "back",
	"reference", "alert", "button", "choice", "painted", "way", "several", "pairs", "links", "fields", "check", "secret",
	"status", "meter", "elsewhere", "needs",
}

//go:embed assets/style/*.css
var styleFiles embed.FS

// styleText returns a file as served.
func styleText(name string) string {
	source, err := styleFiles.ReadFile("assets/style/" + name + ".css")
	if err != nil {
		panic(err) // the file is embedded
	}
	return minifyStyle(string(source))
}

// stylesheet is the stylesheet of all pages as served.
var stylesheet = func() string {
	var all strings.Builder
	for _, name := range styleNames {
		all.WriteString(styleText(name))
	}
	return all.String()
}()
