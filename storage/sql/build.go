package sqlstore

import "slices"

// columnNames are those of the columns of each table.
type columnNames map[string][]string

// without returns a table's columns but those.
func (all columnNames) without(table string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(all[table]), func(name string) bool { return slices.Contains(names, name) })
}

// build writes all statements.
func (e *engine) build() {
	all := columnNames{}
	for _, t := range e.layout.tables() {
		for _, c := range t.columns {
			all[t.name] = append(all[t.name], c.name)
		}
	}
	e.buildUsers(all)
	e.buildAccounts(all)
	e.buildSessions(all)
	e.buildTokens(all)
	e.buildAuthenticators(all)
	e.buildRecords(all)
}

func (e *engine) buildUsers(all columnNames) {
	s := &e.statements
	created := all[users]
	if e.layout.IDs == IntegerIDs {
		created = created[1:]
	}
	s.createUser = e.write(writes, func(w *writer) {
		w.insert(users, created).add(" VALUES (").values(users, created).add(")")
		if e.layout.IDs == IntegerIDs && e.dialect.Returning {
			w.add(" RETURNING " + e.quoted(users, "id"))
		}
	})
	s.user = e.write(reads, func(w *writer) { w.selectFrom(users, all[users]).where(users, byID) })
	s.userByEmail = e.write(reads, func(w *writer) { w.selectFrom(users, all[users]).where(users, byEmail) })
	s.userByAccount = e.write(reads, func(w *writer) {
		w.add("SELECT ").columns(users, "u.", all[users]).add(" FROM ").table(accounts).add(" a JOIN ").table(users).
			add(" u ON u."+e.quoted(users, "id")+" = a."+e.quoted(accounts, "userId")).whereOf(accounts, "a.", byAccount)
	})
	s.updateUser = e.write(writes, func(w *writer) { w.update(users, all.without(users, byID)).where(users, byID) })
	s.userExists = e.exists(users, byID)
	s.deleteUser = e.write(removes, func(w *writer) { w.deleteFrom(users).where(users, byID) })
}

func (e *engine) buildAccounts(all columnNames) {
	s := &e.statements
	s.linkAccount = e.insertOwned(accounts, all[accounts])
	s.account = e.write(reads, func(w *writer) { w.selectFrom(accounts, all[accounts]).where(accounts, byAccount) })
	s.accounts = e.write(reads, func(w *writer) {
		w.selectFrom(accounts, all[accounts]).where(accounts, byUser).add(" ORDER BY " + e.list(accounts, byAccount))
	})
	s.updateAccount = e.write(writes, func(w *writer) {
		w.update(accounts, all.without(accounts, append([]string{"userId", "type"}, byAccount...))).where(accounts, byAccount)
	})
	s.unlinkAccount = e.write(removes, func(w *writer) { w.deleteFrom(accounts).where(accounts, byAccount) })
	s.deleteAccounts = e.write(removes, func(w *writer) { w.deleteFrom(accounts).where(accounts, byUser) })
}

func (e *engine) buildSessions(all columnNames) {
	s := &e.statements
	s.createSession = e.insertOwned(sessions, all[sessions])
	s.session = e.write(reads, func(w *writer) { w.selectFrom(sessions, all[sessions]).where(sessions, byToken) })
	s.sessionAndUser = e.write(reads, func(w *writer) {
		w.add("SELECT ").columns(sessions, "s.", []string{"expires"}).add(", ").columns(users, "u.", all[users]).
			add(" FROM ").table(sessions).add(" s JOIN ").table(users).
			add(" u ON u."+e.quoted(users, "id")+" = s."+e.quoted(sessions, "userId")).whereOf(sessions, "s.", byToken)
	})
	s.updateSession = e.write(removes, func(w *writer) {
		w.update(sessions, []string{"expires"}).where(sessions, byToken)
	})
	s.deleteSession = e.take(sessions, byToken, all[sessions])
	s.sessions = e.write(reads, func(w *writer) {
		w.selectFrom(sessions, all[sessions]).where(sessions, byUser)
	})
	s.deleteSessions = e.write(removes, func(w *writer) { w.deleteFrom(sessions).where(sessions, byUser) })
	s.deleteExpiredSessions = e.expired(sessions)
	s.expiredSessions = e.countExpired(sessions)
}

func (e *engine) buildTokens(all columnNames) {
	s := &e.statements
	s.createToken = e.write(writes, func(w *writer) {
		w.insert(tokens, all[tokens]).add(" VALUES (").values(tokens, all[tokens]).add(")")
	})
	s.token = e.write(reads, func(w *writer) { w.selectFrom(tokens, all[tokens]).where(tokens, byLink) })
	s.useToken = e.take(tokens, byLink, all[tokens])
	s.deleteExpiredTokens = e.expired(tokens)
	s.expiredTokens = e.countExpired(tokens)
}

func (e *engine) buildAuthenticators(all columnNames) {
	s := &e.statements
	s.createAuthenticator = e.insertOwned(authenticators, all[authenticators])
	s.authenticator = e.write(reads, func(w *writer) {
		w.selectFrom(authenticators, all[authenticators]).where(authenticators, byCredential)
	})
	s.authenticators = e.write(reads, func(w *writer) {
		w.selectFrom(authenticators, all[authenticators]).where(authenticators, byUser)
		w.add(" ORDER BY " + e.list(authenticators, byCredential))
	})
	s.updateCounter = e.write(removes, func(w *writer) {
		w.update(authenticators, []string{"counter"}).where(authenticators, byCredential)
	})
	s.deleteAuthenticator = e.write(removes, func(w *writer) {
		w.deleteFrom(authenticators).where(authenticators, byCredential)
	})
	s.deleteAuthenticators = e.write(removes, func(w *writer) {
		w.deleteFrom(authenticators).where(authenticators, byUser)
	})
}

func (e *engine) buildRecords(all columnNames) {
	s := &e.statements
	s.createRecord = e.insertOwned(records, all[records])
	unowned := all.without(records, byUser)
	s.createUnownedRecord = e.write(writes, func(w *writer) {
		w.insert(records, unowned).add(" VALUES (").values(records, unowned).add(")")
	})
	s.record = e.write(reads, func(w *writer) { w.selectFrom(records, all[records]).where(records, byName) })
	s.updateRecord = e.write(writes, func(w *writer) {
		w.update(records, []string{"value", "version", "expires"}).where(records, byVersion)
	})
	taken := byName
	if !e.dialect.Returning {
		taken = byVersion // what was read is what is removed
		s.recordToTake = e.write(removes, func(w *writer) {
			w.selectFrom(records, all[records]).where(records, byName).add(" FOR UPDATE")
		})
	}
	s.takeRecord = e.take(records, taken, all[records])
	for _, of := range []struct {
		keys         []string
		list, delete **statement
	}{
		{byUser, &s.userRecords, &s.deleteUserRecords},
		{byUserAndKind, &s.userRecordsOfKind, &s.deleteUserRecordsOfKind},
	} {
		*of.list = e.write(reads, func(w *writer) { w.selectFrom(records, all[records]).where(records, of.keys) })
		*of.delete = e.write(removes, func(w *writer) { w.deleteFrom(records).where(records, of.keys) })
	}
	s.deleteExpiredRecords = e.expired(records)
	s.expiredRecords = e.countExpired(records)
}
