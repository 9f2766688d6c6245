package sqlstore

import "strings"

// writer writes one statement. Values are numbered in the order in which the statement names them first.
type writer struct {
	*engine
	text strings.Builder
	args []int
	next int
}

// ended is the condition for rows that have ended, whose values begin with first. Where integers stand beside texts
// each is compared with its own form, by ranges that an index serves; a text, which may be spelled in several ways,
// then by the time that it holds.
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

// inOrder takes those first that ended first, so that an engine walks along the index even where it thinks that most
// rows have ended. With two forms there are two ranges, which an engine would have to sort.
func (w *writer) inOrder(table string) *writer {
	if w.bothForms() {
		return w
	}
	return w.add(" ORDER BY " + w.quoted(table, "expires"))
}

func (w *writer) add(text string) *writer { w.text.WriteString(text); return w }

func (w *writer) table(name string) *writer { return w.add(w.dialect.Quote(w.layout.table(name))) }

func (w *writer) deleteFrom(table string) *writer { return w.add("DELETE FROM ").table(table) }

// fresh is the next value.
func (w *writer) fresh() int { w.next++; return w.next - 1 }

// placeholder stands for the n-th value, which may stand at several places.
func (w *writer) placeholder(n int) string {
	w.args = append(w.args, n)
	return w.dialect.Placeholder(len(w.args))
}

func (w *writer) value(n int) *writer { return w.add(w.placeholder(n)) }

// columns lists columns as they are read, of an alias when there is one.
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

// insert is the beginning of an INSERT; values or filling come after.
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

// values are the values of insert.
func (w *writer) values(table string, names []string) *writer {
	for i := range names {
		if i > 0 {
			w.add(", ")
		}
		w.value(w.fresh())
	}
	return w.filling(table)
}

// filling are the values of columns that the contract does not know.
func (w *writer) filling(table string) *writer {
	if w.layout.recordID(table) {
		w.add(", ").value(w.fresh())
	}
	if w.layout.stamped(table) {
		w.add(", ").now()
	}
	return w
}

// now is the current time as the tables keep it.
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

func (w *writer) where(table string, keys []string) *writer { return w.whereOf(table, "", keys) }

// whereIn compares a key with n values, without Dialect.Exact: who reads the rows compares them exactly.
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
		case isID && w.layout.IDs == IntegerIDs && w.dialect.IntegerID != nil:
			w.add(column + " = " + w.dialect.IntegerID(w.placeholder(n)))
		case isID && w.layout.IDs != TextIDs || w.dialect.Exact == nil || name == "version":
			w.add(column + " = ").value(n)
		default:
			w.add(column + " = ").value(n)
			w.add(" AND " + w.dialect.Exact(column, w.placeholder(n)))
		}
	}
	return w
}
