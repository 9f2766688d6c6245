module github.com/latchkey-go/latchkey/examples

go 1.26.0

require (
	github.com/a-h/templ v0.3.977
	github.com/gin-gonic/gin v1.12.0
	github.com/gofiber/fiber/v2 v2.52.15
	github.com/labstack/echo/v4 v4.16.0
	github.com/latchkey-go/latchkey/adapters/echo v0.0.0
	github.com/latchkey-go/latchkey/adapters/fiber v0.0.0
	github.com/latchkey-go/latchkey/adapters/gin v0.0.0
	github.com/latchkey-go/latchkey/adapters/mcp v0.0.0
	github.com/latchkey-go/latchkey/adapters/stdlib v0.0.0
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/dev v0.0.0
	github.com/latchkey-go/latchkey/plugins v0.0.0
	github.com/latchkey-go/latchkey/providers v0.0.0
	github.com/latchkey-go/latchkey/providers/password v0.0.0
	github.com/latchkey-go/latchkey/providers/webauthn v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/storage/bbolt v0.0.0
	github.com/latchkey-go/latchkey/storage/sqlite v0.0.0
	github.com/latchkey-go/latchkey/ui v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/valyala/fasthttp v1.78.0
	go.etcd.io/bbolt v1.5.0
	golang.org/x/oauth2 v0.36.0
	modernc.org/sqlite v1.60.1
)

require (
	github.com/bytedance/gopkg v0.1.3 // indirect
	github.com/bytedance/sonic v1.15.0 // indirect
	github.com/bytedance/sonic/loader v0.5.0 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/gabriel-vasile/mimetype v1.4.12 // indirect
	github.com/gin-contrib/sse v1.1.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/go-playground/locales v0.14.1 // indirect
	github.com/go-playground/universal-translator v0.18.1 // indirect
	github.com/go-playground/validator/v10 v10.30.1 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/webauthn v0.18.2 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/goccy/go-json v0.10.5 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/labstack/gommon v0.5.0 // indirect
	github.com/latchkey-go/latchkey/adapters/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify v0.0.0 // indirect
	github.com/leodido/go-urn v1.4.0 // indirect
	github.com/luikyv/go-oidc v0.23.0 // indirect
	github.com/mattn/go-colorable v0.1.15 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.2 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/pelletier/go-toml/v2 v2.2.4 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/piglig/go-qr v1.1.0 // indirect
	github.com/quic-go/qpack v0.6.0 // indirect
	github.com/quic-go/quic-go v0.65.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.2.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	github.com/ugorji/go/codec v1.3.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasttemplate v1.2.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.mongodb.org/mongo-driver/v2 v2.5.0 // indirect
	golang.org/x/arch v0.22.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/echo => ../adapters/echo
	github.com/latchkey-go/latchkey/adapters/fiber => ../adapters/fiber
	github.com/latchkey-go/latchkey/adapters/gin => ../adapters/gin
	github.com/latchkey-go/latchkey/adapters/internal => ../adapters/internal
	github.com/latchkey-go/latchkey/adapters/mcp => ../adapters/mcp
	github.com/latchkey-go/latchkey/adapters/stdlib => ../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../conformance
	github.com/latchkey-go/latchkey/core => ../core
	github.com/latchkey-go/latchkey/dev => ../dev
	github.com/latchkey-go/latchkey/internal => ../internal
	github.com/latchkey-go/latchkey/plugins => ../plugins
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify => ../plugins/accesstoken/verify
	github.com/latchkey-go/latchkey/providers => ../providers
	github.com/latchkey-go/latchkey/providers/password => ../providers/password
	github.com/latchkey-go/latchkey/providers/webauthn => ../providers/webauthn
	github.com/latchkey-go/latchkey/storage => ../storage
	github.com/latchkey-go/latchkey/storage/bbolt => ../storage/bbolt
	github.com/latchkey-go/latchkey/storage/internal => ../storage/internal
	github.com/latchkey-go/latchkey/storage/sqlite => ../storage/sqlite
	github.com/latchkey-go/latchkey/ui => ../ui
)
