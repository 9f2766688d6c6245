package main

import (
	"html/template"
	"io"

	"github.com/latchkey-go/latchkey/core"
)

// view is what the page shows. Session is nil where nobody is signed in.
type view struct {
	Title   string
	Session *core.Session
}

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<body style="font-family: system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>{{.Title}}</h1>
{{with .Session}}
<p>Signed in as {{.User.Email}}.</p>
<p><a href="/members">Members</a> · <a href="/admin">Administration</a> ·
<a href="/auth/account">Your account</a> · <a href="/auth/signout">Sign out</a></p>
{{else}}
<p><a href="/auth/signin">Sign in</a> or <a href="/auth/password/sign-up">sign up</a>: letters arrive in
<a href="/mailbox">the mailbox</a>.</p>
{{end}}
`))

func render(w io.Writer, title string, s *core.Session) error {
	return page.Execute(w, view{title, s})
}
