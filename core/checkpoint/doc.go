// Package checkpoint defines the content of a checkpoint of a run and restores it: the section
// of the loop (Loop), the sections of the members of the cohort (package replica), the log of
// D_real, and D_syn or its recipe. Load brings the members of a run to the position of a
// checkpoint; Fork makes the folder of another run that goes on from there. Package run handles
// files and folders, and package lab decides when checkpoints are taken.
//
// A file from someone else must not do harm: everything that is read is checked against the
// limits of the configuration before it is used.
package checkpoint
