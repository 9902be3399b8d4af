package spelling

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	tasks := "cheetah-run walker-walk walker-run reacher-hard cartpole-swingup"
	methods := "sac pgr-reward pgr-rnd per-td ppo-rnd"
	keys := "guidance lr_actor lr_critic agent.gamma agent.hidden curiosity.hidden curiosity.lr knobs.tau"
	tests := []struct{ name, candidates, want string }{
		{"cheeta-run", tasks, "cheetah-run"},
		{"cheetah_run", tasks, "cheetah-run"},
		{"CHEETAH-RUN", tasks, "cheetah-run"},
		{"cartpole", tasks, "cartpole-swingup"}, // a beginning is no slip, but plainly meant
		{"walker", tasks, "walker-walk walker-run"},
		{"waker-wlak", tasks, "walker-walk"},
		{"dm_control/cheetah-run-v0", tasks, "cheetah-run"},
		{"dm:walker/run", tasks, "walker-run"},
		{"run", tasks, "cheetah-run walker-run"},
		{"humanoid-stand", tasks, ""},
		{"", tasks, ""},
		{"pgr", methods, "pgr-reward pgr-rnd"},
		{"rnd", methods, "pgr-rnd ppo-rnd"},
		{"gamma", keys, "agent.gamma"},
		{"agnet.gamma", keys, "agent.gamma"},
		{"hidden", keys, "agent.hidden curiosity.hidden"},
		{"lr", keys, "lr_actor lr_critic curiosity.lr"},
		{"lr-actor", keys, "lr_actor"},
		{"guide", keys, "guidance"},
		{"tau", keys, "knobs.tau"},
		{"gamam", keys, "agent.gamma"},
		{"nothing", keys, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(Near(tt.name, strings.Fields(tt.candidates)), " "); got != tt.want {
			t.Errorf("Near(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"x":  "",
		"aa": `did you mean "aa-b"?`,
		"bb": `did you mean "bb-1" or "bb-2"?`,
		"cc": `did you mean "cc-1", "cc-2", "cc-3", "cc-4" or one of 2 more?`,
	} {
		if got := Meant(name, strings.Fields("aa-b bb-1 bb-2 cc-1 cc-2 cc-3 cc-4 cc-5 cc-6")); got != want {
			t.Errorf("Meant(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ω", "o", 1},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if ab, ba := distance(tt.a, tt.b), distance(tt.b, tt.a); ab != ba {
			t.Errorf("distance(%q, %q) is not symmetric: %d and %d", tt.a, tt.b, ab, ba)
		}
	}
}
