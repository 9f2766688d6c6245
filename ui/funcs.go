package ui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Funcs returns the components as functions for html/template, bound to the context of a request. Parse templates with
// ui.Funcs(context.Background()), and execute them with [Render], which binds the functions to its request:
//
//	pages := template.Must(template.New("").Funcs(ui.Funcs(context.Background())).ParseGlob("*.html")) // once
//	err := ui.Render(w, r, pages, "home.html", data)                                                   // for a request
//
// The functions are
//
//	{{signIn}}                                    a link to the sign-in page, like {{signIn ""}}
//	{{signIn "github"}}                           like [SignInWith]
//	{{signIn "github" "redirectTo" "/" "label" "Continue"}}
//	{{signOut}}  {{signOut "redirectTo" "/bye"}}  like [SignOutWith]
//	{{csrfField}}                                 like [CSRFField]; {{csrfToken}} is the token
//	{{if signedIn}} … {{end}}                     whether a user is signed in
//	{{with visitor}} {{.Name}} {{end}}            like [CurrentVisitor]
//	{{avatar}}                                    like [Avatar]
//	{{oneTap}}                                    like [OneTap]
//	{{signInMessage .Error}}                      like [Locale.SignInMessage], in the language of the request
//
// Options are pairs of a name and a text: redirectTo, label, class, action and page; for signIn also
// authorizationParams-<name>; for signOut also confirm, which is "true" or "false". If a component fails, for example
// without the request hook, the function and the template fail too.
func Funcs(ctx context.Context) template.FuncMap {
	return template.FuncMap{
		"signIn": func(options ...string) (template.HTML, error) {
			var o SignInOptions
			if len(options) > 0 {
				o.Provider, options = options[0], options[1:]
			}
			if err := o.read(options); err != nil {
				return "", err
			}
			return templ.ToGoHTML(ctx, SignInWith(o))
		},
		"signOut": func(options ...string) (template.HTML, error) {
			var o SignOutOptions
			if err := o.read(options); err != nil {
				return "", err
			}
			return templ.ToGoHTML(ctx, SignOutWith(o))
		},
		"csrfField": func() (template.HTML, error) { return CSRFField(ctx) },
		"csrfToken": func() (string, error) { return CSRFToken(ctx) },
		"avatar":    func() (template.HTML, error) { return templ.ToGoHTML(ctx, Avatar()) },
		"oneTap":    func() (template.HTML, error) { return templ.ToGoHTML(ctx, OneTap()) },
		"visitor":   func() (*Visitor, error) { return CurrentVisitor(ctx) },
		"signedIn": func() (bool, error) {
			v, err := CurrentVisitor(ctx)
			return v != nil, err
		},
		"signInMessage": func(name string) string {
			if s, ok := StateFrom(ctx); ok {
				return s.Locale.SignInMessage(name)
			}
			return SignInMessage(name)
		},
	}
}

// read sets options by name.
func (o *SignInOptions) read(options []string) error {
	return pairs("signIn", options, func(name, value string) error {
		switch name {
		case "redirectTo":
			o.RedirectTo = value
		case "label":
			o.Label = value
		case "class":
			o.Class = value
		case "action":
			o.Action = value
		case "page":
			o.Page = value
		default:
			param, ok := strings.CutPrefix(name, "authorizationParams-")
			if !ok {
				return errNoOption
			}
			if o.Params == nil {
				o.Params = map[string]string{}
			}
			o.Params[param] = value
		}
		return nil
	})
}

func (o *SignOutOptions) read(options []string) error {
	return pairs("signOut", options, func(name, value string) (err error) {
		switch name {
		case "redirectTo":
			o.RedirectTo = value
		case "label":
			o.Label = value
		case "class":
			o.Class = value
		case "action":
			o.Action = value
		case "page":
			o.Page = value
		case "confirm":
			o.Confirm, err = strconv.ParseBool(value)
		default:
			err = errNoOption
		}
		return err
	})
}

// pairs calls set for each pair of a name and a value.
func pairs(function string, options []string, set func(name, value string) error) error {
	if len(options)%2 != 0 {
		return fmt.Errorf("ui: %s takes options in pairs of a name and a value: the last value is missing", function)
	}
	for i := 0; i < len(options); i += 2 {
		if err := set(options[i], options[i+1]); err != nil {
			return fmt.Errorf("ui: option %.64q of %s: %w", options[i], function, err)
		}
	}
	return nil
}

var errNoOption = errors.New("unknown option")
