#!/bin/bash
# Holds a lock until standard input ends, with nothing but redis-cli: a connection is a session, so the commands that
# belong together go through one redis-cli. (`baton run` and `baton lock` do this better, where there is a baton.)
#
#     lock.sh LOCK MILLISECONDS
#
# Exit: 0 given back; 69 no node; 75 not free in time; 76 it was lost meanwhile.
set -u
lock=$1

coproc NODE { exec redis-cli -s "${BATON_SOCKET:-/run/baton.sock}" 2>&1; }
ask() {
	printf '%s\n' "$*" >&"${NODE[1]}"
	IFS= read -r answer <&"${NODE[0]}" || answer=
}

ask LOCK "'$lock'" TIMEOUT "$2"
case $answer in
'') echo "$lock is not free" >&2; exit 75 ;; # nil
*[!0-9]*) echo "$answer" >&2; exit 69 ;;
esac
fence=$answer
echo "fence $fence"

cat >/dev/null # the work, with $fence for whatever checks it

# With the fence: if redis-cli had to connect again meanwhile, this session holds nothing.
ask UNLOCK "'$lock'" "$fence"
[ "$answer" = 1 ] || { echo "$lock was lost" >&2; exit 76; }
