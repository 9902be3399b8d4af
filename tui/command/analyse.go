package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/presets"
)

// analyseRequest is what the flags of analyse say.
type analyseRequest struct {
	step, threads int
	ruler, out    string
	lab.Examination
}

func analyseCommand(d Deps) *cobra.Command {
	r := analyseRequest{Examination: lab.DefaultExamination()}
	c := &cobra.Command{
		Use:   "analyse DIR",
		Short: "the dear analyses of a saved run, as JSON",
		Long: `Loads a checkpoint of a run and prints one JSON object per member: histograms of F
over real and synthetic transitions; how far synthetic ones are from what the task
would have done, beside a Gaussian fitted to the real ones; what F was asked for and
what came out; how many leave the real range, and how near they are to real rows;
generations with and without guidance in one plane (PCA) with their overlap. The run
is not changed; it may go on meanwhile.

With --out, the same as pictures, SVG and PNG, in a folder. With --tsne, t-SNE of at
most 1,000 guided and 1,000 other generations besides, half a minute.

With --relevance-from, F as another run has learned it is laid beside; the same run
at an earlier step is a ruler that does not move while the data does.`,
		Example: `  pgrlab analyse runs/a | jq .generated.dynamics
  pgrlab analyse runs/a --out pictures > analyses.json
  pgrlab analyse runs/a --relevance-from runs/b
  pgrlab analyse runs/a --relevance-from runs/a@10000 | jq .ruler.real`,
		Args: exactArgs(1, "one run folder"),
		RunE: func(c *cobra.Command, args []string) error {
			return r.analyse(d, args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&r.step, "step", -1, "the checkpoint of step `N`; negative: the latest")
	f.StringVar(&r.ruler, "relevance-from", "", "lay F of the run `DIR[@STEP]` beside")
	f.IntVar(&r.Rows, "rows", r.Rows, "real and synthetic transitions `N` to look at")
	f.IntVar(&r.Points, "points", r.Points, "points `N` of each kind in the projection; 0: none")
	f.BoolVar(&r.Embed, "tsne", false, "t-SNE of at most 1,000 + 1,000 generations beside the projection")
	f.StringVar(&r.out, "out", "", "write pictures, SVG and PNG, into the folder `DIR`")
	f.IntVar(&r.threads, "threads", 0, "worker threads `N`; does not change the results (default: all allowed, at most 8)")
	return c
}

func (r *analyseRequest) analyse(d Deps, dir string, stdout, stderr io.Writer) error {
	if r.Rows < 3 || r.Points < 0 {
		return usagef("analyse: --rows is %d and --points %d: want at least 3 and 0", r.Rows, r.Points)
	}
	saved, err := savedRun(dir, r.step)
	if err != nil {
		return err
	}
	task, err := d.task(saved.Config.Task)
	if err != nil {
		return err
	}
	var ruler *lab.Saved
	if r.ruler != "" {
		from, step, err := splitStep(r.ruler)
		if err != nil {
			return err
		}
		other, err := savedRun(from, step)
		if err != nil {
			return err
		}
		ruler = &other
	}
	device, err := d.Device(r.threads)
	if err != nil {
		return fmt.Errorf("start device: %w", err)
	}
	defer device.Close()
	all, err := lab.Examine(saved, task, device, r.Examination, ruler)
	if err != nil {
		return err
	}
	out := json.NewEncoder(stdout)
	for i, e := range all {
		if r.out != "" {
			dir := r.out
			if len(all) > 1 {
				dir = filepath.Join(dir, fmt.Sprintf("member-%d", i))
			}
			if err := drawPictures(dir, fmt.Sprintf("%s on %s, step %d", saved.Config.Method, saved.Config.Task, e.Step), e, stderr); err != nil {
				return err
			}
		}
		fmt.Fprintf(stderr, "%s on %s at step %d\n", saved.Config.Method, saved.Config.Task, e.Step)
		line := struct {
			Step int `json:"step"`
			*lab.Examined
		}{e.Step, e}
		if err := out.Encode(line); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// savedRun reads the configuration of a run folder.
func savedRun(dir string, step int) (lab.Saved, error) {
	path := filepath.Join(dir, run.ConfigName)
	doc, err := os.ReadFile(path)
	if err != nil {
		return lab.Saved{}, usagef("analyse: %v: give a run folder", err)
	}
	c, err := presets.Decode(path, doc)
	return lab.Saved{Config: c, Dir: dir, Step: step}, err
}

// splitStep reads DIR or DIR@STEP.
func splitStep(text string) (dir string, step int, err error) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, -1, nil
	}
	if step, err = strconv.Atoi(strings.ReplaceAll(text[i+1:], "_", "")); err != nil || step < 0 {
		return "", 0, usagef("analyse: --relevance-from %s: %q is no step: want DIR or DIR@STEP", text, text[i+1:])
	}
	return text[:i], step, nil
}
