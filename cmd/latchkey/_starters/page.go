package main

import (
	"html/template"
	"io"

	"github.com/latchkey-go/latchkey/core"
)

// view is the data of a page. Session is nil if the user is not signed in.
type view struct {
	Title      string
	Session    *core.Session
	Production bool
}

// The colors are those of Latchkey's pages.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} · Hello</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; --paper: #f5f4f1; --card: #fff; --ink: #1d1c1a; --soft: #605c55; --line: #e3e0da }
@media (prefers-color-scheme: dark) {
  :root { --paper: #121211; --card: #1b1b1a; --ink: #f2f0ec; --soft: #aeaaa2; --line: #343331 }
}
* { box-sizing: border-box }
body { display: flex; flex-direction: column; min-height: 100vh; margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif }
header, footer { background: var(--card); border: solid var(--line); border-width: 0 0 1px }
header > div, main, footer > div { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; width: 100%;
  max-width: 60rem; margin: 0 auto; padding: .5rem 1rem }
nav { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin-inline-end: auto }
main { display: block; flex: 1; padding-block: 3rem }
footer { border-width: 1px 0 0; color: var(--soft); font-size: .875rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-weight: 600; letter-spacing: -.01em }
a { color: inherit; text-underline-offset: .2em }
header a, footer a { padding: .5rem 0; text-decoration: none }
header a:hover, footer a:hover { text-decoration: underline }
header a[aria-current] { font-weight: 600 }
header .user { overflow-wrap: anywhere; color: var(--soft) }
header a.button { padding: .375rem .875rem; border-radius: .75rem; background: var(--ink); color: var(--card);
  font-weight: 600 }
.card { max-width: 36rem; margin: 0; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: 1.25rem;
  background: var(--card) }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px }
</style>
</head>
<body>
<header><div>
<a href="/"><strong>Hello</strong></a>
<nav aria-label="Pages">
<a href="/members"{{if eq .Title "Members"}} aria-current="page"{{end}}>Members</a>
<a href="/admin"{{if eq .Title "Administration"}} aria-current="page"{{end}}>Administration</a>
</nav>
{{with .Session}}<a class="user" href="/auth/account">{{.User.Email}}</a> <a href="/auth/signout">Sign out</a>
{{else}}<a href="/auth/signin">Sign in</a> <a class="button" href="/auth/password/sign-up">Sign up</a>
{{end}}</div></header>
<main>
<h1>{{.Title}}</h1>
<p class="card">{{with .Session}}Signed in as {{.User.Email}}.{{else}}Sign up to see the members' page.{{end}}</p>
</main>
<footer><div>
<nav aria-label="More"><a href="/auth/account">Your account</a>
{{if not .Production}}<a href="/mailbox">Mailbox (emails in development)</a>{{end}}</nav>
</div></footer>
</body>
</html>
`))

func render(w io.Writer, title string, s *core.Session) error {
	return page.Execute(w, view{title, s, production})
}
