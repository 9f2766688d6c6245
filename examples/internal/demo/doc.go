package demo

//go:generate env GOWORK=off go tool -modfile=../../../tools/go.mod templ generate -include-version=false -path ../..
