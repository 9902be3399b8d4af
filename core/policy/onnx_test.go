package policy

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/rng"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// An ONNX policy computes what the learner's own evaluation does: for 100 observations, or ten stacks of
// frames, in one batch, by an evaluator of ONNX's operations that shares no code with the writer.
func TestAnONNXPolicyActsAsTheLearner(t *testing.T) {
	low, high := []float64{-1, -0.5}, []float64{1.5, 0.25}
	for name, c := range onnxConfigs() {
		of, rows := onnxTask(c), 100
		if c.Sees() {
			rows = 10
		}
		var bounds Bounds
		if !of.Discrete {
			bounds = Bounds{low, high}
		}
		model := exported(t, &c, of, bounds)
		acting := observations(&c, of, rows)
		a, err := newLearner(&c, of, tiny.Device(t), 42)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Act(acting); err != nil {
			t.Fatal(name, err)
		}
		a.Close()
		got := model.run(t, input(acting, &c, of), rows)
		if of.Discrete {
			for i := range rows {
				if chosen := slices.Index(acting.Actions[i*of.ActSize:(i+1)*of.ActSize], 1); got["action"].data[i] != float64(chosen) {
					t.Errorf("%s: row %d chooses %v, the learner %d", name, i, got["action"].data[i], chosen)
				}
			}
			continue
		}
		worst, moved := 0.0, 0.0
		for i, want := range acting.Actions {
			j := i % of.ActSize
			action := got["action"].data[i]
			env := low[j] + (high[j]-low[j])*(float64(want)+1)/2
			worst = max(worst, math.Abs(action-float64(want)), math.Abs(got["action_env"].data[i]-env))
			moved = max(moved, math.Abs(action-got["action"].data[j]))
		}
		if !(worst < 2e-6) || moved < 1e-3 {
			t.Errorf("%s: an action is off by %g; they differ by %g", name, worst, moved)
		}
	}
}

// ONNX's own checker, if it is installed, accepts each model, with the shapes of all values inferred.
func TestTheCheckerOfONNXAcceptsPolicies(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import onnx").Run() == nil {
			python = p
		}
	}
	if python == "" {
		t.Skip("no python3 with onnx here (Debian: python3-onnx)")
	}
	dir := t.TempDir()
	var files []string
	for name, c := range onnxConfigs() {
		of := onnxTask(c)
		bounds := Bounds{make([]float64, of.ActSize), slices.Repeat([]float64{1}, of.ActSize)}
		files = append(files, filepath.Join(dir, name+".onnx"))
		if err := os.WriteFile(files[len(files)-1], exported(t, &c, of, bounds).file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, append([]string{"-c", `
import onnx, sys
for path in sys.argv[1:]:
    onnx.checker.check_model(path, full_check=True)
    m = onnx.load(path)
    assert m.ir_version == 8 and m.opset_import[0].version == 13, m.opset_import
    onnx.shape_inference.infer_shapes(m, check_type=True, strict_mode=True)
    print({p.key: p.value for p in m.metadata_props})`}, files...)...).CombinedOutput()
	if err != nil || strings.Count(string(out), "'task': 'world'") != len(files) || strings.Count(string(out), "'action_repeat': '1'") != len(files) {
		t.Errorf("%v: %s", err, out)
	}
}

// What has no ONNX is refused in a line, and so are files that are no policy.
func TestPoliciesWithoutONNX(t *testing.T) {
	remembers, chooses := tiny.Config(), tiny.Pixels()
	remembers.Agent.Learner, remembers.Generator.Kind, remembers.Generator.Conditional, remembers.Knobs.Relevance = "dreamer", config.GeneratorNone, false, "none"
	chooses.Agent.Learner = "ppo"
	drq := tiny.Pixels()
	for want, try := range map[string]struct {
		c     config.Config
		saved []byte
	}{
		"remembers its episode": {remembers, saved(t, &remembers, tiny.Task())},
		"chooses among actions": {chooses, saved(t, &drq, tiny.Task())},
		"not a file of weights": {remembers, []byte("{}\n")},
	} {
		var out bytes.Buffer
		err := ONNX(&out, &try.c, tiny.Task(), Bounds{}, nil, bytes.NewReader(try.saved))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := tiny.Config()
	for what, of := range map[string]task.Task{"another observation": {ObsSize: 3, ActSize: 1}, "another action": {ObsSize: 2, ActSize: 2}} {
		if err := ONNX(&bytes.Buffer{}, &c, of, Bounds{}, nil, bytes.NewReader(saved(t, &c, tiny.Task()))); err == nil {
			t.Errorf("a policy for %s was written", what)
		}
	}
	if err := ONNX(&bytes.Buffer{}, &c, tiny.Task(), Bounds{[]float64{0, 0}, []float64{1, 1}}, nil, bytes.NewReader(saved(t, &c, tiny.Task()))); err == nil {
		t.Error("bounds of another task are written")
	}
}

// onnxConfigs are runs whose policies have an ONNX, by a name for each kind.
func onnxConfigs() map[string]config.Config {
	all := map[string]config.Config{}
	for name, change := range map[string]func(c *config.Config){
		"sac":   func(c *config.Config) {},
		"redq":  func(c *config.Config) { c.Agent.Critics, c.Agent.Subset = 10, 2 },
		"max":   func(c *config.Config) { c.Agent.Learner = "max" },
		"deep":  func(c *config.Config) { c.Agent.Hidden = []int{7, 9, 5} },
		"ppo":   func(c *config.Config) { c.Agent.Learner = "ppo" },
		"drqv2": func(c *config.Config) { *c = tiny.Pixels() },
	} {
		c := tiny.Config()
		c.Generator.Kind, c.Generator.Conditional, c.Knobs.Relevance = config.GeneratorNone, false, "none"
		change(&c)
		all[name] = c
	}
	return all
}

// onnxTask is the task of such a run: with two numbers an action, or three to choose from.
func onnxTask(c config.Config) task.Task {
	of := tiny.Task()
	of.ActSize, of.Names = 2, []string{"x", "t"}
	if c.Agent.Learner == "ppo" {
		of.ActSize, of.Discrete, of.Choices = 3, true, []string{"left", "right", "stay"}
	}
	return of
}

// saved is what the learner of a run saves as its policy.
func saved(t *testing.T, c *config.Config, of task.Task) []byte {
	t.Helper()
	a, err := newLearner(c, of, tiny.Device(t), 42)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var file bytes.Buffer
	if err := Save(&file, a.SavePolicy); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// exported is the policy of a run, written as ONNX and read back.
func exported(t *testing.T, c *config.Config, of task.Task, bounds Bounds) *onnxModel {
	t.Helper()
	var out bytes.Buffer
	if err := ONNX(&out, c, of, bounds, map[string]string{"task": of.Name, "seed": "42", "program": "pgrlab v0"}, bytes.NewReader(saved(t, c, of))); err != nil {
		t.Fatal(err)
	}
	return readONNX(t, out.Bytes())
}

// observations are rows of random observations, or of stacks of frames, for a policy to act on.
func observations(c *config.Config, of task.Task, rows int) *agent.Acting {
	draws := rng.New(7, "observations")
	a := &agent.Acting{Copies: rows, Actions: make([]float32, rows*of.ActSize), Mode: agent.Mean}
	if !c.Sees() {
		a.Obs = make([]float32, rows*of.ObsSize)
		draws.FillNormal(a.Obs, 0, 0)
		return a
	}
	size := c.Pixels.Side * c.Pixels.Side * agent.Colours
	noise := make([]float32, size)
	for i := range rows {
		var stack [][]byte
		for k := range c.Pixels.Stack {
			draws.FillUniform(noise, uint64(i), uint64(k*size))
			frame := make([]byte, size)
			for j, u := range noise {
				frame[j] = byte(256 * u)
			}
			stack = append(stack, frame)
		}
		a.Stacks = append(a.Stacks, stack)
	}
	return a
}

// input is what an ONNX policy is given for them.
func input(a *agent.Acting, c *config.Config, of task.Task) tensor {
	if !c.Sees() {
		return tensor{[]int{a.Copies, of.ObsSize}, doubles(a.Obs)}
	}
	side, n := c.Pixels.Side, c.Pixels.Stack
	in := tensor{shape: []int{a.Copies, n * agent.Colours, side, side}}
	for _, stack := range a.Stacks {
		for _, frame := range stack {
			for colour := range agent.Colours {
				for at := range side * side {
					in.data = append(in.data, float64(frame[at*agent.Colours+colour]))
				}
			}
		}
	}
	return in
}

func doubles(all []float32) (out []float64) {
	for _, v := range all {
		out = append(out, float64(v))
	}
	return out
}

// onnxModel is what the evaluator reads of a ModelProto.
type onnxModel struct {
	file            []byte
	nodes           []onnxNode
	constants       map[string]tensor
	inputs, outputs []string
}

// onnxNode is a NodeProto.
type onnxNode struct {
	op, to string
	from   []string
	ints   map[string][]int
}

// tensor holds numbers row by row.
type tensor struct {
	shape []int
	data  []float64
}

// fieldsOf calls do with every field of a message.
func fieldsOf(t *testing.T, message []byte, do func(field protowire.Number, number int, text []byte)) {
	t.Helper()
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		message = message[n:]
		switch kind {
		case protowire.VarintType:
			v, size := protowire.ConsumeVarint(message)
			n = size
			do(field, int(int64(v)), nil)
		case protowire.BytesType:
			text, size := protowire.ConsumeBytes(message)
			n = size
			do(field, 0, text)
		default:
			t.Fatalf("a field of kind %d", kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		message = message[n:]
	}
}

func readONNX(t *testing.T, file []byte) *onnxModel {
	t.Helper()
	m := &onnxModel{file: file, constants: map[string]tensor{}}
	fieldsOf(t, file, func(field protowire.Number, _ int, graph []byte) {
		if field != 7 {
			return
		}
		fieldsOf(t, graph, func(field protowire.Number, _ int, text []byte) {
			switch field {
			case 1:
				m.nodes = append(m.nodes, readNode(t, text))
			case 5:
				m.readConstant(t, text)
			case 11, 12:
				fieldsOf(t, text, func(inner protowire.Number, _ int, name []byte) {
					if inner == 1 && field == 11 {
						m.inputs = append(m.inputs, string(name))
					} else if inner == 1 {
						m.outputs = append(m.outputs, string(name))
					}
				})
			}
		})
	})
	return m
}

func readNode(t *testing.T, text []byte) onnxNode {
	n := onnxNode{ints: map[string][]int{}}
	fieldsOf(t, text, func(field protowire.Number, _ int, text []byte) {
		switch field {
		case 1:
			n.from = append(n.from, string(text))
		case 2:
			n.to = string(text)
		case 4:
			n.op = string(text)
		case 5:
			name, values := "", []int(nil)
			fieldsOf(t, text, func(field protowire.Number, number int, text []byte) {
				switch field {
				case 1:
					name = string(text)
				case 3, 8:
					values = append(values, number)
				}
			})
			n.ints[name] = values
		}
	})
	return n
}

func (m *onnxModel) readConstant(t *testing.T, text []byte) {
	var c tensor
	name := ""
	fieldsOf(t, text, func(field protowire.Number, number int, text []byte) {
		switch field {
		case 1:
			c.shape = append(c.shape, number)
		case 8:
			name = string(text)
		case 9:
			for ; len(text) >= 4; text = text[4:] {
				c.data = append(c.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(text))))
			}
		}
	})
	m.constants[name] = c
}

// run evaluates the model, in double precision.
func (m *onnxModel) run(t *testing.T, in tensor, rows int) map[string]tensor {
	t.Helper()
	if len(m.inputs) != 1 || len(m.outputs) != 2 {
		t.Fatalf("inputs %q, outputs %q", m.inputs, m.outputs)
	}
	values := map[string]tensor{m.inputs[0]: in}
	for _, n := range m.nodes {
		var from []tensor
		for _, name := range n.from {
			v, ok := values[name]
			if !ok {
				if v, ok = m.constants[name]; !ok {
					t.Fatalf("%s is computed of %s, which is not there yet", n.to, name)
				}
			}
			from = append(from, v)
		}
		values[n.to] = n.apply(t, from)
	}
	out := map[string]tensor{}
	for _, name := range m.outputs {
		if out[name] = values[name]; len(out[name].shape) == 0 || out[name].shape[0] != rows {
			t.Fatalf("%s is %v for %d rows", name, out[name].shape, rows)
		}
	}
	return out
}

// The bounds of actions are those of a program's own account, or of the environment if it has any.
func TestBoundsOfActions(t *testing.T) {
	of := tiny.Task()
	asked := func() (Bounds, error) { return BoundsOf(of, task.Environment{}) }
	if b, err := asked(); err != nil || b.Low != nil {
		t.Errorf("%v, %v: nothing is known", b, err)
	}
	made := of.New
	of.New = func(seed uint64) (task.Env, error) {
		env, err := made(seed)
		return bounded{env}, err
	}
	if b, err := asked(); err != nil || !slices.Equal(b.Low, []float64{-2}) || !slices.Equal(b.High, []float64{3}) {
		t.Errorf("%v, %v", b, err)
	}
	of.New = func(uint64) (task.Env, error) { t.Fatal("the program is started"); return nil, nil }
	e := task.Environment{Outside: task.Outside{Spec: task.Spec{Obs: 2, Act: 1, Low: []float64{0}, High: []float64{7}}}}
	if b, err := BoundsOf(of, e); err != nil || !slices.Equal(b.High, []float64{7}) {
		t.Errorf("%v, %v", b, err)
	}
	of.Discrete = true
	if b, err := asked(); err != nil || b.Low != nil {
		t.Errorf("%v, %v: actions are chosen", b, err)
	}
}

type bounded struct{ task.Env }

func (bounded) Bounds() (low, high []float64) { return []float64{-2}, []float64{3} }
