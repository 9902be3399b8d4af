// Package learners lists the learners of the program: importing it registers them. A new
// learner is a package beside these and a line here.
package learners

import (
	_ "pgrlab/core/agent/dreamer" // DreamerV3
	_ "pgrlab/core/agent/drqv2"   // DrQ-v2
	_ "pgrlab/core/agent/ppo"     // PPO
	_ "pgrlab/core/agent/sac"     // SAC and REDQ
	_ "pgrlab/core/agent/still"   // none, for data alone
)
