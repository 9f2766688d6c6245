package main

import (
	"context"
	"database/sql"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth(db *sql.DB, store core.Store, mail core.Mailer) (*core.Auth, error) {
	mine := account.New(account.Options{
		Mail: mail,
		// Delete deletes the user's rows in your tables before the user is deleted. After a failure it may be called again.
		Delete: func(ctx context.Context, u *core.User) error {
			var open int
			err := db.QueryRowContext(ctx, `SELECT count(*) FROM invoices WHERE user_id = $1 AND NOT paid`, u.ID).Scan(&open)
			if err != nil {
				return err
			}
			if open > 0 {
				return &core.Problem{Status: 409, Code: "open_invoice", Detail: "Pay your last invoice first."}
			}
			_, err = db.ExecContext(ctx, `DELETE FROM orders WHERE user_id = $1`, u.ID)
			return err
		},
	})
	return core.New(core.Config{
		Store:     store,
		Providers: []core.Provider{providers.GitHub(), providers.Google()},
		Plugins:   []core.Plugin{mine},
	})
}
