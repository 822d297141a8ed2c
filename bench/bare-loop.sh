#!/bin/bash
# The loop that people write themselves, with what it needs to survive a power cut: the agent, a commit, and two
# fdatasyncs (its output, its progress). Prints what each iteration took, in microseconds.
set -e
command=$1 iterations=$2
for ((i = 1; i <= iterations; i++)); do
  began=${EPOCHREALTIME/./}
  sh -c "$command" >>.git/output </dev/null
  sync -d .git/output
  git add -A
  git commit -q -m "iteration $i"
  echo "$i" >>.git/progress
  sync -d .git/progress
  echo $((${EPOCHREALTIME/./} - began))
done
