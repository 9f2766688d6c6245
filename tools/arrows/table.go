package main

// root is the import path that all modules share.
const root = "github.com/latchkey-go/latchkey"

// rule says what the packages of a module may import. The standard library
// and the module itself are always free.
type rule struct {
	module string // folder of the module; see matches for patterns

	code  []string // siblings that code may import; of one sibling's packages only some by their folders
	tests []string // siblings that tests may import besides

	// Modules from elsewhere that code may import; nil means any. With
	// wholeTree the list holds for everything reached through them too. The
	// tests of a module may use what they like.
	thirdParty []string
	wholeTree  bool

	not   []string // packages, of the standard library too, that code may not import itself; see matches for patterns
	never []string // packages that may not be reached in any way
}

// shunned are packages that nobody imports, tests included, with what to use
// instead.
var shunned = map[string]string{
	"math/rand":             "secrets come from crypto/rand, all else from math/rand/v2",
	"io/ioutil":             "io and os have replacements",
	"net/smtp":              "it is frozen and without deadlines; providers/smtp sends mail",
	"github.com/pkg/errors": "use fmt.Errorf with %w",
}

const (
	templ = "github.com/a-h/templ"
	jose  = "github.com/go-jose/go-jose/v4"
)

// table is read from the top: the first rule that names a module counts.
var table = []rule{
	// Protocols and parsers as plain functions, for every module. None of them needs core.
	{
		module:     "internal",
		thirdParty: []string{jose, "golang.org/x/oauth2", "golang.org/x/text", "golang.org/x/net"},
		wholeTree:  true,
	},

	{module: "ui", thirdParty: []string{templ}, wholeTree: true},

	// A dependency of core is one of every application: the list is short
	// on purpose, and it holds for the whole tree.
	{
		module:     "core",
		code:       []string{"ui", "internal"},
		thirdParty: []string{templ, jose, "golang.org/x/oauth2", "golang.org/x/text", "golang.org/x/net"},
		wholeTree:  true,
	},

	// Provider files are declarative: core signs for them. What brings a
	// library along is a module below providers/. What letters say are texts
	// of ui, as what pages say is.
	{
		module:     "providers",
		code:       []string{"core", "ui"},
		tests:      []string{"conformance"},
		thirdParty: []string{},
		not:        []string{"crypto/...", "encoding/pem", "hash/..."},
	},
	// It has pages.
	{
		module: "providers/password", code: []string{"core", "ui"},
		tests: []string{"conformance", "storage/memory"},
	},
	{module: "providers/*", code: []string{"core", "providers"}, tests: []string{"conformance", "storage/memory"}},

	// A part knows core and its own pages.
	{
		module: "account", code: []string{"core", "ui"}, tests: []string{"conformance", "storage/memory"},
		thirdParty: []string{templ},
	},

	// It examines any configuration, and knows providers and stores by their
	// interfaces alone. What is heavy stands in conformance/proof/doctor.
	{
		module: "doctor", code: []string{"core"}, tests: []string{"conformance", "storage/memory"},
		thirdParty: []string{},
	},

	// What measures an Auth knows core and what it measures with, and no other's dependencies.
	{
		module: "observe/prometheus", code: []string{"core"}, tests: []string{"conformance", "storage/memory"},
		thirdParty: []string{"github.com/prometheus/client_golang"},
	},
	{
		module: "observe/otel", code: []string{"core"}, tests: []string{"conformance", "storage/memory"},
		thirdParty: []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace"},
	},

	// A store knows the contract and not what core does with it: who keeps
	// six maps compiles no pages and no key sets.
	{
		module: "storage/memory", code: []string{"core/store"},
		tests: []string{"core", "conformance"}, thirdParty: []string{},
	},
	{
		module: "storage/sql", code: []string{"core/store", "internal/batch"},
		tests: []string{"core", "conformance"}, thirdParty: []string{},
	},
	{
		module: "storage/keyvalue", code: []string{"core/store"},
		tests: []string{"core", "conformance"}, thirdParty: []string{},
	},
	{
		module: "storage/*",
		code:   []string{"core/store", "internal/batch", "storage/sql", "storage/keyvalue"},
		tests:  []string{"core", "conformance"},
	},

	// An adapter knows the core and its one router.
	{module: "adapters/stdlib", code: []string{"core", "ui"}, tests: []string{"conformance"}, thirdParty: []string{templ}},
	{
		module:     "adapters/gin",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/gin-gonic/gin"},
	},
	{
		module:     "adapters/echo",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/labstack/echo/v4"},
	},
	{
		module:     "adapters/echov5",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/labstack/echo/v5"},
	},
	// The routers on fasthttp stand apart from net/http: a request that went
	// through net/http on its way would have lost the raw values that core
	// must see.
	{
		module:     "adapters/fasthttp",
		code:       []string{"core", "ui"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/valyala/fasthttp"},
		never:      []string{"github.com/valyala/fasthttp/fasthttpadaptor"},
	},
	{
		module:     "adapters/fiber",
		code:       []string{"core", "ui", "adapters/fasthttp"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp"},
		never: []string{
			"github.com/gofiber/fiber/v2/middleware/adaptor",
			"github.com/valyala/fasthttp/fasthttpadaptor",
		},
	},
	{
		module:     "adapters/fiberv3",
		code:       []string{"core", "ui", "adapters/fasthttp"},
		tests:      []string{"conformance"},
		thirdParty: []string{templ, "github.com/gofiber/fiber/v3", "github.com/valyala/fasthttp"},
		not:        []string{"github.com/valyala/fasthttp/fasthttpadaptor"}, // fiber itself has it for handlers of net/http
		never:      []string{"github.com/gofiber/fiber/v3/middleware/adaptor"},
	},

	// The kits are read by go mod tidy of every module that uses an adapter or
	// a store: core, ui, which core brings along (a page of an adapter's kit
	// has a form), and the standard library, nothing else.
	{module: "conformance", code: []string{"core", "ui"}, thirdParty: []string{}},

	// The proofs may import everything except the examples.
	{
		module: "conformance/...",
		code: []string{
			"ui", "core", "providers/...", "storage/*", "adapters/*", "account", "doctor", "conformance/...",
		},
	},

	// It is for everybody to run at once: no router and no driver comes with it.
	{module: "cmd/latchkey", code: []string{"core", "providers", "doctor"}},
	{
		module: "cmd/latchkey-store",
		code: []string{
			"core", "doctor", "providers/password", "providers/smtp", "storage/*",
		},
		tests: []string{"conformance"},
	},

	{module: "examples", code: []string{"..."}},
}
