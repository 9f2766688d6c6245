package keyvalue

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// view is the engine as one attempt of an operation, or one transaction, sees it: what it has read, and what it is
// going to write. Its maps are made when something is put into them: most operations write nothing.
type view struct {
	engine Engine
	known  map[string]Value
	checks map[string]Check
	pending
}

// pending is what a view is going to write.
type pending struct {
	records map[string]Value // not Found: deleted
	names   map[Name]bool    // false: removed
	stale   map[string]bool  // users, by their escaped ids, to settle once it is written
}

// keep puts a value into a map, making it when it is the first.
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

// read answers a query as if what is pending were written.
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
	if len(v.records) > 0 { // what is pending may be about the owner
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

// overlaid is a page with what is pending. It may have more names than the page's limit, or fewer: the last one of the
// engine's, as next tells it, is where the next page begins.
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

// next is behind which name the page after one begins; empty: there is none.
func next(page Page, names []string) string {
	if len(names) < page.Limit {
		return ""
	}
	return names[len(names)-1]
}

// peek reads records without caring whether they change later.
func (v *view) peek(ctx context.Context, keys ...string) ([]Value, error) {
	a, err := v.read(ctx, Query{Keys: keys})
	return a.Values, err
}

// again reads records once more, all at one moment, which must still be the same when the view is written.
func (v *view) again(ctx context.Context, keys ...string) ([]Value, error) {
	for _, key := range keys {
		delete(v.known, key)
	}
	return v.get(ctx, keys...)
}

// get reads records that must still be the same when the view is written.
func (v *view) get(ctx context.Context, keys ...string) ([]Value, error) {
	values, err := v.peek(ctx, keys...)
	for _, key := range keys {
		v.check(key)
	}
	return values, err
}

// check wants a record that was read to stay the same.
func (v *view) check(key string) {
	switch value, known := v.known[key]; {
	case !known: // written here without a look
	case value.Found:
		keep(&v.checks, key, Check{Key: key, Is: Same, Version: value.Version})
	default:
		keep(&v.checks, key, Check{Key: key, Is: Absent})
	}
}

// pages calls each with the names of a set, some at a time, until it has seen all.
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

// change is what the view writes, in an order that is the same every time.
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
