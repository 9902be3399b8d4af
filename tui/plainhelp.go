package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// A lineCommand is a command of the screen as lines.
type lineCommand struct{ name, takes, about string }

// lineCommands are the commands of the screen as lines, in the order of its help; knobs with a value come
// on top. Commands that only change what is drawn are not among them.
var lineCommands = []lineCommand{
	{"status", "", "where the run stands, in one line; s does the same"},
	{"runs", "", "this run and the runs compared with it"},
	{"forks", "", "the forks of this run, and what they say"},
	{"help", "[TOPIC]", "these lines, or what a command, a knob or a number is: help undo, help guidance, help dormant; help knobs lists the knobs"},
	{"KNOB", "VALUE", "set a knob: guidance 3, ratio 0.75 @20000 after a step to come, relevance td! with all that it needs made now"},
	{"stage", "KNOB VALUE", "stage a change and learn what it would do; then apply, now, at, fork or drop"},
	{"apply", "", "make the staged changes"},
	{"now", "", "make them, and at once what they need: new samples, or a refit"},
	{"at", "", "make them after a step to come; it asks which"},
	{"drop", "", "forget them"},
	{"undo", "[N]", "take change N back, or the last one"},
	{"redo", "", "make the change once more that was taken back last"},
	{"cancel", "KNOB [@STEP]", "take a planned change off the schedule"},
	{"note", "TEXT", "write a line into the journal"},
	{"pause", "", "pause the training, or go on; in a replay too"},
	{"park", "", "save the run and give the GPU's memory back; once more takes it and goes on"},
	{"checkpoint", "", "save the run where it is"},
	{"analyse", "", "have the run looked at as it is: F, dynamics error, overlap of guided and free generations"},
	{"ground", "", "a fall or a slip: 64 copies of the agent make one update each and play an episode; esc leaves it"},
	{"fork", "", "a fan: forks of this run, half of them with the staged changes; it asks how many"},
	{"placebo", "", "forks in which nothing is changed: what happens by itself"},
	{"compare", "DIR", "put the run of another folder beside this one in runs"},
	{"confirm", "", "make the changes of this run a preset, and run it beside an untouched control on fresh seeds"},
	{"what-if", "", "what the agent learns from other rows: the plan, how far it is, the result"},
	{"what-if-begin", "", "begin it"},
	{"what-if-stop", "", "end it"},
	{"what-if-hold", "", "pause the run until it is over; pause lets the run go on before"},
	{"lessons", "", "lessons that use this run; it asks which"},
	{"lesson", "NAME", "begin one"},
	{"drive", "", "take over, where several people steer the same run"},
	{"earlier", "", "in a replay: back by a twentieth of the run"},
	{"later", "", "in a replay: forth by a twentieth of the run"},
	{"slower", "", "in a replay: half the speed"},
	{"faster", "", "in a replay: twice the speed"},
	{"esc", "", "leave a lesson, or a question without an answer"},
	{"detach", "", "leave; the run goes on"},
	{"stop", "", "ask whether to leave the run training or to stop and save it"},
	{"quit", "", "the same"},
}

// onlyLines takes the commands away that only change what a screen draws.
func (p *plain) onlyLines() {
	p.palette.lists = "help lists all"
	p.palette.keys = slices.DeleteFunc(p.palette.keys, func(b pane.Binding) bool { return p.isDrawn(b.Name) })
	p.palette.verbs = slices.DeleteFunc(p.palette.verbs, func(v pane.Verb) bool { return v.Name != "set" && p.isDrawn(v.Name) })
}

// isDrawn says whether a command is only about what a screen draws, and remembers it.
func (p *plain) isDrawn(name string) bool {
	is := !slices.ContainsFunc(lineCommands, func(c lineCommand) bool { return c.name == name })
	if is {
		p.drawn = append(p.drawn, name)
	}
	return is
}

// run runs a line that is a command: by its name, by the key that messages name, or as a knob with a value.
func (p *plain) run(line string) tea.Cmd {
	if pane.Escapes(line) {
		p.ground.Dismiss()
		return nil
	}
	name, _, _ := strings.Cut(line, " ")
	for _, b := range p.palette.keys {
		if b.Panes == nil && slices.Contains(b.Keys, line) {
			return p.act(b)
		}
	}
	if slices.Contains(p.drawn, name) {
		return p.Report(fmt.Errorf("%s is for a screen, not for lines: help lists the commands", name))
	}
	return p.palette.command(line)
}

// inform answers commands that are allowed at any time, also while a question is open.
func (p *plain) inform(line string) bool {
	switch line {
	case "status", "s":
		p.status()
	case "runs":
		p.lines(p.runs.Body(100, 0))
	case "forks":
		p.lines(p.fans.Body(100, 0))
	case "what-if":
		p.lines(p.whatIf.Body(100, 1000))
		fmt.Fprintln(p.out, "type what-if-begin, what-if-stop, what-if-hold")
	case "help", "?":
		p.lines(p.helpLines())
	default:
		topic, asks := strings.CutPrefix(line, "help ")
		if asks {
			p.explain(strings.TrimSpace(topic))
		}
		return asks
	}
	return true
}

// helpLines is the help, one command a line.
func (p *plain) helpLines() []string {
	lines := []string{"COMMANDS, one a line:"}
	for _, c := range lineCommands {
		lines = append(lines, "  "+c.text())
	}
	return append(lines, "A line that begins with : is taken without it. Where a question is open, a line answers it.")
}

func (c lineCommand) text() string {
	return strings.TrimSpace(c.name+" "+c.takes) + ": " + c.about
}

// explain writes what a command, a knob or a number of the run is.
func (p *plain) explain(topic string) {
	lines := p.about(strings.TrimPrefix(topic, ":"))
	if lines == nil {
		lines = []string{fmt.Sprintf("help: nothing here is called %q: help lists the commands, help knobs the knobs; numbers are asked for as they are written: help steps/s", topic)}
	}
	for _, l := range lines {
		fmt.Fprintln(p.out, p.Spelled(l))
	}
}

// about is what is known of a topic; nil: nothing.
func (p *plain) about(topic string) (lines []string) {
	if topic == "knobs" {
		for _, k := range p.KnobList {
			if p.KnobUse(k) == nil {
				lines = append(lines, p.aboutKnob(k))
			}
		}
		return lines
	}
	for _, c := range lineCommands {
		if c.name == topic {
			lines = append(lines, c.text())
		}
	}
	if k, err := p.FindKnob(topic); err == nil {
		lines = append(lines, p.aboutKnob(k))
		if unused := p.KnobUse(k); unused != nil {
			lines = append(lines, "this run does not use it: "+unused.Error())
		}
	}
	numbers := p.helpContents().Numbers
	lower := strings.ToLower(topic)
	for _, names := range []func(d pane.Definition) bool{
		func(d pane.Definition) bool {
			return strings.Contains(strings.ToLower(d.Name), lower) || slices.Contains(d.Shown, topic)
		},
		func(d pane.Definition) bool {
			return len(lines) == 0 && strings.Contains(strings.ToLower(d.Text), lower)
		},
	} {
		for _, d := range numbers {
			if names(d) {
				lines = append(lines, d.Name+": "+d.Text)
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	return lines
}

// aboutKnob is a knob in one line.
func (p *plain) aboutKnob(k knob.Knob) string {
	return fmt.Sprintf("%s (%s), now %s: %s; %s, %s", k.Name, pane.Symbol(k), pane.Readable(p.Effective(k.Name)), k.Doc+pane.UnitOf(k), k.Range(), pane.TakesEffect(k.Class))
}
