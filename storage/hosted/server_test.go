package hosted_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server is a database with the part of the API that the store uses: queries with filters, expanded links and pages,
// and transactions of inserts, updates and deletes. It enforces types, lengths, unique columns, links and versions.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	tables   map[string]*table
	requests atomic.Int64
	// before answers a request instead, if it returns true; after the request was done.
	before, after func(w http.ResponseWriter, r *http.Request) bool
}

type column struct {
	kind   string // string, text, datetime, int, float, bool, or link
	to     string // table of a link
	unique bool
}

type table struct {
	columns map[string]column
	rows    map[string]row
	next    int
}

type row struct {
	order, version int
	fields         map[string]any
}

const (
	branch = "main"
	apiKey = "key-of-the-database"
)

// newServer starts a database whose tables are those of the README.
func newServer(t testing.TB, prefix string) *server {
	t.Helper()
	text, str, at := column{kind: "text"}, column{kind: "string"}, column{kind: "datetime"}
	unique := column{kind: "string", unique: true}
	user := column{kind: "link", to: prefix + "users"}
	s := &server{tables: map[string]*table{
		"users": {columns: map[string]column{
			"email": unique, "emailVerified": at, "image": text, "name": text, "extra": text,
		}},
		"accounts": {columns: map[string]column{
			"access_token": text, "expires_at": {kind: "float"}, "id_token": text,
			"provider": str, "providerAccountId": str, "refresh_token": text, "scope": text,
			"session_state": text, "token_type": str, "type": str, "user": user, "authorization_details": text, "extra": text,
		}},
		"sessions":       {columns: map[string]column{"expires": at, "sessionToken": unique, "user": user}},
		"users_accounts": {columns: map[string]column{"account": {kind: "link", to: prefix + "accounts"}, "user": user}},
		"users_sessions": {columns: map[string]column{"session": {kind: "link", to: prefix + "sessions"}, "user": user}},
		"records": {columns: map[string]column{
			"kind": str, "key": str, "user": user, "value": text, "version": {kind: "int"}, "expires": at,
		}},
		"verificationTokens": {columns: map[string]column{"expires": at, "identifier": str, "token": str}},
		"authenticators": {columns: map[string]column{
			"credentialID": unique, "providerAccountId": str, "credentialPublicKey": text,
			"counter": {kind: "int"}, "credentialDeviceType": str,
			"credentialBackedUp": {kind: "bool"}, "transports": str, "user": user,
		}},
	}}
	for _, name := range slices.Collect(maps.Keys(s.tables)) {
		s.tables[prefix+name] = s.tables[name]
		s.tables[name].rows = map[string]row{}
		if prefix != "" {
			delete(s.tables, name)
		}
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	status, answer := s.answer(r)
	if after != nil && after(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// hook sets what comes before and after requests.
func (s *server) hook(before, after func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

func problem(format string, args ...any) map[string]any {
	return map[string]any{"message": fmt.Sprintf(format, args...)}
}

var queryPath = regexp.MustCompile(`^/db/app:main/tables/([^/]+)/query$`)

func (s *server) answer(r *http.Request) (int, any) {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		return http.StatusUnauthorized, problem("invalid API key")
	}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	d.DisallowUnknownFields()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := queryPath.FindStringSubmatch(r.URL.Path); {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, problem("method not allowed")
	case m != nil:
		var q query
		if err := d.Decode(&q); err != nil {
			return http.StatusBadRequest, problem("invalid JSON: %v", err)
		}
		t := s.tables[m[1]]
		if t == nil {
			return http.StatusNotFound, problem("table [%s] not found", m[1])
		}
		return s.query(t, q)
	case r.URL.Path == "/db/app:main/transaction":
		var body struct {
			Operations []map[string]operation `json:"operations"`
		}
		if err := d.Decode(&body); err != nil {
			return http.StatusBadRequest, problem("invalid JSON: %v", err)
		}
		return s.transaction(body.Operations)
	}
	return http.StatusNotFound, problem("branch not found")
}

type query struct {
	Filter  map[string]any `json:"filter"`
	Columns []string       `json:"columns"`
	Page    struct {
		Size  int    `json:"size"`
		After string `json:"after"`
	} `json:"page"`
}

func (s *server) query(t *table, q query) (int, any) {
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

// record is a row as answers have it: a link is an object with the id, or the whole record when the columns ask for it.
// What is null is left out.
func (s *server) record(t *table, id string, columns []string) map[string]any {
	out := map[string]any{"id": id, "xata": map[string]any{"version": t.rows[id].version}}
	for name, value := range t.rows[id].fields {
		if value == nil {
			continue
		}
		if c := t.columns[name]; c.kind == "link" {
			if slices.Contains(columns, name+".*") {
				value = s.record(s.tables[c.to], value.(string), nil)
			} else {
				value = map[string]any{"id": value}
			}
		}
		out[name] = value
	}
	return out
}

func (s *server) matches(t *table, id string, filter map[string]any) (bool, error) {
	for name, want := range filter {
		name, inner, linked := strings.Cut(name, ".")
		var value any = id
		if name != "id" {
			c, ok := t.columns[name]
			if !ok || linked != (c.kind == "link") || linked && inner != "id" {
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

func (s *server) transaction(ops []map[string]operation) (int, any) {
	if len(ops) > 1000 {
		return http.StatusBadRequest, problem("more than 1000 operations")
	}
	before := map[string]map[string]row{}
	for name, t := range s.tables {
		before[name] = maps.Clone(t.rows)
	}
	results := []any{}
	for i, kinds := range ops {
		for kind, op := range kinds {
			rows, err := s.operation(kind, op)
			if err != nil || len(kinds) != 1 {
				for name, t := range s.tables {
					t.rows = before[name]
				}
				one := map[string]any{"index": i, "message": fmt.Sprint(err)}
				return http.StatusBadRequest, map[string]any{"errors": []any{one}}
			}
			results = append(results, map[string]any{"operation": kind, "rows": rows})
		}
	}
	return http.StatusOK, map[string]any{"results": results}
}

func (s *server) operation(kind string, op operation) (rows int, err error) {
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

// typed is a value as its column keeps it.
func (s *server) typed(t *table, id, name string, value any) (any, error) {
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
	switch c.kind {
	case "int":
		_, err := number.Int64()
		ok = isNumber && err == nil
	case "float":
		ok = isNumber
	case "bool":
		ok = isBool
	case "link":
		_, ok = s.tables[c.to].rows[text]
	case "datetime":
		at, err := time.Parse(time.RFC3339Nano, text)
		ok, value = isText && err == nil, at.UTC().Format("2006-01-02T15:04:05.000Z")
	case "string":
		ok = isText && len(text) <= 2048 && !strings.Contains(text, "\x00")
	case "text":
		ok = isText && len(text) <= 200<<10 && !strings.Contains(text, "\x00")
	}
	if !ok {
		return nil, fmt.Errorf("column [%s]: invalid value for type %s: %.100v", name, c.kind, value)
	}
	if c.unique {
		for other, r := range t.rows {
			if other != id && r.fields[name] == value {
				return nil, fmt.Errorf("column [%s]: is not unique: %v", name, value)
			}
		}
	}
	return value, nil
}

// unlink sets links to null that lead to a record that has gone.
func (s *server) unlink(to, id string) {
	for _, t := range s.tables {
		for name, c := range t.columns {
			if c.kind != "link" || c.to != to {
				continue
			}
			for key, r := range t.rows {
				if r.fields[name] == id {
					r.fields = maps.Clone(r.fields)
					r.fields[name] = nil
					t.rows[key] = r
				}
			}
		}
	}
}

// rows is how many rows there are in all tables.
func (s *server) rows() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		n += len(t.rows)
	}
	return n
}
