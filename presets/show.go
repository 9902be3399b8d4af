package presets

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Show is the resolved choice as TOML to copy, edit and pass back with --preset FILE: every key
// with its value, followed by the comment of the layer that set it, or by a note that the method
// does not use the knob. Tables of parts that the run does not begin with are left out if they are
// those of its layers, which a document without them has too. Assignments are applied on top.
func Show(c Choice, assigned ...Assignment) ([]byte, error) {
	s, err := resolve(c)
	if err != nil {
		return nil, err
	}
	for key, named := range map[string]string{"task": c.Task, "method": c.Method, "scale": c.Scale} {
		if named != "" {
			s.notes[key] = "--" + key
		}
	}
	for _, a := range assigned {
		if err := s.assign(a); err != nil {
			return nil, err
		}
	}
	doc, err := Encode(s.config)
	if err != nil {
		return nil, err
	}
	absent, err := s.absent()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s on %s at scale %s: all numbers, and where they come from.\n",
		s.config.Method, s.config.Task, s.config.Scale)
	fmt.Fprint(&b, "# Edit a copy and run it with: pgrlab --preset FILE\n# Another task, method or scale has other numbers: choose them with --task, --method, --scale.\n")
	if len(absent) > 0 {
		fmt.Fprintf(&b, "# Left out, as the run does not begin with these parts: %s.\n", strings.Join(absent, ", "))
	}
	b.WriteByte('\n')
	table, header := "", ""
	for l := range lines(string(doc)) {
		if strings.HasPrefix(l.text, "[") {
			table, header = strings.Trim(l.text, "[]"), l.text+"\n"
			continue // written before the table's first key: some tables have none
		}
		if slices.Contains(absent, table) {
			continue
		}
		b.WriteString(header + l.text)
		header = ""
		note := s.notes[l.key]
		if why := idle(&s.config, l.key); why != "" {
			note = why
		}
		if l.key != "" && note != "" {
			fmt.Fprintf(&b, "%*s# %s", max(2, 30-len([]rune(l.text))), "", note)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// absent are the tables of parts that the run does not begin with, sorted, whose values are those of
// the layers below the preset.
func (s *stack) absent() (tables []string, err error) {
	below, err := layAxes(axes{s.config.Task, s.config.Method, s.config.Scale, s.config.Environment.Observation, s.config.Environment.Outside.Spec.Choices > 0})
	if err != nil {
		return nil, err
	}
	before, err := Settings(below.config)
	if err != nil {
		return nil, err
	}
	now, err := Settings(s.config)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for key, value := range now {
		table := key[:max(0, strings.LastIndex(key, "."))]
		changed[table] = changed[table] || value != before[key]
	}
	for table, other := range changed {
		if !other && s.waits(table) {
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	return tables, nil
}

// waits says whether a table is that of a part that the run does not begin with. Those with the kinds of
// the parts are shown always.
func (s *stack) waits(table string) bool {
	if table == "generator" || table == "generator.head" {
		return false
	}
	_, isFunction := s.config.Relevance.Defaults()[table]
	return idle(&s.config, table+".") != "" || isFunction && !slices.Contains(s.config.Used(), table)
}

// assign sets one value on top of all layers.
func (s *stack) assign(a Assignment) error {
	s.notes[a.Key] = "--set"
	if name, is := a.Knob(); is {
		if err := s.config.Knobs.Set(name, s.config.Written(name, a.Value)); err != nil {
			return fmt.Errorf("--set %s=%s: %w", name, a.Value, err)
		}
		return nil
	}
	if err := Set(&s.config, a.Key, a.Value); err != nil {
		return fmt.Errorf("--set %s=%s: %w", a.Key, a.Value, err)
	}
	return nil
}

// annotate records the comment beside every value of a document; for a value without a comment it
// records the file. Documents with several values on a line, or a value on several lines, lose
// comments but nothing else.
func annotate(notes map[string]string, file, doc string) {
	for l := range lines(doc) {
		if l.key == "" {
			continue
		}
		note := l.comment
		if note == "" {
			note = file
		}
		notes[l.key] = note
	}
}

// A docLine is a line of a TOML document that has one value per line.
type docLine struct {
	text    string
	key     string // dotted; "" if no value starts here
	comment string
}

func lines(doc string) func(yield func(docLine) bool) {
	return func(yield func(docLine) bool) {
		table := ""
		for text := range strings.SplitSeq(strings.TrimSuffix(doc, "\n"), "\n") {
			l := docLine{text: text}
			trimmed := strings.TrimSpace(text)
			value, comment := splitComment(trimmed)
			switch key, _, assigned := strings.Cut(value, "="); {
			case strings.HasPrefix(value, "["):
				table = strings.Trim(value, "[] ") + "."
			case assigned:
				l.key = table + strings.Trim(strings.TrimSpace(key), `"'`)
				l.comment = comment
			}
			if !yield(l) {
				return
			}
		}
	}
}

// splitComment cuts a line at the first # outside quotes.
func splitComment(text string) (value, comment string) {
	var quote rune
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '#':
			return strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		}
	}
	return text, ""
}
