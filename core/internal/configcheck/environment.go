package configcheck

import (
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Environment has the fields of a configuration that environment variables set if they are empty.
type Environment struct {
	URL, BasePath, PublicPath, RedirectProxyURL string
	TrustHost                                   *bool // nil: the default
}

// Read sets the empty fields and returns the warnings to log.
func (e *Environment) Read(getenv func(string) string, report Report) (codes []warnings.Code) {
	codes = e.readURL(getenv, report)
	e.readTrustHost(getenv, report)
	const proxy = "AUTH_REDIRECT_PROXY_URL"
	if v := getenv(proxy); e.RedirectProxyURL == "" && v != "" {
		if _, _, err := weburl.ParseOrigin(v); err != nil {
			report(autherr.InvalidConfig, "%s: %s: "+HowToSetProxy, Named("RedirectProxyURL", v, proxy), Reason(err))
		} else {
			e.RedirectProxyURL = v
		}
	}
	return codes
}

// readURL sets URL, and BasePath from its path.
func (e *Environment) readURL(getenv func(string) string, report Report) []warnings.Code {
	variable := ""
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		if v := getenv(name); e.URL == "" && v != "" {
			e.URL, variable = v, name
		}
	}
	if e.URL == "" {
		return nil
	}
	_, spelt, err := weburl.ParseOrigin(e.URL)
	path, public := strings.TrimRight(spelt, "/"), strings.TrimRight(e.PublicPath, "/")
	switch {
	case err != nil:
		report(autherr.InvalidConfig, "%s: %s: write https://app.example, or http://localhost:3000 while you develop, "+
			"followed by the base path if it is not /auth", Named("URL", e.URL, variable), Reason(err))
	case e.BasePath == "":
		e.BasePath = strings.TrimPrefix(path, public)
	case path != "" && spelt != public+e.BasePath && e.BasePath != "/": // compared exactly, as in Auth.js
		return []warnings.Code{warnings.URLBasePathRedundant, warnings.URLBasePathMismatch}
	case path != "":
		return []warnings.Code{warnings.URLBasePathRedundant}
	}
	return nil
}

func (e *Environment) readTrustHost(getenv func(string) string, report Report) {
	if e.TrustHost != nil {
		return
	}
	// These platforms set the headers themselves.
	on, v := getenv("VERCEL") != "" || getenv("CF_PAGES") != "", getenv("AUTH_TRUST_HOST")
	if v != "" {
		var err error
		if on, err = strconv.ParseBool(v); err != nil {
			report(autherr.InvalidConfig, "AUTH_TRUST_HOST is not a boolean: write true or false")
		}
	}
	if on {
		e.TrustHost = &on
	}
}

// Revocation describes what ends sessions before they expire.
type Revocation struct {
	On       *bool  // Session.Revocation.On; nil: the default
	Database bool   // Session.Strategy is StrategyDatabase
	Store    any    // Config.Store, or nil
	Records  bool   // the store keeps records
	Ends     string // the plugin that ends sessions, or empty
	// Impersonates reports that a plugin allows impersonation.
	Impersonates bool
	// Named reports whether the plugin has reported already that it needs a store.
	Named bool
}

// Check reports what revocation needs of the store. It returns true if revocation is on by default.
func (r *Revocation) Check(report Report) (on bool) {
	unset := r.On == nil
	isOn := !unset && *r.On
	switch {
	case !unset && !isOn && r.Impersonates && !r.Database:
		report(autherr.InvalidConfig, "a plugin allows impersonation, which must be revocable, and Session.Revocation is "+
			"off: remove Session.Revocation.On: core.False, or set Strategy to StrategyDatabase")
	case !unset && !isOn:
	case r.Database:
		if isOn {
			report(autherr.InvalidConfig, "Session.Revocation is for StrategyJWT, and Session.Strategy is StrategyDatabase, "+
				"whose sessions end with their record: switch Revocation off, or set Strategy to StrategyJWT")
		}
	case isOn && r.Store == nil:
		report(autherr.MissingStore, "Session.Revocation needs a Store that keeps records: set Store")
	case isOn && !r.Records:
		report(autherr.MissingStoreMethods, "Session.Revocation needs a Store that is a store.RecordStore too "+
			"(package core/store): %T is not", r.Store)
	case isOn || r.Ends == "":
	case !r.Records:
		kind := autherr.MissingStoreMethods
		if r.Store == nil {
			if kind = autherr.MissingStore; r.Named {
				return false // the plugin does not work without a store
			}
		}
		report(kind, "%s ends sessions, and Session.Strategy keeps them in cookies, which end before they expire only "+
			"if the Store is a store.RecordStore (package core/store): set such a Store, or set Session.Revocation.On to "+
			"core.False if sessions may continue after a password reset", r.Ends)
	default:
		return true
	}
	return false
}

// Guests reports a configuration in which the sessions of a provisional user could not end. plugin is the one with
// provisional users, or empty. merges reports that Callbacks.Merge is set.
func (r *Revocation) Guests(plugin string, merges bool, report Report) {
	switch {
	case plugin == "" && merges:
		report(autherr.InvalidConfig, "Callbacks.Merge would never run: no plugin allows guests. Add plugins/guest, or "+
			"remove the callback")
	case plugin != "" && !r.Database && r.On != nil && !*r.On:
		report(autherr.InvalidConfig, "%s: the sessions of a provisional user must end when the user signs in, and "+
			"Session.Revocation.On is False: remove it, or use StrategyDatabase", plugin)
	}
}
