// Package mujoco runs the official WebAssembly build of MuJoCo inside the
// process: pure Go at run time, no cgo, no shared library, the same bits on
// every machine.
//
// Three things, each made from the one before:
//
//	Runtime   the compiled engine; one per process, shared by all goroutines
//	Instance  one copy of the engine with its own memory (16 MB); one goroutine
//	Model     a compiled MJCF text; Data: a state of it, stepped in place
//
// What belongs to an instance (models, data, views) is used by one goroutine at
// a time. Instances run in parallel and share the compiled code.
//
// # Views
//
// Data.QPos and its neighbours are windows into the engine's memory: writing
// them writes the simulation. That memory moves when it grows, which happens
// while models and data are made, never in a step. The fields of Model and Data
// are renewed by this package; a copy of such a slice kept elsewhere is not.
//
// # Why
//
// The file exports almost nothing: its functions announce themselves at start
// through Emscripten's binding layer (embind), and are then called through the
// function table. The files of this package follow that: elements.go and
// runtime.go (the module and its imports), embind.go and emval.go (what it
// announces, and the JavaScript values it believes to handle), exception.go
// (C++ exceptions, which Emscripten routes through the host), system.go (the
// few system calls), instance.go (calls and memory), and model.go and data.go,
// which are all that a user sees.
//
// wazero's compiler exists for amd64 and arm64; elsewhere its interpreter runs,
// about a hundred times slower. Views assume a little-endian machine.
package mujoco
