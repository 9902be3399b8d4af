// Package sweep runs a grid of experiments, each one to its end and none of them
// twice, whatever is killed meanwhile. What is done and what is missing stands on the
// disk, so that any engine can do the work: this package's own, which starts
// processes on this machine, or a cluster's job array.
//
//	grid.json                       the jobs, by index; written once, last
//	0003-cartpole-swingup-sac-s1/   a job
//	  job.toml                      all of its configuration
//	  run/                          its run folder: journal, checkpoints
//	  attempts/1/log, attempt.json  what an attempt said, and how it ended
//	  lock                          held by the process that makes an attempt
//	  result.json                   there, by rename, when the job is done
//	workers/NAME/worker.json        how an engine at work here gets on, renewed while it lives
//
// An attempt is one process: `pgrlab sweep job DIR INDEX`. It goes on with the last
// checkpoint of the run, ends with status 0 and a result, with StatusAgain after it
// was told to end and has saved itself (run me again), with StatusElsewhere where
// another process makes an attempt at the same job, and with any other status when
// the job failed. SIGTERM saves and ends it, SIGUSR1 and SIGUSR2 save.
//
// # Why
//
// A job is done when its own result says so, never because a process or a queue is
// gone. Several sweeps over the same folder, also on several machines that share the disk,
// divide the work between them.
package sweep
