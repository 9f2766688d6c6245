package core

import "github.com/latchkey-go/latchkey/core/store"

// stores are the faces of the configured store, or of a transaction of it; a nil one is not there.
type stores struct {
	Store
	given    Store // as it was configured
	sessions store.SessionStore
	tokens   store.VerificationTokenStore
	tx       store.Transactor
	accounts store.AccountStore
	deleter  store.UserDeleter
	lister   store.SessionLister
	passkeys store.AuthenticatorStore
	unkey    store.AuthenticatorDeleter
	records  store.RecordStore
	watch    watch
}

func newStores(s Store) stores {
	v := stores{Store: s, given: s}
	v.sessions, _ = s.(store.SessionStore)
	v.tokens, _ = s.(store.VerificationTokenStore)
	v.tx, _ = s.(store.Transactor)
	v.accounts, _ = s.(store.AccountStore)
	v.deleter, _ = s.(store.UserDeleter)
	v.lister, _ = s.(store.SessionLister)
	v.passkeys, _ = s.(store.AuthenticatorStore)
	v.unkey, _ = s.(store.AuthenticatorDeleter)
	v.records, _ = s.(store.RecordStore)
	return v
}
