// Package tables is a database with an HTTP API for tests: the part of Xata's API that storage/hosted uses. It supports
// queries with filters, expanded links and pages, and transactions of inserts, updates and deletes. It enforces types,
// lengths, unique columns, links and versions, according to the documentation of the service.
package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Server is a database. It runs concurrent requests one after another.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	tables   map[string]*table
	requests atomic.Int64
	// before runs before a request and replaces its response if it returns true. after runs when the request has been
	// applied.
	before, after func(w http.ResponseWriter, r *http.Request) bool
}

// Column is a column of a table.
type Column struct {
	Kind   string // string, text, datetime, int, float, bool, or link
	To     string // the table that a link refers to
	Unique bool
}

type table struct {
	columns map[string]Column
	rows    map[string]row
	next    int
}

type row struct {
	order, version int
	fields         map[string]any
}

// Path is the path of the database. Requests must have the branch Branch and the bearer token APIKey.
const (
	Path   = "/db/app"
	Branch = "main"
	APIKey = "key-of-the-database"
)

// New starts a database with the empty tables that storage/hosted uses. Their names begin with prefix. It stops when
// the test ends.
func New(t testing.TB, prefix string) *Server {
	t.Helper()
	text, str, at := Column{Kind: "text"}, Column{Kind: "string"}, Column{Kind: "datetime"}
	unique := Column{Kind: "string", Unique: true}
	user := Column{Kind: "link", To: prefix + "users"}
	s := &Server{tables: map[string]*table{
		"users": {columns: map[string]Column{
			"email": unique, "emailVerified": at, "image": text, "name": text, "extra": text,
		}},
		"accounts": {columns: map[string]Column{
			"access_token": text, "expires_at": {Kind: "float"}, "id_token": text,
			"provider": str, "providerAccountId": str, "refresh_token": text, "scope": text,
			"session_state": text, "token_type": str, "type": str, "user": user, "authorization_details": text, "extra": text,
		}},
		"sessions":       {columns: map[string]Column{"expires": at, "sessionToken": unique, "user": user}},
		"users_accounts": {columns: map[string]Column{"account": {Kind: "link", To: prefix + "accounts"}, "user": user}},
		"users_sessions": {columns: map[string]Column{"session": {Kind: "link", To: prefix + "sessions"}, "user": user}},
		"records": {columns: map[string]Column{
			"kind": str, "key": str, "user": user, "value": text, "version": {Kind: "int"}, "expires": at,
		}},
		"verificationTokens": {columns: map[string]Column{"expires": at, "identifier": str, "token": str}},
		"authenticators": {columns: map[string]Column{
			"credentialID": unique, "providerAccountId": str, "credentialPublicKey": text,
			"counter": {Kind: "int"}, "credentialDeviceType": str,
			"credentialBackedUp": {Kind: "bool"}, "transports": str, "user": user,
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

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// Hook sets functions that run before and after each request. They may be nil. A function that returns true has written
// the response itself.
func (s *Server) Hook(before, after func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Columns returns the columns of each table, by name.
func (s *Server) Columns() map[string]map[string]Column {
	out := map[string]map[string]Column{}
	for name, t := range s.tables {
		out[name] = t.columns
	}
	return out
}

// Insert writes a row like another program. fields contains its ID.
func (s *Server) Insert(name string, fields map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.operation("insert", operation{Table: name, Record: fields, CreateOnly: true})
	return err
}

// Drop deletes a table.
func (s *Server) Drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, name)
}

// Rows returns the number of rows in all tables.
func (s *Server) Rows() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		n += len(t.rows)
	}
	return n
}

func problem(format string, args ...any) map[string]any {
	return map[string]any{"message": fmt.Sprintf(format, args...)}
}

var queryPath = regexp.MustCompile(`^/db/app:main/tables/([^/]+)/query$`)

func (s *Server) answer(r *http.Request) (int, any) {
	if r.Header.Get("Authorization") != "Bearer "+APIKey {
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
