module github.com/latchkey-go/latchkey/observe/prometheus

go 1.26.0

require (
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/prometheus/client_golang v1.23.2
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/latchkey-go/latchkey/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.66.1 // indirect
	github.com/prometheus/procfs v0.16.1 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/protobuf v1.36.8 // indirect
)

replace (
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
