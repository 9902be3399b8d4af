package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/shell"
	"pgrlab/core/task"
	"pgrlab/presets"
)

// ofPrograms begins the keys about the program of a task. Those that do not change what is learned are not on the card.
const ofPrograms = "environment.outside."

// commandLine is the command that makes the run in dir again, without its folder.
func commandLine(dir string, c config.Config, from presets.Choice, differences []presets.Difference) string {
	words := []string{"pgrlab train"}
	if c.Dreams() {
		words = dreamed(c)
	}
	if from.Preset != "" {
		words = append(words, "--preset "+shell.Word(from.Preset))
	}
	if file := run.TaskFile(from.Task); file != "" {
		words = append(words, "--task "+shell.Word(filepath.Join(dir, file)))
	} else if !task.Recorded(from.Task) {
		words = append(words, "--task "+shell.Word(from.Task))
	}
	words = append(words, "--method "+shell.Word(from.Method), "--scale "+shell.Word(from.Scale), "--seed "+strconv.FormatUint(c.Seed, 10))
	if from.Observation != "" && !c.Dreams() {
		words = append(words, "--observation "+shell.Word(from.Observation))
	}
	differs := map[string]bool{}
	for _, d := range differences {
		differs[d.Key] = true
		if c.Dreams() && slices.Contains([]string{"steps", "agent.learner", "knobs.tv", "environment.action_repeat"}, d.Key) {
			continue // no flag of dream, which sets them or takes them from the run
		}
		value := strings.Trim(d.To, "'")
		name, isKnob := strings.CutPrefix(d.Key, "knobs.")
		switch {
		case presets.Assignment{Key: d.Key}.UsedBy(&c) != nil: // a preset may set it for other methods
		case d.Key == "knobs.tv":
			words = append(words, "--tv "+shell.Word(strings.Trim(value, `"'`)))
		case isKnob:
			words = append(words, "--set "+name+"="+shell.Word(value))
		case d.Key == "steps":
			words = append(words, "--steps "+shell.Word(value))
		case d.Key == "environment.action_repeat":
			words = append(words, "--action-repeat "+shell.Word(value))
		case d.Key == "schedule":
			for _, at := range c.Schedule {
				if s, err := knob.ParseScheduled(at); err == nil && s.At.Step >= c.Steps {
					continue // never made: --at would refuse it
				}
				words = append(words, "--at "+shell.Word(at))
			}
		case d.Key == "device" || d.Key == "precision":
			words = append(words, "--"+d.Key+" "+shell.Word(value))
		case strings.HasPrefix(d.Key, ofPrograms) || strings.HasPrefix(d.Key, "data."): // below
		case d.Key == "members":
			words = append(words, "--members "+shell.Word(value))
		case d.Key != "seed" && d.Key != "generator.slice":
			words = append(words, "--set "+d.Key+"="+assignable(value))
		}
	}
	words = append(words, recorded(c)...)
	if c.Data.Given() && !c.Dreams() && !differs["start_steps"] {
		words = append(words, fmt.Sprintf("--set start_steps=%d", c.StartSteps)) // which --data leaves out
	}
	return strings.Join(append(words, started(c.Environment.Outside)...), " ")
}

// dreamed are the first words of the command that makes a dream: of a file, or of a run, which its
// configuration does not name.
func dreamed(c config.Config) []string {
	words := []string{"pgrlab dream RUN"}
	if c.Data.Given() {
		words[0] = "pgrlab dream " + shell.Word(c.Data.Files[0])
	}
	if c.Steps == 1 {
		words = append(words, "--once")
	}
	return words
}

// recorded are the flags about the data that the run began with.
func recorded(c config.Config) (words []string) {
	d := c.Data
	for _, file := range d.Files {
		if c.Dreams() {
			break // it is named first
		}
		if d.Pinned() {
			file = fmt.Sprintf("%s:%g", file, c.Knobs.Prior)
		}
		words = append(words, "--data "+shell.Word(file))
	}
	for _, bounds := range []struct {
		flag   string
		values []float64
	}{{"act-low", d.ActLow}, {"act-high", d.ActHigh}} {
		if len(bounds.values) > 0 {
			words = append(words, "--"+bounds.flag+" "+strings.ReplaceAll(strings.Trim(fmt.Sprint(bounds.values), "[]"), " ", ","))
		}
	}
	if d.Done != "" {
		words = append(words, "--done "+d.Done)
	}
	if d.Pretrain > 0 {
		words = append(words, fmt.Sprintf("--pretrain %d", d.Pretrain))
	}
	return words
}

// started are the flags that say how the program of a task is started, and where its episodes end.
func started(o task.Outside) (words []string) {
	for _, arg := range o.Args {
		words = append(words, "--env-arg "+shell.Word(arg))
	}
	if o.Python != "" {
		words = append(words, "--python "+shell.Word(o.Python))
	}
	if o.ActBound > 0 {
		words = append(words, fmt.Sprintf("--act-bound %g", o.ActBound))
	}
	if o.Ends != "" {
		words = append(words, "--set "+shell.Word("environment.outside.ends="+o.Ends))
	}
	for _, count := range []struct {
		flag  string
		value int
	}{{"episode-steps", o.EpisodeSteps}, {"env-timeout", o.Timeout}, {"env-procs", o.Processes}} {
		if count.value > 0 {
			words = append(words, fmt.Sprintf("--%s %d", count.flag, count.value))
		}
	}
	return words
}

// assignable writes a TOML value as a word for --set.
func assignable(value string) string {
	if strings.HasPrefix(value, "[") && !strings.ContainsAny(value, `"'`) {
		return strings.ReplaceAll(strings.Trim(value, "[]"), " ", "")
	}
	if strings.IndexFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._,:+-", r)
	}) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `"`) + "'"
}
