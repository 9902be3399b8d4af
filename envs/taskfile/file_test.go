package taskfile

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"pgrlab/core/formula"
	"pgrlab/envs"
	"pgrlab/envs/mujoco"
)

// pole copies the task of testdata into a new folder, with changes of its files: each is a file, a text
// in it and what takes its place.
func pole(t *testing.T, changes ...[3]string) (file string) {
	t.Helper()
	if _, err := mujoco.Find(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"pole.toml", "pole.xml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c[0] != name {
				continue
			}
			if !bytes.Contains(text, []byte(c[1])) {
				t.Fatalf("%s has no %q", name, c[1])
			}
			text = bytes.Replace(text, []byte(c[1]), []byte(c[2]), 1)
		}
		put(t, filepath.Join(dir, name), string(text))
	}
	return filepath.Join(dir, "pole.toml")
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, file string) *File {
	t.Helper()
	f, err := Load(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func trace(t *testing.T, f *File, steps int) string {
	t.Helper()
	var out bytes.Buffer
	if err := envs.Trace(t.Context(), &out, envs.TraceOptions{Task: f.Task, Steps: steps, Controls: "random", Seed: 3}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLoad(t *testing.T) {
	f := load(t, pole(t))
	names := []string{"qpos[0]", `cos(qpos["hinge"])`, `sin(qpos["hinge"])`, "qvel slider", "qvel hinge"}
	if got := f.Task; got.Name != "file:pole" || got.Doc != "a pole is kept upright on a cart" || got.ActSize != 1 || got.EpisodeSteps != 500 || !got.Terminates || !slices.Equal(got.Names(), names) {
		t.Errorf("%+v with %q", got, got.Names())
	}
	if !slices.Equal(f.Files(), []string{"pole.toml", "pole.xml"}) {
		t.Errorf("files %v", f.Files())
	}
}

// Where an episode ends follows from an observation that shows all that the condition asks for.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		terminate string
		next      []float32 // nil: the observation does not tell
		want      bool
	}{
		{"abs(qpos[0]) > 1.75", []float32{1.8, 0, 0, 0, 0}, true},
		{"abs(qpos[0]) > 1.75", []float32{1.7, 9, 9, 9, 9}, false},
		{`qvel["hinge"]*dt > 0.1 + qpos0[0]`, []float32{0, 0, 0, 0, 11}, true},
		{"qpos[1] > 3", nil, false},
		{"prev.qpos[0] > 1", nil, false},
		{"time > 1", nil, false},
	} {
		ends := load(t, pole(t, [3]string{"pole.toml", "abs(qpos[0]) > 1.75", strings.ReplaceAll(c.terminate, `"`, `\"`)})).Task.Ends
		if (ends == nil) != (c.next == nil) || ends != nil && ends(nil, nil, c.next) != c.want {
			t.Errorf("%s: an end is known: %v", c.terminate, ends != nil)
		}
	}
}

// What is wrong with a task file is said in a line, with the place.
func TestWrongTaskFiles(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`name = "pole"`, `name = "a/b"`, `pole.toml:1:8: name: "a/b": want up to 40 letters`},
		{`doc = "a pole`, `doc = "a\u001bpole`, `pole.toml:2:7: doc: "a\x1bpole`},
		{`model = "pole.xml"`, `modle = "pole.xml"`, `pole.toml:3:1: unknown key "modle": did you mean "model"?`},
		{`model = "pole.xml"`, ``, `pole.toml: model: there is none`},
		{`model = "pole.xml"`, `model = "pole.xlm"`, `pole.toml:3:9: model: read pole.xlm: no such file or directory`},
		{`model = "pole.xml"`, `model = "/etc/passwd"`, `pole.toml:3:9: model: read /etc/passwd: it is not below the model's folder`},
		{`model = "pole.xml"`, `model = "../pole.xml"`, `pole.toml:3:9: model: read ../pole.xml: it is not below the model's folder`},
		{`episode_steps = 500`, `episode_steps = 0`, `pole.toml:4:17: episode_steps: 0, want 1 to 1000000`},
		{`episode_steps = 500`, `episode_steps = "x"`, `pole.toml:4:17: episode_steps: `},
		{`observe = [`, `observe = [] # `, `pole.toml: observe: nothing is observed`},
		{`observe = ["qpos[0]"`, `observe = ["qpos[9]"`, `pole.toml:5:18: observe: qpos has 2 numbers: 0 to 1`},
		{`'sin(qpos["hinge"])'`, `'sin(qpos["hing"])'`, `pole.toml:5:55: observe: qpos has no element "hing": want one of slider, hinge`},
		{`"qvel"]`, `"acr"]`, `pole.toml:5:68: observe: no quantity "acr" (did you mean act?)`},
		{`"qvel"]`, `"act"]`, `pole.toml:5:68: observe: the model has no act`},
		{`reward = 'tolerance`, `reward = 'tolerence`, `pole.toml:6:11: reward: no function "tolerence" (did you mean tolerance?)`},
		{`site("tip")`, `site("top")`, `pole.toml:6:21: reward: the model has no site "top" (did you mean tip?)`},
		{`site("tip")`, `site`, `pole.toml:6:21: reward: site is of a site: write site("tip")`},
		{`terminate = "abs(qpos[0]) > 1.75"`, `terminate = "abs(qpos[0])"`, `pole.toml:7:14: terminate: want a condition here`},
		{`reward = 'tolerance(site("tip")[2], 1.9, inf, 1)'`, "reward = '''\n1 + xpos(\"cart\")[3]'''", `pole.toml:7:18: reward: xpos("cart") has 3 numbers: 0 to 2`},
		{`reward = 'tol`, `reward = 'uniform(0, 1) + tol`, `pole.toml:6:11: reward: uniform draws random numbers, and only formulas of [reset] do that`},
		{`"[uniform(-0.1, 0.1), normal(0, 0.05)]"`, `"[1, 2, 3]"`, `pole.toml:10:8: reset.qpos: the formula has 3 numbers, and qpos 2`},
		{`qvel = "uniform(-0.01, 0.01)"`, `qvel = "prev.qvel"`, `pole.toml:11:9: reset.qvel: prev.qvel: an episode begins with no step before it`},
		{`qvel = "uniform`, `mocap_pos = "uniform`, `pole.toml:11:13: reset.mocap_pos: the model has no body with mocap="true"`},
		{`qvel = "uniform`, `settle = -1` + "\nqvel = \"uniform", `pole.toml:11:10: reset.settle: -1, want 0 to 100000`},
		{`qvel = "uniform`, `qvle = "uniform`, `pole.toml:11:1: unknown key "reset.qvle": did you mean "qvel"?`},
		{`[reset]`, `[reset`, `pole.toml:9:`},
	} {
		_, err := Load(t.Context(), pole(t, [3]string{"pole.toml", c.old, c.new}))
		problem := (*Problem)(nil)
		if !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), problem.File) || !strings.HasPrefix("pole.toml"+strings.TrimPrefix(err.Error(), problem.File), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", c.new, err, c.want)
		}
	}
	_, err := Load(t.Context(), pole(t, [3]string{"pole.toml", "'tolerance", "'tolerence"}))
	if caret, is := formula.Caret(err); !is || !strings.HasSuffix(caret, "\n^") {
		t.Errorf("%q", caret)
	}
}

// Models that cannot be a task are refused in a line.
func TestModelsThatAreNoTask(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`ctrllimited="true" ctrlrange="-1 1"`, ``, "actuator slide has no range of controls"},
		{`<motor name="slide" joint="slider" gear="10" ctrllimited="true" ctrlrange="-1 1"/>`, ``, "has no actuators"},
		{`<option timestep="0.01"/>`, `<option timestep="0.01"><flag sleep="enable"/></option>`, "bodies of the model can sleep"},
		{`gear="10"`, `gear="10" delay=".02" nsample="3"`, "the model has delays"},
		{`<worldbody>`, `<extension><plugin plugin="mujoco.pid"/></extension><worldbody>`, "plugin mujoco.pid not found"},
		{`<worldbody>`, `<worldbody><body`, "XML parse error"},
	} {
		_, err := Load(t.Context(), pole(t, [3]string{"pole.xml", c.old, c.new}))
		if err == nil || !strings.Contains(err.Error(), ":3:9: model: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}

// Nothing is read but regular files below the folder of the task file, and no more than a task may have.
func TestNothingElseIsRead(t *testing.T) {
	model := func(t *testing.T, make func(dir string)) error {
		file := pole(t, [3]string{"pole.xml", "<worldbody>", `<include file="part.xml"/><worldbody>`})
		make(filepath.Dir(file))
		_, err := Load(t.Context(), file)
		return err
	}
	secret := filepath.Join(t.TempDir(), "secret.xml")
	put(t, secret, "<mujoco/>")
	for _, c := range []struct {
		name string
		make func(dir string)
		want string
	}{
		{"a link out", func(dir string) { os.Symlink(secret, filepath.Join(dir, "part.xml")) }, "read part.xml: path escapes from parent"},
		{"a link to a folder outside", func(dir string) {
			os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out"))
			os.Symlink("out/secret.xml", filepath.Join(dir, "part.xml"))
		}, "read part.xml: path escapes from parent"},
		{"a pipe", func(dir string) { syscall.Mkfifo(filepath.Join(dir, "part.xml"), 0o666) }, "read part.xml: it is not a regular file"},
		{"a folder", func(dir string) { os.Mkdir(filepath.Join(dir, "part.xml"), 0o777) }, "read part.xml: it is not a regular file"},
		{"a large file", func(dir string) {
			put(t, filepath.Join(dir, "part.xml"), "")
			os.Truncate(filepath.Join(dir, "part.xml"), maxFiles+1)
		}, "read part.xml: it is too large"},
	} {
		if err := model(t, c.make); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := model(t, func(dir string) {
		put(t, filepath.Join(dir, "whole.xml"), "<mujoco><option/></mujoco>")
		os.Symlink("whole.xml", filepath.Join(dir, "part.xml"))
	}); err != nil {
		t.Errorf("a link within the folder: %v", err)
	}
	file := pole(t)
	put(t, file, strings.Repeat("#", maxDocument+1))
	if _, err := Load(t.Context(), file); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a large task file: %v", err)
	}
}

// Names and texts of others are safe to show, in errors and as names of observed numbers.
func TestNothingControlsTheTerminal(t *testing.T) {
	safe := func(what, text string) {
		if strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%s: %q", what, text)
		}
	}
	f := load(t, pole(t,
		[3]string{"pole.xml", `joint name="slider"`, `joint name="&#x1b;[2Jslider"`},
		[3]string{"pole.xml", `joint="slider"`, `joint="&#x1b;[2Jslider"`},
		[3]string{"pole.toml", `"qvel"]`, `"qvel", "1 +\t qpos[1]"]`},
	))
	for _, name := range f.Task.Names() {
		safe("a name", name)
	}
	for _, change := range [][3]string{
		{"pole.toml", `site("tip")`, `site("\u001b[2J")`},
		{"pole.toml", `reward = 'tolerance`, `reward = "\u001b[2Jx" # '`},
		{"pole.toml", `model = "pole.xml"`, `model = "\u001b[2J.xml"`},
		{"pole.toml", `model = `, `"\u001b[2J" = 1` + "\nmodel = "},
		{"pole.xml", `site name="tip"`, `site name="&#x1b;[2Jtip" foo="1"`},
		{"pole.xml", `site name="tip"`, `site name="&#x1b;[2Jtip"`},
	} {
		_, err := Load(t.Context(), pole(t, change))
		if err == nil {
			t.Errorf("%s: no error", change[2])
			continue
		}
		safe(change[2], err.Error())
	}
}

// An archive is the same task. What changes afterwards in the folder changes nothing, and is noticed.
func TestArchive(t *testing.T) {
	file := pole(t, [3]string{"pole.toml", "name = \"pole\"\n", ""})
	f := load(t, file)
	all, err := f.Archive()
	if err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(t.TempDir(), "task-pole.zip")
	put(t, packed, string(all))
	again := load(t, packed)
	if again.Task.Name != "file:pole" || !f.Current(file) || !again.Current(packed) || f.Current(packed) || trace(t, again, 600) != trace(t, f, 600) {
		t.Errorf("%s of the archive differs", again.Task.Name)
	}
	if twice, err := again.Archive(); err != nil || !bytes.Equal(twice, all) {
		t.Errorf("the archive of an archive differs: %v", err)
	}
	env, err := again.Task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	var state bytes.Buffer
	obs := make([]float32, env.ObsSize())
	if err := errors.Join(env.Reset(0, obs), env.Save(&state)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pole.xml", "pole.toml"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(filepath.Dir(file), name), string(text)+"\n")
		if f.Current(file) {
			t.Errorf("a change of %s is not noticed", name)
		}
	}
	other, err := load(t, file).Task.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Load(&state); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("a state of other files: %v", err)
	}
}

// Archives that no Archive made are refused.
func TestStrangeArchives(t *testing.T) {
	if _, err := mujoco.Find(); err != nil {
		t.Skip(err)
	}
	make := func(comment string, names ...string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range names {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("x = 1"))
			if name == "bomb" {
				z.CreateRaw(&zip.FileHeader{Name: "more", Method: zip.Deflate, CompressedSize64: 5, UncompressedSize64: maxFiles})
			}
		}
		z.SetComment(comment)
		z.Close()
		return b.String()
	}
	file := filepath.Join(t.TempDir(), "task-a.zip")
	for content, want := range map[string]string{
		"PK":                               "no archive of a task",
		make("a.toml"):                     "no archive of a task: its comment",
		make("a.toml", "../a.toml"):        `no archive of a task: it has a file "../a.toml"`,
		make("a.toml", "/a.toml"):          `no archive of a task: it has a file "/a.toml"`,
		make("a.toml", "a.toml", "a.toml"): `no archive of a task: it has a file "a.toml"`,
		make("a.toml", "a.toml"):           `unknown key "x"`,
		make("a.toml", "a.toml", "bomb"):   "too large",
	} {
		put(t, file, content)
		if _, err := Load(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A state that is saved late in a long episode goes on bit for bit, with the goal that the start has
// chosen, with activations, and with what formulas know of the step before.
func TestStatesAreWhole(t *testing.T) {
	file := pole(t,
		[3]string{"pole.xml", "<worldbody>", `<worldbody><body name="goal" mocap="true"><site name="goal"/></body>`},
		[3]string{"pole.xml", "<motor ", `<general dyntype="filter" dynprm=".1" `},
		[3]string{"pole.toml", "episode_steps = 500", "episode_steps = 3000"},
		[3]string{"pole.toml", `"qvel"]`, `"qvel - prev.qvel", 'site("goal")', "act", "time", "step", 'subtree_vel("pole")']`},
		[3]string{"pole.toml", `terminate = "abs(qpos[0]) > 1.75"`, ``},
		[3]string{"pole.toml", "[reset]", "[reset]\nmocap_pos = \"uniform(-1, 1)\"\nsettle = 3"},
	)
	task, err := load(t, file).Task.With(envs.Options{Repeat: 2})
	if err != nil {
		t.Fatal(err)
	}
	makeEnv := func() *envs.Env {
		e, err := task.New(5)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	one, other := makeEnv(), makeEnv()
	obs, again := make([]float32, task.ObsSize), make([]float32, task.ObsSize)
	step := func(e *envs.Env, i int, obs []float32) (float64, bool) {
		t.Helper()
		r, _, truncated, err := e.Step([]float32{float32(i%7)/3 - 1}, obs)
		if err != nil {
			t.Fatal(err)
		}
		return r, truncated
	}
	if err := one.Reset(2, obs); err != nil {
		t.Fatal(err)
	}
	goal := slices.Clone(obs[5:8])
	for i := range 1200 {
		step(one, i, obs)
	}
	var state bytes.Buffer
	if err := errors.Join(one.Save(&state), other.Reset(0, again), other.Load(&state)); err != nil {
		t.Fatal(err)
	}
	for i := 1200; i < 1500; i++ {
		r, ended := step(one, i, obs)
		if s, over := step(other, i, again); r != s || ended != over || ended != (i == 1499) || !slices.Equal(obs, again) {
			t.Fatalf("step %d: %v %v, and after loading %v %v", i, obs, r, again, s)
		}
	}
	if !slices.Equal(obs[5:8], goal) || goal[0] == 0 || obs[10] != 3000 || obs[9] != float32(3000*.01) {
		t.Errorf("goal %v, at the end %v", goal, obs)
	}
}

// Numbers that are not finite are errors that say why, and no end of an episode.
func TestNumbersThatAreNotFinite(t *testing.T) {
	for key, formula := range map[string][2]string{
		"observe":    {`"qvel"]`, `"log(-1 - qvel)"]`},
		"reward":     {`reward = '`, `reward = '1/(step - 1) + `},
		"reset.qpos": {`normal(0, 0.05)`, `sqrt(-1 - uniform(0, 1))`},
		"limited()":  {`normal(0, 0.05)`, `limited()`},
	} {
		env, err := load(t, pole(t, [3]string{"pole.toml", formula[0], formula[1]})).Task.New(1)
		if err != nil {
			t.Fatal(err)
		}
		obs := make([]float32, env.ObsSize())
		if err = env.Reset(0, obs); err == nil {
			_, _, _, err = env.Step([]float32{0}, obs)
		}
		diverged := (*envs.Diverged)(nil)
		if err == nil || errors.As(err, &diverged) || !strings.Contains(err.Error(), key) || key != "limited()" && !strings.Contains(err.Error(), "column") {
			t.Errorf("%s: %v", key, err)
		}
		env.Close()
	}
}

// The words of a line of a trace: a formula sees the state that the line shows.
func TestFormulasSeeTheState(t *testing.T) {
	f := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, `"qvel", "ctrl", "prev.qpos", "qpos0 + 1", 'xpos("cart")', 'geom("floor")', "qacc"]`}))
	var before []float64
	for _, text := range strings.Split(strings.TrimSpace(trace(t, f, 50)), "\n") {
		var line struct {
			Step                    int
			Obs, Action, QPos, QVel []float64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		o := line.Obs
		switch {
		case line.Step == 0 && (o[0] != line.QPos[0] || !slices.Equal(o[3:5], line.QVel) || !slices.Equal(o[6:8], line.QPos)):
			t.Fatalf("%s", text)
		case line.Step > 0 && (o[5] != line.Action[0] || o[6] != before[0]):
			t.Fatalf("%s after %v", text, before)
		case o[8] != 1 || o[10] != o[0] || o[12] != 1 || o[13] != 0 || line.Step > 0 && o[16] == 0:
			t.Fatalf("%s", text)
		}
		before = o
	}
}

// docs/own-task.md has every key of a task file and everything that a formula can name.
func TestThePageHasEverything(t *testing.T) {
	text, err := os.ReadFile("../../docs/own-task.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(keys(reflect.TypeFor[document]()), keys(reflect.TypeFor[reset]()), whole, slices.Collect(maps.Keys(draws)))
	for _, o := range ofObjects {
		names = append(names, o.name)
	}
	for _, name := range names {
		if name != "reset" && !regexp.MustCompile("`"+name+"[`(]").Match(text) {
			t.Errorf("the page lacks %s", name)
		}
	}
	for _, name := range []string{"pole.toml", "pole.xml"} {
		shown := regexp.MustCompile("(?s)\n`" + name + "`:\n\n```[a-z]+\n(.*?)```").FindSubmatch(text)
		if file, err := os.ReadFile(filepath.Join("testdata", name)); err != nil || shown == nil || plain(shown[1]) != plain(file) {
			t.Errorf("%s of the page is not that of testdata: %v", name, err)
		}
	}
}

// plain is text without comments and empty lines.
func plain(text []byte) (lines string) {
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, " #")
		lines += strings.TrimSpace(line)
	}
	return lines
}

// Whatever stands in a task file is decoded, or refused in a line with a place.
func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "pole.toml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("model = 'a'\nobserve = ['''\nx''', \"\"\"y\"\"\"]\nreward = 'z'\nreset = {qpos = 'a', settle = 1}\nreset.qvel = 'b'")
	f.Add("observe = [[], {}]\n[[reset]]\n[reset.qpos]")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := decode("a.toml", []byte(text))
		if err == nil {
			for _, s := range d.starts() {
				err = d.problem("a.toml", "reset."+s.target, &formula.Error{What: "x", Formula: s.text, At: len(s.text)})
			}
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "a.toml") || strings.ContainsFunc(err.Error(), unicode.IsControl)) {
			t.Errorf("%q", err)
		}
	})
}

// Copies that are stepped together, in several goroutines, do as copies alone.
func TestCopiesTogether(t *testing.T) {
	task := load(t, pole(t, [3]string{"pole.toml", `"qvel"]`, `"qvel - prev.qvel"]`})).Task
	const copies = 6
	all, err := task.NewVec(copies, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	one, err := task.New(4)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	obs, actions, rewards, ended := make([]float32, copies*task.ObsSize), make([]float32, copies), make([]float64, copies), make([]bool, copies)
	var seen [copies][]float32
	if err := all.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	for step := range 40 {
		for i := range copies {
			seen[i] = append(seen[i], obs[i*task.ObsSize:(i+1)*task.ObsSize]...)
			actions[i] = float32((step+i)%5)/2 - 1
		}
		if err := all.Step(actions, obs, rewards, ended); err != nil {
			t.Fatal(err)
		}
	}
	for i := range copies {
		var alone []float32
		own := make([]float32, task.ObsSize)
		err := one.Reset(uint64(i), own)
		for step := 0; step < 40 && err == nil; step++ {
			alone = append(alone, own...)
			_, _, _, err = one.Step([]float32{float32((step+i)%5)/2 - 1}, own)
		}
		if err != nil || !slices.Equal(alone, seen[i]) {
			t.Errorf("copy %d differs, %v", i, err)
		}
	}
}
