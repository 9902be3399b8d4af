package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"pgrlab/core/config"
	"pgrlab/core/report"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// hubRequest holds the flags of card.
type hubRequest struct {
	hub    bool
	member int
	out    string
}

func (h *hubRequest) check(flags *pflag.FlagSet) error {
	for _, name := range []string{"member", "out"} {
		if !h.hub && flags.Changed(name) {
			return cli.Usagef("card: --%s goes with --hub: leave it out", name)
		}
	}
	return nil
}

// The files of a folder for the hub, beside config.toml. The first has the name that the hub shows, the second
// that of huggingface_sb3.
const (
	hubCard    = "README.md"
	hubResults = "results.json"
	hubPolicy  = "policy"
	ours       = "library_name: pgrlab\n" // in every card that is written here
)

// write makes the folder.
func (h *hubRequest) write(d cli.Deps, p *page, stderr io.Writer) error {
	member := max(0, h.member)
	if !p.Done {
		return fmt.Errorf("%s: it has not ended, and a run writes its policy when it ends", p.Dir)
	}
	saved, err := policyOf(d, p.Run, member, -1)
	if err != nil {
		return err
	}
	saved.Close()
	last, err := p.lastEvaluation(member)
	if err != nil {
		return err
	}
	files := map[string]writer{hubResults: last.write, run.ConfigName: func(w io.Writer) error {
		doc, err := rundir.Config(p.Dir)
		if err == nil {
			_, err = w.Write(doc)
		}
		return err
	}}
	policies := h.policies(d, p, member, stderr)
	for name, write := range policies {
		files[name] = write
	}
	files[hubCard] = func(w io.Writer) error {
		return p.hubCard(w, last, p.Members[member].Seed, policies[hubPolicy+endingONNX] != nil)
	}
	dir := cmp.Or(h.out, rundir.Name(p.Dir)+"-hub")
	replaces, err := replaceable(dir)
	if err != nil {
		return err
	}
	if err := cli.MakeFolder(dir, "the files of a model"); err != nil {
		return err
	}
	for _, name := range []string{run.ConfigName, hubResults, hubPolicy + endingONNX, hubPolicy + endingWeights, hubCard} {
		path, write := filepath.Join(dir, name), files[name]
		if write == nil && !replaces {
			continue
		}
		if write == nil { // the card that is replaced may have left one
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := cli.WriteFile(path, write); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stderr, "%s: look through it, its config.toml too; hf upload USER/NAME %s publishes it\n", dir, shell.Word(dir))
	return err
}

// policies are the files of the policy, as far as it can be written so.
func (h *hubRequest) policies(d cli.Deps, p *page, member int, stderr io.Writer) map[string]writer {
	all := map[string]writer{}
	for _, kind := range []struct {
		ending string
		make   func(*savedPolicy) (writer, error)
	}{
		{endingONNX, func(s *savedPolicy) (writer, error) { return s.onnx(d, p.Dir) }},
		{endingWeights, (*savedPolicy).weights},
	} {
		var write writer
		saved, err := policyOf(d, p.Run, member, -1)
		if err == nil {
			write, err = kind.make(saved)
			saved.Close()
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s is left out: %v\n", hubPolicy+kind.ending, err)
			continue
		}
		all[hubPolicy+kind.ending] = write
	}
	return all
}

// replaceable says whether a folder has a card that was written here. One that was not is an error.
func replaceable(dir string) (replaces bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, hubCard))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || strings.Contains(string(text), ours) {
		return err == nil, err
	}
	return false, cli.Usagef("write %s: it has a %s that is no card of pgrlab: choose another folder", dir, hubCard)
}

// evaluation is an evaluation as huggingface_sb3 writes it into results.json.
type evaluation struct {
	Mean          float64 `json:"mean_reward"` // of the returns
	Std           float64 `json:"std_reward"`  // of the returns of these episodes
	Deterministic bool    `json:"is_deterministic"`
	Episodes      int     `json:"n_eval_episodes"`
	At            string  `json:"eval_datetime"`

	step int
}

func (e *evaluation) write(w io.Writer) error { return cli.WriteJSON(w, e) }

// String is mean and deviation as the hub's leaderboards read them.
func (e *evaluation) String() string { return fmt.Sprintf("%.2f +/- %.2f", e.Mean, e.Std) }

// lastEvaluation is a member's last one.
func (p *page) lastEvaluation(member int) (*evaluation, error) {
	e := &evaluation{Mean: math.NaN(), Deterministic: p.config.Evaluation.Actions != config.ActionsSample}
	err := report.Lines(p.Dir, func(line run.Entry, values []report.Scalar) error {
		if line.Type != "evaluated" || max(line.Member, 0) != member {
			return nil
		}
		e.step = line.Step
		e.At = p.Began().UTC().Add(time.Duration(line.WallS * float64(time.Second))).Format("2006-01-02T15:04:05")
		for _, v := range values {
			switch v.Name {
			case report.Return:
				e.Mean = v.Value
			case "evaluated/return_std":
				e.Std = v.Value
			case "evaluated/episodes":
				e.Episodes = int(v.Value)
			}
		}
		return nil
	})
	if sum := e.Mean + e.Std; err == nil && (math.IsNaN(sum) || math.IsInf(sum, 0)) {
		err = fmt.Errorf("%s: it has no evaluation whose return is a finite number", p.Dir)
	}
	return e, err
}

// hubCard writes the model card. Its metadata have the fields of huggingface_sb3's and Sample Factory's cards, in
// YAML; every text is quoted as in JSON, which is YAML as well.
func (p *page) hubCard(w io.Writer, e *evaluation, seed uint64, onnx bool) error {
	task, method := quoted(p.Task), quoted(p.Method)
	fmt.Fprintf(w, "---\n%stags:\n- %s\n- reinforcement-learning\n- deep-reinforcement-learning\n- pgr\nmodel-index:\n- name: %s\n  results:\n", ours, task, method)
	fmt.Fprintf(w, "  - task:\n      type: reinforcement-learning\n      name: reinforcement-learning\n    dataset:\n      type: %s\n      name: %s\n", task, task)
	fmt.Fprintf(w, "    metrics:\n    - type: mean_reward\n      value: %s\n      name: mean_reward\n      verified: false\n---\n\n", e)
	fmt.Fprintf(w, "# %s on %s, scale %s, seed %d\n\n", p.Method, p.Task, p.Scale, seed)
	acted := "without noise"
	if !e.Deterministic {
		acted = "drawn from the policy"
	}
	fmt.Fprintf(w, "**%s** is the mean and the standard deviation of the returns of %d episodes of this one policy, with actions %s, at its last evaluation, step %s. It is not over seeds: other runs of the same settings reach other returns.\n\n",
		e, e.Episodes, acted, report.Count(e.step))
	if onnx {
		fmt.Fprint(w, p.usage())
	}
	return p.body(w, nil)
}

// usage shows how the ONNX is run.
func (p *page) usage() string {
	kind, output := "float32", "action_env"
	if p.config.Sees() {
		kind = "uint8"
	}
	if p.config.Agent.Learner == "ppo" {
		output = "action"
	}
	also := ""
	if n := p.config.Environment.ActionRepeat; n > 1 {
		also += fmt.Sprintf("Each action is repeated for %d control steps. ", n)
	}
	if p.config.Evaluation.Actions == config.ActionsSample && output == "action" {
		also += "The evaluation drew its actions from the softmax of the output `logits`; `action` is the most likely one. "
	}
	if also != "" {
		also = strings.TrimSpace(also) + "\n\n"
	}
	return fmt.Sprintf("```python\nimport numpy as np, onnxruntime\n\npolicy = onnxruntime.InferenceSession(%q)\nseen = policy.get_inputs()[0]  # %s: what an episode shows goes here\naction, = policy.run([%q], {seen.name: np.zeros([1] + seen.shape[1:], np.%s)})\n```\n\n%s",
		hubPolicy+endingONNX, kind, output, kind, also)
}

// quoted is a text as a scalar of YAML.
func quoted(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}
