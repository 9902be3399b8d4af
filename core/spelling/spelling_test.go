package spelling

import "testing"

func TestNearest(t *testing.T) {
	tasks := []string{"cheetah-run", "walker-walk", "reacher-hard", "cartpole-swingup"}
	tests := []struct{ name, want string }{
		{"cheeta-run", "cheetah-run"},
		{"cheetah_run", "cheetah-run"},
		{"CHEETAH-RUN", "cheetah-run"},
		{"cartpole", "cartpole-swingup"}, // a beginning is no slip, but plainly meant
		{"waker-wlak", "walker-walk"},
		{"humanoid-stand", ""},
	}
	for _, tt := range tests {
		if got := Nearest(tt.name, tasks); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.name, got, tt.want)
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
