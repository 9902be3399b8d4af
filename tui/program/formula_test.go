package program

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/relevance"
)

// typed takes a command line apart as a shell does that knows single quotes.
func typed(line string) (all []string) {
	for _, w := range regexp.MustCompile(`(?:'[^']*'|[^\s'])+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(w, "'", ""))
	}
	return all
}

// Every command and the file of docs/own-relevance.md do what the page says, and the page has every name.
func TestTheCommandsOfOwnRelevance(t *testing.T) {
	text, err := os.ReadFile("../../docs/own-relevance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range relevance.Quantities() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the page lacks %s", name)
		}
	}
	lines := commandsOf(t, "own-relevance.md")
	d := setUp(t)
	preset := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if preset == nil || len(lines) != 8 {
		t.Fatalf("a preset is missing, or %d commands are not 8", len(lines))
	}
	head, tables, _ := strings.Cut(tiny, "\n[") // the page's preset with the sizes of the tiny one
	_, sizes, _ := strings.Cut(head, "scale = \"demo\"")
	mine, _, _ := strings.Cut(string(preset[1]), "[knobs]")
	mine = strings.Replace(mine, "scale = \"demo\"", "scale = \"demo\""+sizes, 1)
	smaller := "[" + strings.Replace(tables, "[knobs]\n", "[knobs]\nrelevance = \"surprise\"\n", 1)
	if err := os.WriteFile("mine.toml", []byte(mine+smaller), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		args := typed(line)[1:]
		for i, w := range args {
			if w == "demo" {
				args[i] = "tiny.toml"
			}
			args[i] = strings.Replace(args[i], "5k:", "45:", 1)
		}
		if args[0] == "sweep" {
			args = append(args, "--seeds", "0", "--jobs", "1")
		}
		var said strings.Builder
		status, out := pgrlab(t, d, &said, args...)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", line, status, &said)
		}
		switch {
		case args[0] == "report" && !strings.Contains(out, "relevance==rank(td) + rank(curiosity)"):
			t.Errorf("%s: the formula has no row of its own: %s", line, out)
		case args[0] == "list" && len(args) > 2 && !strings.Contains(out, "surprise  0.7*rank(td) + 0.3*rank(curiosity)"):
			t.Errorf("%s: %s", line, out)
		}
	}
	for dir, want := range map[string]string{
		"runs/mixed": `"relevance":"=0.7 * rank(td) + 0.3 * rank(curiosity)"`,
		"runs/mine":  `"relevance":"=0.7 * rank(td) + 0.3 * rank(curiosity)"`,
		"runs/later": `"to":"=abs(td_signed) + 0.1 * curiosity","class":"refit","uses":["td_signed","curiosity"]`,
	} {
		journal, err := os.ReadFile(dir + "/events.jsonl")
		if err != nil || !strings.Contains(string(journal), want) {
			t.Errorf("the journal of %s lacks %s (%v)", dir, want, err)
		}
	}
	var said strings.Builder
	status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--set", "relevance=0.5*curiousity")
	block := regexp.MustCompile("(?s)```\n(pgrlab: .*?)```").FindSubmatch(text)
	if block == nil || status != 2 || said.String() != string(block[1]) {
		t.Errorf("status %d, and\n%s\nwant\n%s", status, &said, block)
	}
}
