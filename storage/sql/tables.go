package sqlstore

import (
	"cmp"
	"fmt"
	"strings"
)

// Types are the SQL types of columns. The default of each is Text.
type Types struct {
	// Text is the type of texts of any length. It is required.
	Text string
	// Name is the type of short texts in indexes: an email address, a provider, an ID.
	Name string
	// Key is the type of texts of arbitrary bytes in indexes: a token, or an ID from another system.
	Key string
	// Integer is the type of 64-bit integers.
	Integer string
	// Boolean is the type of true and false.
	Boolean string
	// Time is the database's own type for times.
	Time string
	// TextTime is the type of times as text.
	TextTime string
	// AnyTime is the type of times as an integer or a text. It is used only with Dialect.TypeOf.
	AnyTime string
	// Counter is the type of an integer primary key that the database generates. It includes PRIMARY KEY.
	Counter string
	// UUID is the type of UUIDs.
	UUID string
}

// completed fills in the defaults.
func (t Types) completed() Types {
	for _, of := range []*string{
		&t.Name, &t.Key, &t.Integer, &t.Boolean, &t.Time, &t.TextTime, &t.AnyTime, &t.Counter, &t.UUID,
	} {
		*of = cmp.Or(*of, t.Text)
	}
	return t
}

type column struct {
	name string
	typ  string // the SQL type
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
func (l *Layout) tables(t Types) []table {
	list := l.plainTables(t)
	for i := range list {
		of := &list[i]
		switch of.name {
		case users:
			of.members(l.UserMembers, t.Text)
		case accounts:
			of.members(l.AccountMembers, t.Text)
		}
		// A table of another program may lack a unique index over the primary key.
		of.indexes = append([]index{{"unique", true, of.primary}}, of.indexes...)
	}
	return list
}

// plainTables returns the tables without the columns of further members and without the indexes over primary keys.
func (l *Layout) plainTables(t Types) []table {
	id, owner, when := l.types(t)
	return []table{
		{
			name: users, primary: []string{"id"},
			columns: []column{
				{name: "id", typ: id}, {name: "name", typ: t.Text, null: true},
				{name: "email", typ: t.Name, null: !l.EmailRequired},
				{name: "emailVerified", typ: when, null: true}, {name: "image", typ: t.Text, null: true},
			},
			indexes: []index{{"email", true, []string{"email"}}},
		},
		{
			name: accounts, primary: []string{"provider", "providerAccountId"}, owned: true,
			columns: []column{
				{name: "userId", typ: owner}, {name: "type", typ: t.Name},
				{name: "provider", typ: t.Name}, {name: "providerAccountId", typ: t.Key},
				{name: "refresh_token", typ: t.Text, null: true}, {name: "access_token", typ: t.Text, null: true},
				{name: "expires_at", typ: t.Integer, null: true}, {name: "id_token", typ: t.Text, null: true},
				{name: "scope", typ: t.Text, null: true},
				{name: "session_state", typ: t.Text, null: true}, {name: "token_type", typ: t.Text, null: true},
				{name: "authorization_details", typ: t.Text, null: true, added: true},
			},
			indexes: []index{{"user", false, []string{"userId"}}},
		},
		{
			name: sessions, primary: []string{"sessionToken"}, owned: true,
			columns: []column{{name: "sessionToken", typ: t.Key}, {name: "userId", typ: owner}, {name: "expires", typ: when}},
			indexes: []index{{"user", false, []string{"userId"}}, {"expires", false, []string{"expires"}}},
		},
		{
			name: tokens, primary: []string{"identifier", "token"},
			columns: []column{{name: "identifier", typ: t.Name}, {name: "token", typ: t.Key}, {name: "expires", typ: when}},
			indexes: []index{{"expires", false, []string{"expires"}}},
		},
		{
			name: authenticators, primary: []string{"credentialID"}, owned: true,
			columns: []column{
				{name: "credentialID", typ: t.Key}, {name: "userId", typ: owner}, {name: "providerAccountId", typ: t.Text},
				{name: "credentialPublicKey", typ: t.Text}, {name: "counter", typ: t.Integer},
				{name: "credentialDeviceType", typ: t.Text},
				{name: "credentialBackedUp", typ: t.Boolean}, {name: "transports", typ: t.Text, null: true},
			},
			indexes: []index{{"user", false, []string{"userId"}}},
		},
		{
			name: records, primary: []string{"kind", "key"}, owned: true,
			columns: []column{
				{name: "kind", typ: t.Name}, {name: "key", typ: t.Key}, {name: "userId", typ: owner, null: true},
				{name: "value", typ: t.Text}, {name: "version", typ: t.Integer}, {name: "expires", typ: when, null: true},
			},
			indexes: []index{
				{"user", false, []string{"userId", "kind"}}, {"expires", false, []string{"expires"}},
			},
		},
	}
}

// types returns the types of the columns that depend on the layout: IDs, references to users, and times.
func (l *Layout) types(t Types) (id, owner, when string) {
	id, owner, when = t.Name, t.Name, t.Time
	switch l.IDs {
	case IntegerIDs:
		id, owner = t.Counter, t.Integer
	case UUIDs:
		id, owner = t.UUID, t.UUID
	}
	switch l.Times {
	case MillisTimes:
		when = t.Integer
	case MillisTextTimes, ISOTimes, OffsetTimes:
		when = t.TextTime
	case FoundTimes:
		when = t.AnyTime
	}
	return id, owner, when
}

// members appends the columns of further members, and the column extra for the other members.
func (t *table) members(names []string, typ string) {
	for _, name := range names {
		t.columns = append(t.columns, column{name: name, typ: typ, null: true, added: true})
	}
	t.columns = append(t.columns, column{name: "extra", typ: typ, null: true, added: true})
}

// create returns the CREATE TABLE statement. Without related there is no foreign key: the users table belongs to
// another program, and its ID may have another type.
func (e *engine) create(t *table, related bool) string {
	var lines []string
	if e.layout.recordID(t.name) {
		lines = append(lines, e.dialect.Quote("id")+" "+e.dialect.Types.Name+" NOT NULL")
	}
	for _, c := range t.columns {
		line := e.quoted(t.name, c.name) + " " + c.typ
		if !c.null {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	if e.layout.stamped(t.name) {
		typ := e.dialect.Types.Time
		if e.layout.Times == FoundTimes {
			typ = e.dialect.Types.AnyTime
		}
		lines = append(lines, e.dialect.Quote(e.layout.UpdatedAt)+" "+typ+" NOT NULL")
	}
	if !e.counted(t) {
		lines = append(lines, "PRIMARY KEY ("+e.list(t.name, t.primary)+")")
	}
	if t.owned && related {
		lines = append(lines, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE CASCADE",
			e.quoted(t.name, "userId"), e.dialect.Quote(e.layout.Users), e.quoted(users, "id")))
	}
	return "CREATE TABLE " + e.dialect.Quote(e.layout.table(t.name)) +
		" (\n  " + strings.Join(lines, ",\n  ") + "\n)" + e.dialect.TableSuffix
}

// counted reports whether the type of a table's first column includes PRIMARY KEY.
func (e *engine) counted(t *table) bool { return t.name == users && e.layout.IDs == IntegerIDs }

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
	for _, t := range s.layout.tables(s.dialect.Types) {
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
