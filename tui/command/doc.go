// Package command assembles the command line. Data goes to stdout, everything else to stderr; an
// error is one line that says what was being done, what was wrong and what to do.
//
// # Where a command is
//
//	pgrlab, train                    session
//	attach, ps, serve, stop, pause,
//	park, resume, checkpoint         attach
//	fork, train-forks                forks
//	replay, watch                    replay, watch
//	analyse                          analyse
//	sweep, sweep job                 sweep
//	report, card, export             report
//	doctor, bench                    machine
//	list, preset, journal, trace,
//	completion, man, licences,
//	version                          here, each in a file of its name; what is inside a
//	                                 binary: licence and sbom
//
// A command's file has the name of the command. All commands use cli (arguments, help, errors),
// terminal, rundir (which run folder is meant), runflags and results.
//
// The commands know tasks, devices and the screen only through cli.Deps, which the program fills.
package command
