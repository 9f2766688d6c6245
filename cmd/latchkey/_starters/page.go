package main

import (
	"html/template"
	"io"

	"github.com/latchkey-go/latchkey/core"
)

// view is the data of a page. Session is nil if the user is not signed in.
type view struct {
	Title   string
	Session *core.Session
}

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} · Hello</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; border-bottom: 1px solid var(--line) }
header nav { display: flex; flex: 1; gap: 1.5rem }
a { color: inherit; text-underline-offset: .2em }
header a { text-decoration: none }
header a:hover, main a:hover { text-decoration: underline }
details { position: relative }
summary { cursor: pointer }
details div { position: absolute; right: 0; display: grid; gap: .5rem; min-width: 11rem; margin-top: .5rem; padding: 1rem;
  border: 1px solid var(--line); border-radius: .5rem; background: Canvas }
main { padding-top: 2rem }
.card { padding: 1rem 1.5rem; border-radius: .75rem; background: var(--soft) }
</style>
</head>
<body>
<header>
<a href="/"><strong>Hello</strong></a>
<nav><a href="/members">Members</a> <a href="/admin">Administration</a></nav>
{{with .Session}}<details><summary>{{.User.Email}}</summary>
<div><a href="/auth/account">Your account</a> <a href="/auth/signout">Sign out</a></div></details>
{{else}}<a href="/auth/signin">Sign in</a> <a href="/auth/password/sign-up">Sign up</a>{{end}}
</header>
<main>
<h1>{{.Title}}</h1>
{{with .Session}}<p class="card">Signed in as {{.User.Email}}.</p>
{{else}}<p class="card">Sign up to see more. In development no email is sent: emails appear in
<a href="/mailbox">the mailbox</a>.</p>{{end}}
</main>
</body>
</html>
`))

func render(w io.Writer, title string, s *core.Session) error {
	return page.Execute(w, view{title, s})
}
