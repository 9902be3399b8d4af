// Package runflags has the flags of a run, which pgrlab and train share, and makes the run's
// configuration from them.
package runflags
