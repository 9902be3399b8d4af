package report

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"pgrlab/core/report"
	"pgrlab/core/rng"
)

// Files of results of the study and of the mazes, and variants of their settings.
const (
	firstFile    = "docs/evidence/study.csv"
	boundedFile  = "docs/evidence/study-bounded.csv"
	asideFile    = "docs/evidence/study-stopped.csv"
	controlsFile = "docs/evidence/study-controls.csv"
	partsFile    = "docs/evidence/study-parts.csv"
	mazesFile    = "docs/evidence/mazes.csv"
	withoutF     = "guidance=1.0, top_fraction=1.0" // variants: prompts from all of F, unguided
	jointOnly    = "generator.vector=transition"    // and one network for the whole row
)

// number matches a number of a page.
const number = `([+−]?[\d.]+)`

// interval matches the two numbers of an interval.
const interval = number + ` \[` + number + `, ` + number + `\]`

// A number in a sentence that claims something is what the files of results give.
func TestClaimsInSentences(t *testing.T) {
	bounded := []string{boundedFile, asideFile}
	all := []string{firstFile, boundedFile, asideFile}
	synther := sample{"synther", "", bounded, 40}.scores(t)
	sac := sample{"sac", "", []string{controlsFile}, 10}.scores(t)
	unbounded := iqm(sample{"pgr-curiosity", "", []string{firstFile}, 30}.scores(t)) - iqm(sample{"synther", "", []string{firstFile}, 30}.scores(t))
	joint := iqm(sample{"pgr-curiosity", jointOnly, []string{firstFile}, 30}.scores(t)) - iqm(sample{"synther", jointOnly, []string{firstFile}, 30}.scores(t))
	dormant := func(files []string, n int) []float64 {
		return compared(sample{"pgr-curiosity", "", files, n}.of(t, "dormant/ratio", 16_000, 20_000), sample{"synther", "", files, n}.of(t, "dormant/ratio", 16_000, 20_000), minus)
	}
	ours, others := []string{boundedFile}, dormant(bounded, 40)
	scored := func(from, to int) []float64 {
		return compared(sample{"pgr-curiosity", "", ours, 30}.of(t, "scores/mean", from, to), sample{"pgr-curiosity", withoutF, ours, 10}.of(t, "scores/mean", from, to), over)
	}
	laterRows := sample{"synther", "", append([]string{partsFile}, bounded...), 45}.scores(t)
	allSac := slices.Clone(sac)
	for _, r := range early(t) {
		if r.Method == "sac" && r.Task == "cheetah-run" {
			allSac = append(allSac, score(r, 16_000, 20_000))
		}
	}
	resample := sample{"resample", "", []string{controlsFile}, 10}.scores(t)
	perTD := sample{"per-td", "agent.critics=2", all, 15}.scores(t)
	laterAll := sample{"synther", "", append([]string{partsFile}, all...), 75}.scores(t)
	curious, curiousAll := sample{"pgr-curiosity", "", bounded, 40}.scores(t), sample{"pgr-curiosity", "", all, 70}.scores(t)
	redq := sample{"redq", "", []string{firstFile}, 10}.scores(t)
	equal := atEqualOperations(t)
	for _, c := range []struct {
		page, words string
		want        []float64
		near        float64 // how far the ends of an interval may be from those that other draws give
	}{
		{"README.md", `\+132 \[\+98, \+165\] on (\d+) \(`, []float64{report.Mean(sac)}, 0},
		{"README.md", `p times four comparisons ` + number, []float64{4 * dealt(synther, sac, report.Mean)}, 0},
		{"README.md", `on SynthER's (\d+) \(`, []float64{iqm(synther)}, 0},
		{"README.md", `\+(\d+) over all 45 runs, of 40 seeds, and 13`, []float64{report.Mean(laterRows) - report.Mean(allSac)}, 0},
		{"README.md", `SynthER's seeds made again ` + interval, compared(curious, laterRows, minus), 3},
		{"README.md", `the other two do not \(` + number + ` and ` + number + `\)`, []float64{unbounded, joint}, 0},
		{"README.md", `lower with PGR \(` + interval + ` over the forty`, others, 0.001},
		{"README.md", `with prompts is ` + interval + ` times`, scored(6_000, 10_000), 0.01},
		{"README.md", `which loses ` + interval + ` more`, lossesToTheTV(t), 0},
		{"docs/evidence/README.md", `\+24 \[−12, \+65\] of (\d+)\.`, []float64{iqm(synther)}, 0},
		{"docs/evidence/study.md", `on SynthER's (\d+),`, []float64{iqm(synther)}, 0},
		{"docs/evidence/study.md", `lower with PGR \(` + interval + ` over the seventy`, dormant(all, 70), 0.001},
		{"docs/evidence/study.md", `seventy runs each, ` + interval + ` over the forty`, others, 0.001},
		{"docs/evidence/study.md", `open \(` + interval + ` times the mean F`, scored(6_000, 10_000), 0.01},
		{"docs/evidence/study.md", `over that without: ` + interval + ` at 6,000`, scored(6_000, 10_000), 0.01},
		{"docs/evidence/study.md", `10,000 steps, ` + interval + ` to 15,000`, scored(11_000, 15_000), 0.01},
		{"docs/evidence/study.md", `to 15,000, ` + interval + ` to 20,000`, scored(16_000, 20_000), 0.01},
		{"docs/evidence/study.md", `PGR − SynthER is ` + interval + ` over 40 and 45`, compared(curious, laterRows, minus), 3},
		{"docs/evidence/study.md", `generator, and ` + interval + ` over 70 and 75`, compared(curiousAll, laterAll, minus), 3},
		{"docs/evidence/study.md", "`synther` − `sac` is " + interval + ` \(45 and 13`, compared(laterRows, allSac, apart), 3},
		{"docs/evidence/study.md", "`resample` − `sac` " + interval + ` \(10 and 13`, compared(resample, allSac, apart), 3},
		{"docs/evidence/study.md", `over all runs, 15 and 13, ` + interval, compared(perTD, allSac, apart), 3},
		{"docs/evidence/study.md", `All sixteen together have ` + interval, compared(sample{"pgr-td", "", all, 16}.scores(t), sample{"synther", "", all, 70}.scores(t), minus), 3},
		{"docs/evidence/README.md", `real rows worse by (\d+)`, []float64{iqm(synther) - iqm(sample{"per-td", "agent.critics=2", bounded, 10}.scores(t))}, 0},
		{"docs/evidence/study.md", "they are " + interval + " for `synther` and " + interval + " for .pgr-curiosity. .permutation p " + number,
			append(append(compared(synther, redq, minus), compared(curious, redq, minus)...), dealt(curious, redq, iqm)), 3},
		{"docs/evidence/model-based.md", `where .sac. has 183 after 20,000 \(\+(\d+), Welch's interval \[` + number + `, ` + number + `\], permutation p ` + number, equal[0], 0.01},
		{"docs/evidence/model-based.md", `and PGR 166 \(` + interval, equal[1][:3], 0},
		{"docs/evidence/mazes.md", "`ppo` loses " + interval + " more than `ppo-curiosity`", lossesToTheTV(t), 0},
		{"presets/data/method/pgr-curiosity.toml", `each, of (\d+),`, []float64{iqm(synther)}, 0},
	} {
		holds(t, c.page, c.words, c.want, c.near)
	}
}

// Part 5 of the study pools all runs of its prompts, whatever their build.
func TestClaimsOfPromptsOverAllRuns(t *testing.T) {
	bounded := []string{boundedFile, asideFile}
	all := append([]string{firstFile}, bounded...)
	synther := [2]sample{{"synther", "", bounded, 40}, {"synther", "", all, 70}}
	page := read(t, "docs/evidence/study.md")
	const cells = ` \| \d+ \+ \d+ \| \**` + interval + `\** \| (?:< )?` + number + ` \| (?:(?:< )?` + number + ` )?`
	for name, c := range map[string]struct {
		a, b   [2]sample // of the bounded generator, and of all with a head
		family float64   // how many comparisons there are; 0: this is none of them
	}{
		"`pgr-return`": {[2]sample{{"pgr-return", "", bounded, 10}, {"pgr-return", "", all, 15}}, synther, 5},
		"`pgr-reward`": {[2]sample{{"pgr-reward", "", bounded, 10}, {"pgr-reward", "", all, 17}}, synther, 5},
		"`pgr-td`":     {[2]sample{{"pgr-td", "", bounded, 10}, {"pgr-td", "", all, 16}}, synther, 5},
		"`pgr-curiosity`, `guidance=1 top_fraction=1`": {[2]sample{{"pgr-curiosity", withoutF, bounded, 10}, {"pgr-curiosity", withoutF, all, 15}}, synther, 5},
		"`per-td`, two critics":                        {[2]sample{{"per-td", "agent.critics=2", bounded, 10}, {"per-td", "agent.critics=2", all, 15}}, synther, 5},
		"`pgr-curiosity` with prompts − without (plain guidance, all of F)": {
			[2]sample{{"pgr-curiosity", "", bounded, 40}, {"pgr-curiosity", "", all, 70}}, [2]sample{{"pgr-curiosity", withoutF, bounded, 10}, {"pgr-curiosity", withoutF, all, 15}}, 0},
	} {
		var want, near []float64
		for i := range c.a {
			a, b := c.a[i].scores(t), c.b[i].scores(t)
			p := dealt(a, b, iqm)
			want, near = append(append(want, compared(a, b, minus)...), p), append(near, 0, 3, 3, 0.01+0.1*p)
			if c.family > 0 {
				p = min(1, c.family*p)
				want, near = append(want, p), append(near, 0.01+0.1*p)
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + cells + strings.TrimPrefix(cells, " ") + `\|$`).FindStringSubmatch(page)
		said := slices.DeleteFunc(row, func(s string) bool { return s == "" })
		if len(said) != len(want)+1 {
			t.Errorf("the row of %s in the table over all runs has %q, want %.3f", name, said, want)
			continue
		}
		for i, s := range said[1:] {
			if v, round := parsed(t, s); math.Abs(v-want[i]) > max(near[i], round) {
				t.Errorf("%s: the page has %s, the results %.4f", name, s, want[i])
			}
		}
	}
}

// In mazes claim 3 is contradicted in as many cells as README says, and its runs over all builds give what the
// page has.
func TestClaimsOfMazes(t *testing.T) {
	contradicted := 0
	for _, task := range []string{"maze-sparse", "maze-very-sparse"} {
		for _, f := range []string{"curiosity", "rnd", "eco"} {
			pgr := maze(t, task, "pgr-"+f, "tv=noise", "docs/evidence/mazes-pgr.csv", "docs/evidence/mazes-pgr-mended.csv")
			bonus := maze(t, task, "ppo-"+f, "tv=noise", mazesFile)
			between := report.Welch(pgr, bonus)
			if between.High < 0 {
				contradicted++
			}
			if between.Low > 0 {
				t.Errorf("claim 3 is seen for %s on %s", f, task)
			}
			if f == "eco" {
				continue
			}
			column := ` \| `
			if task == "maze-very-sparse" {
				column = ` \| [^|]* \| `
			}
			holds(t, "docs/evidence/mazes.md", "(?m)^\\| `pgr-"+f+"` − `ppo-"+f+"`"+column+interval+`(?: \| [^|]*)? \|$\n(?:\| .pgr-rnd|\n)`,
				[]float64{report.Mean(pgr) - report.Mean(bonus), between.Low, between.High}, 0)
		}
	}
	for _, page := range []string{"README.md", "docs/mazes.md", "docs/evidence/mazes.md"} {
		all := regexp.MustCompile(`contradicted in (\w+) of (?:its )?six cells`).FindAllStringSubmatch(read(t, page), -1)
		if len(all) == 0 {
			t.Errorf("%s has no sentence of claim 3", page)
		}
		for _, words := range all {
			if words[1] != []string{"none", "one", "two", "three"}[contradicted] {
				t.Errorf("%s has %q, the results contradict claim 3 in %d", page, words[0], contradicted)
			}
		}
	}
}

// From pixels the interval of each difference holds 0, and the page has it.
func TestClaimsOfPixels(t *testing.T) {
	scores := func(task, method, scale string, from, to int, file string) (all []float64) {
		for _, r := range evaluations(t, file) {
			if r.Task == task && r.Method == method && r.Scale == scale && (r.Variant == "" || r.Variant == "pixels") && r.Step >= to {
				all = append(all, score(r, from, to))
			}
		}
		return all
	}
	demo := func(method string) []float64 {
		all := scores("cartpole-swingup", method, "demo", 10_500, 12_500, "docs/evidence/pixels.csv")
		if len(all) != 3 {
			t.Fatalf("%s: %d runs", method, len(all))
		}
		return all
	}
	drqv2 := demo("drqv2")
	var with []float64 // all with synthetic rows
	for method, words := range map[string]string{"synther": "`synther` − `drqv2` ", "pgr-curiosity": "\\], `pgr-curiosity` ", "pgr-rnd": "\\], `pgr-rnd` ", "pgr-count": "\\], `pgr-count` "} {
		a := demo(method)
		with = append(with, a...)
		between := report.Welch(a, drqv2)
		if between.Low > 0 || between.High < 0 || slices.Max(a) > slices.Min(drqv2) {
			t.Errorf("%s: the interval is [%.1f, %.1f] without 0, or a run is above one of drqv2", method, between.Low, between.High)
		}
		holds(t, "docs/evidence/pixels.md", words+interval, []float64{report.Mean(a) - report.Mean(drqv2), between.Low, between.High}, 0)
	}
	together := report.Welch(with, drqv2)
	holds(t, "docs/evidence/pixels.md", `rows together have `+interval+` against the three of .drqv2. \(permutation p `+number+`\)`,
		[]float64{report.Mean(with) - report.Mean(drqv2), together.Low, together.High, dealt(with, drqv2, report.Mean)}, 0.006)
	for method, words := range map[string]string{"drqv2": ": `drqv2` ", "synther": ", `synther` ", "pgr-curiosity": ", `pgr-curiosity` ", "pgr-rnd": ", `pgr-rnd` ", "pgr-count": ", `pgr-count` "} {
		holds(t, "docs/evidence/pixels.md", `from 25,000 on, seeds 1 and 2[^.]*`+words+`(\d+) and (\d+)`, scores("cheetah-run", method, "short", 25_000, 40_000, "docs/evidence/pixels-short.csv"), 0)
	}
}

// holds says whether the numbers that the words match on a page are those that the results give.
func holds(t *testing.T, page, words string, want []float64, near float64) {
	t.Helper()
	found := regexp.MustCompile(words).FindStringSubmatch(read(t, page))
	if len(found) != len(want)+1 {
		t.Errorf("%s: %q has %d numbers, want %.4g", page, words, len(found)-1, want)
		return
	}
	for i, s := range found[1:] {
		off := 0.0
		if i > 0 {
			off = near
		}
		if v, round := parsed(t, s); math.Abs(v-want[i]) > max(off, round) {
			t.Errorf("%s has %s in %q, the results give %.4f", page, s, found[0], want[i])
		}
	}
}

// parsed is a number of a page, and how far rounding may have moved it.
func parsed(t *testing.T, s string) (v, round float64) {
	t.Helper()
	v, err := strconv.ParseFloat(strings.NewReplacer("−", "-", "+", "").Replace(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	_, decimals, _ := strings.Cut(s, ".")
	return v, 0.51 * math.Pow10(-len(decimals))
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// minus is the difference of two interquartile means, apart that of two means, over their ratio.
func minus(s [][]float64) float64 { return iqm(s[0]) - iqm(s[1]) }
func apart(s [][]float64) float64 { return report.Mean(s[0]) - report.Mean(s[1]) }
func over(s [][]float64) float64  { return report.Mean(s[0]) / report.Mean(s[1]) }

// compared are a statistic of two samples and the ends of its interval.
func compared(a, b []float64, statistic func([][]float64) float64) []float64 {
	strata := [][]float64{a, b}
	between := report.Bootstrap(rng.New(1, "claims"), strata, statistic)
	return []float64{statistic(strata), between.Low, between.High}
}

// atEqualOperations are the differences of synther and pgr-curiosity from sac on cheetah-run at equal operations,
// with Welch's interval and the p of dealing.
func atEqualOperations(t *testing.T) (all [2][]float64) {
	t.Helper()
	at := func(s sample, step int) (scores []float64) {
		for _, r := range s.runs(t, "cheetah-run") {
			scores = append(scores, score(r, step-1000, step))
		}
		return scores
	}
	sac := at(sample{"sac", "", []string{controlsFile}, 10}, 20_000)
	for i, of := range []struct {
		method string
		step   int
	}{{"synther", 14_000}, {"pgr-curiosity", 11_000}} {
		a := at(sample{of.method, "", []string{boundedFile, asideFile}, 40}, of.step)
		welch := report.Welch(a, sac)
		all[i] = []float64{report.Mean(a) - report.Mean(sac), welch.Low, welch.High, dealt(a, sac, report.Mean)}
	}
	return all
}

// dealt is the share of dealings of the runs to two groups whose centres differ as much as theirs.
func dealt(a, b []float64, centre func([]float64) float64) float64 {
	const dealings = 20_000
	draws, both := rng.New(1, "dealings"), slices.Concat(a, b)
	seen, hits := math.Abs(centre(a)-centre(b))-1e-9, 1
	for n := range dealings {
		at := draws.At(uint64(n))
		for i := len(both) - 1; i > 0; i-- {
			j := at.IntN(i + 1)
			both[i], both[j] = both[j], both[i]
		}
		if math.Abs(centre(both[:len(a)])-centre(both[len(a):])) >= seen {
			hits++
		}
	}
	return float64(hits) / (dealings + 1)
}

// of are the means of a quantity between two steps, one a run.
func (s sample) of(t *testing.T, quantity string, from, to int) (all []float64) {
	t.Helper()
	for _, r := range s.runs(t, "cheetah-run") {
		var values []float64
		for _, p := range r.Members[0].Series[quantity] {
			if p.Step >= from && p.Step <= to {
				values = append(values, p.Value)
			}
		}
		all = append(all, report.Mean(values))
	}
	return all
}

// maze are the scores of three seeds by the mazes' protocol, each the mean over the builds that ran it.
func maze(t *testing.T, task, method, variant string, files ...string) (all []float64) {
	t.Helper()
	builds := map[uint64][]float64{}
	for _, r := range evaluations(t, files...) {
		if r.Task == task && r.Method == method && r.Variant == variant {
			builds[r.Seed] = append(builds[r.Seed], score(r, 4_200_000, 5_000_000))
		}
	}
	for seed := uint64(1); seed <= 3; seed++ {
		all = append(all, report.Mean(builds[seed]))
	}
	if len(builds) != 3 {
		t.Fatalf("%s on %s: seeds %v", method, task, builds)
	}
	return all
}

// lossesToTheTV is how much more plain PPO loses to the TV than PPO with curiosity, in the mean of both tasks.
func lossesToTheTV(t *testing.T) []float64 {
	t.Helper()
	var cells []cell
	for _, task := range []string{"maze-sparse", "maze-very-sparse"} {
		for method, sign := range map[string]float64{"ppo": 0.5, "ppo-curiosity": -0.5} {
			for tv, side := range map[string]float64{"": sign, "tv=noise": -sign} {
				cells = append(cells, cell{side, maze(t, task, method, tv, mazesFile)})
			}
		}
	}
	return contrast(cells)
}

// cell are runs whose mean counts with a weight in a contrast.
type cell struct {
	weight float64
	scores []float64
}

// contrast is the weighted sum of the means of cells, with its interval for unequal variances (Welch 1947).
func contrast(cells []cell) []float64 {
	mid, parts, weights := 0.0, 0.0, 0.0
	for _, c := range cells {
		mid += c.weight * report.Mean(c.scores)
		part := math.Pow(c.weight*report.Deviation(c.scores), 2) / float64(len(c.scores))
		parts, weights = parts+part, weights+part*part/float64(len(c.scores)-1)
	}
	half := distuv.StudentsT{Sigma: 1, Nu: parts * parts / weights}.Quantile(0.975) * math.Sqrt(parts)
	return []float64{mid, mid - half, mid + half}
}
