// Package run reads and writes what a run leaves on disk: a folder with the resolved
// configuration, the journal, the saved policy and a lock.
//
//	config.toml    the fully resolved configuration, as it was given
//	config.former  hashes of what config.toml was before, as of a run that was made longer; see Folder.Reconfigure
//	events.jsonl   the journal: one compact JSON object a line
//	events.end     size and hash of the journal when it was last closed: shows whether its
//	               lines were changed
//	policy.bin     the policy's weights at the end
//	checkpoints/   the state of the run at some positions; see Checkpoint
//	data/          data that checkpoints share: D_real as a file that only grows, and
//	               each D_syn, or its recipe, as a file named by its content
//	events.tail-N.jsonl  the lines after the checkpoint from which a resume went on
//	checkpoints/aside-N/  the checkpoints after one that the run went back to:
//	               together with the journal up to there and the tail they form a run again
//	attach.json    host, process and socket of the lab that runs it (tui/remote)
//	lock           held (flock) by the process that runs it; lease.json if the file
//	               system refuses locks
//
// All of these have to be regular files and folders. This package does all its file access
// through package files, which follows no link and opens no pipe below the run folder.
//
// # Names
//
// A Folder is held open from before it is locked, and everything is written through it: if it
// is renamed, its run goes on in it and never touches a run that begins under the old name.
// If it is removed, the run ends (ErrGone).
//
// # Forks
//
// A fork is built in a temporary folder .pgrlab-fork-… beside its final place, and renamed
// when its initial content is on the disk: Build, Inherit, Publish. A folder of this kind
// left by a killed process is not a run, and the next fork removes it.
//
// # Leases
//
// If the file system refuses locks, lease.json names the process that writes the folder.
// That process checks before every write that the lease is still its own, and stops for
// good when it has lost it (ErrLost). Another process may take a lease whose process is gone
// from the same machine, or a lease that showed no sign of life while it watched for a
// minute by its own clock; the clocks of different machines are never compared. A process
// that takes a lease over continues in a copy of the journal, so that what the former
// process still writes goes to a file without a name.
//
// # Checkpoints
//
// Every file is written under a temporary name, synced and renamed, and the folder that
// holds its name is synced: a checkpoint that was reported survives a power cut. A
// checkpoint has a version and checksums of its header, its parts, its data and the
// journal up to there; an incomplete one is recognised and never used. Prune keeps the
// last three, the one with the best return and the marked ones.
//
// # Packed runs
//
// Pack writes runs as one file for another machine, each as far as its newest usable checkpoint
// needs it, and Unpack makes run folders of it: like a fork, a folder is built under a temporary
// name. Names in the file never lead out of these folders, and what it claims is compared with
// what the run can have made and with the room on the disk before anything is written.
//
// # A disk that fails
//
// A full disk never leaves a part of a line. After any other error, a failed fsync
// included, the journal's file is not trusted: it is opened again, the part that had been
// on the disk is compared with its checksum, and the rest is written again from memory
// before another line follows. Lines are never lost and never change places.
//
// # The journal
//
// A line begins with its type and the step it was written at, followed by the fields of
// its type and then by what was observed: an object "obs" and the seconds since the
// start, "wall_s". Lines are written at steps, never at times, so two runs of the same
// configuration, seed and device write the same lines, except for what is observed.
// Canonical drops the observed part, and two runs are the same if their canonical
// journals are equal byte for byte. Numbers that are not finite are the strings "NaN",
// "Inf" and "-Inf".
package run
