// Package taskfile makes tasks of files: a TOML document with formulas, beside a MuJoCo model.
//
// Load reads both, and everything that the model names, from the folder of the document and nowhere
// else. From then on the task is made from what was read: files that change later change nothing,
// and File.Archive has it all, from which a run makes the task again.
//
// document.go has what stands in the document, bundle.go the reading of files, quantity.go what
// formulas can name, reset.go what they can draw. behaviour.go binds a task to a copy of its body;
// everything else about it is as for built-in tasks.
package taskfile
