package storetest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// rows returns the number of rows of the listing cases: LATCHKEY_ROWS, or a number that is quick on every database.
func (k *kit) rows() int {
	n, err := strconv.Atoi(os.Getenv("LATCHKEY_ROWS"))
	if err != nil {
		return 230
	}
	return n
}

// pages lists records of one kind with and without a prefix, with pages of several sizes. Records with and without
// expiry and owner, other kinds, and keys with special characters are in the same store.
func (k records) pages() {
	owner := k.user("u1", "ada@example.com")
	want := map[string]string{} // values by key
	for i := range k.rows() {
		key, value, expires := fmt.Sprintf("a%05d", i), strconv.Itoa(i), time.Time{}
		if i%3 == 0 {
			expires = base
		}
		k.record(nil, "queue", key, value, expires)
		want[key] = value
	}
	for i, key := range []string{"a", "A00001", "a%", "a_", "a/1", "b*", "ä", "😀", "a 1"} {
		expires := []time.Time{{}, base}[i%2]
		k.record(owner, "queue", key, "-1", expires)
		k.record(nil, "queue-b", key, "-2", expires)
		want[key] = "-1"
	}
	for _, c := range []struct {
		prefix string
		limit  int
	}{{"", 1000}, {"", 7}, {"a", 100}, {"a0000", 3}, {"a%", 10}, {"a_", 10}, {"a/", 10}, {"b*", 1}, {"ä", 10}, {"c", 10}} {
		got, pages := map[string]string{}, 0
		for cursor := ""; ; pages++ {
			list, next, err := k.store.(store.RecordLister).ListRecords(k.Context(), "queue", c.prefix, cursor, c.limit)
			k.must(err)
			if len(list) > 2*c.limit+16 {
				k.Errorf("prefix %q: %d records on a page of %d", c.prefix, len(list), c.limit)
			}
			for _, r := range list {
				if r.Kind != "queue" || !strings.HasPrefix(r.Key, c.prefix) {
					k.Errorf("prefix %q: a record %s %q", c.prefix, r.Kind, r.Key)
				}
				got[r.Key] = string(r.Value)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		selected := maps.Clone(want)
		maps.DeleteFunc(selected, func(key, _ string) bool { return !strings.HasPrefix(key, c.prefix) })
		if !maps.Equal(got, selected) {
			k.Errorf("prefix %q, pages of %d: %d records on %d pages, want %d", c.prefix, c.limit, len(got), pages+1,
				len(selected))
			for _, key := range slices.Sorted(maps.Keys(selected)) {
				if _, ok := got[key]; !ok {
					k.Logf("missing: %q", key)
					break
				}
			}
		}
	}
}
