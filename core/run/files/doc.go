// Package files opens, writes, renames and removes the files of a run folder. Nothing else
// touches them.
//
// # What is in a run folder
//
// Run folders are copied: they are unpacked from archives and shared between users. So no
// entry is trusted to be what its name says. A run folder may be reached through links,
// because people keep their runs on another disk. Below it, a symbolic link, named pipe,
// socket or device is an error of type Irregular; it is never followed and never waited
// for. Names cannot lead outside the folder (os.Root).
//
// Run folders are renamed, too, while their runs go on, and other runs begin under the names
// that they had. So a writer of a run keeps its folder open (Root) and never goes by its path.
//
// New files and folders are readable and writable for all, less the umask.
//
// # What survives a power cut
//
// As POSIX specifies, a file's content is on the disk after its Sync, and its name after
// Sync of the folder that holds it. Stronger promises of file systems are not relied on.
//
// # Tests
//
// The function given to Watch is called before every change and may refuse it. Package cut
// uses it to simulate killed processes and power cuts.
package files
