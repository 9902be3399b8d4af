// Package files is what a run folder's files are opened, written, renamed and removed
// with. Nothing else touches them.
//
// # What is in a run folder
//
// Run folders travel: they are unpacked from archives and shared between users. So
// nothing in them is taken for what its name says. A folder may be reached through
// links, for people keep their runs on another disk; below it, a symbolic link, named
// pipe, socket or device is an error of type Irregular, never followed, never waited
// for. Names lead nowhere outside the folder (os.Root).
//
// New files and folders get what the umask leaves of rw for all.
//
// # What outlives a power cut
//
// A file's content is on the disk after its Sync, its name after Sync of the folder
// that holds it, as POSIX has it; file systems that promise more are not relied on.
//
// # Tests
//
// Watch is told of every change before it is made, and may refuse it. Package cut
// kills and cuts the power with it.
package files
