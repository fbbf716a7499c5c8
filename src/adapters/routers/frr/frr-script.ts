/** What the script's lines to us begin with. No line of vtysh's begins so. */
export const MARK = '@edgeward';

/** Seconds that the script waits for another change of ours on the same router to be over. */
export const LOCK_SECONDS = 30;

/**
 * What runs on the router, under any POSIX shell: `sh -c SCRIPT edgeward <mode> <list, or nothing for all> <daemon> <lock directory>
 * <configuration directory> <seconds> <vtysh> [option …]`.
 *
 * The first mark ends whatever a login shell may have greeted with.
 *
 * One change at a time: vtysh sessions of FRR 8.4 share one candidate configuration, so that one session's end commits the
 * half of what another is loading. Readers wait, too, so that what they see is the outcome of a change and not its middle.
 * The lock is on the directory of the daemons' sockets; it is held by the open file, so a vtysh that outlives this shell
 * keeps it until it is done.
 *
 * Nothing is applied before "apply" was said: a connection that is cut in the middle of an upload ends the script.
 * Then nothing stops vtysh any more, for a daemon commits what it has got when a vtysh dies: signals are ignored, and
 * the output goes to a file, as a pipe could break.
 *
 * The temporary directory has a name that tells whose lock it was made under: the shell that has the lock removes what one that was
 * killed has left.
 *
 * vtysh saves what the daemons tell that it reaches, and nothing of the others: where one has died, nothing is saved until it is back.
 *
 * Whether what runs could be saved is told as vtysh does it: into one file by watchfrr where that runs, otherwise by vtysh itself, which
 * puts a new file into the directory or writes the old one; or each daemon writes its own.
 */
export const FRR_SCRIPT = `
LC_ALL=C VTYSH_PAGER=cat; export LC_ALL VTYSH_PAGER
umask 077
mode=$1 list=$2 daemon=$3 lock=$4 etc=$5 patience=$6; shift 6
say() { printf '\\n${MARK} %s\\n' "$*"; }
fail() { say "failed $*"; exit 1; }
work=
aside=\${TMPDIR:-/tmp}/edgeward-$(printf %s "$lock" | cksum | tr ' ' -)
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM
show() {
  for family in ip ipv6; do
    "$@" -d "$daemon" -c "show $family prefix-list $list json" </dev/null
    say "$family $?"
  done
}
savable() {
  [ -x "$etc" ] || { say "savable unseen"; return; }
  kept=$(grep -E '^ *(no )?service integrated-vtysh-config' "$etc/vtysh.conf" 2>/dev/null | tail -n 1)
  case $kept in *no*service*) say "savable yes"; return ;; '') [ -e "$etc/frr.conf" ] || { say "savable yes"; return; } ;; esac
  if "$@" -d watchfrr -c 'show version' </dev/null >/dev/null 2>&1; then say "savable yes"
  elif [ -w "$etc" ] || [ -w "$etc/frr.conf" ]; then say "savable yes"
  else say "savable no"; fi
}
save() {
  reached=" $("$@" -c 'show daemons' </dev/null 2>/dev/null | tr '\\n' ' ') "
  for socket in "$lock"/*.vty; do
    name=\${socket##*/}; name=\${name%.vty}; name=\${name%%-*}
    case $reached in *" $name "*) ;; *) printf '%% %s does not answer on %s, and what it has would be lost: start it, or remove the socket where it is out of use\\n' "$name" "$socket"; return 1 ;; esac
  done
  "$@" -c 'write memory' </dev/null 2>&1
}
say waiting
command -v "$1" >/dev/null 2>&1 || fail "no-vtysh $1"
command -v flock >/dev/null 2>&1 || fail no-flock
[ -d "$lock" ] && [ -r "$lock" ] || fail "no-sockets $lock"
[ -e "$lock/$daemon.vty" ] || fail "no-daemon $lock/$daemon.vty"
[ -r "$lock/$daemon.vty" ] && [ -w "$lock/$daemon.vty" ] || fail "not-permitted $lock/$daemon.vty"
exec 9<"$lock"
kind=-s; case $mode in change | save) kind=-x ;; esac
tries=0
until flock -n $kind 9; do
  tries=$((tries + 1)); [ $tries -le $((patience * 5)) ] || fail locked
  say waiting || exit 1
  sleep 0.2 2>/dev/null || sleep 1
done
case $mode in
check)
  work=$(mktemp -d "$aside.XXXXXX") || fail no-temporary
  "$@" -d "$daemon" -c 'show version' </dev/null 2>&1; say "version $?"
  "$@" -c 'configure terminal' -c end </dev/null 2>&1; say "configure $?"
  savable "$@"
  exit 0 ;;
save)
  save "$@"; say "saved $?"
  exit 0 ;;
read)
  show "$@"
  exit 0 ;;
names)
  list=summary
  show "$@"
  exit 0 ;;
esac
rm -rf "$aside".* 2>/dev/null
work=$(mktemp -d "$aside.XXXXXX") || fail no-temporary
"$@" -d "$daemon" -c 'show version' </dev/null 2>&1; say "version $?"
"$@" -c 'show daemons' </dev/null; say "daemons $?"
show "$@"
while read -r verb size; do
  case $verb in
  upload)
    head -c "$size" >"$work/change"
    [ "$(wc -c <"$work/change")" -eq "$size" ] || exit 1
    "$@" -C -f "$work/change" </dev/null 2>&1; say "checked $?" ;;
  apply)
    trap '' HUP INT PIPE TERM
    "$@" -f "$work/change" </dev/null >"$work/output" 2>&1; code=$?
    trap 'exit 1' HUP INT PIPE TERM
    cat "$work/output"; say "applied $code"
    show "$@" ;;
  save)
    save "$@"; say "saved $?" ;;
  esac
done
`;
