package runner_test

import (
	"os/exec"
	"strings"
	"testing"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio"
	"ebscope/internal/result"
)

// TestScriptKeepsToTheNames holds the script against the names that the rest of the program uses.
func TestScriptKeepsToTheNames(t *testing.T) {
	script := string(runner.Script())
	for _, want := range []string{
		"config=${EBSCOPE_CONFIG:-" + runner.ConfigDir + "}", "results=${EBSCOPE_RESULTS:-" + runner.ResultsDir + "}",
		"work=${EBSCOPE_WORK:-" + runner.WorkDir + "}", "plan=$config/" + runner.PlanFile, runner.JobSuffix + `"`,
		runner.MarkFile, runner.StartFile, `"$results/` + runner.DoneFile + `"`, "$results/" + runner.PodsDir + "/",
		"$folder" + runner.RunningSuffix, "$folder" + runner.CutSuffix, "$folder" + runner.FailedSuffix,
		"--output=" + result.FioFile, "/" + result.JobFile, "/" + result.StderrFile,
		"version " + fio.TotalLatencyPercentiles.String() + " or newer",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the script does not have %s", want)
		}
	}
}

func TestScriptIsClean(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck; install it: apt-get install shellcheck")
	}
	if out, err := exec.Command("shellcheck", "--shell=sh", runner.ScriptFile).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
