package machine

import "testing"

func TestStolenTime(t *testing.T) {
	const before = "cpu  1000 10 90 5000 50 5 5 100 7 0\ncpu0 1 2 3\n"
	earlier := parseDemand(before)
	if want := (demand{asked: 1210, stolen: 100}); earlier != want {
		t.Fatalf("%+v, want %+v", earlier, want)
	}
	for _, c := range []struct{ after, want string }{
		{"cpu  1060 10 90 9000 90 5 5 140 7 0\n", "this machine got 60 % of the processor time it asked for, other machines of its host the rest"},
		{"cpu  2000 10 90 9000 90 5 5 110 7 0\n", ""}, // 1 %
		{before, ""},
	} {
		if got := parseDemand(c.after).since(earlier); got != c.want {
			t.Errorf("%q: %q, want %q", c.after, got, c.want)
		}
	}
	for _, odd := range []string{"", "cpu 1 2 3", "cpu a b c d e f g h i j", "intr 1 2 3 4 5 6 7 8 9"} {
		if got := parseDemand(odd); got != (demand{}) {
			t.Errorf("%q: %+v", odd, got)
		}
	}
}
