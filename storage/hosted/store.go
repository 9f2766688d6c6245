// Package hosted keeps users, accounts, sessions and tokens in a hosted database that is spoken to over HTTP: tables,
// links and transactions of one request. The README names a service that has such an API.
//
//	store, err := hosted.New(hosted.Config{
//		DatabaseURL: "https://team.region.example/db/app", Branch: "main", APIKey: key,
//	})
//
// The tables have to be there; the README names their columns and which of them must be unique.
package hosted

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Options change what is seldom changed. The zero value is the default.
type Options struct {
	// Prefix begins the names of all tables; empty: "svc_".
	Prefix string
	// HTTP sends the requests; nil: a client whose requests end after 30 seconds.
	HTTP *http.Client
}

// Store is a store in a hosted database: a [store.Store] with all the interfaces beside it. It is safe for concurrent
// use.
//
// Errors begin with "hosted" and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound].
type Store struct {
	*runner
	userStore
	accountStore
	sessionStore
	tokenStore
	passkeyStore
	recordStore
	cleaner
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
)

// New returns a Store on a database. It sends nothing. At most one Options is given.
func New(config Config, options ...Options) (*Store, error) {
	o := Options{}
	if len(options) > 1 {
		return nil, errors.New("hosted: more than one Options")
	}
	for _, o = range options {
	}
	if o.Prefix == "" {
		o.Prefix = "svc_"
	}
	if strings.ContainsFunc(o.Prefix, func(c rune) bool {
		return c > 'z' || !strings.ContainsRune("_-~", c) && (c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a')
	}) {
		return nil, errors.New("hosted: a prefix has letters, digits, _, - and ~ only")
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	c, err := newClient(config, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("hosted: %w", err)
	}
	return storeOn(&runner{client: c, tables: tables{
		o.Prefix + "users", o.Prefix + "accounts", o.Prefix + "sessions",
		o.Prefix + "users_accounts", o.Prefix + "users_sessions",
		o.Prefix + "verificationTokens", o.Prefix + "authenticators", o.Prefix + "records",
	}}), nil
}

// storeOn is the Store whose operations a runner runs.
func storeOn(in *runner) *Store {
	return &Store{
		in, userStore{in}, accountStore{in}, sessionStore{in}, tokenStore{in}, passkeyStore{in}, recordStore{in}, cleaner{in},
	}
}
