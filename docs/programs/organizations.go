package main

import (
	"context"
	"fmt"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/providers"
)

func newOrganizations(mailer core.Mailer) *organization.Organizations {
	return organization.New(organization.Options{
		Mail: mailer,
		Roles: []organization.Role{
			{Name: "accountant", Permissions: []string{"invoice:read", "invoice:write"}},
			{Name: "admin", Permissions: []string{"invoice:read"}}, // in addition to its own permissions
		},
	})
}

func newAuth(store core.Store, mailer core.Mailer, orgs *organization.Organizations) (*core.Auth, error) {
	return core.New(core.Config{
		Store: store, Providers: []core.Provider{providers.GitHub()},
		Plugins: []core.Plugin{orgs, account.New(account.Options{Mail: mailer, Delete: forget})},
	})
}

// forget deletes the user's data in your tables. The plugin ends the memberships.
func forget(context.Context, *core.User) error { return nil }

func site(auth *core.Auth, orgs *organization.Organizations) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	list := func(w http.ResponseWriter, r *http.Request) { projects(w, r, orgs) }
	mux.Handle("GET /projects", a.Require(orgs.Member())(http.HandlerFunc(list)))
	mux.Handle("GET /billing", a.Require(orgs.Role(organization.Owner, organization.Admin))(http.HandlerFunc(billing)))
	mux.Handle("POST /invoices", a.Require(orgs.Permission("invoice:write"))(http.HandlerFunc(createInvoice)))
	return mux
}

// projects reads the data of this organization only. Behind a guard, m is never nil.
func projects(w http.ResponseWriter, r *http.Request, orgs *organization.Organizations) {
	m, err := orgs.Current(r.Context())
	if err != nil {
		http.Error(w, "Please try again.", http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, m.OrganizationID, m.Role, m.Allows("invoice:write"))
}

func billing(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "billing") }

func createInvoice(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }
