package taskfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"pgrlab/core/formula"
	"pgrlab/envs"
)

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
