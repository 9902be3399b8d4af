// Package mujoco runs the official WebAssembly build of MuJoCo inside the
// process: pure Go at run time, no cgo, no shared library, the same bits on
// every machine.
//
// There are three types, each made from the one before:
//
//	Runtime   the compiled engine; one per process, shared by all goroutines
//	Instance  one copy of the engine with its own memory (16 MB); one goroutine
//	Model     a compiled MJCF text; Data: a state of it, stepped in place
//
// The objects of an instance (models, data, views) may be used by one goroutine at a
// time. Instances run in parallel and share the compiled code.
//
// # Views
//
// Data.QPos and its neighbours are windows into the engine's memory: writing
// them writes the simulation. That memory moves when it grows, which happens while
// models and data are made, never in a step. This package then renews the fields of
// Model and Data, but not copies of such slices kept elsewhere.
//
// # Why
//
// The file exports almost nothing: its functions are registered at start through
// Emscripten's binding layer (embind), and are then called through the function table.
// The files of this package follow that structure: elements.go and runtime.go (the
// module and its imports), embind.go and emval.go (the registered functions and types,
// and the JavaScript values that the module expects), exception.go (C++ exceptions, which
// Emscripten routes through the host), system.go and files.go (the few system calls, and files
// that a model may name), instance.go
// (calls and memory), and model.go and data.go, which are the public part.
//
// wazero's compiler exists for amd64 and arm64; elsewhere its interpreter runs,
// about a hundred times slower. Views assume a little-endian machine.
package mujoco
