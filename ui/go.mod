module github.com/latchkey-go/latchkey/ui

go 1.26.0

require (
	github.com/a-h/templ v0.3.977
	golang.org/x/net v0.62.0
)
