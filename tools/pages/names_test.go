package pages

// names are those that fragments of all pages use without saying where they come from, with their types.
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

// meant says which package a name means where several have it, or where it is another project's.
var meant = map[string]string{
	"authecho":    house + "adapters/echov5",
	"authfiber":   house + "adapters/fiberv3",
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
	"aws":         "github.com/aws/aws-sdk-go-v2/aws",
	"awsdynamodb": "github.com/aws/aws-sdk-go-v2/service/dynamodb",
}
