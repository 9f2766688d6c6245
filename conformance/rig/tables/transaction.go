package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"
)

type operation struct {
	Table         string         `json:"table"`
	Record        map[string]any `json:"record"`
	Fields        map[string]any `json:"fields"`
	ID            string         `json:"id"`
	CreateOnly    bool           `json:"createOnly"`
	IfVersion     *int           `json:"ifVersion"`
	FailIfMissing bool           `json:"failIfMissing"`
}

var recordID = regexp.MustCompile(`^[a-zA-Z0-9_\-~:]{1,255}$`)

func (s *Server) transaction(ops []map[string]operation) (int, any) {
	if len(ops) > 1000 {
		return http.StatusBadRequest, problem("more than 1000 operations")
	}
	before := map[string]map[string]row{}
	for name, t := range s.tables {
		before[name] = maps.Clone(t.rows)
	}
	results := []any{}
	for i, kinds := range ops {
		done, err := s.only(kinds)
		if err != nil {
			for name, t := range s.tables {
				t.rows = before[name]
			}
			one := map[string]any{"index": i, "message": err.Error()}
			return http.StatusBadRequest, map[string]any{"errors": []any{one}}
		}
		results = append(results, done)
	}
	return http.StatusOK, map[string]any{"results": results}
}

// only runs the single operation of an object.
func (s *Server) only(kinds map[string]operation) (any, error) {
	if len(kinds) != 1 {
		return nil, fmt.Errorf("%d operations in one", len(kinds))
	}
	for kind, op := range kinds {
		rows, err := s.operation(kind, op)
		return map[string]any{"operation": kind, "rows": rows}, err
	}
	return nil, nil
}

func (s *Server) operation(kind string, op operation) (rows int, err error) {
	t := s.tables[op.Table]
	if t == nil {
		return 0, fmt.Errorf("table [%s] not found", op.Table)
	}
	id, fields := op.ID, op.Fields
	if kind == "insert" {
		fields = maps.Clone(op.Record)
		id, _ = fields["id"].(string)
		delete(fields, "id")
	}
	if !recordID.MatchString(id) {
		return 0, fmt.Errorf("invalid record ID")
	}
	old, there := t.rows[id]
	switch {
	case kind == "insert" && (!op.CreateOnly || there):
		return 0, fmt.Errorf("record ID [%s] already exists in the database", id)
	case kind == "update" && !there:
		return 0, fmt.Errorf("record [%s] not found", id)
	case op.IfVersion != nil && *op.IfVersion != old.version:
		return 0, fmt.Errorf("record [%s] has version %d", id, old.version)
	case kind == "delete" && !there:
		if op.FailIfMissing {
			return 0, fmt.Errorf("record [%s] not found", id)
		}
		return 0, nil
	case kind == "delete":
		delete(t.rows, id)
		s.unlink(op.Table, id)
		return 1, nil
	}
	fresh := row{order: old.order, version: old.version + 1, fields: maps.Clone(old.fields)}
	if !there {
		t.next++
		fresh = row{order: t.next, fields: map[string]any{}}
	}
	for name, value := range fields {
		if fresh.fields[name], err = s.typed(t, id, name, value); err != nil {
			return 0, err
		}
	}
	t.rows[id] = fresh
	return 1, nil
}

// typed converts a value to the type of its column.
func (s *Server) typed(t *table, id, name string, value any) (any, error) {
	c, ok := t.columns[name]
	if !ok {
		return nil, fmt.Errorf("column [%s] not found", name)
	}
	if value == nil {
		return nil, nil
	}
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	_, isBool := value.(bool)
	switch c.Kind {
	case "int":
		_, err := number.Int64()
		ok = isNumber && err == nil
	case "float":
		ok = isNumber
	case "bool":
		ok = isBool
	case "link":
		_, ok = s.tables[c.To].rows[text]
	case "datetime":
		at, err := time.Parse(time.RFC3339Nano, text)
		ok, value = isText && err == nil, at.UTC().Format("2006-01-02T15:04:05.000Z")
	case "string":
		ok = isText && len(text) <= 2048 && !strings.Contains(text, "\x00")
	case "text":
		ok = isText && len(text) <= 200<<10 && !strings.Contains(text, "\x00")
	}
	if !ok {
		return nil, fmt.Errorf("column [%s]: invalid value for type %s: %.100v", name, c.Kind, value)
	}
	if c.Unique {
		for other, r := range t.rows {
			if other != id && r.fields[name] == value {
				return nil, fmt.Errorf("column [%s]: is not unique: %v", name, value)
			}
		}
	}
	return value, nil
}

// unlink sets links to a deleted record to null.
func (s *Server) unlink(to, id string) {
	for _, t := range s.tables {
		for name, c := range t.columns {
			if c.Kind == "link" && c.To == to {
				t.unlink(name, id)
			}
		}
	}
}

// unlink sets a column's links to a record to null.
func (t *table) unlink(column, id string) {
	for key, r := range t.rows {
		if r.fields[column] != id {
			continue
		}
		r.fields = maps.Clone(r.fields)
		r.fields[column] = nil
		t.rows[key] = r
	}
}
