package core

// stores are the faces of the configured store; a nil one is not there.
type stores struct {
	Store
	sessions SessionStore
	tokens   VerificationTokenStore
	tx       Transactor
	accounts AccountStore
	deleter  UserDeleter
	lister   SessionLister
	passkeys AuthenticatorStore
}

func newStores(s Store) stores {
	v := stores{Store: s}
	v.sessions, _ = s.(SessionStore)
	v.tokens, _ = s.(VerificationTokenStore)
	v.tx, _ = s.(Transactor)
	v.accounts, _ = s.(AccountStore)
	v.deleter, _ = s.(UserDeleter)
	v.lister, _ = s.(SessionLister)
	v.passkeys, _ = s.(AuthenticatorStore)
	return v
}
