// Package multisession is a plugin for several accounts in one browser: users add accounts, switch between them without
// signing in again, and sign out of one or all of them.
//
//	accounts := multisession.New()
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{accounts}})
//
// The page of the plugin is <base path>/accounts. [Accounts.Switcher] is a component for the application's own pages.
package multisession
