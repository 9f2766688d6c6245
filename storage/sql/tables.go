package sqlstore

import (
	"fmt"
	"strings"
)

// Kind is the type of a column. A [Dialect] maps each Kind to an SQL type.
type Kind int

// The kinds of columns.
const (
	// Name is a short text that is searched for: an email address, a provider, an ID.
	Name Kind = iota
	// Key is a text of arbitrary bytes that is searched for: a token, or an ID from another system.
	Key
	// Text is a text of any length.
	Text
	// Integer is a 64-bit integer.
	Integer
	// Boolean is true or false.
	Boolean
	// Time is a time in the database's own type.
	Time
	// ISOText is a time as text.
	ISOText
	// Counted is an integer primary key that the database generates.
	Counted
	// UUID is a UUID.
	UUID
	// AnyTime is a time as an integer or a text. It is used only with Dialect.TypeOf.
	AnyTime
)

type column struct {
	name string
	kind Kind
	null bool
	// added is set if Migrate adds the column to a table of another program.
	added bool
}

type index struct {
	name    string
	unique  bool
	columns []string
}

type table struct {
	name    string
	columns []column
	primary []string
	owned   bool // its rows are deleted with the user
	indexes []index
}

// tables returns all tables in the order in which they can be created.
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
		// A table of another program may lack a unique index over the primary key.
		t.indexes = append([]index{{"unique", true, t.primary}}, t.indexes...)
	}
	return list
}

// kinds returns the kinds of the columns that depend on the layout: IDs, references to users, and times.
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

// members appends the columns of further members, and the column extra for the other members.
func (t *table) members(names []string) {
	for _, name := range names {
		t.columns = append(t.columns, column{name: name, kind: Text, null: true, added: true})
	}
	t.columns = append(t.columns, column{name: "extra", kind: Text, null: true, added: true})
}

// create returns the CREATE TABLE statement. Without related there is no foreign key: the users table belongs to
// another program, and its ID may have another type.
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

// createIndex returns the CREATE INDEX statement.
func (e *engine) createIndex(t *table, i *index) string {
	kind := "INDEX "
	if i.unique {
		kind = "UNIQUE INDEX "
	}
	name := e.layout.table(t.name)
	return "CREATE " + kind + e.dialect.Quote(name+"_"+i.name) +
		" ON " + e.dialect.Quote(name) + " (" + e.list(t.name, i.columns) + ")"
}

// Schema returns the DDL of a new database, for use with your own migration tool.
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

// quoted returns the quoted name of a column.
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
