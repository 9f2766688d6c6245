package sqlstore

import (
	"fmt"
	"strings"
)

// Kind is what a column holds; a [Dialect] gives each kind a type.
type Kind int

// The kinds of columns.
const (
	// Name is a short text that is searched for: an e-mail address, a provider, an id.
	Name Kind = iota
	// Key is a text of any bytes that is searched for: a token, an ID that another system made.
	Key
	// Text is a text of any length.
	Text
	// Integer has 64 bits.
	Integer
	// Boolean is true or false.
	Boolean
	// Time is a time in the engine's own form.
	Time
	// ISOText is a time as text.
	ISOText
	// Counted is an integer that the engine counts, the key of its table.
	Counted
	// UUID is a UUID.
	UUID
	// AnyTime is a time as an integer or as text, whichever is written; only engines with Dialect.TypeOf are asked for it.
	AnyTime
)

// column is one column of a table.
type column struct {
	name string
	kind Kind
	null bool
	// added says that Migrate adds the column to a table of another program.
	added bool
}

// index is a set of columns that is searched by.
type index struct {
	name    string
	unique  bool
	columns []string
}

// table is one table.
type table struct {
	name    string
	columns []column
	primary []string
	owned   bool // its rows go with the user
	indexes []index
}

// tables are all tables in the order in which they can be made.
func (l *Layout) tables() []table {
	id, owner, when := l.kinds()
	list := []table{
		usersTable(id, when),
		accountsTable(owner),
		{
			name: sessions, primary: []string{"sessionToken"}, owned: true,
			columns: []column{{name: "sessionToken", kind: Key}, {name: "userId", kind: owner}, {name: "expires", kind: when}},
			indexes: []index{{"user", false, []string{"userId"}}, {"expires", false, []string{"expires"}}},
		},
		{
			name: tokens, primary: []string{"identifier", "token"},
			columns: []column{{name: "identifier", kind: Name}, {name: "token", kind: Key}, {name: "expires", kind: when}},
			indexes: []index{{"expires", false, []string{"expires"}}},
		},
		authenticatorsTable(owner),
		recordsTable(owner, when),
	}
	for i := range list {
		t := &list[i]
		switch t.name {
		case users:
			t.members(l.UserMembers)
		case accounts:
			t.members(l.AccountMembers)
		}
		// A unique index over the primary key is what a table of another program may lack.
		t.indexes = append([]index{{"unique", true, t.primary}}, t.indexes...)
	}
	return list
}

// kinds are those of the columns that a layout decides about: ids, their owners', and times.
func (l *Layout) kinds() (id, owner, when Kind) {
	id, owner, when = Name, Name, Time
	switch l.IDs {
	case IntegerIDs:
		id, owner = Counted, Integer
	case UUIDs:
		id, owner = UUID, UUID
	}
	switch l.Times {
	case MillisTimes:
		when = Integer
	case MillisTextTimes, ISOTimes, OffsetTimes:
		when = ISOText
	case FoundTimes:
		when = AnyTime
	}
	return id, owner, when
}

func usersTable(id, when Kind) table {
	return table{
		name: users, primary: []string{"id"},
		columns: []column{
			{name: "id", kind: id}, {name: "name", kind: Text, null: true}, {name: "email", kind: Name, null: true},
			{name: "emailVerified", kind: when, null: true}, {name: "image", kind: Text, null: true},
		},
		indexes: []index{{"email", true, []string{"email"}}},
	}
}

func accountsTable(owner Kind) table {
	return table{
		name: accounts, primary: []string{"provider", "providerAccountId"}, owned: true,
		columns: []column{
			{name: "userId", kind: owner}, {name: "type", kind: Name},
			{name: "provider", kind: Name}, {name: "providerAccountId", kind: Key},
			{name: "refresh_token", kind: Text, null: true}, {name: "access_token", kind: Text, null: true},
			{name: "expires_at", kind: Integer, null: true}, {name: "id_token", kind: Text, null: true},
			{name: "scope", kind: Text, null: true},
			{name: "session_state", kind: Text, null: true}, {name: "token_type", kind: Text, null: true},
			{name: "authorization_details", kind: Text, null: true, added: true},
		},
		indexes: []index{{"user", false, []string{"userId"}}},
	}
}

func authenticatorsTable(owner Kind) table {
	return table{
		name: authenticators, primary: []string{"credentialID"}, owned: true,
		columns: []column{
			{name: "credentialID", kind: Key}, {name: "userId", kind: owner}, {name: "providerAccountId", kind: Text},
			{name: "credentialPublicKey", kind: Text}, {name: "counter", kind: Integer},
			{name: "credentialDeviceType", kind: Text},
			{name: "credentialBackedUp", kind: Boolean}, {name: "transports", kind: Text, null: true},
		},
		indexes: []index{{"user", false, []string{"userId"}}},
	}
}

func recordsTable(owner, when Kind) table {
	return table{
		name: records, primary: []string{"kind", "key"}, owned: true,
		columns: []column{
			{name: "kind", kind: Name}, {name: "key", kind: Key}, {name: "userId", kind: owner, null: true},
			{name: "value", kind: Text}, {name: "version", kind: Integer}, {name: "expires", kind: when, null: true},
		},
		indexes: []index{
			{"user", false, []string{"userId", "kind"}}, {"expires", false, []string{"expires"}},
		},
	}
}

// members appends the columns of further members, and extra for those that have none.
func (t *table) members(names []string) {
	for _, name := range names {
		t.columns = append(t.columns, column{name: name, kind: Text, null: true, added: true})
	}
	t.columns = append(t.columns, column{name: "extra", kind: Text, null: true, added: true})
}

// create is the statement that makes a table. Without related there is no foreign key: the table of users is another
// program's, and its id may have another type.
func (e *engine) create(t *table, related bool) string {
	var lines []string
	if e.layout.recordID(t.name) {
		lines = append(lines, e.dialect.Quote("id")+" "+e.dialect.Type(Name)+" NOT NULL")
	}
	for _, c := range t.columns {
		line := e.quoted(t.name, c.name) + " " + e.dialect.Type(c.kind)
		if !c.null {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	if e.layout.stamped(t.name) {
		kind := Time
		if e.layout.Times == FoundTimes {
			kind = AnyTime
		}
		lines = append(lines, e.dialect.Quote(e.layout.UpdatedAt)+" "+e.dialect.Type(kind)+" NOT NULL")
	}
	if t.columns[0].kind != Counted {
		lines = append(lines, "PRIMARY KEY ("+e.list(t.name, t.primary)+")")
	}
	if t.owned && related {
		lines = append(lines, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE CASCADE",
			e.quoted(t.name, "userId"), e.dialect.Quote(e.layout.Users), e.quoted(users, "id")))
	}
	return "CREATE TABLE " + e.dialect.Quote(e.layout.table(t.name)) +
		" (\n  " + strings.Join(lines, ",\n  ") + "\n)" + e.dialect.TableSuffix
}

// createIndex is the statement that makes an index.
func (e *engine) createIndex(t *table, i *index) string {
	kind := "INDEX "
	if i.unique {
		kind = "UNIQUE INDEX "
	}
	name := e.layout.table(t.name)
	return "CREATE " + kind + e.dialect.Quote(name+"_"+i.name) +
		" ON " + e.dialect.Quote(name) + " (" + e.list(t.name, i.columns) + ")"
}

// Schema returns the DDL of a new database, for people with a migration tool of their own.
func (s *Store) Schema() string {
	var out strings.Builder
	for _, t := range s.layout.tables() {
		out.WriteString(s.create(&t, true) + ";\n")
		for _, i := range t.indexes[1:] { // the first is the primary key
			out.WriteString(s.createIndex(&t, &i) + ";\n")
		}
	}
	return out.String()
}

// quoted is a column as it is written in a statement.
func (e *engine) quoted(table, name string) string {
	return e.dialect.Quote(e.layout.column(table, name))
}

func (e *engine) list(table string, names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = e.quoted(table, name)
	}
	return strings.Join(out, ", ")
}
