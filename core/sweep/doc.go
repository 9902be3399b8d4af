// Package sweep runs a grid of experiments, each to its end and none twice, whatever
// processes are killed meanwhile. The disk records which jobs are done, so that any engine
// can do the work: the engine of this package, which starts processes on this machine, or a
// cluster's job array.
//
//	grid.json                       the jobs, by index; written once, last
//	0003-cartpole-swingup-sac-s1/   a job
//	  job.toml                      its complete configuration
//	  run/                          its run folder: journal, checkpoints
//	  attempts/1/log, attempt.json  the output of an attempt, and how it ended
//	  lock                          held by the process that makes an attempt
//	  result.json                   put there by rename when the job is done
//	lock                            shared by the sweeps that use the folder, held by one that makes the grid
//	workers/NAME/worker.json        the progress of an engine, renewed while it lives
//	workers/requeue.json, save.json requests to engines and attempts, which read them at every beat
//
// Names of tasks and methods are written as run.FolderName does.
//
// An attempt is one process: `pgrlab sweep job DIR INDEX`. It goes on from the last
// checkpoint of the run. It ends with status 0 and a result; with StatusAgain if a signal
// ended it and it has saved itself (run me again); with StatusElsewhere if another process makes
// an attempt at the same job; and with any other status if the job failed. SIGTERM makes it
// save and end, SIGUSR1 and SIGUSR2 make it save.
//
// # Why
//
// A job is done when its own result says so, never because a process has ended or a queue no
// longer lists it. A result that is not one of its job, as in a folder that was damaged or
// comes from someone else, does not count. Several sweeps over the same folder, also on several
// machines that share the disk, divide the work between them.
//
// A folder may be renamed while its sweep runs, and another sweep may begin under its name. So
// a Grid keeps its folder open and writes through it alone; an Engine whose folder has moved
// has its attempts save themselves, and ends.
package sweep
