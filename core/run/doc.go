// Package run is what a run leaves on disk: a folder with the resolved
// configuration, the journal, the saved policy and a lock.
//
//	config.toml    the fully resolved configuration, as it was given
//	events.jsonl   the journal: one compact JSON object a line
//	policy.bin     the policy's weights at the end
//	checkpoints/   what the run was at some positions; see Checkpoint
//	data/          what checkpoints share: D_real as a file that only grows, each
//	               D_syn, or how it was made, as a file named by its content
//	events.tail-N.jsonl  what lay behind the checkpoint that a resume went on from
//	checkpoints/aside-N/  the checkpoints behind one that somebody went back to: with
//	               the journal up to there and the tail they are a run again
//	attach.json    host, process and socket of the lab that runs it (tui/remote)
//	lock           held (flock) by the process that runs it; lease.json where the
//	               file system refuses locks
//
// What lies there has to be files and folders of its own: package files, through which
// everything here goes, follows no link and opens no pipe below the run folder.
//
// # Forks
//
// A fork is built in a folder beside the one that it will be, .pgrlab-fork-…, and
// renamed when all is on the disk that it begins with: Build, Inherit, Publish. What a
// killed process has left of such a folder is no run, and the next fork removes it.
//
// # Leases
//
// Where there are no locks, lease.json names the process that writes the folder. It looks
// whose the lease is before everything that it writes, and stops for good when it has lost
// it (ErrLost). Another process may take a lease whose process is gone from the same
// machine, or that it has watched for a minute by its own clock without a sign of life;
// what the clocks of machines say does not matter. Whoever takes one over goes on in a copy
// of the journal: what the other one still writes goes to a file without a name.
//
// # Checkpoints
//
// Everything is written to a temporary file, synced and renamed, and so is the folder that
// holds its name: a checkpoint that was reported outlives a power cut. A checkpoint has
// a version and checksums of its header, its parts, its data and the journal up to
// there; one that is not whole is told from one that is, and never used. Prune
// keeps the last three, the one with the best return and the marked ones.
//
// # A disk that fails
//
// A full disk takes no part of a line. After any other error, a failed fsync
// included, nothing is believed of the journal's file: it is opened anew, what had
// been on the disk is held to its checksum, and what came after is written again from
// memory, before another line follows. Lines are never lost and never change places.
//
// # The journal
//
// A line begins with its type and the step it was written at; then come the
// fields of its type, then what was observed: an object "obs" and the seconds
// since the start, "wall_s". Lines are written at steps, never at times, so two
// runs of the same configuration, seed and device write the same lines, except
// for what is observed. Canonical drops that, and two runs are the same when
// their canonical journals are equal byte for byte. Numbers that are not finite
// are the strings "NaN", "Inf" and "-Inf".
package run
