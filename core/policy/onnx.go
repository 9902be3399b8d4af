package policy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/op"
	"pgrlab/core/task"
)

// Bounds are those of the actions that a task's own controls take, [A]; both are nil if they are not
// known.
type Bounds struct{ Low, High []float64 }

// BoundsOf finds the bounds of a task that is played in e.
func BoundsOf(t task.Task, e task.Environment) (Bounds, error) {
	if t.Discrete {
		return Bounds{}, nil
	}
	if o := e.Outside; o.Met() { // no program is started to be asked again
		return Bounds{o.Spec.Low, o.Spec.High}, nil
	}
	env, err := t.New(0)
	if err != nil {
		return Bounds{}, err
	}
	var b Bounds
	if bounded, is := env.(task.Bounded); is {
		b.Low, b.High = bounded.Bounds()
	}
	return b, env.Close()
}

// ONNX writes the policy that a run of configuration c saved, without noise, as a model in ONNX
// (operators of opset 13), for a batch of any size. Its metadata are about, the names of the task, for how many
// control steps an action is repeated, and whether the run's evaluations take the mean or a sample.
//
//	learner              input                                     outputs
//	sac, redq, max, …    obs [batch,O]                             action [batch,A] in [-1,1], action_env
//	drqv2                frames [batch,3·Stack,Side,Side] (bytes)  the same
//	ppo                  obs [batch,O]                             logits [batch,A], action [batch] (int64)
//
// action_env [batch,A] is the action between the bounds of the task's own controls; it is there if they
// are known. A stack has its oldest frame first, each as red, green and blue. Policies that remember their
// episode, and those of PPO that see frames, are refused.
func ONNX(w io.Writer, c *config.Config, t task.Task, bounds Bounds, about map[string]string, r io.Reader) error {
	r, err := unsealed(r)
	if err != nil {
		return err
	}
	tensors, err := readWeights(r)
	if err != nil {
		return err
	}
	var p translation
	p.left = tensors
	switch name := p.next(); {
	case slices.ContainsFunc(tensors, func(t *op.Tensor) bool { return t.Name == "gates.w" }):
		return errors.New("read policy: it remembers its episode, and recurrent layers are not exported: only policies without a memory are")
	case strings.HasPrefix(name, "policy."):
		p.acts(p.layers(p.obs(t.ObsSize), "Relu", 2, t.ActSize), bounds)
	case strings.HasPrefix(name, "encoder.") && c.Agent.Learner == "drqv2":
		p.acts(p.layers(p.trunk(p.encoder(c.Pixels)), "Relu", 1, t.ActSize), bounds)
	case strings.HasPrefix(name, "encoder."):
		return errors.New("read policy: it sees frames and chooses among actions, which is not exported: of those that choose only policies that see observations are")
	case strings.HasPrefix(name, "trunk."):
		p.chooses(p.layers(p.obs(t.ObsSize), "Tanh", 1, t.ActSize))
	default:
		p.fail()
	}
	if p.err != nil {
		return p.err
	}
	properties, err := properties(c, t, about)
	if err != nil {
		return err
	}
	if _, err := w.Write(p.model("policy", about["program"], properties)); err != nil {
		return fmt.Errorf("write onnx: %w", err)
	}
	return nil
}

// properties are the metadata of a model, sorted, with lists of names as JSON.
func properties(c *config.Config, t task.Task, about map[string]string) (all [][2]string, err error) {
	about = maps.Clone(about)
	about["action_repeat"], about["evaluated_by"] = strconv.Itoa(max(1, c.Environment.ActionRepeat)), cmp.Or(c.Evaluation.Actions, config.ActionsMean)
	for key, names := range map[string][]string{"observation_names": t.Names, "action_names": t.Choices} {
		if len(names) > 0 {
			text, err := json.Marshal(names)
			if err != nil {
				return nil, err
			}
			about[key] = string(text)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(about)) {
		all = append(all, [2]string{key, strings.ToValidUTF8(about[key], "?")})
	}
	return all, nil
}
