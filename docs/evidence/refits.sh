#!/bin/sh
# Refits generators with several settings beside saved runs, and prints a line of CSV for each
# generation as it is made: docs/evidence/refits.sh DIR@STEP… >> docs/evidence/refits.csv
# The script can be stopped and started again: it leaves out a refit whose settings and run
# are already in the file KNOWN (default: docs/evidence/refits.csv). PGRLAB names the program
# (default: pgrlab), SETTINGS the settings (default: all below except the last two), and FITS
# the number of fits of each, which differ in their random numbers (default: 1).
set -eu
: "${FITS:=1}" "${PGRLAB:=pgrlab}" "${KNOWN:=docs/evidence/refits.csv}"
: "${SETTINGS:=joint head pair pair-128 pair-128-lr4 pair-64 pair-standard pair-low chosen}"

joint='--set generator.angles=raw --set generator.vector=transition --set generator.head.kind=none --set generator.batch=256 --set generator_steps=5000 --set lr_generator=1e-3 --set generator.ema_every=2'
head='--set generator.angles=raw --set generator.vector=transition --set generator.head.kind=transition --set generator.head.lr=8e-3 --set generator.head.batch=128 --set generator.batch=256 --set generator_steps=4600 --set lr_generator=1e-3 --set generator.ema_every=2'
pair="$head --set generator.vector=pair"
small='--set generator.angles=raw --set generator.vector=pair --set generator.head.kind=transition --set generator.head.lr=8e-3 --set generator.head.batch=64'
pair128="$small --set generator.batch=128 --set generator_steps=9000 --set generator.ema_every=4"
chosen='--set generator.angles=raw --set generator.vector=pair --set generator.head.kind=transition --set generator.head.lr=8e-3 --set generator.head.batch=128 --set generator.batch=128 --set generator_steps=8800 --set generator.ema_every=4 --set lr_generator=2e-3'
raw='--set generator.vector=pair --set generator.head.kind=transition --set generator.head.lr=8e-3 --set generator.head.batch=128 --set generator.batch=128 --set generator_steps=8400 --set generator.ema_every=4 --set lr_generator=2e-3 --set generator.angles=raw'
of() {
	case $1 in
	joint) echo "$joint" ;;
	head) echo "$head" ;;
	pair) echo "$pair" ;;
	pair-128) echo "$pair128 --set lr_generator=2e-3" ;;
	pair-128-lr4) echo "$pair128 --set lr_generator=4e-3" ;;
	pair-64) echo "$small --set generator.batch=64 --set generator_steps=16500 --set generator.ema_every=8 --set lr_generator=2e-3" ;;
	pair-standard) echo "$pair128 --set lr_generator=3e-3 --set generator.normaliser=standard --set generator.p_mean=-1.4 --set generator.sigma_max=40" ;;
	pair-low) echo "$pair128 --set lr_generator=3e-3 --set generator.p_mean=-3" ;;
	chosen) echo "$chosen" ;;
	raw) echo "$raw" ;;
	phase) echo "$raw --set generator.angles=phase" ;;
	esac
}

for run in "$@"; do
	for name in $SETTINGS; do
		if grep -q "^$name,$(basename "$run")," "$KNOWN" 2>/dev/null; then continue; fi
		# shellcheck disable=SC2046
		"$PGRLAB" analyse $(yes "$run" | head -n "$FITS") --refit --threads 1 --rows 2048 --guidance 0,1,2 --json $(of "$name") |
			jq -r --arg name "$name" --arg run "$(basename "$run")" '. as $f | .generations[] | [
				$name, $run, $f.task, $f.step, $f.steps, $f.fit_cpu_s, .guidance, .rows, .cpu_s,
				.dynamics.change, .dynamics.constant_change, .dynamics.relative,
				.dynamics.reward_relative, .dynamics.constant_reward,
				.dynamics.rare_rewards.precision, .dynamics.rare_rewards.recall,
				.dynamics.ends.precision, .dynamics.ends.recall,
				.relevant.share, .relevant.change, .relevant.reward_relative,
				.coverage, $f.coverage_real, .copies
			] | map(if type == "number" then (. * 1e4 | round) / 1e4 else . end) | @csv' | tr -d '"'
	done
done
