package slurm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgrlab/core/run"
	"pgrlab/core/shell"
)

// recordName is the file in a sweep's folder that records what was submitted.
const recordName = "slurm.json"

// Submission is a job array that was submitted. Its number alone does not identify it for
// ever: a controller that loses its state reuses numbers, so the name is compared too.
type Submission struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Submitted time.Time `json:"submitted"`
	Elements  [][]int   `json:"elements"` // the jobs of each element, by their indexes
	How       How       `json:"how,omitzero"`
}

// jobs returns the jobs of an element.
func (s Submission) jobs(element int) []int {
	if element >= len(s.Elements) {
		return nil
	}
	return s.Elements[element]
}

// Jobs returns the jobs that were submitted.
func (s Submission) Jobs() []int { return slices.Concat(s.Elements...) }

// How says how jobs were submitted; they are submitted again in the same way. It is in the sweep's
// folder, which may come from someone else: the program and the folder are not taken from it.
type How struct {
	Script  Script   `json:"script"`
	Runs    int      `json:"runs,omitempty"`    // jobs that an element does in parallel; 0: one
	Beside  int      `json:"beside,omitempty"`  // elements that run at a time; 0: any number
	Options []string `json:"options,omitempty"` // options of sbatch; of a record, those that ask for resources, and the names of others
}

// Array holds the submissions of a sweep to Slurm.
type Array struct {
	folder      *run.Handle
	run         Command
	foreign     error
	Submissions []Submission
}

// arrayID and arrayName match the numbers that Slurm gives to arrays, and the names that submit does.
// Both are words of commands.
var (
	arrayID   = regexp.MustCompile(`^[0-9]+$`)
	arrayName = regexp.MustCompile(`^pgrlab-[A-Z2-7]{10}$`)
)

// Usable returns an error if the record is another user's, which may only be shown.
func (a *Array) Usable() error { return a.foreign }

// Open reads what was submitted for the sweep in a folder, which has to stay open. Without a record,
// nothing was.
func Open(folder *run.Handle, command Command) (*Array, error) {
	a := &Array{folder: folder, run: command}
	text, err := folder.ReadOwn(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	var foreign *run.Foreign
	if errors.As(err, &foreign) {
		a.foreign, err = foreign, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a.Submissions)
	}
	for _, s := range a.Submissions {
		if err == nil && (!arrayID.MatchString(s.ID) || !arrayName.MatchString(s.Name)) {
			err = fmt.Errorf("%q with the name %q is no array of a sweep", s.ID, s.Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.Path(recordName), err)
	}
	return a, nil
}

// Script is the script of the elements, in which this program makes an attempt at the jobs of
// the element. The program replaces the shell (exec), so that it receives the signals and its
// exit status is the element's.
type Script struct {
	Program string   `json:"-"` // the path of pgrlab on the nodes
	Dir     string   `json:"-"` // folder of the sweep, absolute
	Flags   []string `json:"flags,omitempty"`
}

// text returns the script for elements with those jobs.
func (s Script) text(elements [][]int) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/bash\njobs=(\n")
	for _, jobs := range elements {
		b.WriteString("'")
		for i, j := range jobs {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(j))
		}
		b.WriteString("'\n")
	}
	b.WriteString(")\nexec")
	for _, word := range []string{s.Program, "sweep", "job", s.Dir} {
		b.WriteString(" " + shell.Value(word))
	}
	b.WriteString(" ${jobs[SLURM_ARRAY_TASK_ID]}")
	for _, f := range append([]string{"--requeue"}, s.Flags...) {
		b.WriteString(" " + shell.Value(f))
	}
	b.WriteString("\n")
	return []byte(b.String())
}

// warning is how long before its time limit an element gets the signal to save itself, in seconds.
const warning = 120

// Submit submits jobs, in as many arrays as the cluster's limit requires.
func (a *Array) Submit(ctx context.Context, h How, jobs []int) error {
	largest, err := MaxArray(ctx, a.run)
	if err != nil {
		return err
	}
	elements := slices.Collect(slices.Chunk(jobs, max(1, h.Runs)))
	for part := range slices.Chunk(elements, largest) {
		if err := a.submit(ctx, h, part); err != nil {
			return err
		}
	}
	return nil
}

// submit submits elements as one array.
func (a *Array) submit(ctx context.Context, h How, elements [][]int) error {
	sub := Submission{How: h, Name: "pgrlab-" + rand.Text()[:10], Submitted: time.Now().UTC().Truncate(time.Second)}
	for _, jobs := range elements {
		sub.Elements = append(sub.Elements, slices.Clone(jobs))
	}
	indexes := fmt.Sprintf("0-%d", len(elements)-1)
	if h.Beside > 0 {
		indexes += fmt.Sprintf("%%%d", h.Beside)
	}
	log := filepath.Join(strings.ReplaceAll(h.Script.Dir, "%", "%%"), "slurm-%A_%a.log") // sbatch's own % is a pattern
	ours := []string{"--job-name=" + sub.Name, "--output=" + log, "--open-mode=append", "--requeue", fmt.Sprintf("--signal=B:USR2@%d", warning)}
	id, err := Submit(ctx, a.run, h.Script.text(elements), indexes, append(ours, h.Options...))
	if err != nil {
		return err
	}
	sub.ID = id
	a.Submissions = append(a.Submissions, sub)
	if err := a.keep(); err != nil {
		return fmt.Errorf("array %s is submitted, but %w: scancel %s takes it back", id, err, id)
	}
	return nil
}

// keep writes the record.
func (a *Array) keep() error {
	text, err := json.MarshalIndent(a.Submissions, "", " ")
	if err != nil {
		return err
	}
	return a.folder.Replace(recordName, append(text, '\n'))
}

// Queued returns the queue's elements by job, each job under its index in the grid with the
// element that it belongs to. Jobs that the queue does not know, or whose elements have ended,
// are not in the map. An error means that nothing is known.
func (a *Array) Queued(ctx context.Context) (map[int]Element, error) {
	queued := map[int]Element{}
	for _, s := range a.Submissions {
		elements, err := Queue(ctx, a.run, s.ID)
		if err != nil {
			return nil, err
		}
		for _, e := range elements {
			if e.Name != s.Name || e.Ended() {
				continue
			}
			e.ID = fmt.Sprintf("%s_%d", s.ID, e.Index)
			for _, j := range s.jobs(e.Index) {
				queued[j] = e
			}
		}
	}
	return queued, nil
}

// Cancel takes back jobs that are queued or running. Running ones save themselves.
func (a *Array) Cancel(ctx context.Context, queued map[int]Element) error {
	return a.each(ctx, queued, Cancel)
}

// Release releases jobs that Slurm holds because it could not begin them.
func (a *Array) Release(ctx context.Context, held map[int]Element) error {
	return a.each(ctx, held, Release)
}

// each calls a command of Slurm for jobs, once for each array.
func (a *Array) each(ctx context.Context, jobs map[int]Element, call func(ctx context.Context, run Command, id, indexes string) error) error {
	for _, s := range a.Submissions {
		var elements []int
		for _, e := range jobs {
			if e.Name == s.Name {
				elements = append(elements, e.Index)
			}
		}
		if len(elements) == 0 {
			continue
		}
		slices.Sort(elements)
		if err := call(ctx, a.run, s.ID, Indexes(slices.Compact(elements))); err != nil {
			return err
		}
	}
	return nil
}
