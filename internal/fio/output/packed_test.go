package output

import (
	"strings"
	"testing"
)

func TestStringsInJSON(t *testing.T) {
	for text, job := range map[string]string{
		`{"fio version":"fio-3.33","jobs":[{"jobname":"a\ud83d\ude80b","read":{"iops":5}}]}`:                "a🚀b",
		`{"fio version":"fio-3.33","jobs":[{"jobname":"a\ud83dx","read":{"iops":5}}]}`:                      "a\uFFFDx",
		`["{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"read\":{\"iops\":5}}]}"]`:           "a",
		"[\n  \"\\n {\\\"fio version\\\":\\\"fio-3.33\\\",\\\"jobs\\\":[{\\\"jobname\\\":\\\"a\\\"}]}\"\n]": "a",
	} {
		readings, notes, err := Read("a.json", strings.NewReader(text))
		if err != nil || len(readings) != 1 || readings[0].Job != job {
			t.Errorf("%s: %v, notes %v, error %v", text, readings, notes, err)
		}
	}
}
