#!/bin/sh
# Works off a benchmark's plan inside of a pod. It needs a POSIX shell with the usual small programs (coreutils or busybox)
# and fio, and neither root nor a connection from outside. See the package documentation for its exit codes.
set -u
export LC_ALL=C

config=${EBSCOPE_CONFIG:-/ebscope}
results=${EBSCOPE_RESULTS:-/results}
work=${EBSCOPE_WORK:-/work}
pod=${POD_NAME:-$(uname -n)}
node=${NODE_NAME:-}
uid=${POD_UID:-}

plan=$config/plan
tab=$(printf '\t')
cr=$(printf '\r')

phase='' # of the plan, while it is worked on
index=0
alone='' # set once the plan is checked and no other pod works on it
ending='' # set once the pod has been asked to end

# quote prints a text as a JSON string. It does so without another program: not every image has one.
quote() {
	left=$1 quoted=
	while [ -n "$left" ]; do
		tail=${left#?}
		char=${left%"$tail"}
		left=$tail
		case $char in
		'"' | \\) quoted=$quoted\\$char ;;
		[[:cntrl:]]) quoted=$quoted$(printf '\\u%04x' "'$char") ;;
		[\ -~]) quoted=$quoted$char ;;
		*) quoted=$quoted'?' ;; # a byte that may be no UTF-8
		esac
	done
	printf '"%s"' "$quoted"
}

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

# event KIND [TEXT [EXIT]] prints a line for whoever follows the log.
event() {
	line="{\"ebscope\":\"$1\",\"time\":\"$(now)\",\"pod\":$(quote "$pod"),\"node\":$(quote "$node")"
	[ -z "$phase" ] || line="$line,\"phase\":$(quote "$phase"),\"index\":$index"
	[ -z "${2:-}" ] || line="$line,\"text\":$(quote "$2")"
	[ -z "${3:-}" ] || line="$line,\"exit\":$3"
	printf '%s}\n' "$line"
}

# fail TEXT ends the run: no other pod would get further.
fail() {
	event run-failed "$1"
	remove_files
	exit 42
}

# no_room WHAT ends the run because of the results volume.
no_room() {
	fail "the results volume, at $results, is full or cannot be written to: $1; use a larger one, or one that the pod's user may write to"
}

# end_of FILE prints the end of what a program said, as one line that is short enough for the log.
end_of() {
	grep -v '^[[:space:]]*$' "$1" 2>/dev/null | tail -n 3 | {
		said=
		while IFS= read -r line; do said="${said:+$said; }$line"; done
		printf '%s\n' "$said"
	} | cut -c 1-600
}

# A shell runs a trap only between commands, so that everything that takes long runs as a child that is waited for.
trap 'ending=1' TERM

# await PID waits for a child to end, and leaves its exit code in $code. A pod that is asked to end asks its child to, more
# than once: a child that was forked just now still has its parent's trap, and hears nothing.
await() {
	if [ -z "$ending" ]; then
		wait "$1"
		code=$?
	fi
	if [ -n "$ending" ]; then
		trap '' TERM
		(while kill -TERM "$1" 2>/dev/null; do sleep 1; done) >/dev/null &
		wait "$1"
		code=$?
	fi
}

# pause MILLISECONDS
pause() {
	[ "$1" -gt 0 ] || return 0
	sleep "$(($1 / 1000)).$(printf %03d "$(($1 % 1000))")" &
	await $!
	[ -z "$ending" ] || exit 143
	[ "$code" -eq 0 ] || fail "sleep failed with exit code $code"
}

# persist makes sure that files are on the disk. Old programs know no -f, which leaves other file systems alone.
persist() { sync -f "$1" 2>/dev/null || sync; }

# check_room makes sure that the results volume can take what a phase leaves: fio does not fail when its logs are cut off.
check_room() {
	if ! said=$(dd if=/dev/zero of="$results/.room" bs=65536 count=16 2>&1); then
		rm -f "$results/.room"
		no_room "$(printf '%s\n' "$said" | head -n 1)"
	fi
	rm -f "$results/.room"
}

# write FILE TEXT replaces a file on the results volume atomically.
write() {
	{ printf '%s\n' "$2" >"$1.new" && persist "$1.new" && mv "$1.new" "$1"; } 2>/dev/null || no_room "$1 could not be written"
}

# number TEXT says whether it is a whole number that a shell can reckon with.
number() {
	case $1 in
	0) return 0 ;;
	'' | 0* | *[!0-9]* | ????????????????*) return 1 ;;
	esac
}

damaged() { fail "$plan is damaged: $1; make the run's ConfigMap anew"; }

# check_plan reads the whole plan before anything is done.
check_plan() {
	[ -r "$plan" ] || fail "there is no plan $plan; mount the run's ConfigMap at $config"
	lines=0
	while IFS=$tab read -r name rest takes layout remove size file more <&3; do
		if [ "$lines" -eq 0 ]; then
			[ "$name $rest $layout" = 'ebscope-plan 1 ' ] || damaged "its first line is not that of a plan that this script knows"
			number "$takes" || damaged "its first line has no number of phases"
			count=$takes lines=1
			continue
		fi
		case $name in '' | [.-]* | *[!A-Za-z0-9._-]*) damaged "line $((lines + 1)) has no phase's name" ;; esac
		for n in "$rest" "$takes" "$size"; do
			number "$n" || damaged "line $((lines + 1)) has something else where a number belongs"
		done
		case $layout$remove in [01][01]) ;; *) damaged "line $((lines + 1)) has something else where 0 or 1 belongs" ;; esac
		case $file in /*) ;; *) damaged "line $((lines + 1)) has no absolute path of a test file" ;; esac
		[ -z "$more" ] || damaged "line $((lines + 1)) has too many fields"
		[ -r "$config/$name.fio" ] || fail "there is no job file $config/$name.fio; make the run's ConfigMap anew"
		lines=$((lines + 1))
	done 3<"$plan"
	[ "$lines" -gt 0 ] || damaged "it is empty"
	[ "$((lines - 1))" -eq "$count" ] || damaged "it has $((lines - 1)) phases of $count"
}

# remove_files removes the test files that the plan says are the run's own, but not under the hands of another pod.
remove_files() {
	[ -n "$alone" ] || return 0
	while IFS=$tab read -r name rest takes layout remove size file <&3; do
		[ "${remove:-0}" = 0 ] || [ ! -f "$file" ] || rm -f "$file"
	done 3<"$plan"
}

# install_fio fetches fio and its libraries into the scratch space. Alpine's package manager does so without root; it
# verifies what it has fetched only when asked to.
install_fio() {
	mkdir -p "$work/packages" "$work/root" || fail "the scratch space, at $work, cannot be written to"
	for before_next in 2000 4000 0; do
		apk fetch --no-cache -R -o "$work/packages" fio >"$work/apk.log" 2>&1 &
		await $!
		[ -z "$ending" ] || exit 143
		[ "$code" -ne 0 ] || break
		pause "$before_next" # a pod's network may come up after the pod
	done
	[ "$code" -eq 0 ] || fail "this image has no fio, and apk could not fetch it: $(end_of "$work/apk.log"); use an image that has fio (--image)"
	apk verify --no-cache "$work"/packages/*.apk >"$work/apk.log" 2>&1 ||
		fail "apk fetched packages that it does not trust: $(end_of "$work/apk.log"); use an image that has fio (--image)"
	for package in "$work"/packages/*.apk; do
		tar -x -z -o -f "$package" -C "$work/root" 2>"$work/tar.log" ||
			fail "$package could not be unpacked: $(end_of "$work/tar.log"); use an image that has fio (--image)"
	done
	fio=$work/root/usr/bin/fio
	[ -x "$fio" ] || fail "the fio that apk fetched has no usr/bin/fio; use an image that has fio (--image)"
	export LD_LIBRARY_PATH="$work/root/usr/lib:$work/root/lib"
}

# find_fio finds a fio that knows what the job files ask for: 3.18 is the first with percentiles of the whole latency.
find_fio() {
	if ! fio=$(command -v fio); then
		command -v apk >/dev/null || fail "this image has no fio, and no apk to fetch it with; use an image that has fio (--image)"
		install_fio
	fi
	version=$("$fio" --version 2>&1) || fail "$fio does not run: $version; use another image (--image)"
	case $version in fio-*.*) ;; *) fail "$fio is not fio: it says that it is $version; use another image (--image)" ;; esac
	major=${version#fio-}
	minor=${major#*.}
	major=${major%%.*}
	minor=${minor%%[!0-9]*} # of 3.35-118-g4a0c76
	for n in "$major" "$minor"; do
		number "$n" || fail "$fio is not fio: it says that it is $version; use another image (--image)"
	done
	version=$major.$minor
	if [ "$major" -lt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -lt 18 ]; }; then
		fail "$fio is version $version, but version 3.18 or newer is needed; use another image (--image)"
	fi
	engines=$("$fio" --enghelp 2>/dev/null)
	for job in "$config"/*.fio; do
		while read -r line || [ -n "$line" ]; do
			case $line in ioengine=*) check_engine "${line#ioengine=}" ;; esac
		done <"$job"
	done
}

check_engine() {
	for engine in $engines; do
		[ "$engine" != "$1" ] || return 0
	done
	fail "$fio has no I/O engine $1; use another image (--image)"
}

# check_file makes sure that the test file or device has its size. fio would write a short one anew, within the phase.
check_file() {
	if [ -b "$file" ]; then
		numbers=$(stat -L -c %t:%T "$file")
		sectors=/sys/dev/block/$((0x${numbers%:*})):$((0x${numbers#*:}))/size
		{ read -r have <"$sectors"; } 2>/dev/null || fail "the size of device $file is not known: there is no $sectors"
		have=$((have * 512))
	elif [ "$layout" = 1 ]; then
		return
	elif [ -f "$file" ]; then
		have=$(stat -L -c %s "$file")
	else
		fail "there is no test file $file; the phase that lays it out was done, so that the volume was changed meanwhile: run the benchmark anew"
	fi
	[ "$have" -ge "$size" ] || fail "test file $file holds $have bytes, but $size are needed; run the benchmark anew, on a volume that is large enough"
}

# set_aside FOLDER renames what an attempt at the phase left: raw files are never rewritten.
set_aside() {
	n=1
	while [ -e "$folder.cut$n" ]; do n=$((n + 1)); done
	mv "$1" "$folder.cut$n" || no_room "$1 could not be renamed"
}

# mark FOLDER says that the attempt in it is over.
mark() {
	write "$1/mark.json" "{\"started\":\"$started\",\"ended\":\"$(now)\",\"exit\":$code,\"pod\":$(quote "$pod"),\"node\":$(quote "$node")}"
}

# relay prints fio's status lines. fio writes one over the other, and begins a new line now and then: the last of each
# line is passed on.
relay() {
	while IFS= read -r line && [ "$line" != end ]; do
		line=${line%"$cr"}
		line=${line##*"$cr"}
		[ -z "$line" ] || printf '%s\n' "$line"
	done
}

# run_fio runs fio in a folder. The pipe is held open at both ends here, so that nobody waits for the other end in vain.
run_fio() {
	rm -f "$work/status"
	mkfifo "$work/status" || fail "the scratch space, at $work, cannot be written to"
	exec 4<>"$work/status"
	rm -f "$work/status"
	relay <&4 &
	relaying=$!
	(cd "$1" && exec "$fio" --output=fio.json --output-format=json+ --eta=always --eta-newline=2 job.fio) >&4 2>"$1/stderr" 3<&- &
	await $!
	printf '\nend\n' >&4
	wait "$relaying"
	exec 4>&-
}

# trouble FOLDER prints what is wrong with what fio left; nothing if all is well.
trouble() {
	if [ "$code" -eq 137 ]; then
		echo "fio was killed, most likely by the kernel for want of memory; raise the memory limit of the pod"
	elif [ "$code" -ne 0 ]; then
		said=$(end_of "$1/stderr")
		[ -n "$said" ] || said=$(end_of "$1/fio.json")
		printf '%s\n' "${said:-fio failed without a message}" # some shells' echo reads backslashes
	elif ! grep -q '^}' "$1/fio.json"; then
		echo "fio's results are cut off"
	elif grep -q '"error"[[:space:]]*:[[:space:]]*[^0[:space:]]' "$1/fio.json"; then
		said=$(end_of "$1/stderr")
		printf '%s\n' "${said:-fio reports an error in its results}"
	fi
}

run_phase() {
	folder=$results/phases/$phase
	if [ ! -e "$folder/mark.json" ] && [ -e "$folder.running/mark.json" ]; then
		mv "$folder.running" "$folder" || no_room "$folder.running could not be renamed"
	fi
	if [ -e "$folder/mark.json" ]; then
		event phase-kept
		return
	fi
	for attempt in "$folder.running" "$folder.failed"; do
		if [ -e "$attempt" ]; then
			set_aside "$attempt"
			event phase-cut "what an earlier pod left is kept as $phase.cut$n"
		fi
	done
	pause "$rest"
	check_file
	check_room
	[ -z "$ending" ] || exit 143 # nothing is cut yet
	running=$folder.running
	{ mkdir -p "$running" && cp "$config/$phase.fio" "$running/job.fio"; } 2>/dev/null || no_room "$running could not be made"
	started=$(now)
	write "$running/started.json" "{\"started\":\"$started\",\"pod\":$(quote "$pod"),\"node\":$(quote "$node")}"
	event phase-started
	run_fio "$running"
	if [ -n "$ending" ]; then
		set_aside "$running"
		mark "$folder.cut$n"
		event phase-cut "the pod was asked to end; what it measured is kept as $phase.cut$n"
		exit 143
	fi
	text=$(trouble "$running")
	if [ -n "$text" ]; then
		mv "$running" "$folder.failed"
		check_room # it may be why fio failed
		mark "$folder.failed"
		event phase-failed "$text" "$code"
		remove_files
		exit 42
	fi
	check_room
	mark "$running"
	mv "$running" "$folder" || no_room "$running could not be renamed"
	persist "$folder"
	event phase-ended
}

# unfinished says whether any phase is.
unfinished() {
	while IFS=$tab read -r name rest takes layout remove size file <&3; do
		[ "$name" = ebscope-plan ] || [ -e "$results/phases/$name/mark.json" ] || return 0
	done 3<"$plan"
	return 1
}

check_plan
if unfinished; then
	true >>"$results/lock" || no_room "$results/lock could not be written"
	# The pod before this one may still be ending on the same node.
	exec 9>>"$results/lock"
	if command -v flock >/dev/null && ! flock -n 9; then
		printf '%s\n' "another pod still works on $results: waiting for its end"
		flock 9 &
		await $!
		[ -z "$ending" ] || exit 143
	fi
fi
alone=1
if unfinished; then
	check_room
	find_fio
	mkdir -p "$results/phases" "$results/pods" || no_room "it takes no folders"
	cpus=$(nproc) || cpus=0
	write "$results/pods/$pod.json" "{\"pod\":$(quote "$pod"),\"uid\":$(quote "$uid"),\"node\":$(quote "$node"),\"started\":\"$(now)\",\"fio_version\":\"$version\",\"kernel\":$(quote "$(uname -r)"),\"cpus\":$cpus}"
fi
event pod-started
while IFS=$tab read -r name rest takes layout remove size file <&3; do
	if [ "$name" != ebscope-plan ]; then
		phase=$name
		index=$((index + 1))
		run_phase
	fi
done 3<"$plan"
phase=
remove_files
[ -e "$results/done" ] || write "$results/done" "{\"ended\":\"$(now)\"}"
event run-done
