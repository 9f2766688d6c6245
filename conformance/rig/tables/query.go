package tables

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type query struct {
	Filter  map[string]any `json:"filter"`
	Columns []string       `json:"columns"`
	Page    struct {
		Size  int    `json:"size"`
		After string `json:"after"`
	} `json:"page"`
}

func (s *Server) query(t *table, q query) (int, any) {
	size, begin := q.Page.Size, 0
	if size == 0 {
		size = 20
	}
	if size > 200 {
		return http.StatusBadRequest, problem("page size exceeds 200")
	}
	if q.Page.After != "" {
		if q.Filter != nil {
			return http.StatusBadRequest, problem("a cursor cannot be combined with a filter")
		}
		position, filter, _ := strings.Cut(q.Page.After, ":")
		begin, _ = strconv.Atoi(position)
		if json.Unmarshal([]byte(filter), &q.Filter) != nil {
			return http.StatusBadRequest, problem("invalid cursor")
		}
	}
	var ids []string
	for id := range t.rows {
		ok, err := s.matches(t, id, q.Filter)
		if err != nil {
			return http.StatusBadRequest, problem("%v", err)
		}
		if ok && t.rows[id].order > begin {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return t.rows[a].order - t.rows[b].order })
	more := len(ids) > size
	ids = ids[:min(len(ids), size)]
	records := []any{}
	cursor := ""
	for _, id := range ids {
		records = append(records, s.record(t, id, q.Columns))
		filter, _ := json.Marshal(q.Filter)
		cursor = fmt.Sprintf("%d:%s", t.rows[id].order, filter)
	}
	page := map[string]any{"cursor": cursor, "more": more}
	return http.StatusOK, map[string]any{"records": records, "meta": map[string]any{"page": page}}
}

// record returns a row as in responses. A link is an object with the ID, or the whole record if the columns request it.
// Null values are omitted.
func (s *Server) record(t *table, id string, columns []string) map[string]any {
	out := map[string]any{"id": id, "xata": map[string]any{"version": t.rows[id].version}}
	for name, value := range t.rows[id].fields {
		if value == nil {
			continue
		}
		if c := t.columns[name]; c.Kind == "link" {
			if slices.Contains(columns, name+".*") {
				value = s.record(s.tables[c.To], value.(string), nil)
			} else {
				value = map[string]any{"id": value}
			}
		}
		out[name] = value
	}
	return out
}

func (s *Server) matches(t *table, id string, filter map[string]any) (bool, error) {
	for name, want := range filter {
		name, inner, linked := strings.Cut(name, ".")
		var value any = id
		if name != "id" {
			c, ok := t.columns[name]
			if !ok || linked != (c.Kind == "link") || linked && inner != "id" {
				return false, fmt.Errorf("invalid filter: column [%s] not found", name)
			}
			value = t.rows[id].fields[name]
		}
		if op, ok := want.(map[string]any); ok {
			limit, _ := op["$lt"].(string)
			least, err := time.Parse(time.RFC3339Nano, limit)
			if err != nil || len(op) != 1 {
				return false, fmt.Errorf("invalid filter")
			}
			text, _ := value.(string)
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil || !at.Before(least) {
				return false, nil
			}
			continue
		}
		if want == nil {
			return false, fmt.Errorf("invalid filter: null")
		}
		if value != want {
			return false, nil
		}
	}
	return true, nil
}
