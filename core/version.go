package core

import "regexp"

// VersionString is a version in one of the forms v<major>, v<major>.<minor> and v<major>.<minor>.<patch>.
type VersionString string

// Version is the version of this module; v0.0.0 until the first release.
const Version VersionString = "v0.0.0"

var version = regexp.MustCompile(`^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){0,2}$`)

// Valid reports whether v has one of the three forms.
func (v VersionString) Valid() bool { return version.MatchString(string(v)) }
