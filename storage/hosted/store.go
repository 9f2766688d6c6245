// Package hosted stores users, accounts, sessions and tokens in a hosted database with an HTTP API for tables, links
// and single-request transactions. The README names a service with such an API.
//
//	store, err := hosted.New(hosted.Config{
//		DatabaseURL: "https://team.region.example/db/app", Branch: "main", APIKey: key,
//	})
//
// The tables must exist. The README lists their columns and the unique ones.
package hosted

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store in a hosted database: a [store.Store] that implements all optional interfaces too. It is safe for
// concurrent use.
//
// Errors begin with "hosted" and the operation, and never contain a value. A duplicate key is [store.ErrConflict], and
// a missing row is [store.ErrNotFound].
type Store struct {
	db     *database
	tables tables
	tx     *transaction // nil outside transactions
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
	_ store.RecordLister           = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// New returns a Store on a database. It sends nothing.
func New(config Config) (*Store, error) {
	prefix := cmp.Or(config.Prefix, "svc_")
	if strings.ContainsFunc(prefix, func(c rune) bool {
		return c > 'z' || !strings.ContainsRune("_-~", c) && (c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a')
	}) {
		return nil, errors.New("hosted: a prefix may contain only letters, digits, _, - and ~")
	}
	if config.HTTP == nil {
		config.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	c, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("hosted: %w", err)
	}
	return &Store{db: &database{c}, tables: tables{
		prefix + "users", prefix + "accounts", prefix + "sessions",
		prefix + "users_accounts", prefix + "users_sessions",
		prefix + "verificationTokens", prefix + "authenticators", prefix + "records",
	}}, nil
}

func newClient(c Config) (*client, error) {
	u, err := url.Parse(c.DatabaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the DatabaseURL is not a URL such as https://team.region.example/db/app")
	}
	if strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("the DatabaseURL has no path: write the whole URL of the database, " +
			"such as https://team.region.example/db/app")
	}
	if host := u.Hostname(); u.Scheme == "http" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, errors.New("the DatabaseURL begins with http: the API key would be sent unencrypted")
	}
	if c.Branch == "" || c.APIKey == "" {
		return nil, errors.New("set Branch and APIKey: both are required")
	}
	base := strings.TrimSuffix(c.DatabaseURL, "/") + ":" + url.PathEscape(c.Branch)
	return &client{http: c.HTTP, base: base, config: c}, nil
}
