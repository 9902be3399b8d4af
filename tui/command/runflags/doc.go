// Package runflags has the flags of a run, which pgrlab and train share, and makes its
// configuration of them.
package runflags
