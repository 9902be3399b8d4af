package taskfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgrlab/core/formula"
	"pgrlab/envs"
	"pgrlab/envs/mujoco"
)

// Prefix begins the names of tasks that are made of files.
const Prefix = "file:"

// patience is for the compilation of a model: a few words can make it last for hours.
const patience = time.Minute

// A File is a task made of files. It never changes, and all its copies share it.
type File struct {
	Task envs.Task

	bundle   *bundle
	document *document

	words     *vocabulary
	observe   []*formula.Program
	reward    *formula.Program
	terminate *formula.Program // nil: no episode ends by itself
	starts    []started
	limits    []limit
	qpos0     []float64
	dt        float64 // of a control step, seconds
	controls  int
	boxes     int // meshes and height fields, which pictures show as boxes
	memory    int // that the model sets aside for contacts, of each copy, bytes
}

// started is a compiled start.
type started struct {
	target  string
	program *formula.Program
}

// ArchiveEnd ends the names of archives.
const ArchiveEnd = ".zip"

// Load reads a task file and everything that belongs to it, or an archive of these. Errors about what
// stands in a task file are *Problem.
func Load(ctx context.Context, file string) (*File, error) {
	open := openBundle
	if filepath.Ext(file) == ArchiveEnd {
		open = openArchive
	}
	b, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("read task %s: %w", file, err)
	}
	defer b.seal()
	d, err := decode(file, b.files[b.document])
	if err != nil {
		return nil, err
	}
	f := &File{bundle: b, document: d}
	if err := f.make(ctx, file); err != nil {
		return nil, err
	}
	return f, nil
}

// make compiles model and formulas.
func (f *File) make(ctx context.Context, file string) error {
	runtime, err := mujoco.Load(ctx)
	if err != nil {
		return err
	}
	in, err := runtime.Instance()
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("compiling it takes longer than %v", patience))
	defer cancel()
	m, err := f.compile(ctx, in)
	if err != nil {
		return f.document.problem(file, "model", withoutEngine(err))
	}
	if err := f.look(m); err != nil {
		return f.document.problem(file, "model", err)
	}
	if _, err := m.Data(); err != nil {
		return f.document.problem(file, "model", err)
	}
	if f.words, err = newVocabulary(m); err != nil {
		return err
	}
	names, err := f.formulas(file)
	if err != nil {
		return err
	}
	name := cmp.Or(f.document.Name, f.bundle.base())
	if !named.MatchString(name) {
		return f.document.problem(file, "name", fmt.Errorf("there is none, and the file's is no name: give one, as in name = \"pole\""))
	}
	own := envs.Own{
		Name: Prefix + name, Doc: cmp.Or(f.document.Doc, "a task of "+f.bundle.document),
		Identity: f.bundle.hash(),
		Compile:  func(in *mujoco.Instance) (*mujoco.Model, error) { return f.compile(context.Background(), in) },
		Order:    orders[f.document.Order], Substeps: f.document.Substeps, EpisodeSteps: f.document.EpisodeSteps, Settle: f.document.Reset.Settle,
		ActSize: f.controls, Names: names, Terminates: f.terminate != nil, Ends: f.ends(),
		Bind: func(d *mujoco.Data) (envs.Behaviour, error) { return f.bind(d) },
	}
	f.Task = own.Task()
	return nil
}

func (f *File) compile(ctx context.Context, in *mujoco.Instance) (*mujoco.Model, error) {
	return in.ModelFile(ctx, filepath.ToSlash(f.document.Model), f.bundle.read)
}

// withoutEngine leaves out words of the engine that say no more than the rest.
func withoutEngine(err error) error {
	text := strings.TrimPrefix(err.Error(), "compile model: ")
	for _, words := range []string{"MuJoCo Error: ", "Loading error: "} {
		text = strings.TrimPrefix(text, words)
	}
	return errors.New(text)
}

// look reads what the task needs to know of a model, and refuses models that cannot be a task.
func (f *File) look(m *mujoco.Model) (err error) {
	n := map[string]int{}
	for _, name := range []string{"nv", "nu", "nactuator", "nhistory", "nplugin", "narena"} {
		if n[name], err = m.Int(name); err != nil {
			return err
		}
	}
	switch {
	case n["nv"] == 0:
		return errors.New("nothing in the model can move: give a body a joint")
	case n["nu"] == 0:
		return errors.New("the model has no actuators, so there is nothing to learn: give it some")
	case n["nhistory"] > 0:
		return errors.New("the model has delays, whose state cannot be saved: leave them out")
	case n["nplugin"] > 0:
		return errors.New("the model has plugins, which are not supported: leave them out")
	}
	f.controls, f.memory = n["nu"], n["narena"]
	if err := checkControls(m, n["nactuator"]); err != nil {
		return err
	}
	if sleeps, err := m.Sleeps(); err != nil || sleeps {
		return cmp.Or(err, errors.New("bodies of the model can sleep, and that state cannot be saved: leave out the flag sleep"))
	}
	timestep, err := m.Timestep()
	if err != nil {
		return err
	}
	f.dt = timestep * float64(f.document.Substeps)
	reference, err := m.Float64s("qpos0")
	if err != nil {
		return err
	}
	f.qpos0 = slices.Clone(reference)
	if f.limits, err = limitsOf(m); err != nil {
		return err
	}
	const mesh, field = 7, 1 // mjtGeom
	kinds, err := m.Int32s("geom_type")
	for _, kind := range kinds {
		if kind == mesh || kind == field {
			f.boxes++
		}
	}
	return err
}

// checkControls refuses actuators whose controls have no bounds: an action from -1 to 1 stands for
// what lies between them.
func checkControls(m *mujoco.Model, actuators int) error {
	if actuators != m.NU {
		return fmt.Errorf("its %d actuators have %d controls: want one each", actuators, m.NU)
	}
	names, err := m.Names(mujoco.Actuator)
	if err != nil {
		return err
	}
	ranges, err := m.Float64s("actuator_ctrlrange")
	if err != nil {
		return err
	}
	for i, name := range names {
		if ranges[2*i] >= ranges[2*i+1] {
			return fmt.Errorf("actuator %s has no range of controls: give it a ctrlrange, as in ctrlrange=\"-1 1\"", cmp.Or(name, fmt.Sprint(i)))
		}
	}
	return nil
}

// Archive is everything that the task is made from in one file, of which Load makes it again.
func (f *File) Archive() ([]byte, error) {
	all, err := f.bundle.archive()
	if err != nil {
		return nil, fmt.Errorf("copy task %s: %w", f.Task.Name, err)
	}
	return all, nil
}

// Current says whether Load would read the same again.
func (f *File) Current(file string) bool {
	if f.bundle.packed != (filepath.Ext(file) == ArchiveEnd) {
		return false
	}
	var now *bundle
	var err error
	if f.bundle.packed {
		now, err = openArchive(file)
	} else if now, err = openBundle(file); err == nil {
		defer now.seal()
		for _, name := range f.bundle.names() {
			if _, failed := now.read(name); failed != nil {
				return false
			}
		}
	}
	return err == nil && now.document == f.bundle.document && now.hash() == f.bundle.hash()
}

// Files are the names of the files that the task is made from, below its folder.
func (f *File) Files() []string { return f.bundle.names() }

// Notes are lines about the task that are worth knowing.
func (f *File) Notes() []string {
	notes := []string{fmt.Sprintf("made of %s: %.1f KiB", strings.Join(f.Files(), ", "), float64(f.bundle.size)/1024)}
	notes = append(notes, fmt.Sprintf("a step is %d of the physics, %.4g s", f.document.Substeps, f.dt))
	if f.boxes > 0 {
		notes = append(notes, fmt.Sprintf("pictures show %d meshes and height fields as boxes", f.boxes))
	}
	if f.memory > roomy {
		notes = append(notes, fmt.Sprintf("each copy sets %d MiB aside for contacts: a smaller <size memory=\"1M\"/> in the model may do", f.memory>>20))
	}
	return notes
}

// roomy is the memory of a copy from which it is said how to save some.
const roomy = 8 << 20
