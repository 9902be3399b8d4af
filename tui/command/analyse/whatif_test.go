package analyse

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgrlab/core/generative"
	"pgrlab/core/run"
	"pgrlab/core/whatif"
)

// The table and its sentences fit a narrow terminal.
func TestWhatIfInWords(t *testing.T) {
	arm := func(r whatif.Rows, by string, value ...run.Float) whatif.Arm {
		return whatif.Arm{Rows: r, MadeBy: by, ValueError: value, Bias: value, Scatter: value, TDError: []run.Float{0.123, 0.137}, Return: []run.Float{312.5, 470.25}}
	}
	free, asked := whatif.Rows{Relevance: whatif.None, TopFraction: 1}, whatif.Rows{Relevance: "curiosity", Guidance: 2, TopFraction: 0.25}
	table := &whatif.Table{
		HeldOut: 10_000, Spread: 14.25, Saved: arm(whatif.Rows{}, "", 3),
		Arms: []whatif.Arm{
			arm(whatif.Rows{TopFraction: 1}, "", 10, 12), arm(free, whatif.MadeByGenerator, 20, 21), arm(free, whatif.MadeBySimulator, 1, 3),
			arm(asked, whatif.MadeByGenerator, 5, 5),
		},
		Plan: whatif.Plan{Repeats: 2, Sampling: generative.GenKnobs{Samples: 1000}},
		Findings: []whatif.Finding{
			{Question: whatif.QuestionAsked, Verdict: whatif.Unknown, Why: "the state is hidden"},
			{Question: whatif.QuestionMade, Cells: [2]string{asked.String() + " by the generator", free.String() + " by the simulator"}, Verdict: whatif.Hurt,
				Value: &whatif.Difference{Mean: 17.5, Half: 3, Of: 2}, Scatter: &whatif.Difference{Mean: 0.5, Half: 1, Of: 2}, Return: &whatif.Difference{Mean: -2, Half: run.Float(math.Inf(1)), Of: 300}},
		},
	}
	table.Arms[3].Left, table.Arms[2].Diverged = 67, 1
	of := func(v run.Float) []run.Float { return []run.Float{v, v} }
	table.Arms[3].Change, table.Arms[3].Reward, table.Arms[3].Relevant = of(6.29), of(0.21), of(0.824)
	table.Arms[3].ConstantChange, table.Arms[3].ConstantReward = of(3.5), of(1.02)
	var b strings.Builder
	if err := writeWhatIf(&b, table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"as saved                         3            3     3        0.13      391 ±112\n",
		"real only                        11 ±1.4      11    11       0.13      391 ±112\n",
		"unprioritized         generator  20.5 ±0.71 ",
		"                      simulator  2 ±1.4 ",
		"curiosity ω 2 k 0.25  generator  5 ±0 ",
		"rows asked for: not known\n  the state is hidden\n",
		"curiosity ω 2 k 0.25: error of s' 6.29 of the variance of real s' - s,\n  of r 0.21 of its own; the best constants have 3.5 and 1.02 on these rows;\n  82 % of them are in the upper quarter of F\n",
		"curiosity ω 2 k 0.25: the simulator did not take 67 of 2,000 rows",
		"how they are made: hurt\n  curiosity ω 2 k 0.25 by the generator,\n  against unprioritized by the simulator:\n",
		"scatter by 0.5 (90 % interval -0.5 to 1.5)\n  return by -2\n  value error by 17.5 (90 % interval 14.5 to 20.5)\n",
		"unprioritized by the simulator: the updates of 1 of 2 repeats diverged;\n  the numbers are of the others.\n",
		"on 10,000 held-out", "value error 14.2.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(l), l)
		}
	}
}
