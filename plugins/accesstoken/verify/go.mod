module github.com/latchkey-go/latchkey/plugins/accesstoken/verify

go 1.26.0
