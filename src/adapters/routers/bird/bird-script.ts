/** What the script's lines to us begin with. */
export const MARK = '@edgeward';

/** Seconds that the script waits for another change of ours on the same router to be over. */
export const LOCK_SECONDS = 30;

/**
 * What runs on the router, under any POSIX shell: `timeout <session seconds> sh -c SCRIPT edgeward <mode> <list> <the edition's
 * symbol> <directory> <socket> <confirm seconds> <lock seconds> <birdc>`.
 *
 * `<list>.conf` is the file that BIRD includes; beside it, under names that BIRD does not include: `.new` while it is written,
 * `.old` from the moment that a new file takes its place until it was said what becomes of it (empty where there was none),
 * `.kept` in place of `.old` from the moment that "confirm" was said. Where there is no `.new`, the list is to go. So the next change, which finds the remains of one that died, knows
 * what it was to become, and makes it so.
 *
 * BIRD goes back by itself to what it had unless it hears "configure confirm" in time; the file goes back when the input ends
 * without "confirm": a connection that is cut undoes the change, and so does `timeout` when the connection falls silent.
 */
export const BIRD_SCRIPT = `
LC_ALL=C; export LC_ALL
umask 022
mode=$1 list=$2 symbol=$3 directory=$4 socket=$5 timer=$6 patience=$7 birdc=$8
file=$directory/$list.conf
new=$directory/.$list.conf.new old=$directory/.$list.conf.old kept=$directory/.$list.conf.kept
aside=
say() { printf '\\n${MARK} %s\\n' "$*"; }
fail() { say "failed $*"; exit 1; }
trap '[ -z "$aside" ] || rm -f "$aside" "$aside.tried"' EXIT
trap 'exit 1' HUP INT PIPE TERM
bird() { "$birdc" -v -s "$socket" "$@" </dev/null 2>&1; }
on_disk() { sync "$@" 2>/dev/null || sync; }
edition_in() { sed -n "s/^define $symbol = \\"\\(.*\\)\\";\\$/\\1/p" "$file" 2>/dev/null; }
runs_file() {
  edition=$(edition_in)
  if [ -n "$edition" ]; then bird "eval $symbol" | grep -qxF "0023 $edition"
  else bird "eval $symbol" | grep -q '^9001'; fi
}
await_file() {
  tries=0
  until runs_file; do
    tries=$((tries + 1)); [ $tries -le 50 ] || return 1
    sleep 0.2 2>/dev/null || sleep 1
  done
}
put_back() {
  if [ -s "$old" ]; then mv -f "$old" "$file"; else rm -f "$file" "$old"; fi
  on_disk "$directory"
}
load() {
  answer=$(bird "$1"); code=$?
  printf '%s\n' "$answer"
  # Another change of BIRD's configuration may have to end first.
  ! printf '%s\n' "$answer" | grep -q '^000[45]' || await_file
  return $code
}
set_old_aside() {
  if [ -e "$file" ]; then ln -f "$file" "$old"; else : >"$old"; fi || fail no-room
}
swap_in() {
  if [ -e "$new" ]; then mv -f "$new" "$file"; else rm -f "$file"; fi
  on_disk "$directory"
}
undo() {
  put_back
  [ "$configured" != no ] || return 0
  [ "$configured" != yes ] || load 'configure undo'
  runs_file || load configure
}
keep() {
  bird configure confirm; confirmed=$?
  runs_file || load configure
  rm -f "$kept"
  return $confirmed
}
configured=perhaps
say waiting
command -v "$birdc" >/dev/null 2>&1 || fail "no-birdc $birdc"
command -v flock >/dev/null 2>&1 || fail no-flock
[ -d "$directory" ] || fail "no-directory $directory"
[ -r "$directory" ] && [ -w "$directory" ] && [ -x "$directory" ] || fail "directory-not-permitted $directory"
[ -S "$socket" ] || fail "no-socket $socket"
[ -r "$socket" ] && [ -w "$socket" ] || fail "socket-not-permitted $socket"
exec 9<"$directory"
tries=0
until flock -n -x 9; do
  tries=$((tries + 1)); [ $tries -le $((patience * 5)) ] || fail locked
  say waiting || exit 1
  sleep 0.2 2>/dev/null || sleep 1
done
bird show status; say "status $?"
[ "$mode" != check ] || { bird configure check; say "checked $?"; exit 0; }
if [ "$mode" = names ]; then
  for path in "$directory"/*.conf; do [ ! -e "$path" ] || printf '%s\n' "\${path##*/}"; done; say "names $?"
  exit 0
fi
aside=$new; rm -f "$aside" "$aside.tried"
if [ -e "$kept" ]; then keep >/dev/null; elif [ -e "$old" ]; then undo >/dev/null; fi
show() {
  bird "eval $symbol"; say "edition $?"
  if [ -e "$file" ]; then cat "$file"; say "file $?"; else say absent; fi
}
show
[ "$mode" = change ] || exit 0
configured=no
while read -r verb size; do
  case $verb in
  upload)
    head -c "$size" >"$new" && [ "$(wc -c <"$new")" -eq "$size" ] && on_disk "$new" || fail no-room
    say uploaded ;;
  try)
    trap '' HUP INT PIPE; trap : TERM
    set_old_aside
    [ ! -e "$new" ] || ln -f "$new" "$new.tried"
    swap_in; bird configure check; code=$?; put_back
    [ ! -e "$new.tried" ] || mv -f "$new.tried" "$new"
    trap 'exit 1' HUP INT PIPE TERM
    say "checked $code" ;;
  show) show ;;
  apply)
    trap '' HUP INT PIPE; trap : TERM
    set_old_aside
    swap_in
    bird configure check; code=$?; say "checked $code"
    [ $code -eq 0 ] || break
    configured=perhaps
    load "configure timeout $timer"; code=$?; say "configured $code"
    # What BIRD has not loaded is not there to be undone: "undo" would be of the change that somebody else made before.
    [ $code -ne 0 ] || configured=yes
    bird "eval $symbol"; say "edition $?" ;;
  confirm)
    mv -f "$old" "$kept"; on_disk "$directory"
    keep; say "confirmed $?"
    bird "eval $symbol"; say "edition $?" ;;
  esac
done
if [ -e "$old" ]; then undo; say undone; fi
`;
