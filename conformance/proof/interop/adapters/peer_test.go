package adapters_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// peer is an Auth.js adapter in a separate process.
type peer struct {
	*testing.T
	in  *json.Encoder
	out *bufio.Scanner
}

// settings are the argument of npm/adapter.mjs.
type settings struct {
	Adapter string `json:"adapter"`
	URL     string `json:"url"`
	Name    string `json:"name,omitempty"`   // of the schema or database, if the URL does not contain it
	Client  string `json:"client,omitempty"` // the file of Prisma's client
}

// start starts an adapter until the test ends.
func start(t *testing.T, s settings) *peer {
	t.Helper()
	engines.Packages(t, "npm")
	if kind, of, ok := strings.Cut(s.Adapter, " "); ok && kind == "prisma" {
		provider := "sqlite"
		if of == "postgres" {
			provider = "postgresql"
		}
		s.Client = prismaClient(t, provider)
	}
	argument, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", filepath.Join("npm", "adapter.mjs"), string(argument))
	// The unusual time zone reveals adapters whose times depend on the machine.
	command.Env = append(os.Environ(), "TZ=America/Lima")
	var complaints strings.Builder
	command.Stderr = &complaints
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{T: t, in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", s.Adapter, complaints.String())
		}
	})
	if !p.out.Scan() || p.out.Text() != `{"ready":true}` {
		t.Fatalf("%s does not start: %q", s.Adapter, p.out.Text())
	}
	return p
}

// at is a time in the protocol between the processes.
type at struct {
	Millis int64 `json:"$time"`
}

func on(t time.Time) at { return at{t.UnixMilli()} }

// try calls a method and returns its result as JSON.
func (p *peer) try(method string, args ...any) (json.RawMessage, error) {
	p.Helper()
	if args == nil {
		args = []any{}
	}
	if err := p.in.Encode(map[string]any{"method": method, "args": args}); err != nil {
		p.Fatal(err)
	}
	if !p.out.Scan() {
		p.Fatalf("%s: the adapter has ended: %v", method, p.out.Err())
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		p.Fatalf("%s: %v", method, err)
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return answer.Result, nil
}

// call is try for a call that must succeed. It decodes the result.
func call[T any](p *peer, method string, args ...any) (result T) {
	p.Helper()
	raw, err := p.try(method, args...)
	if err == nil && raw != nil { // undefined
		err = json.Unmarshal(raw, &result)
	}
	if err != nil {
		p.Fatalf("%s: %v", method, err)
	}
	return result
}

// prismaClient generates the client of the models for one kind of database, once in a process, and returns its file. It
// downloads nothing: WebAssembly from npm compiles the queries, and the program that changes schemas is not used, so a
// setting claims that it exists.
func prismaClient(t *testing.T, provider string) string {
	t.Helper()
	generate, _ := prismaClients.LoadOrStore(provider, sync.OnceValues(func() (string, error) {
		models, err := os.ReadFile(filepath.Join("npm", "schema.prisma"))
		if err != nil {
			return "", err
		}
		node, err := exec.LookPath("node")
		if err != nil {
			return "", err
		}
		folder, err := filepath.Abs(filepath.Join("npm", "node_modules", ".prisma-"+provider))
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		schema := filepath.Join(folder, "schema.prisma")
		if err := os.WriteFile(schema, []byte(strings.ReplaceAll(string(models), "PROVIDER", provider)), 0o644); err != nil {
			return "", err
		}
		program := filepath.Join("npm", "node_modules", "prisma", "build", "index.js")
		command := exec.Command(node, program, "generate", "--schema", schema)
		command.Env = append(os.Environ(),
			"PRISMA_SCHEMA_ENGINE_BINARY="+node, "CHECKPOINT_DISABLE=1", "PRISMA_HIDE_UPDATE_MESSAGE=1")
		if out, err := command.CombinedOutput(); err != nil {
			return "", errors.New(string(out))
		}
		return filepath.Join(folder, "client", "index.js"), nil
	}))
	file, err := generate.(func() (string, error))()
	if err != nil {
		t.Fatalf("prisma generate: %v", err)
	}
	return file
}

var prismaClients sync.Map // of func() (string, error), by provider
