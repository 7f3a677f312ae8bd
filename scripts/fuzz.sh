#!/bin/sh
# Feeds every parser arbitrary input for the given time, two of them at once with a processor each. All are tried, and any
# fault fails the whole. The test programs are built first, each once, for two builds at once would do the same work twice.
set -eu
cd "$(dirname "$0")/.."

if [ $# -eq 1 ]; then
	built=$(mktemp -d)
	trap 'rm -rf "$built"' EXIT
	for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do
		program=$built/$(echo "$dir" | tr / _).test
		guided='-fuzz .'
		# To instrument these libraries takes many minutes; parsers beside them are tried without guidance.
		if go list -deps -test "$dir" | grep -qE '^(k8s\.io/client-go|github\.com/aws)/'; then
			guided=
		fi
		# shellcheck disable=SC2086
		go test -c $guided -o "$program" "$dir"
		for target in $(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$dir"/*_test.go); do
			echo "$1 $program $dir $target"
		done >>"$built/targets"
	done
	xargs -n 4 -P 2 "$PWD/scripts/fuzz.sh" <"$built/targets"
	exit
fi

# To make an input that reached something new smaller would take the whole time of some targets.
time=$1 program=$2 dir=$3 target=$4
cd "$dir"
code=0
out=$("$program" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.parallel 1 \
	-test.fuzzminimizetime 10x \
	-test.fuzzcachedir "$(go env GOCACHE)/fuzz/ebscope/$dir" 2>&1) || code=$?
# When the time ends while an input is still being tried, this may be called a failure. A fault has its input written.
if [ $code -ne 0 ] && echo "$out" | grep -q 'context deadline exceeded' && ! echo "$out" | grep -qE 'Failing input|panic:'; then
	code=0
fi
tried=$(echo "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -1)
if [ $code -eq 0 ] && [ "${tried:-0}" -lt 100 ]; then
	code=1 # nothing was tried
fi
if [ $code -eq 0 ]; then
	echo "$dir $target: $tried inputs"
else
	printf '%s %s: FAULT\n%s\n' "$dir" "$target" "$out"
fi
exit $code
