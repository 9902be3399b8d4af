package presets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A retired key is accepted with the value that it had, which changes nothing, and with no other.
func TestRetiredKeys(t *testing.T) {
	for key, value := range retired() {
		doc := "task = 't'\nmethod = 'm'\n\n" + key + " = "
		c, err := Decode("old.toml", []byte(doc+value+"\n"))
		if err != nil {
			t.Errorf("%s = %s: %v", key, value, err)
		}
		settings, err := Settings(c)
		if _, has := settings[key]; err != nil || has {
			t.Errorf("%s is a setting: %v", key, err)
		}
		if kept := AsKept(settings)[key]; kept != value {
			t.Errorf("%s is kept as %q, want %s", key, kept, value)
		}
		_, err = Decode("old.toml", []byte(doc+"12345\n"))
		if want := "read preset: old.toml:4: " + key + " is always " + value + " since " + retiredSince + ": take it out"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Errors beside retired keys are shown at their lines, and a key that exists nowhere is still refused.
func TestErrorsBesideRetiredKeys(t *testing.T) {
	old := "task = 't'\nmethod = 'm'\n[agent.ppo]\nepochs = 4\n"
	for add, want := range map[string]string{
		"clib = 0.1\n":    `old.toml:5: unknown key "agent.ppo.clib": did you mean "agent.ppo.clip"?`,
		"clip = 'much'\n": "old.toml:5: agent.ppo.clip: ",
		"clip =":          "old.toml:5: ",
	} {
		_, err := Decode("old.toml", []byte(old+add))
		if err == nil || !strings.HasPrefix(err.Error(), "read preset: "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", add, err, want)
		}
	}
}

// A configuration that has all retired keys is the one without them.
func TestAConfigurationWithRetiredKeys(t *testing.T) {
	now, err := Resolve(Choice{Task: "cheetah-run", Method: "pgr-curiosity", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	with := string(doc)
	for key, value := range retired() {
		at := strings.LastIndex(key, ".")
		line := key[at+1:] + " = " + value + "\n"
		if at < 0 {
			with = line + with
			continue
		}
		heading := "[" + key[:at] + "]\n"
		if !strings.Contains(with, heading) { // all of its keys are retired
			with += heading
		}
		with = strings.Replace(with, heading, heading+line, 1)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(with), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Resolve(Choice{Preset: path})
	if err != nil {
		t.Fatal(err)
	}
	if different, err := Differences(Choice{Task: now.Task, Method: now.Method, Scale: now.Scale}, got); err != nil || len(different) > 0 {
		t.Errorf("%v, %v", different, err)
	}
}
