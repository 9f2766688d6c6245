package arrows

import (
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name     string
		packages []*pkg
		want     string // part of the one problem; "" means none
	}{
		{"core imports ui", []*pkg{of("core", "ui")}, ""},
		{"a router is imported by its adapter",
			[]*pkg{of("adapters/gin", "core", "adapters/stdlib", "github.com/gin-gonic/gin")}, ""},
		{"kits in tests of an adapter", []*pkg{withTests(of("adapters/gin"), "conformance")}, ""},
		{"a heavy kit imports an adapter", []*pkg{of("conformance/proof/replay", "adapters/fiber")}, ""},
		{"an engine imports its driver", []*pkg{
			of("storage/sqlite", "storage/sql", "example.com/driver"), in("storage", "storage/sql"),
		}, ""},
		{"a store imports the contract", []*pkg{
			with(in("storage", "storage/memory"), "core/store"), in("core", "core/store"),
		}, ""},
		{"tests of a store import core", []*pkg{withTests(of("storage"), "core")}, ""},
		{"an example imports anything", []*pkg{of("examples", "storage/memory", "example.com/any")}, ""},

		{"ui imports core", []*pkg{of("ui", "core")}, "module ui may not import core"},
		{"core imports an adapter", []*pkg{of("core", "adapters/gin")}, "module core may not import adapters/gin"},
		{"core imports an unlisted module", []*pkg{of("core", "example.com/any")}, "core imports example.com/any"},
		{"core reaches an unlisted module", []*pkg{of("core", jose), foreign(jose, "example.com/any")},
			"reaches example.com/any through " + jose},
		{"tests of core import a store", []*pkg{withTests(of("core"), "storage/memory")},
			"tests of module core may not import storage/memory"},
		{"kits in code of an adapter", []*pkg{of("adapters/gin", "conformance")},
			"module adapters/gin may not import conformance"},
		{"fiber stands on stdlib", []*pkg{of("adapters/fiber", "adapters/stdlib")}, "may not import adapters/stdlib"},
		{"fiber reaches the adaptor", []*pkg{
			of("adapters/fiber", "github.com/gofiber/fiber/v2"),
			foreign("github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp/fasthttpadaptor"),
		}, "reaches github.com/valyala/fasthttp/fasthttpadaptor"},
		{"fiber v3 has the adaptor itself", []*pkg{
			of("adapters/fiberv3", "adapters/internal", "github.com/gofiber/fiber/v3"), in("adapters/internal", "core"),
			foreign("github.com/gofiber/fiber/v3", "github.com/valyala/fasthttp/fasthttpadaptor"),
		}, ""},
		{"the adapter of fiber v3 uses it", []*pkg{of("adapters/fiberv3", "github.com/valyala/fasthttp/fasthttpadaptor")},
			"adapters/fiberv3 imports github.com/valyala/fasthttp/fasthttpadaptor"},
		{"fasthttp stands on stdlib", []*pkg{of("adapters/internal", "adapters/stdlib")}, "may not import adapters/stdlib"},
		{"a light kit imports a library", []*pkg{of("conformance", "example.com/any")},
			"conformance imports example.com/any"},
		{"a store imports core", []*pkg{of("storage", "core")}, "module storage may not import core"},
		{"an engine imports core", []*pkg{of("storage/sqlite", "core")}, "module storage/sqlite may not import core"},
		{"a store imports another package of core", []*pkg{of("storage", "core/other"), in("core", "core/other")},
			"module storage may not import core/other"},
		{"a store imports a store", []*pkg{
			of("storage/sqlite", "storage/memory"), in("storage", "storage/memory"),
		}, "may not import storage/memory"},
		{"a plugin imports a plugin", []*pkg{
			with(in("plugins", "plugins/apikey"), "plugins/account"), in("plugins", "plugins/account"),
		}, "the parts of module plugins may not import each other"},
		{"a plugin imports its own package", []*pkg{
			with(in("plugins", "plugins/account"), "plugins/account/rows"), in("plugins", "plugins/account/rows"),
		}, ""},
		{"tests of a plugin import a plugin", []*pkg{
			withTests(in("plugins", "plugins/apikey"), "plugins/account"), in("plugins", "plugins/account"),
		}, ""},
		{"a module imports an example", []*pkg{of("conformance/proof/browser", "examples")}, "may not import examples"},
		{"a provider signs", []*pkg{of("providers", "core"), std(of("providers/p"), "crypto/ecdsa")}, ""},
		{"an example imports cryptography", []*pkg{std(of("examples"), "crypto/ecdsa")}, ""},
		{"a provider file signs", []*pkg{std(of("providers"), "crypto/ecdsa")},
			"providers imports crypto/ecdsa: module providers may not import that package"},
		{"a provider file has keys", []*pkg{std(of("providers"), "crypto")},
			"providers imports crypto: module providers may not import that package"},
		{"tests of provider files sign", []*pkg{stdTests(of("providers"), "crypto/ecdsa")}, ""},
		{"predictable chance", []*pkg{std(of("core"), "math/rand")}, "core imports math/rand: secrets come from crypto/rand"},
		{"predictable chance in tests", []*pkg{stdTests(of("examples"), "math/rand")}, "examples imports math/rand"},
		{"chance of another kind", []*pkg{std(of("core"), "math/rand/v2")}, ""},
		{"mail without deadlines", []*pkg{std(of("providers/smtp"), "net/smtp")}, "providers/smtp sends mail"},
		{"tests of fiber use the adaptor",
			[]*pkg{withTests(of("adapters/fiber"), "github.com/valyala/fasthttp/fasthttpadaptor")},
			"tests of " + root + "/adapters/fiber import"},
		{"kits in code of a provider", []*pkg{of("providers", "conformance")}, "module providers may not import conformance"},
		{"kits in code of a store", []*pkg{of("storage/sqlite", "conformance")},
			"module storage/sqlite may not import conformance"},
		{"ui reaches an unlisted module", []*pkg{
			of("ui", "github.com/a-h/templ"), foreign("github.com/a-h/templ", "example.com/any"),
		}, "reaches example.com/any"},
		{"a module without a rule", []*pkg{of("novelty")}, "module novelty has no rule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkgs := map[string]*pkg{}
			for _, p := range tt.packages {
				pkgs[p.ImportPath] = p
			}
			for _, p := range tt.packages { // as go list -deps would add
				for _, i := range slices.Concat(p.Imports, p.TestImports) {
					if pkgs[i] == nil {
						pkgs[i] = foreign(i)
						pkgs[i].Standard = !strings.Contains(i, ".")
					}
				}
			}
			got := check(table, pkgs)
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("problems: %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("problems: %q, want one that says %q", got, tt.want)
			}
		})
	}
}

// A rule after a wider one would never apply.
func TestTableOrder(t *testing.T) {
	for i, r := range table {
		if got := find(table, r.module); got != &table[i] {
			t.Errorf("rule %q is hidden by %q", r.module, got.module)
		}
	}
}

// of returns a package of this repository. Imports without a dot are folders of siblings.
func of(module string, imports ...string) *pkg {
	p := foreign(root+"/"+module, imports...)
	return p
}

// in returns a package below the folder of its module.
func in(module, folder string) *pkg {
	p := of(folder)
	p.Module.Path = root + "/" + module
	return p
}

func foreign(path string, imports ...string) *pkg {
	p := &pkg{ImportPath: path, Module: &struct{ Path string }{path}}
	for _, i := range imports {
		p.Imports = append(p.Imports, full(i))
	}
	return p
}

// with adds imports to the code of a package.
func with(p *pkg, imports ...string) *pkg {
	for _, i := range imports {
		p.Imports = append(p.Imports, full(i))
	}
	return p
}

// withTests adds imports to the tests of a package.
func withTests(p *pkg, imports ...string) *pkg {
	for _, i := range imports {
		p.TestImports = append(p.TestImports, full(i))
	}
	return p
}

// std adds imports of the standard library to the code of a package.
func std(p *pkg, imports ...string) *pkg {
	p.Imports = append(p.Imports, imports...)
	return p
}

// stdTests adds imports of the standard library to the tests of a package.
func stdTests(p *pkg, imports ...string) *pkg {
	p.XTestImports = append(p.XTestImports, imports...)
	return p
}

func full(path string) string {
	if strings.Contains(path, ".") {
		return path
	}
	return root + "/" + path
}
