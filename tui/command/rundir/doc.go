// Package rundir finds run folders: by path, as latest, as DIR@STEP; and it names new ones.
package rundir
