package sweep

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"pgrlab/core/run"
)

// Folder is the sweep's folder. It is written through this only, never by its path: it may be
// renamed while the sweep goes on, and another sweep may begin under the name that it had.
func (g *Grid) Folder() *run.Handle { return g.folder }

// Path is where the sweep's folder is now, for other processes.
func (g *Grid) Path() string { return g.folder.Dir() }

// Dir is a job's folder.
func (g *Grid) Dir(j Job) string { return filepath.Join(g.Path(), j.Name()) }

// Config is the file of a job's configuration.
func (g *Grid) Config(j Job) string { return filepath.Join(g.Dir(j), jobName) }

// ReadConfig reads the file of a job's configuration.
func (g *Grid) ReadConfig(j Job) ([]byte, error) {
	return g.folder.Read(filepath.Join(j.Name(), jobName))
}

// Run is a job's run folder.
func (g *Grid) Run(j Job) string { return filepath.Join(g.Dir(j), runName) }

// Moved is the end of a sweep whose folder was renamed or removed while it ran.
type Moved struct {
	to string // where it is now; empty if that is not known
}

func (m *Moved) Error() string {
	if m.to == "" {
		return "its folder was moved or removed: start the sweep again where it is"
	}
	return fmt.Sprintf("its folder was moved to %s: start the sweep again there", m.to)
}

// Stands returns a Moved error if something else, or nothing, has the name of the sweep's folder.
func (g *Grid) Stands() error {
	if !g.folder.Moved() {
		return nil
	}
	m := &Moved{to: g.folder.Dir()}
	if m.to == g.folder.Name() {
		m.to = ""
	}
	return m
}

// replaceJSON replaces a file of a folder atomically by v as JSON.
func replaceJSON(folder *run.Handle, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return folder.Replace(name, append(text, '\n'))
}
