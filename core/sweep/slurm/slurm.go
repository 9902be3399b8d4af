// Package slurm lets Slurm run the jobs of a sweep, as one job array. It calls Slurm's own
// commands, which know the user and every version of the protocol. It asks them for delimited
// text, whose form, unlike that of JSON, does not change between versions.
//
// Whether a job is done is decided by its own result on the disk (package sweep), not by the
// queue. If the queue does not answer, because it is overloaded or its controller is down,
// nothing is known about the jobs; it never means that a job is gone.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Command runs one of Slurm's commands and returns what it prints.
type Command func(ctx context.Context, input []byte, name string, args ...string) (stdout string, err error)

// patience is how long a query may take; with the controller down it would take 18 s.
// Commands that change something get changesPatience: an sbatch that is given up may have
// submitted, and scancel was seen to take more than ten seconds while a job was just being
// started.
const (
	patience        = 10 * time.Second
	changesPatience = time.Minute
)

// Run is a Command that runs on this machine.
func Run(ctx context.Context, input []byte, name string, args ...string) (string, error) {
	wait := changesPatience
	if name == "squeue" {
		wait = patience
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(input), &out, &errs
	err := c.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s was not found: is this a login node of a cluster with Slurm?", name)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer within %v", name, wait)
	}
	said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	if said == "" {
		said = err.Error()
	}
	return "", fmt.Errorf("%s: %s", name, strings.TrimPrefix(said, name+": error: "))
}

// Element is the queue's description of one element of an array.
type Element struct {
	ID       string // ARRAY_ELEMENT, as the element itself finds it in its environment
	Index    int    // index of the element, as it was submitted
	Name     string
	State    string // PENDING, RUNNING, COMPLETED, …
	Reason   string
	Node     string
	Restarts int
}

// ended holds the states in which an element is over. In all other states it may still run.
var ended = map[string]bool{
	"COMPLETED": true, "FAILED": true, "CANCELLED": true, "TIMEOUT": true, "NODE_FAIL": true,
	"OUT_OF_MEMORY": true, "BOOT_FAIL": true, "DEADLINE": true, "PREEMPTED": true, "REVOKED": true,
}

// Ended says whether the element will not run any more.
func (e Element) Ended() bool { return ended[e.State] }

// Submit submits a script as a job array over indexes, with options for sbatch, and returns
// the array's number.
func Submit(ctx context.Context, run Command, script []byte, indexes string, options []string) (id string, err error) {
	out, err := run(ctx, script, "sbatch", append([]string{"--parsable", "--array=" + indexes}, options...)...)
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(lastLine(out)), ";") // id[;cluster]
	if _, err := strconv.Atoi(id); err != nil {
		return "", fmt.Errorf("sbatch: printed %q, which is no number of a job", strings.TrimSpace(out))
	}
	return id, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// queueFormat lists the fields of an element, in the order in which Queue reads them.
const queueFormat = "ArrayTaskID:|,State:|,Reason:|,NodeList:|,RestartCnt:|,Name:|"

// Queue asks for the elements of an array, including those that have ended lately. An array
// that Slurm no longer lists has none.
func Queue(ctx context.Context, run Command, id string) ([]Element, error) {
	out, err := run(ctx, nil, "squeue", "-h", "-r", "-j", id, "-t", "all", "-O", queueFormat)
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseQueue(out)
}

// parseQueue reads the output that Queue asks for. It leaves out lines without an element
// index, which do not belong to an array.
func parseQueue(text string) ([]Element, error) {
	var all []Element
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		if line == "" {
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) < 6 {
			return nil, fmt.Errorf("squeue: printed %q: want %s", line, queueFormat)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		index, err := strconv.Atoi(fields[0])
		if err != nil {
			continue
		}
		e := Element{Index: index, State: fields[1], Reason: fields[2], Node: fields[3], Name: fields[5]}
		e.Restarts, _ = strconv.Atoi(fields[4])
		if e.Reason == "None" {
			e.Reason = ""
		}
		all = append(all, e)
	}
	return all, nil
}

// Cancel ends elements of an array: waiting ones never run, running ones save themselves.
func Cancel(ctx context.Context, run Command, id, indexes string) error {
	_, err := run(ctx, nil, "scancel", id+"_["+indexes+"]")
	return err
}

// Held says whether Slurm holds the element because it could not begin it, for example on a
// faulty node. A held element does not run until it is released.
func (e Element) Held() bool {
	return e.State == "PENDING" && strings.Contains(strings.ReplaceAll(strings.ToLower(e.Reason), "_", " "), "requeued held")
}

// Release lets held elements of an array run.
func Release(ctx context.Context, run Command, id, indexes string) error {
	_, err := run(ctx, nil, "scontrol", "release", id+"_["+indexes+"]")
	return err
}

// Requeue gives the element in which this process runs back to the queue.
func Requeue(ctx context.Context, run Command, element string) error {
	_, err := run(ctx, nil, "scontrol", "requeue", element)
	return err
}

// Step returns a command line that runs words in a step of a job on one of its nodes, with
// input and output passed through. The step shares the job's resources (--overlap); otherwise
// it would wait until the job has ended.
func Step(job, node string, words ...string) []string {
	all := []string{"srun", "--jobid=" + job, "--overlap", "--mem=0", "--nodes=1", "--ntasks=1", "--unbuffered", "--quiet"}
	if node != "" {
		all = append(all, "--nodelist="+node)
	}
	return append(all, words...)
}

// MaxArray returns the largest number of elements of an array that the cluster accepts.
func MaxArray(ctx context.Context, run Command) (int, error) {
	out, err := run(ctx, nil, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) != "MaxArraySize" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 1 {
			return 0, fmt.Errorf("scontrol: MaxArraySize is %q: job arrays are switched off here", strings.TrimSpace(value))
		}
		return n, nil
	}
	return 0, errors.New("scontrol: it does not say MaxArraySize")
}

// Indexes formats indexes for sbatch and scancel: 0-3,7.
func Indexes(sorted []int) string {
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		part := strconv.Itoa(sorted[i])
		if j > i {
			part += "-" + strconv.Itoa(sorted[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
