package keyvalue

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// view is the database as seen by one attempt at an operation, or by one transaction: the values that it has read, and
// its pending writes. Its maps are allocated on first use, because most operations write nothing.
type view struct {
	engine Engine
	known  map[string]Value
	checks map[string]Check
	pending
}

// pending are the pending writes of a view.
type pending struct {
	records map[string]Value // not Found means deleted
	names   map[Name]bool    // false means removed
	stale   map[string]bool  // escaped IDs of users to settle after the commit
}

// keep adds a value to a map, and creates the map if it is nil.
func keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func (p *pending) clone() pending {
	return pending{maps.Clone(p.records), maps.Clone(p.names), maps.Clone(p.stale)}
}

func (p *pending) empty() bool { return len(p.records) == 0 && len(p.names) == 0 }

// read runs a query on the data with the pending writes.
func (v *view) read(ctx context.Context, q Query) (Answer, error) {
	ask := Query{Sets: q.Sets, Owner: q.Owner, Keys: make([]string, 0, len(q.Keys))}
	for _, key := range q.Keys {
		_, known := v.known[key]
		if _, written := v.records[key]; !known && !written {
			ask.Keys = append(ask.Keys, key)
		}
	}
	var got Answer
	if len(ask.Keys)+len(ask.Sets) > 0 {
		var err error
		if got, err = v.engine.Read(ctx, ask); err != nil {
			return Answer{}, err
		}
	}
	for i, key := range ask.Keys {
		keep(&v.known, key, got.Values[i])
	}
	out := Answer{Names: got.Names, Owner: got.Owner, Values: make([]Value, 0, len(q.Keys))}
	if len(v.records) > 0 { // pending writes may change the owner
		out.Owner = nil
	}
	for _, key := range q.Keys {
		value, written := v.records[key]
		if !written {
			value = v.known[key]
		}
		out.Values = append(out.Values, value)
	}
	for i, page := range q.Sets {
		out.Names[i] = v.overlaid(page, got.Names[i])
	}
	return out, nil
}

// overlaid applies the pending writes to a page. The result may have more or fewer names than the page's limit. The
// next page begins after the engine's last name, which next returns.
func (v *view) overlaid(page Page, names []string) []string {
	if len(v.names) == 0 {
		return names
	}
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		there, pending := v.names[Name{page.Set, name}]
		return pending && !there
	})
	end := next(page, names)
	for n, there := range v.names {
		within := n.Set == page.Set && n.Name > page.After && (end == "" || n.Name <= end)
		if there && within && !slices.Contains(list, n.Name) {
			list = append(list, n.Name)
		}
	}
	slices.Sort(list)
	return list
}

// next returns the name after which the next page begins, or "" if there is none.
func next(page Page, names []string) string {
	if len(names) < page.Limit {
		return ""
	}
	return names[len(names)-1]
}

// peek reads records without a check that they stay unchanged.
func (v *view) peek(ctx context.Context, keys ...string) ([]Value, error) {
	a, err := v.read(ctx, Query{Keys: keys})
	return a.Values, err
}

// again reads records again, all from one snapshot. The commit checks that they have not changed since.
func (v *view) again(ctx context.Context, keys ...string) ([]Value, error) {
	for _, key := range keys {
		delete(v.known, key)
	}
	return v.get(ctx, keys...)
}

// get reads records. The commit checks that they have not changed since.
func (v *view) get(ctx context.Context, keys ...string) ([]Value, error) {
	values, err := v.peek(ctx, keys...)
	for _, key := range keys {
		v.check(key)
	}
	return values, err
}

// check adds the check that a record has not changed since it was read.
func (v *view) check(key string) {
	switch value, known := v.known[key]; {
	case !known: // written without being read
	case value.Found:
		keep(&v.checks, key, Check{Key: key, Is: Same, Version: value.Version})
	default:
		keep(&v.checks, key, Check{Key: key, Is: Absent})
	}
}

// pages calls each with the names of a set, page by page.
func (v *view) pages(ctx context.Context, set string, limit int, each func(names []string) error) error {
	for page := (Page{Set: set, Limit: limit}); ; {
		got, err := v.engine.Read(ctx, Query{Sets: []Page{page}})
		if err != nil {
			return err
		}
		names := got.Names[0]
		if list := v.overlaid(page, names); len(list) > 0 {
			if err := each(list); err != nil {
				return err
			}
		}
		if page.After = next(page, names); page.After == "" {
			return nil
		}
	}
}

func (p *pending) put(key, text string) { keep(&p.records, key, Value{Text: text, Found: true}) }
func (p *pending) remove(keys ...string) {
	for _, key := range keys {
		keep(&p.records, key, Value{})
	}
}
func (p *pending) add(set, name string)  { keep(&p.names, Name{set, name}, true) }
func (p *pending) drop(set, name string) { keep(&p.names, Name{set, name}, false) }

// change returns the writes of the view, in a deterministic order.
func (v *view) change() Change {
	var c Change
	for _, key := range slices.Sorted(maps.Keys(v.checks)) {
		c.Checks = append(c.Checks, v.checks[key])
	}
	for _, key := range slices.Sorted(maps.Keys(v.records)) {
		if value := v.records[key]; value.Found {
			c.Put = append(c.Put, Record{key, value.Text})
		} else {
			c.Delete = append(c.Delete, key)
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(v.names), func(a, b Name) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Name, b.Name))
	}) {
		if v.names[n] {
			c.Add = append(c.Add, n)
		} else {
			c.Remove = append(c.Remove, n)
		}
	}
	return c
}
