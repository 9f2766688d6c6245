package core

// Version is the version of this module, in the form v<major>.<minor>.<patch>. It is v0.0.0 before the first release.
const Version = "v0.0.0"
