package pack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
	"pgrlab/tui/command/terminal"
)

// Command is pack.
func Command(d cli.Deps) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "pack DIR… --out FILE",
		Short: "write runs as one small file, to resume them on another machine",
		Long: `Writes what is needed to resume runs into one file: of each its configuration, its journal,
its latest checkpoint and the data that this one needs. pgrlab unpack makes run folders of
it again; train --resume then continues as it would have here, to the same journal, if the
device is of the same kind. Older checkpoints are left out, and so are those that a change
or a fork has kept, and scenes (--scenes), which only replays show. The runs must not be
at work. Runs that share data, as forks do, are smaller in one file than in two. Of D_syn
the file has how it was made, wherever that is enough; train --resume makes it again, which
takes as long as a generation.`,
		Example: `  pgrlab stop runs/a && pgrlab pack runs/a --out a.pgrpack
  pgrlab pack runs/* --out all.pgrpack
  ssh host pgrlab unpack /dev/stdin < all.pgrpack`,
		Args: cli.RangeArgs(1, 1<<20, "a run folder or more"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return cli.Usagef("pack: say into which file with --out FILE")
			}
			if _, err := os.Lstat(out); err == nil {
				return cli.Usagef("pack: --out %s: it is there already: choose another name", out)
			}
			if err := pack(d, args, out, c.ErrOrStderr()); err != nil {
				return fmt.Errorf("pack %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to write")
	return c
}

func pack(d cli.Deps, args []string, out string, stderr io.Writer) error {
	progress := terminal.NewProgress(stderr)
	var all []*run.Packing
	names := map[string]bool{}
	defer progress.Clear() // an error stands on a line of its own
	given := map[string]bool{}
	for _, arg := range args {
		dir, err := rundir.Find(arg)
		if err != nil {
			return err
		}
		if place := rundir.Absolute(dir); given[place] {
			return cli.Usagef("%s: it is given twice", dir)
		} else {
			given[place] = true
		}
		if terminal.IsTerminal(stderr) {
			progress.Rewrite("reads " + dir)
		}
		p, err := prepare(dir, names, progress.Say)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	var file int64
	err := cli.WriteFile(out, func(w io.Writer) error {
		counted := &counter{Writer: w}
		err := run.Pack(counted, d.Version, all, progress.Bytes("packs"))
		file = counted.n
		return err
	})
	if err != nil {
		return err
	}
	var before int64
	for _, p := range all {
		before += p.Bytes()
		progress.Say(fmt.Sprintf("%s at step %s", p.Name, report.Count(p.Checkpoint.Step)))
	}
	progress.Say(fmt.Sprintf("%s: %s of %s: pgrlab unpack %s makes run folders of it", out, cli.Size(file), cli.Size(before), shell.Word(filepath.Base(out))))
	return nil
}

// prepare reads a run. names are those that the file has already.
func prepare(dir string, names map[string]bool, say func(string)) (*run.Packing, error) {
	doc, err := rundir.Config(dir)
	if err != nil {
		return nil, err
	}
	c, err := presets.Decode(filepath.Join(dir, run.ConfigName), doc)
	if err != nil {
		return nil, cli.AsUsage(err)
	}
	name := rundir.Name(dir)
	for n := 2; names[name]; n++ {
		name = fmt.Sprintf("%s-%d", rundir.Name(dir), n)
	}
	names[name] = true
	p, said, err := run.Prepare(dir, name, checkpoint.Limit(&c))
	for _, text := range said {
		say(text)
	}
	if err == nil {
		err = lean(&c, p)
	}
	if err != nil {
		return nil, cli.Usagef("%s: %w", dir, err)
	}
	for _, text := range hints(&c, p) {
		say(fmt.Sprintf("%s: %s", dir, text))
	}
	return p, nil
}

// lean has D_syn packed as its recipe, if there is one.
func lean(c *config.Config, p *run.Packing) error {
	ck, err := p.Load()
	if err != nil {
		return err
	}
	recipes, err := checkpoint.Recipes(c, ck)
	for name, recipe := range recipes {
		p.Replace(name, checkpoint.RebuildSuffix, recipe)
	}
	return err
}

// hints says what a run needs beside the file, and what would make the file smaller.
func hints(c *config.Config, p *run.Packing) (all []string) {
	if c.Data.Pinned() {
		all = append(all, fmt.Sprintf("it reads its recorded data where it goes on: take %s along, to the same place", strings.Join(c.Data.Files, ", ")))
	}
	if c.Environment.Outside.Met() {
		all = append(all, "another program simulates its task: take that along, and allow it there with pgrlab env allow")
	}
	for _, data := range p.Checkpoint.Data {
		if strings.HasSuffix(data.Name, "/synthetic") {
			all = append(all, fmt.Sprintf("its D_syn, %s, is in the file: it cannot be made again from this checkpoint", cli.Size(data.Pieces[0].Bytes)))
		}
	}
	return all
}

// counter counts what is written.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}
