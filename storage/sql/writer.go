package sqlstore

import "strings"

// writer writes one statement. Values are numbered in the order of their first use in the statement.
type writer struct {
	*engine
	text strings.Builder
	args []int
	next int
}

// ended writes the condition for expired rows. Its values start at number first. If a column may contain integers and
// texts, each value is compared in its own form, by ranges that an index supports. A text can have several spellings,
// so it is then compared by the time that it represents.
func (w *writer) ended(table string, first int) *writer {
	column := w.quoted(table, "expires")
	if w.bothForms() {
		kind := w.dialect.TypeOf(column)
		w.add("(" + column + " < ").value(first).add(" AND " + kind + " = 'integer')")
		w.add(" OR (" + column + " >= '' AND " + column + " < ").value(first + 1)
		return w.add(" AND " + kind + " = 'text' AND " + w.dialect.TextTime(column) + " < ").value(first + 2).add(")")
	}
	w.add(column + " < ").value(first)
	if w.dialect.TypeOf != nil && w.layout.Times == MillisTextTimes {
		w.add(" AND " + w.dialect.TypeOf(column) + " = 'text'")
	}
	return w
}

// inOrder orders rows by expiry, so that the database uses the index even if it estimates that most rows have expired.
// With two forms there are two ranges, and the database would have to sort, so there is no order.
func (w *writer) inOrder(table string) *writer {
	if w.bothForms() {
		return w
	}
	return w.add(" ORDER BY " + w.quoted(table, "expires"))
}

func (w *writer) add(text string) *writer { w.text.WriteString(text); return w }

func (w *writer) table(name string) *writer { return w.add(w.dialect.Quote(w.layout.table(name))) }

func (w *writer) deleteFrom(table string) *writer { return w.add("DELETE FROM ").table(table) }

// fresh returns the number of the next value.
func (w *writer) fresh() int { w.next++; return w.next - 1 }

// placeholder writes a placeholder for the n-th value. A value can have several placeholders.
func (w *writer) placeholder(n int) string {
	w.args = append(w.args, n)
	return w.dialect.Placeholder(len(w.args))
}

func (w *writer) value(n int) *writer { return w.add(w.placeholder(n)) }

// columns writes a list of columns to read, with an alias if there is one.
func (w *writer) columns(table, alias string, names []string) *writer {
	for i, name := range names {
		if i > 0 {
			w.add(", ")
		}
		column := alias + w.quoted(table, name)
		if w.dialect.ReadTime != nil && w.layout.Times == NativeTimes && (name == "expires" || name == "emailVerified") {
			column = w.dialect.ReadTime(column)
		}
		w.add(column)
	}
	return w
}

func (w *writer) selectFrom(table string, names []string) *writer {
	return w.add("SELECT ").columns(table, "", names).add(" FROM ").table(table)
}

// insert writes the beginning of an INSERT. values or filling must follow.
func (w *writer) insert(table string, names []string) *writer {
	w.add("INSERT INTO ").table(table).add(" (" + w.list(table, names))
	if w.layout.recordID(table) {
		w.add(", " + w.dialect.Quote("id"))
	}
	if w.layout.stamped(table) {
		w.add(", " + w.dialect.Quote(w.layout.UpdatedAt))
	}
	return w.add(")")
}

// values writes the values of an INSERT.
func (w *writer) values(table string, names []string) *writer {
	for i := range names {
		if i > 0 {
			w.add(", ")
		}
		w.value(w.fresh())
	}
	return w.filling(table)
}

// filling writes the values of columns that are not part of the contract.
func (w *writer) filling(table string) *writer {
	if w.layout.recordID(table) {
		w.add(", ").value(w.fresh())
	}
	if w.layout.stamped(table) {
		w.add(", ").now()
	}
	return w
}

// now writes the current time in the form of the tables.
func (w *writer) now() *writer {
	switch times := w.layout.Times; {
	case times == FoundTimes:
		return w.add("CASE WHEN " + w.placeholder(textForm) +
			" THEN " + w.dialect.NowText + " ELSE " + w.dialect.Now + " END")
	case w.dialect.TypeOf != nil && (times == ISOTimes || times == OffsetTimes):
		return w.add(w.dialect.NowText)
	}
	return w.add(w.dialect.Now)
}

func (w *writer) update(table string, names []string) *writer {
	w.add("UPDATE ").table(table).add(" SET ")
	for i, name := range names {
		if i > 0 {
			w.add(", ")
		}
		w.add(w.quoted(table, name) + " = ").value(w.fresh())
	}
	if w.layout.stamped(table) {
		w.add(", " + w.dialect.Quote(w.layout.UpdatedAt) + " = ").now()
	}
	return w
}

// userID casts a placeholder to the type of counted IDs if the database needs that.
func (w *writer) userID(value string) string {
	if w.layout.IDs == IntegerIDs && w.dialect.IntegerID != nil {
		return w.dialect.IntegerID(value)
	}
	return value
}

func (w *writer) where(table string, keys []string) *writer { return w.whereOf(table, "", keys) }

// whereIn compares a key with n values, without Dialect.Exact. The caller must compare the results exactly.
func (w *writer) whereIn(table, alias, name string, n int) *writer {
	w.add(" WHERE " + alias + w.quoted(table, name) + " IN (").value(w.fresh())
	for range n - 1 {
		w.add(", ").value(w.fresh())
	}
	return w.add(")")
}

// whereOf compares keys exactly.
func (w *writer) whereOf(table, alias string, keys []string) *writer {
	for i, name := range keys {
		w.add([]string{" WHERE ", " AND "}[min(i, 1)])
		n, column := w.fresh(), alias+w.quoted(table, name)
		isID := name == "userId" || name == "id"
		switch {
		case isID && w.layout.IDs != TextIDs:
			w.add(column + " = " + w.userID(w.placeholder(n)))
		case w.dialect.Exact == nil || name == "version":
			w.add(column + " = ").value(n)
		default:
			w.add(column + " = ").value(n)
			w.add(" AND " + w.dialect.Exact(column, w.placeholder(n)))
		}
	}
	return w
}
