package mujoco

import (
	"context"
	"errors"
	"path"
	"strings"
)

// Numbers of Emscripten's C library: flags of open, kinds of seek, and the mode of a regular file
// that may be read.
const (
	accessMode  = 3 // 0: for reading
	seekStart   = 0
	seekPresent = 1
	seekEnd     = 2
	regularFile = 0o100444
)

// Error numbers of WASI, besides those of system.go.
const (
	errnoInvalid  = 28
	errnoReadOnly = 69
)

// Places in Emscripten's struct stat.
const (
	statMode = 4
	statLink = 8
	statSize = 24
	statEnd  = 96
)

// A Reader returns the content of a file that a model names: a path relative to the model's
// folder, with slashes, which neither leaves that folder nor begins with a slash. It is asked as
// often as the engine opens or examines the file, and must not be changed afterwards.
type Reader func(name string) ([]byte, error)

// files are those that the engine has opened. It can open some only while a model is compiled from
// files; at all other times there are none.
type files struct {
	read   Reader
	open   []*opened // by descriptor, from firstFile
	failed error     // the first file that could not be read
	until  context.Context
}

// check ends the compilation if its context has ended. The engine calls invoke, which calls check,
// for every element of a model.
func (f *files) check() {
	if f.until != nil && f.until.Err() != nil {
		panic(&Error{Message: context.Cause(f.until).Error()})
	}
}

type opened struct {
	content []byte
	at      int64
}

// firstFile is the first descriptor after stdin, stdout and stderr.
const firstFile = 3

// find returns the content of a file.
func (f *files) find(name string) ([]byte, bool) {
	if f.read == nil {
		return nil, false
	}
	clean := path.Clean(name)
	var content []byte
	var err error
	if clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\:") {
		err = &FileError{name, errors.New("it is not below the model's folder: copy it there and name it by its path from there")}
	} else if content, err = f.read(clean); err != nil {
		err = &FileError{clean, err}
	}
	if err != nil && f.failed == nil {
		f.failed = err
	}
	return content, err == nil
}

// A FileError is the reason why a file that a model names could not be read.
type FileError struct {
	Name string
	Err  error
}

func (e *FileError) Error() string { return "read " + e.Name + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

func (f *files) of(descriptor uint64) *opened {
	if i := int(int32(descriptor)) - firstFile; i >= 0 && i < len(f.open) {
		return f.open[i]
	}
	return nil
}

// take opens a file and returns its descriptor.
func (f *files) take(content []byte) int {
	for i, o := range f.open {
		if o == nil {
			f.open[i] = &opened{content: content}
			return firstFile + i
		}
	}
	f.open = append(f.open, &opened{content: content})
	return firstFile + len(f.open) - 1
}

func failure(errno int32) uint64 { return uint64(uint32(-errno)) }

var fileFunctions = map[string]hostFunc{
	// (folder, path, flags, …) → descriptor
	"__syscall_openat": func(in *Instance, s []uint64) {
		if uint32(s[2])&accessMode != 0 {
			s[0] = failure(errnoReadOnly)
			return
		}
		content, found := in.files.find(in.cstring(uint32(s[1])))
		if !found {
			s[0] = failure(errnoNoEntry)
			return
		}
		s[0] = uint64(in.files.take(content))
	},
	"fd_close": func(in *Instance, s []uint64) {
		if in.files.of(s[0]) == nil {
			s[0] = errnoBadFile
			return
		}
		in.files.open[int(uint32(s[0]))-firstFile] = nil
		s[0] = 0
	},
	// (descriptor, *pieces, pieces, *read)
	"fd_read": func(in *Instance, s []uint64) {
		o := in.files.of(s[0])
		if o == nil {
			s[0] = errnoBadFile
			return
		}
		var read uint32
		for i := range uint32(s[2]) {
			to, room := in.u32(uint32(s[1])+8*i), in.u32(uint32(s[1])+8*i+4)
			rest := o.content[min(o.at, int64(len(o.content))):]
			n := min(int64(room), int64(len(rest)))
			in.memory.Write(to, rest[:n])
			o.at += n
			read += uint32(n)
		}
		in.memory.WriteUint32Le(uint32(s[3]), read)
		s[0] = 0
	},
	// (descriptor, offset, from where, *place)
	"fd_seek": func(in *Instance, s []uint64) {
		o := in.files.of(s[0])
		if o == nil {
			s[0] = errnoBadFile
			return
		}
		at := int64(s[1])
		switch uint32(s[2]) {
		case seekPresent:
			at += o.at
		case seekEnd:
			at += int64(len(o.content))
		case seekStart:
		default:
			at = -1
		}
		if at < 0 {
			s[0] = errnoInvalid
			return
		}
		o.at = at
		in.memory.WriteUint64Le(uint32(s[3]), uint64(at))
		s[0] = 0
	},
	// (descriptor, *stat)
	"__syscall_fstat64": func(in *Instance, s []uint64) {
		o := in.files.of(s[0])
		if o == nil {
			s[0] = failure(errnoBadFile)
			return
		}
		s[0] = in.describe(uint32(s[1]), o.content)
	},
	"__syscall_stat64":  examine(0, 1), // (path, *stat)
	"__syscall_lstat64": examine(0, 1),
	// (folder, path, *stat, flags)
	"__syscall_newfstatat": examine(1, 2),
}

// examine is a call that describes a file by its path; the arguments have these places.
func examine(name, stat int) hostFunc {
	return func(in *Instance, s []uint64) {
		content, found := in.files.find(in.cstring(uint32(s[name])))
		if !found {
			s[0] = failure(errnoNoEntry)
			return
		}
		s[0] = in.describe(uint32(s[stat]), content)
	}
}

// describe writes a struct stat: a regular file, as old as all others.
func (in *Instance) describe(at uint32, content []byte) uint64 {
	in.memory.Write(at, make([]byte, statEnd))
	in.memory.WriteUint32Le(at+statMode, regularFile)
	in.memory.WriteUint32Le(at+statLink, 1)
	in.memory.WriteUint64Le(at+statSize, uint64(len(content)))
	return 0
}
