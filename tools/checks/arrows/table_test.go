package arrows

// root is the import path that all modules share.
const root = "github.com/latchkey-go/latchkey"

// rule lists the allowed imports of a module's packages. The standard library and the module itself are always allowed.
type rule struct {
	module string // folder of the module; see matches for patterns

	code  []string // siblings that code may import; folders select single packages
	tests []string // siblings and single packages that only tests may import

	// Third-party modules that code may import. If it is nil, any is allowed. If wholeTree is set, the list also
	// applies to indirect imports. Tests may import any.
	thirdParty []string
	wholeTree  bool

	apart bool     // code in one folder of the module does not import another folder
	joins []string // packages of an apart module that may import other folders

	not   []string // packages, also of the standard library, that code may not import directly; see matches
	never []string // packages that must not be reached directly or indirectly
}

// withoutCore are the packages of module core that reach neither package core nor ui nor another project, directly or
// indirectly. A small service or store compiles only these.
var withoutCore = []string{
	"core/amr", "core/audit", "core/autherr", "core/observe", "core/store", "core/token",
}

// shunned are packages that no code or test may import, with the replacement.
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

// table: the first rule that matches a module applies.
var table = []rule{
	// Protocols and parsers as plain functions, for every module. They do not import core.
	{
		module:     "internal",
		thirdParty: []string{jose, "golang.org/x/oauth2", "golang.org/x/sync", "golang.org/x/text", "golang.org/x/net"},
		wholeTree:  true,
	},

	{module: "ui", thirdParty: []string{templ}, wholeTree: true},

	// A dependency of core is a dependency of every application. Therefore this list is short, and it applies to
	// indirect imports too.
	{
		module: "core",
		code:   []string{"ui", "internal"},
		thirdParty: []string{
			templ, jose, "golang.org/x/oauth2", "golang.org/x/sync", "golang.org/x/text", "golang.org/x/net",
		},
		wholeTree: true,
	},

	// Provider files are declarative, because core signs requests. A provider that needs a library is a separate module
	// below providers/. The texts of emails are in ui, like the texts of pages.
	{
		module:     "providers",
		code:       []string{"core", "ui"},
		tests:      []string{"conformance"},
		thirdParty: []string{},
		not:        []string{"crypto/...", "encoding/pem", "hash/..."},
	},
	// They render pages.
	{
		module: "providers/password", code: []string{"core", "ui", "internal"},
		tests: []string{"dev", "storage"},
	},
	{
		module: "providers/webauthn", code: []string{"core", "ui", "internal"},
		tests: []string{"dev", "plugins", "storage"},
	},
	{module: "providers/*", code: []string{"core", "providers"}, tests: []string{"conformance", "dev", "storage"}},

	// Services import it without another module of this repository.
	{module: "plugins/accesstoken/verify", thirdParty: []string{}, wholeTree: true},
	// A plugin imports core, its own pages and no other plugin. Its tests use other plugins over HTTP.
	{
		module: "plugins", apart: true, joins: []string{"plugins/organization/orgkeys"},
		code:       []string{"core", "ui", "internal", "plugins/accesstoken/verify"},
		tests:      []string{"adapters/stdlib", "conformance", "dev", "providers/password", "storage"},
		thirdParty: []string{templ, "github.com/google/jsonschema-go", "github.com/piglig/go-qr", "golang.org/x/oauth2"},
	},

	// It checks any configuration, and uses providers and stores only through interfaces. Tests with heavy dependencies
	// are in conformance/proof/doctor.
	{
		module: "doctor", code: []string{"core"}, tests: []string{"conformance", "storage"},
		thirdParty: []string{},
	},

	// A module for metrics or traces imports core and its metrics library.
	{
		module: "observe/prometheus", code: []string{"core"}, tests: []string{"conformance", "storage"},
		thirdParty: []string{"github.com/prometheus/client_golang"},
	},
	{
		module: "observe/otel", code: []string{"core"}, tests: []string{"conformance", "storage"},
		thirdParty: []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace"},
	},

	// A store imports the contract in core/store and not core, so that a small store does not compile pages and key
	// sets.
	{
		module: "storage", code: []string{"core/store", "internal"},
		tests: []string{"core", "conformance", "storage/internal"}, thirdParty: []string{},
	},
	// It contains only tests that stores share.
	{
		module: "storage/internal", code: []string{"core", "conformance", "storage"},
		thirdParty: []string{},
	},
	{
		module: "storage/*",
		code:   []string{"core/store", "internal", "storage/sql", "storage/keyvalue"},
		tests:  []string{"core", "conformance", "storage/internal"},
	},

	// An adapter imports core and its router. Those of RPC frameworks share a package of adapters/internal.
	{
		module: "adapters/grpc", code: []string{"core", "adapters/internal"},
		tests: []string{"dev", "plugins", "storage"},
		thirdParty: []string{
			"google.golang.org/genproto/googleapis/rpc", "google.golang.org/grpc", "google.golang.org/protobuf",
		},
	},
	{
		module: "adapters/huma", code: []string{"core"},
		tests:      []string{"adapters/stdlib", "dev", "plugins", "storage"},
		thirdParty: []string{"github.com/danielgtaylor/huma/v2"},
	},
	{
		module: "adapters/connect", code: []string{"core", "adapters/stdlib", "adapters/internal"},
		tests: []string{"dev", "plugins", "storage"},
		thirdParty: []string{
			"connectrpc.com/connect", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/protobuf",
		},
	},
	{
		module: "adapters/mcp", code: []string{"core", "adapters/stdlib", "plugins/accesstoken/verify"},
		tests:      []string{"dev", "plugins", "storage"},
		thirdParty: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{module: "adapters/stdlib", code: []string{"core", "ui"}, tests: []string{"conformance"}, thirdParty: []string{templ}},
	{
		module:     "adapters/gin",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance", "dev"},
		thirdParty: []string{templ, "github.com/gin-gonic/gin"},
	},
	{
		module:     "adapters/echo",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance", "dev"},
		thirdParty: []string{templ, "github.com/labstack/echo/v4"},
	},
	{
		module:     "adapters/echov5",
		code:       []string{"core", "ui", "adapters/stdlib"},
		tests:      []string{"conformance", "dev"},
		thirdParty: []string{templ, "github.com/labstack/echo/v5"},
	},
	// The adapters of fasthttp routers are separate from net/http, because a conversion to a net/http request would
	// lose raw values that core needs.
	{
		module: "adapters/internal",
		code:   []string{"core", "ui"},
		tests:  []string{"conformance", "dev"},
		thirdParty: []string{
			templ, "github.com/valyala/fasthttp", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/protobuf",
		},
		never: []string{"github.com/valyala/fasthttp/fasthttpadaptor"},
	},
	{
		module:     "adapters/fiber",
		code:       []string{"core", "ui", "adapters/internal"},
		tests:      []string{"conformance", "dev"},
		thirdParty: []string{templ, "github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp"},
		never: []string{
			"github.com/gofiber/fiber/v2/middleware/adaptor",
			"github.com/valyala/fasthttp/fasthttpadaptor",
		},
	},
	{
		module:     "adapters/fiberv3",
		code:       []string{"core", "ui", "adapters/internal"},
		tests:      []string{"conformance", "dev"},
		thirdParty: []string{templ, "github.com/gofiber/fiber/v3", "github.com/valyala/fasthttp"},
		not:        []string{"github.com/valyala/fasthttp/fasthttpadaptor"}, // fiber itself uses it for net/http handlers
		never:      []string{"github.com/gofiber/fiber/v3/middleware/adaptor"},
	},

	// go mod tidy of every module that uses an adapter or a store reads the kits. Therefore they import only core, ui
	// (which core requires anyway, and whose forms an adapter kit's page uses) and the standard library.
	{module: "conformance", code: []string{"core", "ui"}, thirdParty: []string{}},

	// Servers and helpers for development and for the tests of applications.
	{module: "dev", code: []string{"core", "ui"}, tests: []string{"adapters/stdlib", "providers"}},

	// The proofs may import everything except the examples.
	{
		module: "conformance/...",
		code: []string{
			"ui", "core", "providers/...", "storage", "storage/*", "adapters/*", "plugins", "plugins/*", "dev", "doctor",
			"conformance/...",
		},
		tests: []string{"internal/recoverycode"}, // tests lower the PBKDF2 iterations
	},

	// Users run it immediately, so it must compile fast: no router and no database driver.
	// The command openapi describes all plugins. Its test runs tools of npm.
	{module: "cmd/latchkey", code: []string{
		"core", "providers", "providers/password", "providers/webauthn", "doctor", "plugins", "storage/memory",
	}, tests: []string{"conformance"}},
	{
		module: "cmd/latchkey-store",
		code: []string{
			"core", "doctor", "plugins/account", "plugins/admin", "plugins/organization", "plugins/webhooks",
			"providers/password", "providers/smtp", "storage", "storage/*",
		},
		tests: []string{"conformance"},
	},

	{module: "examples", code: []string{"..."}},
}
