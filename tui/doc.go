// Package tui is the screen of a running experiment: one Bubble Tea model that
// shows how well the agent does and how alive its network is, and lets a person turn
// the knobs of prioritized generative replay while it trains.
//
// # The lab and the screen
//
// They share nothing but messages. The screen looks at the lab some times a second
// (Snapshot, Events) and asks it for things (Send, which does not block); it shows
// what the lab says, never what was asked for. A change of a knob is staged, sent,
// confirmed at a step and later in force, and each stage is visible. The terminal is
// a view, never the owner: when it hangs up the screen closes and training goes on.
//
// # Where things are
//
// model.go holds the model and takes messages, keyboard.go reads whole keys and
// dispatch.go gives them out one by one, keys.go is the one table of keys that drives
// dispatch, footer, help (help.go, helpview.go) and palette (palette.go, entry.go),
// layout.go the division of the screen by its size and view, draw.go puts a frame together from the
// panes: charts (quantity.go, curve.go, axis.go, charts.go), knobs (knobs.go, edit.go,
// preview.go), what the run is doing (panels.go, eta.go, scores.go, present.go, agent.go,
// machine.go), other runs (runs.go, forks.go, forkview.go) and events.go. history.go keeps what the lab's events said, reduce.go
// reads them. actions.go sends. picker.go is the first screen, replay.go a lab made of
// a journal, plain.go the same model as lines. run.go, terminal.go, link.go and
// capture.go own the terminal, serve.go shows the screen to a terminal of another
// process, seat.go says which of several screens drives, settings.go the user's files,
// theme.go the colours, text.go what is written with them.
//
// # Why
//
// Panes are drawn when something they show has changed and kept otherwise, and
// frames are put together only when a pane changed, because View runs after every
// message. Styles come from one lipgloss renderer held by the theme, so that several
// screens on different terminals can live in one process. The lab never sends to the
// program: measured, an unbuffered Send per step to a slow terminal cut training
// from 2,000 to 118 steps/s.
package tui
