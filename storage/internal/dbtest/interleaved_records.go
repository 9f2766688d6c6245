package dbtest

import (
	"encoding/json"
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// recordActs are acts on the user's record "kept", which exists, and on "made", which does not.
var recordActs = []act{
	{"create a record", "record", func(s *scene, tested core.Store) error {
		return tested.(store.RecordStore).CreateRecord(s.Context(), s.aRecord("made", s.ada))
	}},
	{"update the record", "record", func(s *scene, tested core.Store) error {
		r := s.aRecord("kept", s.ada)
		r.Version = 1
		return tested.(store.RecordStore).UpdateRecord(s.Context(), r)
	}},
	{"take the record", "record", func(s *scene, tested core.Store) error {
		_, err := tested.(store.RecordStore).DeleteRecord(s.Context(), "note", s.key("kept"))
		return err
	}},
}

func (s *scene) aRecord(name string, owner *core.User) *store.Record {
	return &store.Record{
		Kind: "note", Key: s.key(name), UserID: owner.ID, Value: json.RawMessage(`1`), Expires: base,
	}
}

// ofRecords reports whether one of two acts is about a record, and whether the other affects records too.
func ofRecords(first, second act) (one, both bool) {
	one = first.about == "record" || second.about == "record"
	concerns := func(a act) bool { return a.about == "record" || a.name == "delete the user" }
	return one, concerns(first) && concerns(second)
}

// checkRecords checks that of two writers of a version, and of two takers, only one was acknowledged, and that lookups
// by name and by user agree.
func (s aftermath) checkRecords(ada *core.User) {
	s.Helper()
	for _, name := range []string{"create a record", "update the record", "take the record"} {
		one, first := s.acted[name]
		two, second := s.acted["first: "+name]
		if first && second && one == nil && two == nil {
			s.Errorf("two processes did %q", name)
		}
	}
	listed := map[string]bool{}
	list, err := s.records().UserRecords(s.Context(), s.ada.ID, "")
	s.must(err)
	for _, r := range list {
		listed[r.Key] = true
	}
	there := map[string]*store.Record{}
	for _, name := range []string{"kept", "made"} {
		r, err := s.records().Record(s.Context(), "note", s.key(name))
		switch {
		case err == nil:
			there[name] = r
		case !errors.Is(err, core.ErrNotFound):
			s.Error(err)
		}
		if ada != nil && listed[s.key(name)] != (err == nil) {
			s.Errorf("the record %q is listed: %v, and read: %v", name, listed[s.key(name)], err)
		}
	}
	s.checkKept(there["kept"])
	made := there["made"] != nil
	if s.acknowledged("delete the user") && made && !s.failed("create a record") {
		s.Error("a record of a deleted user exists")
	}
	if s.acknowledged("create a record") && !s.tried("delete the user") && !made {
		s.Error("a record is lost")
	}
}

// checkKept checks the record that existed before.
func (s aftermath) checkKept(kept *store.Record) {
	s.Helper()
	switch {
	case kept != nil && (s.acknowledged("delete the user") || s.acknowledged("take the record")):
		s.Error("a deleted record exists")
	case kept == nil && !s.tried("delete the user", "take the record"):
		s.Error("a record is lost")
	case kept == nil:
	case s.acknowledged("update the record") && kept.Version != 2, !s.tried("update the record") && kept.Version != 1:
		s.Errorf("the record has version %d", kept.Version)
	}
}

// freeRecords checks that records of a deleted user do not block their names.
func (s aftermath) freeRecords(eve *core.User) {
	s.Helper()
	for _, name := range []string{"kept", "made"} {
		if err := s.records().CreateRecord(s.Context(), s.aRecord(name, eve)); err != nil {
			s.Errorf("creating the record of a deleted user: %v", err)
		}
	}
}
