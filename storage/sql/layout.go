package sqlstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Layout says how the tables are named and what is in them. The zero value is the layout that Migrate makes in a new
// database: tables users, accounts, sessions, verification_token and authenticators with the columns of Auth.js, and
// latchkey_records; ids as text.
type Layout struct {
	// Prefix stands before the names of tables that are not given here.
	Prefix string
	// Users, Accounts, Sessions, VerificationTokens and Authenticators name the tables; empty: the default name.
	Users, Accounts, Sessions, VerificationTokens, Authenticators string
	// Records names the table of records, which no adapter of Auth.js knows; empty: latchkey_records.
	Records string
	// Columns names columns that are not called as in the default layout: {"users.emailVerified": "email_verified"}. The
	// part before the dot is the table's default name, whatever the table is called.
	Columns map[string]string
	// IDs is what the ids of users are.
	IDs IDs
	// Times is how times are kept.
	Times Times
	// RecordIDs lists tables, by their default names, that have an id column of their own which nothing fills: a fresh
	// UUID is written there. Nobody reads it.
	RecordIDs []string
	// UpdatedAt is a column of users, accounts and sessions that takes the time of the last write; empty: there is none.
	UpdatedAt string
	// UserMembers and AccountMembers are further members with a column of their own, of the same name unless Columns says
	// otherwise. The columns may hold texts, numbers and booleans. All other members are kept as JSON in the column extra.
	UserMembers, AccountMembers []string
}

// IDs is the kind of a user's id.
type IDs int

// The kinds of ids.
const (
	// TextIDs keep the id that core gives.
	TextIDs IDs = iota
	// IntegerIDs are counted by the engine.
	IntegerIDs
	// UUIDs keep the id that core gives in a column of the type uuid.
	UUIDs
)

// Times is the form of a time in the database.
type Times int

// The forms of times.
const (
	// NativeTimes is the engine's own type with microseconds; on SQLite an integer, microseconds since 1970.
	NativeTimes Times = iota
	// MillisTimes is an integer, milliseconds since 1970.
	MillisTimes
	// MillisTextTimes is the same in decimal digits, in a column of texts.
	MillisTextTimes
	// ISOTimes is a text as JavaScript's toISOString writes it.
	ISOTimes
	// OffsetTimes is the same text with the offset +00:00 in place of the Z, as Prisma's driver adapters write it.
	OffsetTimes
	// FoundTimes is MillisTimes or OffsetTimes, whichever the tables hold: texts when there is one, OffsetTimes when
	// nothing is there yet. The first write looks, and Migrate looks again. On SQLite only, whose columns take both.
	FoundTimes
)

// The default names of the tables.
const (
	users          = "users"
	accounts       = "accounts"
	sessions       = "sessions"
	tokens         = "verification_token"
	authenticators = "authenticators"
	records        = "latchkey_records"
)

// completed fills in the default names and checks the others.
func (l Layout) completed() (Layout, error) {
	// What the caller does with its map and lists afterwards is nothing to the store.
	l.Columns, l.RecordIDs = maps.Clone(l.Columns), slices.Clone(l.RecordIDs)
	l.UserMembers, l.AccountMembers = slices.Clone(l.UserMembers), slices.Clone(l.AccountMembers)
	seen := map[string]bool{versions: true}
	for name, field := range map[string]*string{
		users: &l.Users, accounts: &l.Accounts, sessions: &l.Sessions,
		tokens: &l.VerificationTokens, authenticators: &l.Authenticators, records: &l.Records,
	} {
		if *field == "" {
			*field = l.Prefix + name
		}
		if err := plain(*field); err != nil {
			return l, err
		}
		if seen[*field] {
			return l, fmt.Errorf("table name %q is used twice: give each table a name of its own", *field)
		}
		seen[*field] = true
	}
	known := map[string]bool{}
	for _, t := range l.tables() {
		for _, c := range t.columns {
			known[t.name+"."+c.name] = true
			if err := plain(l.column(t.name, c.name)); err != nil {
				return l, err
			}
		}
	}
	for key := range l.Columns {
		if !known[key] {
			return l, fmt.Errorf("Layout.Columns names %q: there is no such column; keys are like %q",
				key, "users.emailVerified")
		}
	}
	if l.UpdatedAt != "" {
		if err := plain(l.UpdatedAt); err != nil {
			return l, err
		}
	}
	for _, name := range l.RecordIDs {
		if name != accounts && name != sessions && name != tokens && name != authenticators {
			return l, fmt.Errorf("Layout.RecordIDs names %q: use accounts, sessions, verification_token or authenticators", name)
		}
	}
	if l.IDs < TextIDs || l.IDs > UUIDs || l.Times < NativeTimes || l.Times > FoundTimes {
		return l, errors.New("Layout.IDs or Layout.Times has no such value")
	}
	return l, nil
}

// table is the name of a table in the database.
func (l *Layout) table(name string) string {
	switch name {
	case users:
		return l.Users
	case accounts:
		return l.Accounts
	case sessions:
		return l.Sessions
	case tokens:
		return l.VerificationTokens
	case records:
		return l.Records
	}
	return l.Authenticators
}

// primary is the primary key of a table.
func (l *Layout) primary(name string) []string {
	list := l.tables()
	return list[slices.IndexFunc(list, func(t table) bool { return t.name == name })].primary
}

// column is the name of a column in the database.
func (l *Layout) column(table, name string) string {
	if other := l.Columns[table+"."+name]; other != "" {
		return other
	}
	return name
}

func (l *Layout) recordID(table string) bool { return slices.Contains(l.RecordIDs, table) }

func (l *Layout) stamped(table string) bool {
	return l.UpdatedAt != "" && (table == users || table == accounts || table == sessions)
}

// plain refuses names that would need thought: they come from a configuration, never from a request.
func plain(name string) error {
	ok := name != "" && len(name) <= 60
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		ok = ok && (letter || i > 0 && c >= '0' && c <= '9')
	}
	if !ok {
		return fmt.Errorf("name %q of a table or column: use letters, digits and _, at most 60", name)
	}
	return nil
}
