// Package organization is a plugin for organizations: teams of users with roles, invitations and permissions.
//
//	orgs := organization.New(organization.Options{
//		Mail:  mailer,
//		Roles: []organization.Role{{Name: "accountant", Permissions: []string{"invoice:write"}}},
//	})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{orgs}, Store: store, …})
//	mux.Handle("POST /invoices", a.Require(orgs.Permission("invoice:write"))(invoices))
//
// Users create organizations, invite others by email, and switch between their organizations. A member has a role:
// owner, admin, member, or a role of the application. The guards [Organizations.Member], [Organizations.Role] and
// [Organizations.Permission] check the membership in the selected organization, and [Organizations.Current] returns it
// to handlers.
//
// Every guarded request reads the membership with one query, and the organization at most every 10 seconds. A change of
// a role or the removal of a member therefore takes effect with the next request in every process, under both session
// strategies. With Options.MembershipAge, most requests need no query.
package organization
