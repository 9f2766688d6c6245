package pages

// names are the names, with their types, that code fragments of all pages use without a declaration.
const names = `
ctx context.Context
err error
store core.Store
mail core.Mailer
mailer core.Mailer
auth *core.Auth
user *core.User
userID string
id string
email string
secret core.Secret
t *testing.T
server *httptest.Server
mux *http.ServeMux
w http.ResponseWriter
r *http.Request
a *authhttp.Adapter
`

// meant maps a package name to a package if several have the name, or if it belongs to another project.
var meant = map[string]string{
	"authecho":    house + "adapters/echov5",
	"authfiber":   house + "adapters/fiberv3",
	"observe":     house + "core/observe",
	"access":      house + "core/access",
	"challenge":   house + "core/challenge",
	"limit":       house + "core/limit",
	"store":       house + "core/store",
	"url":         "net/url",
	"template":    "html/template",
	"rand":        "crypto/rand",
	"log":         "log",
	"middleware":  "github.com/labstack/echo/v5/middleware",
	"cors":        "github.com/gofiber/fiber/v3/middleware/cors",
	"gin":         "github.com/gin-gonic/gin",
	"echo":        "github.com/labstack/echo/v5",
	"fiber":       "github.com/gofiber/fiber/v3",
	"templ":       "github.com/a-h/templ",
	"oauth2":      "golang.org/x/oauth2",
	"aws":         "github.com/aws/aws-sdk-go-v2/aws",
	"awsdynamodb": "github.com/aws/aws-sdk-go-v2/service/dynamodb",
}
