// Command goldens maps recorded profiles with Latchkey's providers and compares the resulting users.
//
//	go run ./conformance/proof/goldens -file FILE
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// entry is a provider in the file. Members that are not about mappings are ignored.
type entry struct {
	ID            string         `json:"id"`
	Type          string         `json:"type"`
	SampleOptions map[string]any `json:"sampleOptions"`
	Goldens       []golden       `json:"goldens"`
}

// golden is one recorded mapping.
type golden struct {
	Case    string         `json:"case"`
	Profile core.Profile   `json:"profile"`
	User    map[string]any `json:"user"`
	// Error: Auth.js throws. Better: Auth.js's result is not good enough. NoID: Auth.js continues without an account
	// ID.
	Error  bool `json:"error"`
	Better bool `json:"better"`
	NoID   bool `json:"noId"`
}

func main() {
	file := flag.String("file", "", "file of providers with goldens")
	verbose := flag.Bool("v", false, "print every case")
	flag.Parse()
	raw, err := os.ReadFile(*file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "goldens:", err)
		os.Exit(2)
	}
	passed, failed, err := run(os.Stdout, raw, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "goldens:", err)
		os.Exit(2)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func run(out io.Writer, raw []byte, verbose bool) (passed, failed int, err error) {
	var entries []entry
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&entries); err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if len(e.Goldens) == 0 {
			continue
		}
		provider, known := providers.ByID(e.ID, options(e))
		for _, g := range e.Goldens {
			problem := "there is no provider of this id"
			if known {
				problem = compare(provider, g)
			}
			if problem != "" {
				failed++
				_, _ = fmt.Fprintf(out, "FAIL %s: %s: %s\n", e.ID, g.Case, problem)
				continue
			}
			passed++
			note(out, verbose, e.ID, g.Case)
		}
	}
	return passed, failed, nil
}

// note prints a passed mapping in verbose mode.
func note(out io.Writer, verbose bool, id, name string) {
	if verbose {
		_, _ = fmt.Fprintf(out, "ok   %s: %s\n", id, name)
	}
}

// options returns the options of the recording that a mapping can depend on.
func options(e entry) providers.Options {
	issuer, _ := e.SampleOptions["issuer"].(string)
	if issuer == "" && e.ID == "nextcloud" { // its picture URLs contain the installation's address
		issuer = "https://cloud.example.com"
	}
	return providers.Options{Issuer: issuer}
}

// picture responds to a mapping's requests with four bytes that begin a JPEG.
type picture struct{}

func (picture) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/jpeg"}}, Request: r,
		Body: io.NopCloser(strings.NewReader("\xff\xd8\xff\xe0")),
	}, nil
}

// compare maps a profile and describes the problems of the person. It returns "" if there are none.
func compare(provider *core.OAuthProvider, g golden) string {
	mapping := provider.Profile
	if mapping == nil {
		mapping = core.StandardProfile
	}
	tokens := &core.TokenSet{
		AccessToken: "at-123", TokenType: "bearer", Provider: provider,
		Client: &http.Client{Transport: picture{}},
	}
	person, err := mapping(context.Background(), maps.Clone(g.Profile), tokens)
	if err != nil {
		if g.Error || g.NoID {
			return ""
		}
		return err.Error()
	}
	got := fields(person)
	for name, text := range got {
		if nonsense.MatchString(text) {
			return fmt.Sprintf("%s is %q", name, text)
		}
	}
	if g.Error || g.Better {
		return ""
	}
	want := map[string]string{}
	for name, v := range g.User {
		if text := plain(v); text != "" && text != "<uuid>" {
			want[name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return fmt.Sprintf("%s is %q, want %q", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[name]; !there && got[name] != "" {
			return fmt.Sprintf("unexpected %s %q", name, got[name])
		}
	}
	return ""
}

// nonsense matches the texts that JavaScript creates from missing values.
var nonsense = regexp.MustCompile(`\b(undefined|null|NaN)\b|\[object `)

// fields returns the members of a person as text. Missing, null and empty members are equal.
func fields(p *core.Person) map[string]string {
	all := map[string]string{"id": p.AccountID, "name": p.Name, "email": p.Email, "image": p.Image}
	for name, raw := range p.Extra {
		var v any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&v) == nil {
			all[name] = plain(v)
		}
	}
	for name, text := range all {
		if text == "" {
			delete(all, name)
		}
	}
	return all
}

// plain returns a value as text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}
