package program

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/run"
)

// A recipe is a page of docs/recipes, with the properties of its example.
type recipe struct {
	touches []string   // patterns of the files that the example adds, one each
	lines   string     // the file that gets a line and an import; "": none
	imports string     // the file that gets an import of the example's package; "": none
	longest int        // lines of a file of the example; 0: longestExample
	args    [][]string // the arguments of its runs
	says    []string   // what the journals of the runs contain
	with    string     // added to the preset of one more run with args[0]; "": there is none
	adds    []string   // what the journal of that run contains beside says
}

var recipes = map[string]recipe{
	"relevance": {
		touches: []string{"core/relevance/*.go", "presets/data/method/*.toml"},
		args:    [][]string{{"--method", "pgr-surprise"}, {"--method", "pgr-reward", "--at", "70:relevance=surprise!"}},
		says:    []string{`"models":{"surprise":`, `"type":"refit"`},
	},
	"method": {
		touches: []string{"presets/data/method/*.toml"},
		args:    [][]string{{"--method", "redq-rnd"}},
		says:    []string{`"rnd":`, `"bonus":`},
	},
	"task": {
		touches: []string{"envs/*.go"},
		args:    [][]string{{"--method", "sac", "--task", "slider-centre"}},
		says:    []string{`"type":"evaluated"`},
	},
	"generator": {
		touches: []string{"core/generative/*.go", "presets/data/method/*.toml"},
		args:    [][]string{{"--method", "jitter"}},
		says:    []string{`"type":"refit"`, `"generated":64`},
	},
	"learner": {
		touches: []string{"core/agent/*/*.go", "core/agent/*/*.go", "presets/data/method/*.toml"},
		imports: "core/agent/learners/learners.go",
		longest: 125,
		args:    [][]string{{"--method", "pgr-ddpg"}, {"--method", "pgr-ddpg", "--at", "70:relevance=return!"}},
		says:    []string{`"type":"evaluated"`, `"type":"refit"`, `"generated":64`, `"actor":`, `"dormant"`},
		with:    "[bonus]\nfunction = \"rnd\"\n",
		adds:    []string{`"rnd":`, `"bonus":`},
	},
	"onpolicy": {
		touches: []string{"core/agent/*/*.go", "core/agent/*/*.go", "presets/data/method/*.toml"},
		imports: "core/agent/learners/learners.go",
		args:    [][]string{{"--method", "reinforce", "--at", "100/learn:0:lr_actor=0.01"}},
		says:    []string{`"type":"evaluated"`, `"actor":`, `"position":"100/learn:0"`},
		with:    "[bonus]\nfunction = \"rnd\"\n",
		adds:    []string{`"rnd":`, `"bonus":`},
	},
	"pane": {
		touches: []string{"tui/pane/*/*.go"},
		lines:   "tui/panes.go",
		args:    [][]string{{"--method", "sac"}},
	},
}

// recipeScale is the smallest run that has every phase.
const recipeScale = `task = "cartpole-swingup"
scale = "demo"
steps = 200
start_steps = 40
buffer = 1_000
[evaluation]
every = 100
episodes = 2
dormant_states = 16
[agent]
hidden = [16, 16]
[curiosity]
hidden = 8
batch = 16
[rnd]
hidden = 8
features = 8
batch = 16
[generator]
width = 16
blocks = 1
embedding = 8
batch = 16
chunk = 64
[knobs]
utd = 1
batch = 16
refit_every = 60
generator_steps = 20
samples = 64
sampler_steps = 4
`

const longestExample = 59 // lines of a file, unless its recipe says how many

var exampleFile = regexp.MustCompile("(?s)\n`([a-z][^`\n]*)`:\n\n```(?:go|toml)\n(.*?)```\n")

// The example of every recipe touches only the files that the recipe names, is short and compiles. In
// the long form one binary is built with all examples, and each of them trains.
func TestRecipes(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, all := t.TempDir(), map[string]string{}
	pages, err := filepath.Glob(filepath.Join(root, "docs/recipes/*.md"))
	if err != nil || len(pages) < len(recipes) {
		t.Fatalf("%d recipes, want %d (%v)", len(pages), len(recipes), err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if _, known := recipes[name]; !known {
			if text, err := os.ReadFile(page); err != nil || exampleFile.Match(text) {
				t.Errorf("%s: say in this test which files its example touches (%v)", page, err)
			}
			continue
		}
		shared := filepath.Join(root, recipes[name].imports)
		example := replacedBy(t, root, dir, page, recipes[name], all)
		for at, text := range example {
			if all[at] != "" && at != shared {
				t.Errorf("%s: its example changes %s, as another one does", name, at)
			}
			all[at] = text
		}
	}
	if !soaking() { // building the binary and training takes minutes
		if !testing.Short() {
			// The screen imports all that the other examples change, and would be compiled with them from
			// there up.
			screen, rest := parted(all, filepath.Join(root, "tui"))
			goBuild(t, root, dir, screen, packagesOf(t, root, screen)...)
			goBuild(t, root, dir, rest, packagesOf(t, root, rest)...)
		}
		return
	}
	binary := filepath.Join(dir, "pgrlab")
	goBuild(t, root, dir, all, "-o", binary, ".")
	for _, name := range slices.Sorted(maps.Keys(recipes)) {
		r := recipes[name]
		for _, args := range r.args {
			trainRecipe(t, binary, dir, name, recipeScale, args, r.says)
		}
		if r.with != "" {
			trainRecipe(t, binary, dir, name, recipeScale+r.with, r.args[0], slices.Concat(r.says, r.adds))
		}
	}
}

// replacedBy returns the files that replace those of the program, or are added to it, if a person
// follows a recipe after those that replaced all.
func replacedBy(t *testing.T, root, dir, page string, r recipe, all map[string]string) map[string]string {
	t.Helper()
	replace := map[string]string{}
	for file, text := range exampleOf(t, page, r) {
		at := filepath.Join(root, file)
		if _, err := os.Stat(at); err == nil {
			t.Errorf("%s: its example changes %s: it has to do without", page, file)
		}
		replace[at] = inFolder(t, dir, file, text)
		if r.imports != "" && strings.HasSuffix(file, ".go") {
			at := filepath.Join(root, r.imports)
			replace[at] = inFolder(t, dir, r.imports, importAdded(t, cmp.Or(replace[at], all[at], at), page, r.imports, path.Dir(file)))
		}
		if r.lines != "" {
			replace[filepath.Join(root, r.lines)] = inFolder(t, dir, r.lines, lineAdded(t, root, page, r.lines, path.Dir(file)))
		}
	}
	return replace
}

// parted returns the files of all below a folder, and the others.
func parted(all map[string]string, folder string) (below, others map[string]string) {
	below, others = map[string]string{}, map[string]string{}
	for at, from := range all {
		if strings.HasPrefix(at, folder+string(filepath.Separator)) {
			below[at] = from
		} else {
			others[at] = from
		}
	}
	return below, others
}

// packagesOf returns the packages whose Go files are replaced.
func packagesOf(t *testing.T, root string, replace map[string]string) (all []string) {
	t.Helper()
	for at := range replace {
		dir, err := filepath.Rel(root, filepath.Dir(at))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(at, ".go") && !slices.Contains(all, "./"+dir) {
			all = append(all, "./"+dir)
		}
	}
	return all
}

// inFolder writes a file to dir that replaces another one.
func inFolder(t *testing.T, dir, file, text string) string {
	t.Helper()
	at := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

// lineAdded returns a file of the program with the line that a recipe adds to it, and with the
// import of its package.
func lineAdded(t *testing.T, root, page, file, imported string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)of `" + regexp.QuoteMeta(file) + "`, before `([^`]+)`:\n\n```go\n([^\n]*\n)```\n").FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s: no line for %s", page, file)
	}
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	before, line := "\t"+string(m[1])+",", strings.TrimLeft(string(m[2]), "\t")
	if n := strings.Count(string(source), before); n != 1 {
		t.Fatalf("%s: %s has %d places before %s", page, file, n, m[1])
	}
	added := strings.Replace(string(source), before, "\t"+line+before, 1)
	return strings.Replace(added, "import (\n", "import (\n\t\"pgrlab/"+imported+"\"\n", 1)
}

// importAdded returns a file of the program, which is at from now, with the import that a recipe adds to
// it.
func importAdded(t *testing.T, from, page, file, imported string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("_ %q\n", "pgrlab/"+imported)
	if !strings.Contains(string(text), "of `"+file+"`:\n\n```go\n"+line+"```\n") {
		t.Fatalf("%s: it does not say that %s imports %s", page, file, imported)
	}
	source, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(source), line) {
		return string(source) // of another file of the same package
	}
	return strings.Replace(string(source), "import (\n", "import (\n\t"+line, 1)
}

// exampleOf returns the files of a recipe's example.
func exampleOf(t *testing.T, page string, r recipe) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files, left := map[string]string{}, slices.Clone(r.touches)
	for _, m := range exampleFile.FindAllStringSubmatch(string(text), -1) {
		file, code := m[1], m[2]
		files[file] = code
		i := slices.IndexFunc(left, func(pattern string) bool { ok, _ := path.Match(pattern, file); return ok })
		if i < 0 {
			t.Errorf("%s: its example touches %s, it may touch %v", page, file, r.touches)
			continue
		}
		left = slices.Delete(left, i, i+1)
		if n, most := strings.Count(code, "\n"), cmp.Or(r.longest, longestExample); n > most {
			t.Errorf("%s: %s has %d lines, want at most %d", page, file, n, most)
		}
		if strings.HasSuffix(file, ".go") {
			if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
				t.Errorf("%s: %s is not formatted: %v", page, file, err)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("%s: no file %v in its example", page, left)
	}
	return files
}

// goBuild is go build as if those files existed; without packages it does nothing.
func goBuild(t *testing.T, root, dir string, replace map[string]string, args ...string) {
	t.Helper()
	if len(args) == 0 {
		return
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", append([]string{"build", "-overlay", file}, args...)...)
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// trainRecipe trains the example of a recipe.
func trainRecipe(t *testing.T, binary, dir, name, scale string, args, says []string) {
	t.Helper()
	preset := filepath.Join(dir, "tiny.toml")
	if err := os.WriteFile(preset, []byte(scale), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.MkdirTemp(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(out, "run")
	train := exec.Command(binary, append([]string{"train", "--preset", preset, "--device", "cpu", "--threads", "1", "--seed", "1", "--out", out}, args...)...)
	train.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	if said, err := train.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v: %s", name, args, err, said)
		return
	}
	journal, err := os.ReadFile(filepath.Join(out, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range says {
		if !strings.Contains(string(journal), line) {
			t.Errorf("%s %v: the journal has no %s:\n%s", name, args, line, journal)
		}
	}
}
