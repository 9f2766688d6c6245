package hosted

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// record is a row of the API. A link is an object with an id.
type record map[string]any

func (r record) text(name string) string {
	text, _ := r[name].(string)
	return text
}

func (r record) id() string { return r.text("id") }

// link returns the ID of a linked record.
func (r record) link(name string) string {
	linked, _ := r[name].(map[string]any)
	return record(linked).id()
}

// value returns the value for a filter's name: a column, or a column of a linked record.
func (r record) value(name string) any {
	if link, column, linked := strings.Cut(name, "."); linked {
		inner, _ := r[link].(map[string]any)
		return inner[column]
	}
	return r[name]
}

// view is the database as seen by one attempt at an operation, or by one transaction, including its pending writes.
type view struct {
	*client
	versions map[string]any // first read version of each record, by table and ID
	pending
}

type pending struct {
	ops   []any
	local map[string]map[string]record // table, ID; nil means deleted
}

func (p pending) clone() pending {
	c := pending{slices.Clone(p.ops), map[string]map[string]record{}}
	for table, records := range p.local {
		c.local[table] = maps.Clone(records)
	}
	return c
}

// pageSize is the number of records in a page.
const pageSize = 200

// query returns the records of a table whose columns equal the values of a filter.
func (v *view) query(ctx context.Context, table string, filter map[string]any, columns ...string) ([]record, error) {
	all, next, err := v.page(ctx, table, filter, columns)
	for err == nil && next != nil {
		var more []record
		more, next, err = v.ask(ctx, table, next)
		all = append(all, more...)
	}
	if err != nil {
		return nil, err
	}
	return v.overlaid(table, filter, all), nil
}

// page reads the first records of a table that match a filter. next is the request for the next page, or nil.
func (v *view) page(
	ctx context.Context, table string, filter map[string]any, columns []string,
) (list []record, next map[string]any, err error) {
	return v.ask(ctx, table, map[string]any{
		"filter": filter, "columns": append([]string{"*"}, columns...), "page": map[string]any{"size": pageSize},
	})
}

// ask reads one page.
func (v *view) ask(
	ctx context.Context, table string, body map[string]any,
) (list []record, next map[string]any, err error) {
	var got struct {
		Records []record `json:"records"`
		Meta    struct {
			Page struct {
				Cursor string `json:"cursor"`
				More   bool   `json:"more"`
			} `json:"page"`
		} `json:"meta"`
	}
	if err := v.post(ctx, "/tables/"+table+"/query", body, &got); err != nil {
		return nil, nil, err
	}
	for _, r := range got.Records {
		if _, known := v.versions[table+"/"+r.id()]; !known {
			v.versions[table+"/"+r.id()] = r.version()
		}
	}
	if got.Meta.Page.More {
		// The cursor contains filter and columns; the request must not repeat them.
		next = map[string]any{
			"page": map[string]any{"size": pageSize, "after": got.Meta.Page.Cursor}, "columns": body["columns"],
		}
	}
	return got.Records, next, nil
}

// overlaid applies the pending writes to records that were read.
func (v *view) overlaid(table string, filter map[string]any, list []record) []record {
	local := v.local[table]
	list = slices.DeleteFunc(list, func(r record) bool { _, known := local[r.id()]; return known })
	for _, id := range slices.Sorted(maps.Keys(local)) {
		if r := local[id]; r != nil && matches(r, filter) {
			list = append(list, r)
		}
	}
	return list
}

func matches(r record, filter map[string]any) bool {
	for name, want := range filter {
		value := r.value(name)
		if before, ok := want.(map[string]any); ok { // $lt
			text, _ := value.(string)
			limit, _ := before["$lt"].(string)
			if text == "" || text >= limit { // all times have the same format
				return false
			}
			continue
		}
		if value != want {
			return false
		}
	}
	return true
}

func (v *view) remember(table, id string, r record) {
	if v.local[table] == nil {
		v.local[table] = map[string]record{}
	}
	v.local[table][id] = r
}

// insert creates a record that must not exist.
func (v *view) insert(table, id string, fields record) {
	r := maps.Clone(fields)
	r["id"] = id
	v.ops = append(v.ops, map[string]any{"insert": map[string]any{"table": table, "record": sent(r), "createOnly": true}})
	v.remember(table, id, r)
}

// overwrite is update for a record that must not have changed since it was first read.
func (v *view) overwrite(table string, old, fields record) {
	_, pending := v.local[table][old.id()]
	v.update(table, old, fields)
	if version := v.versions[table+"/"+old.id()]; version != nil && !pending {
		v.ops[len(v.ops)-1].(map[string]any)["update"].(map[string]any)["ifVersion"] = version
	}
}

// update changes columns of a record that must exist.
func (v *view) update(table string, old, fields record) {
	op := map[string]any{"table": table, "id": old.id(), "fields": sent(fields)}
	v.ops = append(v.ops, map[string]any{"update": op})
	r := maps.Clone(old)
	maps.Copy(r, fields)
	v.remember(table, old.id(), r)
}

func (r record) version() any {
	meta, _ := r["xata"].(map[string]any) // the API's name
	return meta["version"]
}

// remove deletes a record that must exist.
func (v *view) remove(table, id string) {
	v.ops = append(v.ops, map[string]any{"delete": map[string]any{"table": table, "id": id, "failIfMissing": true}})
	v.remember(table, id, nil)
}

// sent converts fields to those of a request, with links as IDs.
func sent(fields record) map[string]any {
	out := map[string]any{}
	for name, value := range fields {
		if linked, ok := value.(map[string]any); ok {
			value = linked["id"]
		}
		out[name] = value
	}
	return out
}

// linkTo returns a link.
func linkTo(id string) map[string]any { return map[string]any{"id": id} }
