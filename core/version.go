package core

// Version is the version of this module, in the form v<major>.<minor>.<patch>; v0.0.0 until the first release.
const Version = "v0.0.0"
