package slurm

import "testing"

// What a sweep's folder may say about resources names no file and no command.
func TestWhatOnlyAsksForResources(t *testing.T) {
	for _, o := range []string{"--time=2:00:00", "--time=1-12:00:00", "--cpus-per-task=8", "--mem=16G", "--mem-per-cpu=2000",
		"--partition=gpu,gpu-long", "--account=lab.a", "--gres=gpu:a100:2", "--gpus=2", "--qos=high", "--constraint=a100", "--exclusive"} {
		if !AsksForResources(o) {
			t.Errorf("%s is refused", o)
		}
	}
	for _, o := range []string{"", "-", "--", "=", "time=1", "-t1", "--time", "--time=", "--tim=1", "--time=1 --wrap=x", "--time=1\n", "--mem=1;x", "--mem=$(x)",
		"--cpus-per-task=-1", "--partition=/x", "--partition=-x", "--account=../x", "--gres=gpu,file=/x", "--exclusive=user", "--exclusive=/x", "--wrap=x", "--export=ALL,LD_PRELOAD=x",
		"--output=x", "--error=x", "--input=x", "--chdir=/", "--uid=bob", "--get-user-env=1", "--bcast=x", "--container=x", "--nodefile=x", "--nodelist=/x", "--clusters=x", "--array=1", "--job-name=x", "--signal=9"} {
		if AsksForResources(o) {
			t.Errorf("%q is taken", o)
		}
	}
}
