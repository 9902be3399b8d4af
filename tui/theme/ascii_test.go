package theme

import "testing"

// What has no ASCII is as wide as it was, so that boxes do not shift beside it.
func TestASCIIOnlyKeepsTheWidth(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "\x1b[1mω → 3\x1b[0m": "\x1b[1mw > 3\x1b[0m", "世界|": "? ? |", "e\u0301|": "e|", "🙂|": "? |", "\u0301": "", "é☃": "??",
	} {
		if got := ASCIIOnly(text); got != want || Width(got) != Width(text) {
			t.Errorf("%q becomes %q, want %q, %d columns", text, got, want, Width(text))
		}
	}
}
