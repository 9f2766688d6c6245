package doctor

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func keepsSessions(s core.Store) bool {
	_, ok := s.(store.SessionStore)
	return ok
}

// stores checks Config.Store.
type stores struct{ *exam }

// look queries each interface of the store for a record that does not exist. If the query succeeds, the table exists.
func (e stores) look() {
	s := e.config.Store
	if v := reflect.ValueOf(s); s == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		if e.auth != nil {
			e.report.ok("store", "none: sessions are in cookies, and no user data is saved")
		}
		return
	}
	e.guarded("store", func() { e.ask(s) })
	if strings.HasSuffix(reflect.Indirect(reflect.ValueOf(s)).Type().PkgPath(), "/storage/memory") && e.secure() &&
		!local(e.site.Hostname()) {
		e.report.add("store", Wrong, "it is in memory: a restart deletes all users", "use storage/postgres, mysql or "+
			"sqlite")
	}
}

// absent is a key that no record has.
const absent = "latchkey-doctor"

func (e stores) ask(s core.Store) {
	ctx, cancel := e.limited()
	defer cancel()
	if engine, ok := s.(interface{ Ping(context.Context) error }); ok {
		if err := engine.Ping(ctx); err != nil {
			e.unreached(err)
			return
		}
	}
	if !e.layout(ctx, s) {
		return
	}
	all := questions(s)
	for _, question := range all {
		err := question.ask(ctx)
		switch {
		case err == nil, errors.Is(err, core.ErrNotFound):
		case errors.Is(err, core.ErrStoreUnavailable), ctx.Err() != nil:
			e.unreached(err)
			return
		default:
			e.report.add("store", Wrong, question.of+" cannot be read: "+err.Error(),
				"call Migrate of the store, or run \"latchkey migrate --store URL\"; if the tables are your own, check the "+
					"Layout")
			return
		}
	}
	e.report.ok("store", "%T responds for %s", s, kinds(all))
	if kept, ok := s.(interface {
		Files(context.Context) ([]string, error)
	}); ok {
		e.files(ctx, kept.Files)
	}
	if collated, ok := s.(interface {
		EmailCollation(ctx context.Context) (found, fix string, err error)
	}); ok {
		e.collation(ctx, collated.EmailCollation)
	}
	if lister, ok := s.(store.EmailLister); ok {
		e.addresses(ctx, lister)
	}
}

func (e stores) unreached(err error) {
	e.report.add("store", Wrong, "the database cannot be reached: "+err.Error(),
		"check its address, whether it runs, and whether this machine may connect")
}

// layout compares tables and indexes with the store's requirements, if the store can do so. It returns false if one is
// missing.
func (e stores) layout(ctx context.Context, s core.Store) bool {
	tables, ok := s.(interface {
		Missing(context.Context) ([]string, error)
	})
	if !ok {
		return true
	}
	missing, err := tables.Missing(ctx)
	if err != nil {
		e.report.add("store", Wrong, err.Error(), "correct the table, or name its columns in the Layout of the store")
		return false
	}
	shared := false
	for _, what := range missing {
		shared = shared || strings.Contains(what, "unique index over email")
	}
	switch {
	case shared:
		e.report.add("store", Wrong, "several users can have one address: missing is "+strings.Join(missing, "; "),
			"merge users with the same address, then call Migrate of the store, or run \"latchkey migrate --store URL\"")
	case len(missing) > 0:
		e.report.add("store", Wrong, "missing: "+strings.Join(missing, "; "),
			"call Migrate of the store, or run \"latchkey migrate --store URL\"")
	}
	return len(missing) == 0
}

// question looks up a record that does not exist.
type question struct {
	of  string
	ask func(context.Context) error
}

func questions(s core.Store) []question {
	all := []question{
		{"users", func(ctx context.Context) error { _, err := s.User(ctx, core.NewID()); return err }},
		{"accounts", func(ctx context.Context) error { _, err := s.UserByAccount(ctx, absent, absent); return err }},
	}
	if v, ok := s.(store.SessionStore); ok {
		all = append(all, question{"sessions", func(ctx context.Context) error {
			_, _, err := v.SessionAndUser(ctx, core.NewID())
			return err
		}})
	}
	if v, ok := s.(store.VerificationTokenStore); ok {
		all = append(all, question{"sign-in tokens", func(ctx context.Context) error {
			_, err := v.UseVerificationToken(ctx, absent, core.NewID())
			return err
		}})
	}
	if v, ok := s.(store.AuthenticatorStore); ok {
		all = append(all, question{"passkeys", func(ctx context.Context) error {
			_, err := v.Authenticator(ctx, absent)
			return err
		}})
	}
	if v, ok := s.(store.RecordStore); ok {
		all = append(all, question{"records", func(ctx context.Context) error {
			_, err := v.Record(ctx, absent, absent)
			return err
		}})
	}
	return all
}

func kinds(all []question) string {
	var names []string
	for _, q := range all {
		names = append(names, q.of)
	}
	return strings.Join(names, ", ")
}
