package ui

import (
	"embed"
	"strings"
)

// styleNames are the files of the stylesheet, under assets/style, in the order of the cascade: one for what all pages
// have and for each of the things that stand on some.
var styleNames = [...]string{
	"base", "dark", "auto", "language", "logo", "crest", "small", "signin", "message", "who", "back", "reference",
	"alert", "button", "choice", "painted", "initial", "way", "several", "pairs", "links", "fields", "check", "secret",
	"status", "elsewhere", "needs",
}

//go:embed assets/style/*.css
var styleFiles embed.FS

// styleText is a file as it is sent.
func styleText(name string) string {
	source, err := styleFiles.ReadFile("assets/style/" + name + ".css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return squeezedStyle(string(source))
}

// stylesheet is that of all pages, as it is sent.
var stylesheet = func() string {
	var all strings.Builder
	for _, name := range styleNames {
		all.WriteString(styleText(name))
	}
	return all.String()
}()
