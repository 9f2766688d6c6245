package main

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func toggle(v any) core.OptionalBool {
	if v == true {
		return core.True
	}
	return core.False
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// reshape fills a struct from an object. A field has the name of the member, with an upper-case first letter. A member
// without a field is an error.
func reshape(v any, into any) error {
	members := object{}
	for name, value := range v.(object) {
		members[strings.ToUpper(name[:1])+name[1:]] = value
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return decodeExact(raw, into)
}

func seconds(v any) time.Duration {
	n, _ := v.(json.Number).Int64()
	return time.Duration(n) * time.Second
}

func texts(v any) (out []string) {
	for _, s := range v.([]any) {
		out = append(out, s.(string))
	}
	return out
}

// thrown returns what a recorded function throws: the name of an error class, or a description.
func thrown(v any) (name, message, code string) {
	switch v := v.(type) {
	case string:
		return v, "", ""
	case object:
		name, _ = v["error"].(string)
		if name == "" {
			name, _ = v["name"].(string)
		}
		if name == "" {
			name, _ = v["type"].(string)
		}
		message, _ = v["message"].(string)
		code, _ = v["code"].(string)
	}
	return or(name, "Error"), message, code
}

func makeError(name, message, code string) error {
	switch name {
	case "Error", "plain":
		return errors.New(or(message, "plain error"))
	case "CustomCredentialsSignin", "Custom":
		return &core.Error{Type: core.ErrCredentialsSignin, Code: code}
	}
	return &core.Error{Type: core.ErrorType(name), Code: code, Cause: errors.New(or(message, "thrown"))}
}
