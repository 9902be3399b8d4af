// Package rundir finds run folders: by path, as latest, as DIR@STEP, and where a new one goes.
package rundir
