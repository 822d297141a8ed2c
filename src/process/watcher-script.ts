/**
 * The shell program behind lifeline.ts, for dash, bash and busybox. It reads
 *   run <slot> <run id|-> <group|-> <cgroup|->     a run begins (said again once its group is known)
 *   seen <slot> <pid> <start time>                 a descendant of it
 *   over <slot>                                    it has ended
 * and at end-of-file kills what is left of every run until two passes in a row find nothing.
 */
export const WATCHER_SCRIPT = `
trap '' HUP INT TERM
last=0
while read -r verb slot rest; do
  case $verb in
    run) eval "run_$slot=\\$rest"; [ "$slot" -le "$last" ] || last=$slot ;;
    seen) eval "seen_$slot=\\"\\$seen_$slot \\$rest\\"" ;;
    over) unset "run_$slot" "seen_$slot" ;;
  esac
done

cgroups= marks= slot=0
while [ "$slot" -lt "$last" ]; do
  slot=$((slot + 1))
  eval "run=\\$run_$slot seen=\\$seen_$slot"
  [ -n "$run" ] || continue
  set -- $run
  [ "$1" = - ] || marks="$marks -e PULSE_RUN_ID=$1"
  [ "$2" = - ] || kill -9 "-$2"
  [ "$3" = - ] || cgroups="$cgroups $3"
  set -- $seen
  while [ $# -gt 1 ]; do
    pid=$1 start=$2
    shift 2
    read -r stat <"/proc/$pid/stat" || continue
    now=$(set -- \${stat##*) }; shift 19; echo "$1")
    [ "$now" != "$start" ] || kill -9 "$pid"
  done
done

empty=0 passes=0
while [ "$empty" -lt 2 ] && [ "$passes" -lt 200 ]; do
  passes=$((passes + 1)) empty=$((empty + 1))
  for cgroup in $cgroups; do
    echo 1 >"$cgroup/cgroup.kill"
    while read -r pid; do
      empty=0
      kill -9 "$pid"
    done <"$cgroup/cgroup.procs"
  done
  if [ -n "$marks" ] && [ -d /proc/self ]; then
    for file in $(grep -lzsxF $marks /proc/[0-9]*/environ); do
      empty=0 pid=\${file#/proc/}
      kill -9 "\${pid%/environ}"
    done
  fi
  [ -z "$cgroups$marks" ] || sleep 0.02
done
for cgroup in $cgroups; do
  tries=0
  # What was just entering it when it was looked at is in it by now.
  until rmdir "$cgroup"/*/; rmdir "$cgroup" || [ ! -d "$cgroup" ] || [ "$tries" -ge 50 ]; do
    tries=$((tries + 1))
    echo 1 >"$cgroup/cgroup.kill"
    while read -r pid; do kill -9 "$pid"; done <"$cgroup/cgroup.procs"
    sleep 0.02
  done
done
`;
