package analyse

import (
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
)

// In a terminal an analysis is a few lines, which show the Gaussian beside the generator and the
// requested F beside the measured one.
func TestFindingsAsText(t *testing.T) {
	correlation := run.Float(0.66)
	value := func(v run.Float) *run.Float { return &v }
	var b strings.Builder
	err := writeFindings(&b, &event.Examined{
		Relevance: "curiosity",
		Real:      &event.Histogram{Rows: 5000, Q10: 0.001, Median: 0.002, Q90: 0.009},
		Generated: &event.Generated{
			Rows: 256, OutsideStates: 0.125, Nearest: 0.61, NearestReal: 0.56, TerminalReal: 0.039,
			Asked: &event.Quantiles{Median: 0.006}, Achieved: &event.Quantiles{Median: 0.007}, RankCorrelation: &correlation,
			Coverage: 0.71, Copies: 0.004, Rewarded: value(0.0002), RewardedReal: value(0.002),
			Dynamics: &event.Dynamics{
				Rows: 250, Relative: 0.477, Change: 0.62, ConstantChange: 1, RewardRelative: 4.6, ConstantReward: 2.5, Relevant: value(0.3), RelevantOf: 80,
				RareRewards: &event.Detection{True: 12, Predicted: 20, Precision: 0.25, Recall: 0.42},
			},
		},
		Gaussian: &event.Dynamics{Relative: 4.13},
		OpenLoop: &event.OpenLoop{Context: 1, Horizon: []int{1, 2, 16}, Error: []run.Float{0.24, 0.3, 0.59}, Held: []run.Float{0.31, 0.5, 1.1}, Reward: []run.Float{0.9, 0.8, 0.85}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"F, curiosity      real: median 0.002, 10 to 90 % of 5000 rows 0.001 to 0.009\n",
		"asked of D_syn    median 0.006; achieved 0.007, rank correlation 0.66\n",
		"outside the data  states 12.5 %, actions 0.0 %, rewards 0.0 % of 256 synthetic rows\n",
		"nearest real row  0.61 away at the median; real rows from each other 0.56\n",
		"coverage          71 % of the real rows have a synthetic one nearby that is no copy; as many real ones would cover 97 %; copies 0.4 %\n",
		"with a reward     0.02 % of all synthetic rows, 0.2 % of real ones\n",
		"change s' - s     error 0.62 of its variance; the best constant change has 1\n",
		"reward            error 4.6 of its variance; the best constant has 2.5\n",
		"relevant rows     dynamics error 0.3 of the variance of s' (80 rows whose true F is in the upper quarter)\n",
		"rare rewards      12 true, 20 predicted; precision 0.25, recall 0.42\n",
		"true ends         0.00 % of synthetic rows, 3.90 % of real ones\n",
		"dynamics error    0.477 of the variance of s' (250 rows); a Gaussian fitted to the real rows has 4.13\n",
		"open loop         error 0.24 deviations of the observation after a step without it, 0.59 after 16; the last observation held has 0.31 and 1.1\n" +
			"                    of the reward 0.9 and 0.85; a constant has 1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "projection") {
		t.Errorf("a projection that was not made:\n%s", b.String())
	}
}
