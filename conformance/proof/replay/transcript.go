package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// file is a transcript file. Unknown members are errors, so that no recorded member is ignored silently.
type file struct {
	Schema     any        `json:"schema"`
	Action     string     `json:"action"`
	About      string     `json:"about"`
	Reference  any        `json:"reference"`
	ClockStart string     `json:"clockStart"`
	Scenarios  []scenario `json:"scenarios"`
	Notes      any        `json:"notes"`
}

type scenario struct {
	ID         string              `json:"id"`
	Title      string              `json:"title"`
	Quirks     []quirk             `json:"quirks"`
	Config     map[string]any      `json:"config"`
	Env        map[string]string   `json:"env"`
	Peer       map[string]any      `json:"peer"`
	Seed       rows                `json:"seed"`
	Express    *express            `json:"express"`
	Steps      []step              `json:"steps"`
	FinalState map[string][]object `json:"finalState"`
	Function   string              `json:"function"`
	Cases      []any               `json:"cases"`
	Note       string              `json:"note"`

	raw string // the recorded text, which has the order of members
}

// UnmarshalJSON decodes a scenario and also stores its text.
func (s *scenario) UnmarshalJSON(data []byte) error {
	type plainScenario scenario
	if err := decodeExact(data, (*plainScenario)(s)); err != nil {
		return err
	}
	s.raw = string(data)
	return nil
}

// express is the mount path in a framework, and the application's page that shows the session.
type express struct {
	Mount        string `json:"mount"`
	SessionRoute string `json:"sessionRoute"`
}

type object = map[string]any

// rows are the records of a store, by table.
type rows map[string][]object

type quirk struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Better  string `json:"better"`
}

type step struct {
	At        int64          `json:"at"`
	Setup     bool           `json:"setup"`
	Note      string         `json:"note"`
	Config    map[string]any `json:"config"`
	Peer      map[string]any `json:"peer"`
	Seed      rows           `json:"seed"`
	Minted    []minted       `json:"minted"`
	Derived   []derived      `json:"derived"`
	CrossSite bool           `json:"crossSite"`
	Request   request        `json:"request"`
	Response  response       `json:"response"`
	Trace     []object       `json:"trace"`
}

type minted struct {
	Label    string `json:"label"`
	Salt     string `json:"salt"`
	Secret   any    `json:"secret"`
	MaxAge   any    `json:"maxAge"`
	IssuedAt any    `json:"issuedAt"`
	Claims   object `json:"claims"`
	Literal  string `json:"literal"`
	Note     string `json:"note"`
	Enc      string `json:"enc"`
}

type derived struct {
	Label   string `json:"label"`
	From    string `json:"from"`
	How     string `json:"how"`
	Literal string `json:"literal"`
}

type request struct {
	Method          string            `json:"method"`
	URL             string            `json:"url"`
	Headers         map[string]string `json:"headers"`
	Cookies         []pair            `json:"cookies"`
	CookieHeader    *string           `json:"cookieHeader"`
	Form            object            `json:"form"`
	JSON            any               `json:"json"`
	BodyText        *string           `json:"bodyText"`
	BodyDescription any               `json:"bodyDescription"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type response struct {
	Status        int               `json:"status"`
	Headers       map[string]string `json:"headers"`
	LocationParts any               `json:"locationParts"`
	SetCookies    []setCookie       `json:"setCookies"`
	ChunkedToken  *chunkedToken     `json:"chunkedToken"`
	Page          object            `json:"page"`
	Body          present           `json:"body"`
	BodyText      *string           `json:"bodyText"`
	EmptyBody     bool              `json:"emptyBody"`
	Threw         object            `json:"threw"`
	Internal      bool              `json:"internal"`
	Fields        []string          `json:"fields"`
	Redirect      string            `json:"redirect"`
	Cookies       []object          `json:"cookies"`
}

// present distinguishes a null body from a missing one.
type present struct {
	there bool
	value any
}

func (p *present) UnmarshalJSON(data []byte) error {
	p.there = true
	return decodeExact(data, &p.value)
}

type setCookie struct {
	Name           string  `json:"name"`
	Value          string  `json:"value"`
	Encoded        *string `json:"encoded"`
	Length         int     `json:"length"`
	Attributes     object  `json:"attributes"`
	AttributeOrder string  `json:"attributeOrder"`
	Decoded        *sealed `json:"decoded"`
}

type sealed struct {
	Salt         string  `json:"salt"`
	SecretIndex  *int    `json:"secretIndex"`
	Header       object  `json:"header"`
	Claims       object  `json:"claims"`
	ValueDecoded *sealed `json:"valueDecoded"`
}

type chunkedToken struct {
	TotalLength       any      `json:"totalLength"`
	ChunkLengths      []int    `json:"chunkLengths"`
	DecodedClaimNames []string `json:"decodedClaimNames"`
	Cookie            any      `json:"cookie"`
	Chunks            any      `json:"chunks"`
}

func decodeExact(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// load reads every transcript file of a folder.
func load(dir string) ([]file, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no transcript (*.json) in %s", dir)
	}
	slices.Sort(names)
	var files []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var f file
		if err := decodeExact(data, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		files = append(files, f)
	}
	return files, nil
}
