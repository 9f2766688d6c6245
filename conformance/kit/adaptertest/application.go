package adaptertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// staff is the application's data about a user.
type staff struct{ Role string }

// Roles implements the method that [core.HasRole] requires.
func (s staff) Roles() []string { return []string{s.Role} }

// roles makes Ada the administrator. For Mallory it returns an error.
func roles(_ context.Context, u *core.User) (staff, error) {
	switch u.Name {
	case "Ada":
		return staff{"admin"}, nil
	case "Mallory":
		return staff{}, errors.New("no answer from the database")
	}
	return staff{"reader"}, nil
}

// guard rejects only Eve.
func guard(_ context.Context, s *core.Session) error {
	if s.User.Name == "Eve" {
		return core.ErrForbidden
	}
	return nil
}

// application is shared by the routes under test.
type application struct {
	auth, office *core.Auth
	data         *core.SessionData[staff]
	// later receives a function that reads the session after the handler has returned. hold blocks until the handler may
	// continue.
	later func(read func() (*core.Session, error))
	hold  func()
}

// routes returns one or more routes for each style of use.
func (a *application) routes() []Route {
	hook := Step{Auth: a.auth}
	guarded := func(guards ...core.Guard) []Step {
		return []Step{{Auth: a.auth, Kind: RequireSession, Guards: guards}}
	}
	area := []Step{{
		Auth: a.auth, Kind: RequireSessionWhere, Where: core.PathPrefix("/area"), Guards: []core.Guard{guard},
	}}
	early := Step{Kind: Early, Do: func(c Call) { say(c, "early\n") }}
	return []Route{
		{"GET", "/page", []Step{hook}, page},
		{"GET", "/once", nil, once},
		{"GET", "/twice", []Step{hook}, func(c Call) { _, _ = c.OneSession(); once(c) }},
		{"GET", "/thrice", []Step{hook, hook, hook}, page},
		{"GET", "/early", []Step{early, hook}, page},
		{"GET", "/later", []Step{hook}, func(c Call) { a.later(c.Kept()); say(c, "ok") }},
		{"GET", "/hold", []Step{hook}, func(c Call) { a.hold(); page(c) }},
		{"GET", "/stream", []Step{hook}, stream},
		{"GET", "/parallel", []Step{hook}, parallel},

		{"GET", "/private", guarded(), page},
		{"GET", "/strict", guarded(guard), page},
		{"GET", "/area/page", area, page},
		{"GET", "/areal", area, page},
		{"GET", "/office", []Step{hook, {Auth: a.office, Kind: RequireSession}}, page},

		{"GET", "/data", []Step{hook}, a.role},
		{"GET", "/admin", guarded(a.data.Guard(func(s staff) bool { return s.Role == "admin" })), a.role},
		{"GET", "/readers", guarded(core.AnyOf(core.HasRole(a.data, "reader"), core.RecentSignIn(0))), a.role},

		{"", "/component", []Step{hook, hook}, func(c Call) { draw(c, component) }},
		{"GET", "/visitor", []Step{hook}, func(c Call) { draw(c, visitor) }},
		{"GET", "/template", []Step{hook}, func(c Call) { draw(c, fromTemplate) }},
		{"GET", "/hookless", nil, func(c Call) { draw(c, visitor) }},

		{"POST", "/signin", nil, Call.SignIn},
		{"POST", "/signout", nil, Call.SignOut},
		{"POST", "/try/signin", nil, try(func(c Call) error { return c.StartSignIn(nil) })},
		{"POST", "/try/signout", nil, try(func(c Call) error { return c.EndSession(nil) })},
		{"POST", "/again/signin", nil, again},
		{"POST", "/call/signin", nil, try(decoded(Call.StartSignIn))},
		{"POST", "/call/signout", nil, try(decoded(Call.EndSession))},
	}
}

func say(c Call, text string) { _, _ = io.WriteString(c, text) }

// page writes the name of the user. It reads the session twice, like a page with several components.
func page(c Call) {
	_, _ = c.Session()
	say(c, greeting(c.Session()))
}

// once is a page without a hook.
func once(c Call) { say(c, greeting(c.OneSession())) }

// greeting returns the text of the pages.
func greeting(session *core.Session, err error) string {
	switch {
	case err != nil:
		return "error"
	case session == nil:
		return "nobody"
	}
	return "hello " + session.User.Name
}

func stream(c Call) {
	ctx := c.Context()
	c.Stream("begin\n", func() string { return greeting(core.SessionFrom(ctx)) })
}

// parallel reads the session and renders forms in goroutines, while the handler sets header fields.
func parallel(c Call) {
	var all sync.WaitGroup
	ctx, session := c.Context(), c.Kept()
	for range 4 {
		all.Go(func() { _, _ = session() })
		all.Go(func() { _ = component(ctx, io.Discard) })
	}
	for i := range 100 {
		c.Header("X-Number-"+strconv.Itoa(i%10), strconv.Itoa(i))
	}
	all.Wait()
	say(c, "ok")
}

// role writes the application's data about the user.
func (a *application) role(c Call) {
	session, data, err := a.data.FromContext(c.Context())
	switch {
	case err != nil:
		say(c, "error")
	case session == nil:
		say(c, "nobody")
	default:
		say(c, session.User.Name+" is "+data.Role)
	}
}

// draw writes HTML, or 500 and the error if it cannot be rendered.
func draw(c Call, html func(context.Context, io.Writer) error) {
	var b bytes.Buffer
	if err := html(c.Context(), &b); err != nil {
		c.Status(http.StatusInternalServerError)
		say(c, err.Error())
		return
	}
	c.Header("Content-Type", "text/html; charset=utf-8")
	_, _ = c.Write(b.Bytes())
}

// component renders a form.
func component(ctx context.Context, w io.Writer) error { return ui.SignIn("plain").Render(ctx, w) }

// visitor renders the name of the current user.
func visitor(ctx context.Context, w io.Writer) error {
	v, err := ui.CurrentVisitor(ctx)
	if err != nil {
		return err
	}
	name := "nobody"
	if v != nil {
		name = template.HTMLEscapeString(v.Name)
	}
	if _, err = io.WriteString(w, "<p>"+name+"</p>"); err != nil {
		return err
	}
	return ui.Avatar().Render(ctx, w)
}

var parsed = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).Parse(
	`{{if signedIn}}{{with visitor}}<p title="{{.Name}}">{{.Name}}</p>{{end}}{{avatar}}{{signOut}}` +
		`{{else}}<p>nobody</p>{{signIn "plain" "redirectTo" "/after"}}{{end}}`))

// fromTemplate is visitor and component with html/template.
func fromTemplate(ctx context.Context, w io.Writer) error {
	t, err := parsed.Clone()
	if err != nil {
		return err
	}
	return t.Funcs(ui.Funcs(ctx)).Execute(w, nil)
}

// try returns a handler that writes error responses for an action itself.
func try(action func(Call) error) func(Call) {
	return func(c Call) {
		if err := action(c); err != nil {
			c.Status(http.StatusUnprocessableEntity)
			say(c, failed(err))
		}
	}
}

// again is a handler that shows the form fields again after an error.
func again(c Call) {
	if err := c.StartSignIn(nil); err != nil {
		c.Status(http.StatusUnprocessableEntity)
		say(c, failed(err)+": "+c.Field("name")+", "+c.Field("email"))
	}
}

// decoded decodes the input of a component from the body.
func decoded[Input core.SignInInput | core.SignOutInput](action func(Call, *Input) error) func(Call) error {
	return func(c Call) error {
		var in Input
		if err := json.NewDecoder(c.Body()).Decode(&in); err != nil {
			return fmt.Errorf("the body is no JSON: %w", err)
		}
		return action(c, &in)
	}
}

// failed returns the application's response text for an error of an action.
func failed(err error) string {
	var invalid *core.InvalidInputError
	if errors.As(err, &invalid) {
		raw, err := json.Marshal(invalid)
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	var failure *core.Error
	if !errors.As(err, &failure) {
		return "no *core.Error: " + err.Error()
	}
	return strings.TrimSpace(failure.Type.Public() + " " + failure.Code)
}
